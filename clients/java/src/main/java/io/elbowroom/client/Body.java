package io.elbowroom.client;

import com.google.protobuf.UnsafeByteOperations;
import io.elbowroom.v1.Format;
import io.elbowroom.v1.NativeRequest;
import io.elbowroom.v1.Splice;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * A provider's own request body, or its bare list of messages. What goes in as one kind comes back as the same kind: text as
 * text and bytes as bytes, exact to the byte but for what was meant to change; trees of maps and lists as such trees. A tree is
 * written as JSON once; the order of its keys, null members, the spelling of numbers and lone surrogates survive.
 *
 * @param <B> the kind
 */
public final class Body<B> {
    static final String FIELD = "conversation.native.json";

    private final B value;
    private final byte[] json;
    private final Kind<B> kind;
    private final int format; // 0: to be told from the body

    private Body(B value, byte[] json, Kind<B> kind, int format) {
        this.value = value;
        this.json = json;
        this.kind = kind;
        this.format = format;
    }

    /** How a kind is made from JSON, and which JSON a caller makes of it. */
    private record Kind<B>(boolean bytes, boolean tree, Reader<B> reader) {}

    private interface Reader<B> {
        B read(byte[] json) throws IOException;
    }

    private static final Kind<String> TEXT = new Kind<>(false, false, json -> new String(json, StandardCharsets.UTF_8));
    private static final Kind<byte[]> BYTES = new Kind<>(true, false, json -> json);

    /**
     * JSON text.
     *
     * @throws InvalidRequestException if it holds a lone surrogate outside an escape, which UTF-8 cannot hold
     */
    public static Body<String> of(String json) {
        for (int i = 0; i < json.length(); i++) {
            if (!Character.isSurrogate(json.charAt(i))) {
                continue;
            }
            if (!Character.isSurrogatePair(json.charAt(i), i + 1 < json.length() ? json.charAt(i + 1) : 0)) {
                throw Errors.invalid(FIELD, "the text holds a lone surrogate, which UTF-8 cannot hold",
                        "Write lone surrogates as escapes.",
                        json.substring(0, i).getBytes(StandardCharsets.UTF_8).length, null);
            }
            i++;
        }
        return new Body<>(json, json.getBytes(StandardCharsets.UTF_8), TEXT, 0);
    }

    /** JSON as UTF-8 bytes. They must not change while a call uses them. */
    public static Body<byte[]> of(byte[] json) {
        return new Body<>(json, json, BYTES, 0);
    }

    /**
     * A request body as a tree of maps, lists, strings, numbers, booleans and nulls. In what comes back maps are LinkedHashMaps,
     * and numbers the plainest type that keeps their spelling: Integer, Long, BigInteger, Double, BigDecimal, or another Number.
     *
     * @throws InvalidRequestException if it holds anything else, or a number that JSON cannot hold
     */
    @SuppressWarnings("unchecked")
    public static Body<Map<String, Object>> of(Map<String, ?> body) {
        Kind<Map<String, Object>> kind = new Kind<>(false, true, json -> (Map<String, Object>) Json.parse(json));
        return new Body<>((Map<String, Object>) body, Json.write(body), kind, 0);
    }

    /** A list of messages as trees; see {@link #of(Map)}. */
    @SuppressWarnings("unchecked")
    public static Body<List<Map<String, Object>>> of(List<? extends Map<String, ?>> messages) {
        Kind<List<Map<String, Object>>> kind =
                new Kind<>(false, true, json -> (List<Map<String, Object>>) (List<?>) Json.parse(json));
        return new Body<>((List<Map<String, Object>>) (List<?>) messages, Json.write(messages), kind, 0);
    }

    /** The same body in a format that cannot be told from it, or that saves looking. */
    public Body<B> as(Format format) {
        return new Body<>(value, json, kind, format.getNumber());
    }

    /**
     * The body as a message of the API, for requests that are made by hand, such as those of {@link Client#simulateCache}.
     *
     * @throws InvalidRequestException if its format was not named and cannot be told
     */
    public io.elbowroom.v1.Conversation conversation() {
        return conversation(io.elbowroom.v1.Conversation.getDefaultInstance());
    }

    /** The same, with what a base request has beside the JSON: the format, and what the server will refuse. */
    io.elbowroom.v1.Conversation conversation(io.elbowroom.v1.Conversation base) {
        NativeRequest.Builder request = nativeRequest(base.getNative());
        if (kind.bytes()) {
            request.setJsonUtf8(UnsafeByteOperations.unsafeWrap(json));
        } else {
            request.setJsonBytes(UnsafeByteOperations.unsafeWrap(json));
        }
        return base.toBuilder().setNative(request).build();
    }

    /** Everything of the native form but the JSON. */
    NativeRequest.Builder nativeRequest(NativeRequest base) {
        int known = format != 0 ? format : base.getFormatValue();
        if (known == 0) {
            known = Formats.of(json).getNumber();
        }
        if (known == 0) {
            throw Errors.invalid("conversation.native.format", "the format cannot be told from the body",
                    "Name it: body.as(Format.FORMAT_OPENAI_CHAT) or body.as(Format.FORMAT_ANTHROPIC_MESSAGES).", -1, null);
        }
        return NativeRequest.newBuilder().setFormatValue(known).setKeep(base.getKeep());
    }

    /** The body's JSON, not copied. */
    byte[] json() {
        return json;
    }

    /** The result in the caller's kind: the caller's own object if nothing changed. */
    B apply(List<Splice> splices) {
        if (splices.isEmpty()) {
            return value;
        }
        return read(Splices.apply(json, splices));
    }

    /** JSON in the caller's kind: the caller's own object if it is the JSON of it. */
    B read(byte[] result) {
        if (result == json) {
            return value;
        }
        try {
            return kind.reader().read(result);
        } catch (IOException e) {
            throw Errors.broken("the result cannot be read: " + e.getMessage());
        }
    }

    /** The JSON that this client makes of a result when the caller hands it in again. */
    byte[] writtenAgain(B result, byte[] read) {
        return kind.tree() && read != json ? Json.write(result) : read;
    }
}
