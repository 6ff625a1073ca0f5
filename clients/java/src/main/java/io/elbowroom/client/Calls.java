package io.elbowroom.client;

import com.google.protobuf.MessageLite;
import io.elbowroom.v1.ApplyCacheControlRequest;
import io.elbowroom.v1.CompressRequest;
import io.elbowroom.v1.CountTokensRequest;
import io.elbowroom.v1.PrepareRequest;
import io.elbowroom.v1.StreamCompressRequest;
import io.elbowroom.v1.View;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/** Makes requests of bodies and options, and sends them: what the blocking and the asynchronous client have in common. */
record Calls(Channel channel, Duration timeout) {
    /** Bytes of the largest request that a server accepts. */
    static final int LARGEST_REQUEST = 64 << 20;

    /** Bytes of the largest answer that is accepted. */
    static final int LARGEST_RESPONSE = 128 << 20;

    static CompressRequest compress(Body<?> body, Consumer<CompressRequest.Builder> options) {
        CompressRequest.Builder request = CompressRequest.newBuilder();
        options.accept(request);
        return request.setConversation(body.conversation(request.getConversation())).setView(viewOf(request.getView())).build();
    }

    static StreamCompressRequest streamCompress(Body<?> body, Consumer<CompressRequest.Builder> options) {
        return StreamCompressRequest.newBuilder().setRequest(compress(body, options)).build();
    }

    static ApplyCacheControlRequest applyCacheControl(Body<?> body, Consumer<ApplyCacheControlRequest.Builder> options) {
        ApplyCacheControlRequest.Builder request = ApplyCacheControlRequest.newBuilder();
        options.accept(request);
        return request.setConversation(body.conversation(request.getConversation())).setView(viewOf(request.getView())).build();
    }

    static CountTokensRequest countTokens(Body<?> body, Consumer<CountTokensRequest.Builder> options) {
        CountTokensRequest.Builder request = CountTokensRequest.newBuilder();
        options.accept(request);
        return request.setConversation(body.conversation(request.getConversation())).build();
    }

    static PrepareRequest prepare(Body<?> body, Consumer<PrepareRequest.Builder> options) {
        PrepareRequest.Builder request = PrepareRequest.newBuilder();
        options.accept(request);
        return request.setConversation(body.conversation(request.getConversation())).setView(viewOf(request.getView())).build();
    }

    /** Splices are all that a body is made of. Who reads edits can have them beside. */
    private static View viewOf(View asked) {
        return asked == View.VIEW_EDITS ? asked : View.VIEW_SPLICES;
    }

    /** One call, waited for. */
    <Q extends MessageLite, R> R blocking(MethodDescriptor<Q, R> method, Q request) {
        checkSize(request);
        try {
            return ClientCalls.blockingUnaryCall(channel, method, options(), request);
        } catch (StatusRuntimeException e) {
            throw Errors.of(e);
        }
    }

    /** One call with a stream of answers, which are read one after the other. */
    <Q extends MessageLite, R> void stream(MethodDescriptor<Q, R> method, Q request, Consumer<R> each) {
        checkSize(request);
        ClientCall<Q, R> call = channel.newCall(method, options());
        Iterator<R> answers = ClientCalls.blockingServerStreamingCall(call, request);
        while (hasNext(answers)) {
            R answer = answers.next();
            try {
                each.accept(answer);
            } catch (RuntimeException | Error e) { // nobody reads on
                call.cancel("the consumer failed", e);
                throw e;
            }
        }
    }

    private static boolean hasNext(Iterator<?> answers) {
        try {
            return answers.hasNext();
        } catch (StatusRuntimeException e) {
            throw Errors.of(e);
        }
    }

    /** One call, not waited for. Cancelling the future cancels the call. */
    <Q extends MessageLite, R, T> CompletableFuture<T> future(MethodDescriptor<Q, R> method, Q request, Function<R, T> then) {
        checkSize(request);
        ClientCall<Q, R> call = channel.newCall(method, options());
        CompletableFuture<T> result = new CompletableFuture<>();
        result.whenComplete((value, thrown) -> {
            if (result.isCancelled()) {
                call.cancel("cancelled by the caller", null);
            }
        });
        ClientCalls.asyncUnaryCall(call, request, new StreamObserver<R>() {
            @Override
            public void onNext(R response) {
                try {
                    result.complete(then.apply(response));
                } catch (RuntimeException e) {
                    result.completeExceptionally(e);
                }
            }

            @Override
            public void onError(Throwable thrown) {
                result.completeExceptionally(Errors.of(thrown));
            }

            @Override
            public void onCompleted() {
                // onNext came before it
            }
        });
        return result;
    }

    private CallOptions options() {
        return CallOptions.DEFAULT.withDeadlineAfter(timeout.toNanos(), TimeUnit.NANOSECONDS);
    }

    private static void checkSize(MessageLite request) {
        if (request.getSerializedSize() > LARGEST_REQUEST) {
            throw Errors.invalid("conversation", "the request has " + request.getSerializedSize() + " bytes",
                    "Send at most " + LARGEST_REQUEST + " bytes.", -1, null);
        }
    }
}
