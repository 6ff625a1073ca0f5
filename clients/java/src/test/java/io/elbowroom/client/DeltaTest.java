package io.elbowroom.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.elbowroom.v1.Splice;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The edit from one body to the next. */
class DeltaTest {
    private static final String[] PIECES = {"a", "b", "é", "è", "漢", "湢", "😀", "😁", "ab", "{}", "\""};

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void anEditLeadsFromAnyTextToAnyOtherAndSplitsNoCharacter() {
        Random random = new Random(1);
        String filler = "x".repeat(200);
        for (int round = 0; round < 20_000; round++) {
            byte[] from = utf8(filler + text(random));
            byte[] to = utf8(filler + text(random));
            List<Splice> delta = Delta.between(from, to);
            assertArrayEquals(to, Splices.apply(from, delta));
            for (Splice splice : delta) {
                assertArrayEquals(utf8(splice.getText()), splice.getTextBytes().toByteArray());
            }
        }
    }

    private static String text(Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(6); i > 0; i--) {
            text.append(PIECES[random.nextInt(PIECES.length)]);
        }
        return text.toString();
    }

    @Test
    void aGrowingConversationCostsWhatIsNew() {
        String head = "{\"messages\":[" + "{\"role\":\"user\",\"content\":\"x\"},".repeat(1000);
        List<Splice> delta = Delta.between(utf8(head + "1],\"n\":1}"), utf8(head + "1,{\"role\":\"user\"}],\"n\":1}"));
        assertEquals(1, delta.size());
        assertEquals(",{\"role\":\"user\"}", delta.get(0).getText());
    }

    @Test
    void theSameBodyCostsNothing() {
        assertTrue(Delta.between(utf8("[1]"), utf8("[1]")).isEmpty());
    }

    @Test
    void anEditThatIsNoSmallerThanTheBodyIsNone() {
        assertNull(Delta.between(utf8("[" + "1".repeat(500) + "]"), utf8("[" + "2".repeat(500) + "]")));
    }

    @Test
    void aBodyThatIsNoUtf8HasNoEdit() {
        byte[] from = new byte[500];
        byte[] to = new byte[500];
        to[250] = (byte) 0xFF;
        assertNull(Delta.between(from, to));
    }
}
