package io.elbowroom.client;

import com.google.protobuf.ByteString;
import io.elbowroom.v1.CompressResponse;
import io.elbowroom.v1.CompressionReport;
import io.elbowroom.v1.Outcome;

/**
 * What Compress made of a body.
 *
 * @param body the body, in the kind it was given; the very object if nothing changed
 * @param response the answer as it came: its splices lead from the body given to this one
 * @param <B> the kind of body
 */
public record CompressResult<B>(B body, CompressResponse response) {
    /** What happened. */
    public Outcome outcome() {
        return response.getOutcome();
    }

    /** What was kept, shortened, summarized, repaired and lost. */
    public CompressionReport report() {
        return response.getReport();
    }

    /** The summary without its frame. Empty when none was written. */
    public String summary() {
        return response.getSummary();
    }

    /** For the next request of this conversation. Empty when there is no summary. */
    public ByteString compressionState() {
        return response.getCompressionState();
    }
}
