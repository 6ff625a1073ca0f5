package io.elbowroom.client;

import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * A recorded conversation of ../shared/data, as a request body would carry it. The texts in it are data.
 *
 * @param model a model that such a conversation may be for
 * @param layout where its messages stand
 */
record Recording(String name, String model, BodyLayout layout) {
    private static final Path FOLDER = Path.of("..", "..", "..", "shared", "data", "conversations");

    /** All recordings. Skips the test where there are none. */
    static List<Recording> all() {
        if (!Files.isDirectory(FOLDER)) {
            Server.missing("there are no recorded conversations in ../shared/data beside the repository");
        }
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.filter(file -> file.toString().endsWith(".json")).sorted().map(Recording::read).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Recording named(String name) {
        return all().stream().filter(recording -> recording.name().equals(name)).findFirst().orElseThrow();
    }

    private static Recording read(Path file) {
        try {
            byte[] json = Files.readAllBytes(file);
            String format = JsonParser.parseString(new String(json, StandardCharsets.UTF_8))
                    .getAsJsonObject().get("format").getAsString();
            String model = format.equals("anthropic") ? "claude-sonnet-4-5" : "gpt-4o";
            return new Recording(file.getFileName().toString().replace(".json", ""), model, BodyLayout.of(json));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    boolean anthropic() {
        return model.startsWith("claude");
    }

    io.elbowroom.v1.Format format() {
        return anthropic() ? io.elbowroom.v1.Format.FORMAT_ANTHROPIC_MESSAGES : io.elbowroom.v1.Format.FORMAT_OPENAI_CHAT;
    }

    int count() {
        return layout.count();
    }

    /** The bytes of one message. */
    String message(int index) {
        return text(layout.start(index), layout.end(index));
    }

    /** A body of the first messages, every byte of them as recorded. */
    String body(int messages) {
        String system = layout.hasSystem() ? "\"system\":" + text(layout.systemStart(), layout.systemEnd()) + "," : "";
        String list = messages == 0 ? "" : text(layout.start(0), layout.end(messages - 1));
        return "{\"model\":\"" + model + "\",\"max_tokens\":8000," + system + "\"messages\":[" + list + "],\"stream\":true}";
    }

    private String text(int start, int end) {
        return new String(layout.json(), start, end - start, StandardCharsets.UTF_8);
    }
}
