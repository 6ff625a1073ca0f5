package io.elbowroom.client;

import com.google.gson.Strictness;
import com.google.gson.ToNumberPolicy;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON as trees of maps, lists, strings, numbers, booleans and null. What is read and written again keeps the order of keys, null
 * members and the spelling of every number; nothing passes through a double that a double cannot hold.
 */
final class Json {
    private static final int DEEPEST = 1000; // levels; the depth at which recursion is still safe on a small stack

    private static final int LONGEST_NUMBER = 1000; // characters; beyond it the constructors' quadratic time would show

    private Json() {}

    /** The tree as compact UTF-8 JSON. */
    static byte[] write(Object tree) {
        StringWriter text = new StringWriter();
        try {
            JsonWriter writer = new JsonWriter(text);
            writer.setStrictness(Strictness.STRICT);
            write(writer, tree, 0);
        } catch (IOException | IllegalArgumentException e) {
            throw Errors.invalid(Body.FIELD, "the body cannot be written as JSON: " + e.getMessage(),
                    "Pass maps, lists, strings, numbers, booleans and nulls only, or the JSON text itself.", -1, e);
        }
        return escapeLoneSurrogates(text.getBuffer()).getBytes(StandardCharsets.UTF_8);
    }

    private static void write(JsonWriter writer, Object value, int depth) throws IOException {
        if (depth > DEEPEST) {
            throw new IllegalArgumentException("it is nested more than " + DEEPEST + " levels deep");
        }
        if (value instanceof Map<?, ?> map) {
            writer.beginObject();
            for (Map.Entry<?, ?> member : map.entrySet()) {
                if (!(member.getKey() instanceof CharSequence key)) {
                    throw new IllegalArgumentException("the key " + member.getKey() + " is no string");
                }
                writer.name(key.toString());
                write(writer, member.getValue(), depth + 1);
            }
            writer.endObject();
        } else if (value instanceof Iterable<?> elements) {
            writer.beginArray();
            for (Object element : elements) {
                write(writer, element, depth + 1);
            }
            writer.endArray();
        } else if (value instanceof Object[] elements) {
            write(writer, Arrays.asList(elements), depth);
        } else if (value instanceof CharSequence string) {
            writer.value(string.toString());
        } else if (value instanceof Number number) {
            writer.value(number);
        } else if (value instanceof Boolean bool) {
            writer.value(bool);
        } else if (value == null) {
            writer.nullValue();
        } else {
            throw new IllegalArgumentException("it holds a " + value.getClass().getName());
        }
    }

    /** JSON can hold a lone surrogate as an escape; UTF-8 cannot hold it at all. They stand inside strings only. */
    private static String escapeLoneSurrogates(CharSequence text) {
        StringBuilder out = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (!Character.isSurrogate(c)) {
                out.append(c);
            } else if (Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
                out.append(c).append(text.charAt(++i));
            } else {
                out.append(String.format("\\u%04x", (int) c));
            }
        }
        return out.toString();
    }

    /** The tree of a JSON text. Objects are LinkedHashMaps, arrays ArrayLists, numbers as {@link #number} says. */
    static Object parse(byte[] utf8) throws IOException {
        JsonReader reader = reader(utf8);
        Object tree = read(reader);
        if (reader.peek() != JsonToken.END_DOCUMENT) {
            throw new IOException("there is more than one value");
        }
        return tree;
    }

    /** A strict reader of a JSON text. */
    static JsonReader reader(byte[] utf8) {
        JsonReader reader = new JsonReader(new StringReader(new String(utf8, StandardCharsets.UTF_8)));
        reader.setStrictness(Strictness.STRICT);
        reader.setNestingLimit(DEEPEST);
        return reader;
    }

    private static Object read(JsonReader reader) throws IOException {
        return switch (reader.peek()) {
            case BEGIN_OBJECT -> {
                Map<String, Object> map = new LinkedHashMap<>();
                reader.beginObject();
                while (reader.hasNext()) {
                    String key = reader.nextName();
                    map.put(key, read(reader));
                }
                reader.endObject();
                yield map;
            }
            case BEGIN_ARRAY -> {
                List<Object> list = new ArrayList<>();
                reader.beginArray();
                while (reader.hasNext()) {
                    list.add(read(reader));
                }
                reader.endArray();
                yield list;
            }
            case STRING -> reader.nextString();
            case NUMBER -> number(reader.nextString());
            case BOOLEAN -> reader.nextBoolean();
            case NULL -> {
                reader.nextNull();
                yield null;
            }
            default -> throw new IOException("unexpected " + reader.peek());
        };
    }

    /**
     * The plainest number that is written again as the same text: Integer, Long, BigInteger, Double, BigDecimal, or else Gson's
     * number that keeps its text (of "1e5", say).
     */
    private static Number number(String text) throws IOException {
        Number plainest = null;
        if (text.length() < LONGEST_NUMBER) {
            plainest = text.chars().allMatch(c -> c >= '0' && c <= '9' || c == '-') ? whole(text) : fraction(text);
        }
        if (plainest != null && plainest.toString().equals(text)) {
            return plainest;
        }
        return ToNumberPolicy.LAZILY_PARSED_NUMBER.readNumber(new JsonReader(new StringReader(text)));
    }

    private static Number whole(String text) {
        if (text.length() < 10) {
            return Integer.valueOf(text);
        }
        BigInteger value = new BigInteger(text);
        if (value.bitLength() < Integer.SIZE) {
            return value.intValue();
        }
        if (value.bitLength() < Long.SIZE) {
            return value.longValue();
        }
        return value;
    }

    /** Null if neither type can hold it. */
    private static Number fraction(String text) {
        Double binary = Double.valueOf(text);
        if (binary.toString().equals(text)) {
            return binary;
        }
        try {
            return new BigDecimal(text);
        } catch (NumberFormatException e) { // an exponent beyond its range
            return null;
        }
    }
}
