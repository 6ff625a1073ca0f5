package io.elbowroom.client;

import com.google.protobuf.ByteString;
import io.elbowroom.v1.ApplyCacheControlResponse;
import io.elbowroom.v1.Breakpoint;
import io.elbowroom.v1.Layout;
import java.util.List;

/**
 * A body with its cache breakpoints.
 *
 * @param body the body, in the kind it was given; the very object if nothing changed
 * @param response the answer as it came: its splices lead from the body given to this one
 * @param <B> the kind of body
 */
public record CacheControlResult<B>(B body, ApplyCacheControlResponse response) {
    /** The breakpoints that the body carries. */
    public List<Breakpoint> breakpoints() {
        return response.getBreakpointsList();
    }

    /** The layout used. LAYOUT_UNSPECIFIED: none, the body is unchanged. */
    public Layout layout() {
        return response.getLayout();
    }

    /** STRATEGY_ANCHORED: for the next request of this conversation. Empty otherwise. */
    public ByteString cacheState() {
        return response.getCacheState();
    }
}
