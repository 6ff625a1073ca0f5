package io.elbowroom.client;

import io.elbowroom.v1.ApplyCacheControlRequest;
import io.elbowroom.v1.ApplyCacheControlResponse;
import io.elbowroom.v1.CompressRequest;
import io.elbowroom.v1.CompressResponse;
import io.elbowroom.v1.ContextServiceGrpc;
import io.elbowroom.v1.CountTokensRequest;
import io.elbowroom.v1.CountTokensResponse;
import io.elbowroom.v1.ListModelsRequest;
import io.elbowroom.v1.ListModelsResponse;
import io.elbowroom.v1.PrepareRequest;
import io.elbowroom.v1.PrepareResponse;
import io.elbowroom.v1.SimulateCacheRequest;
import io.elbowroom.v1.SimulateCacheResponse;
import io.elbowroom.v1.StreamCompressResponse;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.stub.MetadataUtils;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * A connection to an Elbowroom server. Safe for use by many threads; one is enough for an application.
 *
 * <p>Every method takes a {@link Body} and gives back the same kind. Options are the fields of the request message:
 * {@code client.compress(Body.of(json), request -> request.setModel("gpt-4o").setForce(true))}; a request that was made before
 * goes in by {@code request.mergeFrom(base)}. The conversation and the view are set by the client.
 *
 * <p>Failures are {@link ElbowroomException}s. Calls that find the service unavailable, or overloaded
 * for two seconds at most, are made again, four times in all.
 */
public final class Client implements AutoCloseable {
    private final ManagedChannel connection;
    private final Calls calls;

    Client(ManagedChannel connection, Channel channel, Duration timeout) {
        this.connection = connection;
        this.calls = new Calls(channel, timeout);
    }

    /** A client without TLS and with default options for a target such as {@code localhost:50051}. */
    public static Client connect(String target) {
        return builder(target).build();
    }

    /** Options of a client. */
    public static ClientBuilder builder(String target) {
        return new ClientBuilder(target);
    }

    /** The body, shorter where it is time for it. */
    public <B> CompressResult<B> compress(Body<B> body, Consumer<CompressRequest.Builder> options) {
        CompressResponse response = calls.blocking(ContextServiceGrpc.getCompressMethod(), Calls.compress(body, options));
        return new CompressResult<>(body.apply(response.getSplicesList()), response);
    }

    /** The body, shorter where it is time for it, by the server's defaults. */
    public <B> CompressResult<B> compress(Body<B> body) {
        return compress(body, request -> {});
    }

    /**
     * Compress with its progress. The events come on the calling thread, in order; an exception of the listener ends the call and
     * is thrown on. The result is the last event and is not given to the listener.
     */
    public <B> CompressResult<B> streamCompress(
            Body<B> body, Consumer<CompressRequest.Builder> options, Consumer<StreamCompressResponse> listener) {
        AtomicReference<CompressResponse> result = new AtomicReference<>();
        calls.stream(ContextServiceGrpc.getStreamCompressMethod(), Calls.streamCompress(body, options), event -> {
            if (event.hasResult()) {
                result.set(event.getResult());
            } else {
                listener.accept(event);
            }
        });
        if (result.get() == null) {
            throw Errors.broken("the stream ended without a result");
        }
        return new CompressResult<>(body.apply(result.get().getSplicesList()), result.get());
    }

    /** The body with cache breakpoints where the provider reads best. */
    public <B> CacheControlResult<B> applyCacheControl(Body<B> body, Consumer<ApplyCacheControlRequest.Builder> options) {
        ApplyCacheControlResponse response =
                calls.blocking(ContextServiceGrpc.getApplyCacheControlMethod(), Calls.applyCacheControl(body, options));
        return new CacheControlResult<>(body.apply(response.getSplicesList()), response);
    }

    /** The body with cache breakpoints, by the server's defaults. */
    public <B> CacheControlResult<B> applyCacheControl(Body<B> body) {
        return applyCacheControl(body, request -> {});
    }

    /** The size in tokens, with bounds. */
    public CountTokensResponse countTokens(Body<?> body, Consumer<CountTokensRequest.Builder> options) {
        return calls.blocking(ContextServiceGrpc.getCountTokensMethod(), Calls.countTokens(body, options));
    }

    /** The size in tokens, with bounds, by the server's defaults. */
    public CountTokensResponse countTokens(Body<?> body) {
        return countTokens(body, request -> {});
    }

    /** Compress if needed, and mark: one round trip a turn. {@link Conversation} carries the state between turns. */
    public <B> PrepareResult<B> prepare(Body<B> body, Consumer<PrepareRequest.Builder> options) {
        PrepareResponse response = calls.blocking(ContextServiceGrpc.getPrepareMethod(), Calls.prepare(body, options));
        return new PrepareResult<>(body.apply(response.getSplicesList()), response);
    }

    /** Compress if needed, and mark, by the server's defaults. */
    public <B> PrepareResult<B> prepare(Body<B> body) {
        return prepare(body, request -> {});
    }

    /** What successive requests read from the provider's cache, and why not more. {@link Body#conversation()} makes their bodies. */
    public SimulateCacheResponse simulateCache(SimulateCacheRequest request) {
        return calls.blocking(ContextServiceGrpc.getSimulateCacheMethod(), request);
    }

    /** The models whose id contains the filter, all if it is empty. */
    public ListModelsResponse listModels(String filter) {
        return calls.blocking(ContextServiceGrpc.getListModelsMethod(), ListModelsRequest.newBuilder().setFilter(filter).build());
    }

    /** The same calls without waiting. */
    public AsyncClient async() {
        return new AsyncClient(calls);
    }

    /** A client with another timeout for each call, over the same connection: closing one closes both. */
    public Client withTimeout(Duration timeout) {
        return new Client(connection, calls.channel(), timeout);
    }

    /** A client that sends these headers too, over the same connection: closing one closes both. */
    public Client withHeaders(Metadata headers) {
        Channel channel =
                ClientInterceptors.intercept(calls.channel(), MetadataUtils.newAttachHeadersInterceptor(headers));
        return new Client(connection, channel, calls.timeout());
    }

    /** The channel, for stubs of your own such as {@code ContextServiceGrpc.newBlockingStub(client.channel())}. */
    public Channel channel() {
        return calls.channel();
    }

    Calls calls() {
        return calls;
    }

    /** Ends the connection: at once for new calls, after at most five seconds for those that run. */
    @Override
    public void close() {
        connection.shutdown();
        try {
            if (connection.awaitTermination(5, TimeUnit.SECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        connection.shutdownNow();
    }
}
