package io.elbowroom.client;

import io.elbowroom.v1.ApplyCacheControlRequest;
import io.elbowroom.v1.CompressRequest;
import io.elbowroom.v1.ContextServiceGrpc;
import io.elbowroom.v1.CountTokensRequest;
import io.elbowroom.v1.CountTokensResponse;
import io.elbowroom.v1.ListModelsRequest;
import io.elbowroom.v1.ListModelsResponse;
import io.elbowroom.v1.PrepareRequest;
import io.elbowroom.v1.SimulateCacheRequest;
import io.elbowroom.v1.SimulateCacheResponse;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The calls of {@link Client} as futures, which fail with an {@link ElbowroomException}. Cancelling a future cancels its call.
 * They complete on the client's executor.
 */
public final class AsyncClient {
    private final Calls calls;

    AsyncClient(Calls calls) {
        this.calls = calls;
    }

    /** See {@link Client#compress(Body, Consumer)}. */
    public <B> CompletableFuture<CompressResult<B>> compress(Body<B> body, Consumer<CompressRequest.Builder> options) {
        return start(() -> calls.future(ContextServiceGrpc.getCompressMethod(), Calls.compress(body, options),
                response -> new CompressResult<>(body.apply(response.getSplicesList()), response)));
    }

    /** See {@link Client#applyCacheControl(Body, Consumer)}. */
    public <B> CompletableFuture<CacheControlResult<B>> applyCacheControl(
            Body<B> body, Consumer<ApplyCacheControlRequest.Builder> options) {
        return start(() -> calls.future(
                ContextServiceGrpc.getApplyCacheControlMethod(), Calls.applyCacheControl(body, options),
                response -> new CacheControlResult<>(body.apply(response.getSplicesList()), response)));
    }

    /** See {@link Client#countTokens(Body, Consumer)}. */
    public CompletableFuture<CountTokensResponse> countTokens(Body<?> body, Consumer<CountTokensRequest.Builder> options) {
        return start(() -> calls.future(
                ContextServiceGrpc.getCountTokensMethod(), Calls.countTokens(body, options), response -> response));
    }

    /** See {@link Client#prepare(Body, Consumer)}. */
    public <B> CompletableFuture<PrepareResult<B>> prepare(Body<B> body, Consumer<PrepareRequest.Builder> options) {
        return start(() -> calls.future(ContextServiceGrpc.getPrepareMethod(), Calls.prepare(body, options),
                response -> new PrepareResult<>(body.apply(response.getSplicesList()), response)));
    }

    /** See {@link Client#simulateCache(SimulateCacheRequest)}. */
    public CompletableFuture<SimulateCacheResponse> simulateCache(SimulateCacheRequest request) {
        return start(() -> calls.future(ContextServiceGrpc.getSimulateCacheMethod(), request, response -> response));
    }

    /** See {@link Client#listModels(String)}. */
    public CompletableFuture<ListModelsResponse> listModels(String filter) {
        return start(() -> calls.future(ContextServiceGrpc.getListModelsMethod(),
                ListModelsRequest.newBuilder().setFilter(filter).build(), response -> response));
    }

    /** A request that cannot be made fails as the call would. */
    private static <T> CompletableFuture<T> start(Supplier<CompletableFuture<T>> call) {
        try {
            return call.get();
        } catch (ElbowroomException e) {
            return CompletableFuture.failedFuture(e);
        }
    }
}
