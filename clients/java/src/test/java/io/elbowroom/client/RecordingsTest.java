package io.elbowroom.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.elbowroom.v1.CompressRequest;
import io.elbowroom.v1.Edit;
import io.elbowroom.v1.Outcome;
import io.elbowroom.v1.View;
import io.elbowroom.v1.Section;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Real conversations through the client, forced to be compressed: what is kept equals what was sent. */
class RecordingsTest {
    private static Client client;
    private static int compressed;

    @BeforeAll
    static void connect() {
        Recording.all(); // skips the whole class where there are none
        client = Client.connect(Server.shared().target());
    }

    @AfterAll
    static void close() {
        if (client == null) {
            return;
        }
        client.close();
        assertTrue(compressed > 20, compressed + " compressions");
    }

    static List<Recording> all() {
        return Recording.all();
    }

    @Test
    void allRecordingsAreThere() {
        assertEquals(20, Recording.all().size());
    }

    private static Consumer<CompressRequest.Builder> forced() {
        return request -> request.setForce(true).setView(View.VIEW_EDITS).setContextWindow(20_000).getPolicyBuilder().setProtectLastN(4);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("all")
    void keptMessagesOfATextHaveTheirBytes(Recording recording) {
        String text = recording.body(recording.count());
        CompressResult<String> result = client.compress(Body.of(text).as(recording.format()), forced());
        count(result.outcome());
        BodyLayout got = BodyLayout.of(result.body().getBytes(StandardCharsets.UTF_8));
        List<String> want = expected(recording, result.response().getEditsList());
        if (result.response().getEditsList().isEmpty()) {
            assertEquals(text, result.body());
            return;
        }
        assertEquals(want.size(), got.count(), "messages");
        for (int i = 0; i < want.size(); i++) {
            if (want.get(i) != null) {
                assertEquals(want.get(i), new String(got.json(), got.start(i), got.end(i) - got.start(i), StandardCharsets.UTF_8));
            }
        }
        // Bytes are the same text, and the round trip of a byte body gives the same result.
        byte[] bytes = client.compress(Body.of(text.getBytes(StandardCharsets.UTF_8)).as(recording.format()), forced()).body();
        assertArrayEquals(result.body().getBytes(StandardCharsets.UTF_8), bytes);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("all")
    void keptMessagesOfATreeEqualTheirOriginals(Recording recording) throws IOException {
        @SuppressWarnings("unchecked")
        Map<String, Object> tree = (Map<String, Object>) Json.parse(recording.body(recording.count()).getBytes(StandardCharsets.UTF_8));
        CompressResult<Map<String, Object>> result = client.compress(Body.of(tree).as(recording.format()), forced());
        count(result.outcome());
        if (result.response().getEditsList().isEmpty()) {
            assertEquals(tree, result.body());
            return;
        }
        List<String> want = expected(recording, result.response().getEditsList());
        List<?> got = (List<?>) result.body().get("messages");
        assertEquals(want.size(), got.size(), "messages");
        for (int i = 0; i < want.size(); i++) {
            if (want.get(i) != null) {
                assertEquals(Json.parse(want.get(i).getBytes(StandardCharsets.UTF_8)), got.get(i));
            }
        }
        assertEquals(new ArrayList<>(tree.keySet()), new ArrayList<>(result.body().keySet()));
    }

    private static void count(Outcome outcome) {
        if (outcome == Outcome.OUTCOME_COMPRESSED) {
            compressed++;
        }
    }

    /** The originals of the kept messages at their places in the result, null at the place of a new one. */
    private static List<String> expected(Recording recording, List<Edit> edits) {
        List<String> want = new ArrayList<>();
        for (Edit edit : edits) {
            if (edit.getSection() != Section.SECTION_MESSAGES) {
                continue;
            }
            switch (edit.getOpCase()) {
                case KEEP -> {
                    for (int i = edit.getKeep().getStart(); i < edit.getKeep().getEnd(); i++) {
                        want.add(recording.message(i));
                    }
                }
                case REPLACE, INSERT -> want.add(null);
                default -> { }
            }
        }
        return want;
    }
}
