package io.elbowroom.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.elbowroom.v1.CountTokensResponse;
import io.elbowroom.v1.Format;
import io.grpc.BindableService;
import io.grpc.Status;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.protobuf.services.HealthStatusManager;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a caller sees when the service is down, restarting, slow or refusing. */
@Timeout(60)
class ErrorsTest {
    private static final Body<String> BODY = Body.of("[{\"role\":\"user\",\"content\":\"hi\"}]").as(Format.FORMAT_OPENAI_CHAT);

    private static <E extends ElbowroomException> E failure(Class<E> type, BindableService service) {
        try (FakeServer server = new FakeServer(service); Client client = Client.connect(server.target())) {
            E error = assertThrows(type, () -> client.countTokens(BODY));
            assertFalse(error.advice().isEmpty());
            assertTrue(error.getMessage().contains(error.advice()));
            return error;
        }
    }

    @Test
    void anInvalidRequestNamesFieldOffsetAndMessage() {
        InvalidRequestException error = failure(InvalidRequestException.class, FakeServer.failing(
                Status.Code.INVALID_ARGUMENT, "broken",
                BadRequest.newBuilder()
                        .addFieldViolations(BadRequest.FieldViolation.newBuilder().setField("conversation.native.json"))
                        .build(),
                ErrorInfo.newBuilder()
                        .setReason("INVALID_CONVERSATION")
                        .putMetadata("byte_offset", "17")
                        .putMetadata("message_index", "3")
                        .build()));
        assertEquals("conversation.native.json", error.field());
        assertEquals(OptionalLong.of(17), error.byteOffset());
        assertEquals(OptionalInt.of(3), error.index());
        assertEquals("INVALID_CONVERSATION", error.reason());
        assertEquals("broken", error.description());
    }

    @Test
    void aRefusalHasReasonAndMessage() {
        RefusedException error = failure(RefusedException.class, FakeServer.failing(
                Status.Code.FAILED_PRECONDITION, "no",
                ErrorInfo.newBuilder().setReason("DUPLICATE_CALL_ID").putMetadata("message_index", "5").build()));
        assertEquals("DUPLICATE_CALL_ID", error.reason());
        assertEquals(OptionalInt.of(5), error.index());
    }

    @Test
    void anOverloadedServerSaysWhenToComeBack() {
        RetryInfo retry = RetryInfo.newBuilder()
                .setRetryDelay(com.google.protobuf.Duration.newBuilder().setSeconds(2).setNanos(500_000_000))
                .build();
        OverloadedException error = failure(OverloadedException.class,
                FakeServer.answering((request, observer) -> observer.onError(FakeServer.overloaded(-1, retry))));
        assertEquals(Optional.of(Duration.ofMillis(2500)), error.retryAfter());
    }

    @Test
    void theOtherCodesHaveTheirClasses() {
        failure(UnauthenticatedException.class, FakeServer.failing(Status.Code.UNAUTHENTICATED, "who?"));
        failure(PermissionDeniedException.class, FakeServer.failing(Status.Code.PERMISSION_DENIED, "no"));
        assertEquals("12ab", failure(InternalException.class,
                FakeServer.failing(Status.Code.INTERNAL, "internal error, logged as 12ab")).errorId());
        assertEquals(Status.Code.UNIMPLEMENTED,
                failure(ElbowroomException.class, FakeServer.failing(Status.Code.UNIMPLEMENTED, "what?")).code());
    }

    @Test
    void aServiceThatIsNotThereIsUnavailable() throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        try (Client client = Client.connect("127.0.0.1:" + port)) {
            UnavailableException error = assertThrows(UnavailableException.class, () -> client.countTokens(BODY));
            assertEquals(Optional.empty(), error.retryAfter());
            assertTrue(error.advice().contains("Check that the service runs"), error.advice());

            Conversation conversation = Conversation.builder(client).failOpen(true).build();
            String text = "[{\"role\":\"system\",\"content\":\"s\"}]";
            assertSame(text, conversation.beforeRequest(Body.of(text)));
            assertInstanceOf(UnavailableException.class, conversation.lastError().orElseThrow());
            Conversation strict = Conversation.with(client);
            assertThrows(UnavailableException.class, () -> strict.beforeRequest(Body.of(text)));
        }
    }

    @Test
    void anUnavailableCallIsMadeFourTimes() {
        AtomicInteger calls = new AtomicInteger();
        BindableService service = FakeServer.answering((request, observer) -> {
            if (calls.incrementAndGet() < 4) {
                observer.onError(FakeServer.status(Status.Code.UNAVAILABLE, "draining"));
                return;
            }
            observer.onNext(CountTokensResponse.newBuilder().setTokens(7).build());
            observer.onCompleted();
        });
        String large = "[{\"role\":\"user\",\"content\":\"" + "x".repeat(3 << 20) + "\"}]"; // beyond gRPC's own retry buffer
        try (FakeServer server = new FakeServer(service); Client client = Client.connect(server.target())) {
            assertEquals(7, client.countTokens(Body.of(large).as(Format.FORMAT_OPENAI_CHAT)).getTokens());
        }
        assertEquals(4, calls.get());
    }

    @Test
    void anOverloadedServerIsCalledAgainWhenItSays() {
        RetryInfo soon = RetryInfo.newBuilder()
                .setRetryDelay(com.google.protobuf.Duration.newBuilder().setNanos(1_000_000))
                .build();
        AtomicInteger calls = new AtomicInteger();
        BindableService service = FakeServer.answering((request, observer) -> {
            if (calls.incrementAndGet() < 3) {
                observer.onError(FakeServer.overloaded(1, soon));
                return;
            }
            observer.onNext(CountTokensResponse.newBuilder().setTokens(7).build());
            observer.onCompleted();
        });
        String large = "[{\"role\":\"user\",\"content\":\"" + "x".repeat(3 << 20) + "\"}]";
        try (FakeServer server = new FakeServer(service); Client client = Client.connect(server.target())) {
            assertEquals(7, client.countTokens(Body.of(large).as(Format.FORMAT_OPENAI_CHAT)).getTokens());
        }
        assertEquals(3, calls.get());
    }

    @Test
    void anOverloadedServerThatNamesNoTimeIsCalledOnce() {
        AtomicInteger calls = new AtomicInteger();
        OverloadedException error = failure(OverloadedException.class, FakeServer.answering((request, observer) -> {
            calls.incrementAndGet();
            observer.onError(FakeServer.overloaded(-1));
        }));
        assertEquals(Optional.empty(), error.retryAfter());
        assertEquals(1, calls.get());
    }

    @Test
    void aSlowServerRunsIntoTheTimeout() {
        CountDownLatch done = new CountDownLatch(1);
        BindableService never = FakeServer.answering((request, observer) -> await(done));
        try (FakeServer server = new FakeServer(never);
                Client client = Client.builder(server.target()).timeout(Duration.ofMillis(300)).build()) {
            assertThrows(DeadlineExceededException.class, () -> client.countTokens(BODY));
            CompletableFuture<CountTokensResponse> future = client.async().countTokens(BODY, request -> {});
            CompletionException thrown = assertThrows(CompletionException.class, future::join);
            assertInstanceOf(DeadlineExceededException.class, thrown.getCause());
        } finally {
            done.countDown();
        }
    }

    @Test
    void cancellingAFutureCancelsItsCall() throws InterruptedException {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch cancelled = new CountDownLatch(1);
        BindableService never = FakeServer.answering((request, observer) -> {
            ((io.grpc.stub.ServerCallStreamObserver<?>) (Object) observer).setOnCancelHandler(cancelled::countDown);
            started.countDown();
        });
        try (FakeServer server = new FakeServer(never); Client client = Client.connect(server.target())) {
            CompletableFuture<CountTokensResponse> future = client.async().countTokens(BODY, request -> {});
            assertTrue(started.await(30, TimeUnit.SECONDS));
            future.cancel(true);
            assertTrue(cancelled.await(30, TimeUnit.SECONDS));
        }
    }

    @Test
    void aServerThatIsNotServingGetsNoCalls() {
        HealthStatusManager health = new HealthStatusManager();
        health.setStatus("elbowroom.v1.ContextService", ServingStatus.NOT_SERVING);
        try (FakeServer server = new FakeServer(FakeServer.counting(1), health.getHealthService());
                Client client = Client.connect(server.target())) {
            assertThrows(UnavailableException.class, () -> client.countTokens(BODY));
            assertEquals(0, server.headers.size());
            health.setStatus("elbowroom.v1.ContextService", ServingStatus.SERVING);
            assertEquals(1, eventually(client).getTokens());
        }
    }

    private static CountTokensResponse eventually(Client client) {
        for (int i = 0; ; i++) {
            try {
                return client.countTokens(BODY);
            } catch (UnavailableException e) {
                if (i == 20) {
                    throw e;
                }
            }
        }
    }

    @Test
    void aRestartedServerIsFoundAgain() {
        Server first = Server.start(0);
        try (Client client = Client.connect(first.target())) {
            assertTrue(client.countTokens(BODY).getTokens() > 0);
            int port = first.port();
            first.close();
            try (Server second = Server.start(port)) {
                assertTrue(eventually(client).getTokens() > 0);
            }
        } finally {
            first.close();
        }
    }

    @Test
    void aRequestThatIsTooLargeIsNotSent() {
        byte[] large = new byte[Calls.LARGEST_REQUEST + 1];
        try (Client client = Client.connect("127.0.0.1:1")) {
            InvalidRequestException error = assertThrows(InvalidRequestException.class,
                    () -> client.countTokens(Body.of(large).as(Format.FORMAT_OPENAI_CHAT)));
            assertEquals("conversation", error.field());
        }
    }

    @Test
    void splicesThatDoNotFitAreAnInternalError() {
        BindableService odd = FakeServer.answering((request, observer) -> {
            observer.onNext(io.elbowroom.v1.CompressResponse.newBuilder()
                    .addSplices(io.elbowroom.v1.Splice.newBuilder().setOffset(1000).setLength(1))
                    .build());
            observer.onCompleted();
        });
        try (FakeServer server = new FakeServer(odd); Client client = Client.connect(server.target())) {
            assertThrows(InternalException.class, () -> client.compress(BODY));
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await(30, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
