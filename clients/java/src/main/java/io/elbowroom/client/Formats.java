package io.elbowroom.client;

import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import io.elbowroom.v1.Format;
import java.io.IOException;
import java.util.Set;

/**
 * Tells the wire format of a body from what only one provider writes. The first sign decides, and a body without one (a single
 * user message, say) is not guessed at.
 */
final class Formats {
    private static final Set<String> OPENAI_ROLES = Set.of("system", "developer", "tool", "function");
    private static final Set<String> OPENAI_BLOCKS = Set.of("image_url", "input_audio", "file", "refusal");
    private static final Set<String> ANTHROPIC_BLOCKS =
            Set.of("tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document");

    private Formats() {}

    /** The format, FORMAT_UNSPECIFIED if it cannot be told or the JSON is broken before the first sign. */
    static Format of(byte[] json) {
        try {
            JsonReader reader = Json.reader(json);
            return reader.peek() == JsonToken.BEGIN_OBJECT ? ofBody(reader) : ofElements(reader, Formats::ofMessage);
        } catch (IOException | IllegalStateException e) {
            return Format.FORMAT_UNSPECIFIED;
        }
    }

    /** What one element of an array, or one member, says; it is read to its end unless it decides. */
    private interface Sign {
        Format read(JsonReader reader) throws IOException;
    }

    private static Format ofBody(JsonReader reader) throws IOException {
        return ofMembers(reader, (name, value) -> switch (name) {
            case "system" -> Format.FORMAT_ANTHROPIC_MESSAGES;
            case "messages" -> ofElements(value, Formats::ofMessage);
            case "tools" -> ofElements(value, Formats::ofTool);
            default -> skip(value);
        });
    }

    private static Format ofTool(JsonReader reader) throws IOException {
        return ofMembers(reader, (name, value) -> switch (name) {
            case "input_schema" -> Format.FORMAT_ANTHROPIC_MESSAGES;
            case "function" -> Format.FORMAT_OPENAI_CHAT;
            case "type" -> "function".equals(text(value)) ? Format.FORMAT_OPENAI_CHAT : Format.FORMAT_UNSPECIFIED;
            default -> skip(value);
        });
    }

    private static Format ofMessage(JsonReader reader) throws IOException {
        return ofMembers(reader, (name, value) -> switch (name) {
            case "role" -> OPENAI_ROLES.contains(text(value)) ? Format.FORMAT_OPENAI_CHAT : Format.FORMAT_UNSPECIFIED;
            case "tool_calls", "function_call" ->
                value.peek() == JsonToken.NULL ? skip(value) : Format.FORMAT_OPENAI_CHAT;
            case "content" -> ofElements(value, Formats::ofBlock);
            default -> skip(value);
        });
    }

    private static Format ofBlock(JsonReader reader) throws IOException {
        return ofMembers(reader, (name, value) -> {
            if (!name.equals("type")) {
                return skip(value);
            }
            String type = text(value);
            if (ANTHROPIC_BLOCKS.contains(type)) {
                return Format.FORMAT_ANTHROPIC_MESSAGES;
            }
            return OPENAI_BLOCKS.contains(type) ? Format.FORMAT_OPENAI_CHAT : Format.FORMAT_UNSPECIFIED;
        });
    }

    private interface Member {
        Format read(String name, JsonReader value) throws IOException;
    }

    private static Format ofMembers(JsonReader reader, Member member) throws IOException {
        if (reader.peek() != JsonToken.BEGIN_OBJECT) {
            return skip(reader);
        }
        reader.beginObject();
        while (reader.hasNext()) {
            Format told = member.read(reader.nextName(), reader);
            if (told != Format.FORMAT_UNSPECIFIED) {
                return told;
            }
        }
        reader.endObject();
        return Format.FORMAT_UNSPECIFIED;
    }

    private static Format ofElements(JsonReader reader, Sign sign) throws IOException {
        if (reader.peek() != JsonToken.BEGIN_ARRAY) {
            return skip(reader);
        }
        reader.beginArray();
        while (reader.hasNext()) {
            Format told = sign.read(reader);
            if (told != Format.FORMAT_UNSPECIFIED) {
                return told;
            }
        }
        reader.endArray();
        return Format.FORMAT_UNSPECIFIED;
    }

    private static Format skip(JsonReader reader) throws IOException {
        reader.skipValue();
        return Format.FORMAT_UNSPECIFIED;
    }

    /** The value if it is a string, else an empty one. */
    private static String text(JsonReader reader) throws IOException {
        if (reader.peek() == JsonToken.STRING) {
            return reader.nextString();
        }
        reader.skipValue();
        return "";
    }
}
