package io.elbowroom.client;

import com.google.protobuf.ByteString;
import io.elbowroom.v1.Breakpoint;
import io.elbowroom.v1.CompressionReport;
import io.elbowroom.v1.Outcome;
import io.elbowroom.v1.PrepareResponse;
import java.util.List;

/**
 * A body that is ready to be sent to the model.
 *
 * @param body the body, in the kind it was given; the very object if nothing changed
 * @param response the answer as it came: its splices lead from the body given to this one
 * @param <B> the kind of body
 */
public record PrepareResult<B>(B body, PrepareResponse response) {
    /** What compression did. */
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

    /** The breakpoints that the body carries. */
    public List<Breakpoint> breakpoints() {
        return response.getBreakpointsList();
    }

    /** STRATEGY_ANCHORED: for the next request of this conversation. Empty otherwise. */
    public ByteString cacheState() {
        return response.getCacheState();
    }
}
