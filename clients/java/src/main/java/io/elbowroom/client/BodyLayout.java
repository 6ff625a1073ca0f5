package io.elbowroom.client;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Where the messages and the top-level system prompt stand in a body's JSON, in bytes. It looks for brackets, strings and commas
 * only: whether the rest is JSON is the server's to say.
 */
final class BodyLayout {
    private static final byte[] MESSAGES = "\"messages\"".getBytes(StandardCharsets.UTF_8);
    private static final byte[] SYSTEM = "\"system\"".getBytes(StandardCharsets.UTF_8);

    private final byte[] json;
    private int[] bounds = new int[64]; // start and end of each message
    private int count;
    private boolean hasMessages;
    private int systemStart = -1;
    private int systemEnd = -1;
    private int at;

    private BodyLayout(byte[] json) {
        this.json = json;
    }

    /** The layout, null if the text is neither an object with an array "messages" nor an array. */
    static BodyLayout of(byte[] json) {
        BodyLayout layout = new BodyLayout(json);
        try {
            layout.read();
        } catch (ArrayIndexOutOfBoundsException e) {
            return null; // cut off
        }
        return layout.hasMessages ? layout : null;
    }

    byte[] json() {
        return json;
    }

    int count() {
        return count;
    }

    int start(int message) {
        return bounds[2 * message];
    }

    int end(int message) {
        return bounds[2 * message + 1];
    }

    boolean hasSystem() {
        return systemStart >= 0;
    }

    int systemStart() {
        return systemStart;
    }

    int systemEnd() {
        return systemEnd;
    }

    /** Whether the messages begin with all those of another body, byte for byte, of which there is at least one. */
    boolean startsWith(BodyLayout other) {
        if (other.count == 0 || other.count > count) {
            return false;
        }
        for (int i = 0; i < other.count; i++) {
            if (!sameMessage(i, other, i)) {
                return false;
            }
        }
        return true;
    }

    boolean sameMessage(int message, BodyLayout other, int otherMessage) {
        return Arrays.equals(json, start(message), end(message), other.json, other.start(otherMessage), other.end(otherMessage));
    }

    boolean sameSystem(BodyLayout other) {
        return Arrays.equals(
                json, Math.max(systemStart, 0), Math.max(systemEnd, 0),
                other.json, Math.max(other.systemStart, 0), Math.max(other.systemEnd, 0));
    }

    private void read() {
        skipSpace();
        if (json[at] == '[') {
            readMessages();
            return;
        }
        if (json[at] != '{') {
            return;
        }
        at++;
        for (skipSpace(); json[at] != '}'; skipSpace()) {
            if (json[at] == ',') {
                at++;
                continue;
            }
            int key = at;
            skipValue();
            int keyEnd = at;
            skipSpace();
            if (json[at] != ':') {
                return;
            }
            at++;
            skipSpace();
            if (json[at] == '[' && is(key, keyEnd, MESSAGES)) {
                count = 0;
                readMessages();
                continue;
            }
            int value = at;
            skipValue();
            if (is(key, keyEnd, SYSTEM)) {
                systemStart = value;
                systemEnd = at;
            }
        }
    }

    private boolean is(int start, int end, byte[] text) {
        return Arrays.equals(json, start, end, text, 0, text.length);
    }

    private void readMessages() {
        at++;
        for (skipSpace(); json[at] != ']'; skipSpace()) {
            if (json[at] == ',') {
                at++;
                continue;
            }
            int start = at;
            skipValue();
            if (2 * count == bounds.length) {
                bounds = Arrays.copyOf(bounds, 2 * bounds.length);
            }
            bounds[2 * count] = start;
            bounds[2 * count + 1] = at;
            count++;
        }
        at++;
        hasMessages = true;
    }

    private void skipSpace() {
        while (json[at] == ' ' || json[at] == '\n' || json[at] == '\r' || json[at] == '\t') {
            at++;
        }
    }

    private void skipValue() {
        switch (json[at]) {
            case '"' -> skipString();
            case '{', '[' -> skipNested();
            default -> skipScalar();
        }
    }

    private void skipNested() {
        int depth = 0;
        do {
            switch (json[at]) {
                case '"' -> {
                    skipString();
                    continue;
                }
                case '{', '[' -> depth++;
                case '}', ']' -> depth--;
                default -> { }
            }
            at++;
        } while (depth > 0);
    }

    private void skipScalar() {
        int start = at;
        while (",:]} \n\r\t".indexOf(json[at]) < 0) {
            at++;
        }
        if (at == start) {
            at = json.length; // a value is missing: nothing that follows can be trusted
        }
    }

    private void skipString() {
        for (at++; json[at] != '"'; at++) {
            if (json[at] == '\\') {
                at++;
            }
        }
        at++;
    }
}
