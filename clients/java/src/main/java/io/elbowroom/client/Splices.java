package io.elbowroom.client;

import com.google.protobuf.ByteString;
import io.elbowroom.v1.Splice;
import java.util.List;

/** Byte edits of a text: ascending and disjoint. */
final class Splices {
    private Splices() {}

    /** The edited text; the original itself if there is nothing to edit. */
    static byte[] apply(byte[] original, List<Splice> splices) {
        if (splices.isEmpty()) {
            return original;
        }
        long size = original.length;
        long at = 0;
        for (Splice splice : splices) {
            if (splice.getOffset() < at || splice.getLength() < 0
                    || splice.getLength() > original.length - splice.getOffset()) {
                throw Errors.broken("the splices do not fit the body that was sent");
            }
            at = splice.getOffset() + splice.getLength();
            size += splice.getTextBytes().size() - splice.getLength();
        }
        byte[] result = new byte[Math.toIntExact(size)];
        int from = 0;
        int to = 0;
        for (Splice splice : splices) {
            int kept = (int) splice.getOffset() - from;
            System.arraycopy(original, from, result, to, kept);
            ByteString text = splice.getTextBytes();
            text.copyTo(result, to + kept);
            to += kept + text.size();
            from = (int) (splice.getOffset() + splice.getLength());
        }
        System.arraycopy(original, from, result, to, original.length - from);
        return result;
    }
}
