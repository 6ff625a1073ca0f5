package io.elbowroom.client;

import com.google.protobuf.Any;
import com.google.protobuf.Message;
import com.google.rpc.Status;
import io.elbowroom.v1.CompressRequest;
import io.elbowroom.v1.CompressResponse;
import io.elbowroom.v1.ContextServiceGrpc;
import io.elbowroom.v1.CountTokensRequest;
import io.elbowroom.v1.CountTokensResponse;
import io.elbowroom.v1.PrepareRequest;
import io.elbowroom.v1.PrepareResponse;
import io.grpc.BindableService;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerCredentials;
import io.grpc.ServerInterceptor;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.protobuf.StatusProto;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;

/** A healthy server on loopback that answers as a test wants, and remembers the headers of each call. */
final class FakeServer implements AutoCloseable {
    final List<Metadata> headers = new CopyOnWriteArrayList<>();
    private final Server server;

    /** What the service does. Anything not overridden is UNIMPLEMENTED. */
    abstract static class Service extends ContextServiceGrpc.ContextServiceImplBase {}

    FakeServer(BindableService... services) {
        this(InsecureServerCredentials.create(), services);
    }

    FakeServer(ServerCredentials credentials, BindableService... services) {
        ServerBuilder<?> builder = Grpc.newServerBuilderForPort(0, credentials).maxInboundMessageSize(64 << 20);
        boolean health = false;
        for (BindableService service : services) {
            builder.addService(service);
            health |= service.bindService().getServiceDescriptor().getName().equals("grpc.health.v1.Health");
        }
        if (!health) {
            HealthStatusManager healthy = new HealthStatusManager();
            healthy.setStatus(ContextServiceGrpc.SERVICE_NAME, ServingStatus.SERVING);
            builder.addService(healthy.getHealthService());
        }
        builder.intercept(new ServerInterceptor() {
            @Override
            public <Q, R> ServerCall.Listener<Q> interceptCall(
                    ServerCall<Q, R> call, Metadata metadata, ServerCallHandler<Q, R> next) {
                if (call.getMethodDescriptor().getServiceName().equals(ContextServiceGrpc.SERVICE_NAME)) {
                    headers.add(metadata);
                }
                return next.startCall(call, metadata);
            }
        });
        try {
            server = builder.build().start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    String target() {
        return "localhost:" + server.getPort();
    }

    @Override
    public void close() {
        server.shutdownNow();
    }

    /** A service whose CountTokens, Compress and Prepare do this. */
    static BindableService answering(BiConsumer<Message, StreamObserver<Message>> answer) {
        return new Service() {
            @Override
            public void countTokens(CountTokensRequest request, StreamObserver<CountTokensResponse> observer) {
                answer.accept(request, untyped(observer));
            }

            @Override
            public void compress(CompressRequest request, StreamObserver<CompressResponse> observer) {
                answer.accept(request, untyped(observer));
            }

            @Override
            public void prepare(PrepareRequest request, StreamObserver<PrepareResponse> observer) {
                answer.accept(request, untyped(observer));
            }
        };
    }

    /** A service that counts everything as so many tokens. */
    static BindableService counting(int tokens) {
        return answering((request, observer) -> {
            observer.onNext(CountTokensResponse.newBuilder().setTokens(tokens).build());
            observer.onCompleted();
        });
    }

    /** A service that fails like this. */
    static BindableService failing(io.grpc.Status.Code code, String message, Message... details) {
        StatusRuntimeException status = status(code, message, details);
        return answering((request, observer) -> observer.onError(status));
    }

    static StatusRuntimeException status(io.grpc.Status.Code code, String message, Message... details) {
        Status.Builder status = Status.newBuilder().setCode(code.value()).setMessage(message);
        for (Message detail : details) {
            status.addDetails(Any.pack(detail));
        }
        return StatusProto.toStatusRuntimeException(status.build());
    }

    /** RESOURCE_EXHAUSTED with what gRPC's own retry is to do: wait so many milliseconds, or stop at -1. */
    static StatusRuntimeException overloaded(int pushback, Message... details) {
        StatusRuntimeException status = status(io.grpc.Status.Code.RESOURCE_EXHAUSTED, "busy", details);
        status.getTrailers().put(
                Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER), Integer.toString(pushback));
        return status;
    }

    @SuppressWarnings("unchecked")
    private static StreamObserver<Message> untyped(StreamObserver<? extends Message> observer) {
        return (StreamObserver<Message>) observer;
    }
}
