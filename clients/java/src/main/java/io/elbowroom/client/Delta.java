package io.elbowroom.client;

import com.google.protobuf.UnsafeByteOperations;
import io.elbowroom.v1.Splice;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What leads from the body of one request to that of the next. Messages that both have are found by their bytes; between them,
 * one edit covers what is left when the common start and end are taken off. So a turn costs its new messages, the marks that
 * have moved, and after a compression the summary.
 */
final class Delta {
    private static final int EDIT_COST = 16; // bytes of a splice's offsets and framing, roughly

    private final byte[] from;
    private final byte[] to;
    private final List<Splice> splices = new ArrayList<>();
    private int fromCut;
    private int toCut;
    private int pendingStart = -1; // an edit not yet added, because the next may touch it
    private int pendingEnd;
    private int pendingTextStart;
    private int pendingTextEnd;
    private long size;

    private Delta(byte[] from, byte[] to) {
        this.from = from;
        this.to = to;
    }

    /** The edits, or null if they would not be smaller than the new body. */
    static List<Splice> between(BodyLayout from, BodyLayout to) {
        Delta delta = new Delta(from.json(), to.json());
        delta.align(from, to);
        delta.cut(from.json().length, to.json().length);
        delta.flush();
        if (delta.size >= to.json().length || !Arrays.equals(Splices.apply(from.json(), delta.splices), to.json())) {
            return null;
        }
        return delta.splices;
    }

    /** Cuts both bodies where the same messages begin and end. */
    private void align(BodyLayout from, BodyLayout to) {
        Map<ByteBuffer, Deque<Integer>> places = new HashMap<>();
        int common = 0;
        while (common < from.count() && common < to.count() && from.sameMessage(common, to, common)) {
            cut(from.start(common), to.start(common));
            cut(from.end(common), to.end(common));
            common++;
        }
        for (int i = common; i < from.count(); i++) {
            places.computeIfAbsent(message(from, i), key -> new ArrayDeque<>()).add(i);
        }
        int fromNext = common;
        int toNext = common;
        for (int i = common; i < to.count(); i++) {
            Deque<Integer> same = places.get(message(to, i));
            while (same != null && !same.isEmpty() && same.peek() < fromNext) {
                same.remove();
            }
            if (same == null || same.isEmpty()) {
                continue;
            }
            int match = same.remove();
            pair(from, fromNext, match, to, toNext, i);
            cut(from.start(match), to.start(i));
            cut(from.end(match), to.end(i));
            fromNext = match + 1;
            toNext = i + 1;
        }
        pair(from, fromNext, from.count(), to, toNext, to.count());
    }

    /** Messages between two that are the same are compared one by one: most differ in a mark only. */
    private void pair(BodyLayout from, int fromStart, int fromEnd, BodyLayout to, int toStart, int toEnd) {
        for (int i = 0; fromStart + i < fromEnd && toStart + i < toEnd; i++) {
            cut(from.start(fromStart + i), to.start(toStart + i));
            cut(from.end(fromStart + i), to.end(toStart + i));
        }
    }

    private static ByteBuffer message(BodyLayout layout, int i) {
        return ByteBuffer.wrap(layout.json(), layout.start(i), layout.end(i) - layout.start(i));
    }

    /** Compares what lies between the last cut and this one. */
    private void cut(int fromEnd, int toEnd) {
        int start = Arrays.mismatch(from, fromCut, fromEnd, to, toCut, toEnd);
        if (start >= 0) {
            int a = fromCut + start;
            int b = toCut + start;
            while (start > 0 && (insideCharacter(from, a) || insideCharacter(to, b))) {
                start--;
                a--;
                b--;
            }
            int c = fromEnd;
            int d = toEnd;
            while (c > a && d > b && from[c - 1] == to[d - 1]) {
                c--;
                d--;
            }
            while (insideCharacter(to, d) || insideCharacter(from, c)) {
                c++;
                d++;
            }
            edit(a, c, b, d);
        }
        fromCut = fromEnd;
        toCut = toEnd;
    }

    private static boolean insideCharacter(byte[] utf8, int at) {
        return at < utf8.length && (utf8[at] & 0xC0) == 0x80;
    }

    private void edit(int start, int end, int textStart, int textEnd) {
        if (pendingStart >= 0 && pendingEnd == start) { // splices must not touch
            pendingEnd = end;
            pendingTextEnd = textEnd;
            return;
        }
        flush();
        pendingStart = start;
        pendingEnd = end;
        pendingTextStart = textStart;
        pendingTextEnd = textEnd;
    }

    private void flush() {
        if (pendingStart < 0) {
            return;
        }
        splices.add(Splice.newBuilder()
                .setOffset(pendingStart)
                .setLength(pendingEnd - pendingStart)
                .setTextBytes(UnsafeByteOperations.unsafeWrap(to, pendingTextStart, pendingTextEnd - pendingTextStart))
                .build());
        size += pendingTextEnd - pendingTextStart + EDIT_COST;
        pendingStart = -1;
    }
}
