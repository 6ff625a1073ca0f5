package io.elbowroom.client;

import com.google.protobuf.UnsafeByteOperations;
import io.elbowroom.v1.Splice;
import java.util.Arrays;
import java.util.List;

/**
 * What leads from a body that the server holds to the next one: one edit, which covers what is left when the common start and
 * end are taken off. A conversation that grows costs what is new.
 */
final class Delta {
    private static final int FRAMING = 64; // bytes of the edit's offsets and of the base's hash, roughly

    private Delta() {}

    /** The edit, or null if it would not be smaller than the new body or the body is no UTF-8. */
    static List<Splice> between(byte[] from, byte[] to) {
        int start = Arrays.mismatch(from, to);
        if (start < 0) {
            return List.of();
        }
        while (insideCharacter(from, start) || insideCharacter(to, start)) {
            start--;
        }
        int fromEnd = from.length;
        int toEnd = to.length;
        while (fromEnd > start && toEnd > start && from[fromEnd - 1] == to[toEnd - 1]) {
            fromEnd--;
            toEnd--;
        }
        while (insideCharacter(from, fromEnd) || insideCharacter(to, toEnd)) {
            fromEnd++;
            toEnd++;
        }
        if (toEnd - start + FRAMING >= to.length) {
            return null;
        }
        try {
            return List.of(Splice.newBuilder()
                    .setOffset(start)
                    .setLength(fromEnd - start)
                    .setTextBytes(UnsafeByteOperations.unsafeWrap(to, start, toEnd - start))
                    .build());
        } catch (IllegalArgumentException e) { // an edit's text is UTF-8; what else a body holds is the server's to refuse
            return null;
        }
    }

    /** Whether a cut at this byte would split a character. */
    private static boolean insideCharacter(byte[] utf8, int at) {
        return at > 0 && at < utf8.length && (utf8[at] & 0xC0) == 0x80;
    }
}
