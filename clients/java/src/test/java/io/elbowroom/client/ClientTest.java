package io.elbowroom.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.elbowroom.v1.CompressPhase;
import io.elbowroom.v1.CompressRequest;
import io.elbowroom.v1.CompressResponse;
import io.elbowroom.v1.Format;
import io.elbowroom.v1.Outcome;
import io.elbowroom.v1.SimulateCacheRequest;
import io.elbowroom.v1.SimulateCacheResponse;
import io.elbowroom.v1.SimulatedRequest;
import io.elbowroom.v1.StreamCompressRequest;
import io.elbowroom.v1.StreamCompressResponse;
import io.elbowroom.v1.Strategy;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The calls of the client against the real server. */
@Timeout(60)
class ClientTest {
    private static Client client;

    @BeforeAll
    static void connect() {
        client = Client.connect(Server.shared().target());
    }

    @AfterAll
    static void close() {
        if (client != null) {
            client.close();
        }
    }

    private static List<Map<String, Object>> longConversation() {
        return longConversation("You are a Java client's test.");
    }

    private static List<Map<String, Object>> longConversation(String system) {
        List<Map<String, Object>> messages = new ArrayList<>();
        messages.add(Map.of("role", "system", "content", system));
        for (int i = 0; i < 30; i++) {
            messages.add(Map.of("role", "user", "content", "Question " + i + ": " + "what now? ".repeat(50)));
            messages.add(Map.of("role", "assistant", "content", "Answer " + i + ": " + "this now. ".repeat(50)));
        }
        messages.add(Map.of("role", "user", "content", "And at last?"));
        return messages;
    }

    private static Consumer<CompressRequest.Builder> forced() {
        return request -> request.setForce(true).setContextWindow(8000).getPolicyBuilder().setProtectLastN(2);
    }

    @Test
    void compressTakesAndReturnsTrees() {
        CompressResult<List<Map<String, Object>>> result = client.compress(Body.of(longConversation()), forced());
        assertEquals(Outcome.OUTCOME_COMPRESSED, result.outcome());
        assertTrue(result.body().size() < 62);
        assertTrue(result.report().getTokensAfter() < result.report().getTokensBefore());
        assertFalse(result.summary().isEmpty());
        assertFalse(result.compressionState().isEmpty());
    }

    @Test
    void aBodyThatIsShortEnoughComesBackAsItself() {
        List<Map<String, Object>> messages = longConversation().subList(0, 5);
        CompressResult<List<Map<String, Object>>> result = client.compress(Body.of(messages));
        assertEquals(Outcome.OUTCOME_BELOW_THRESHOLD, result.outcome());
        assertSame(messages, result.body());
    }

    @Test
    void futuresGiveWhatTheBlockingCallsGive() {
        Body<List<Map<String, Object>>> body = Body.of(longConversation());
        AsyncClient async = client.async();
        assertEquals(client.compress(body, forced()).body(), async.compress(body, forced()).join().body());
        assertEquals(client.countTokens(body), async.countTokens(body, request -> {}).join());
        assertEquals(client.listModels("opus"), async.listModels("opus").join());
        assertEquals(
                client.applyCacheControl(body, request -> request.setModel("anthropic/claude-sonnet-4.5")).body(),
                async.applyCacheControl(body, request -> request.setModel("anthropic/claude-sonnet-4.5")).join().body());
        assertEquals(
                client.prepare(body, request -> request.setStrategy(Strategy.STRATEGY_NONE)).response(),
                async.prepare(body, request -> request.setStrategy(Strategy.STRATEGY_NONE)).join().response());
    }

    @Test
    void aFutureFailsWithTheTypedError() {
        CompletionException broken = assertThrows(CompletionException.class,
                () -> client.async().compress(Body.of("[}").as(Format.FORMAT_OPENAI_CHAT), request -> {}).join());
        assertEquals(1, assertInstanceOf(InvalidRequestException.class, broken.getCause()).byteOffset().orElseThrow());
        CompletionException untold = assertThrows(CompletionException.class,
                () -> client.async().compress(Body.of("[]"), request -> {}).join());
        assertInstanceOf(InvalidRequestException.class, untold.getCause());
    }

    @Test
    void breakpointsAreSetAndNamed() {
        CacheControlResult<List<Map<String, Object>>> result = client.applyCacheControl(
                Body.of(longConversation()), request -> request.setModel("anthropic/claude-sonnet-4.5"));
        assertEquals(4, result.breakpoints().size());
        assertEquals(io.elbowroom.v1.Layout.LAYOUT_OPENROUTER, result.layout());
    }

    @Test
    void theStreamTellsItsPhasesAndEndsWithTheResult() {
        List<CompressPhase> phases = new ArrayList<>();
        CompressResult<List<Map<String, Object>>> result = client.streamCompress(
                Body.of(longConversation("Not compressed by another test.")), forced(), event -> phases.add(event.getProgress().getPhase()));
        assertEquals(Outcome.OUTCOME_COMPRESSED, result.outcome());
        assertEquals(CompressPhase.COMPRESS_PHASE_COUNTING, phases.get(0));
        assertTrue(phases.contains(CompressPhase.COMPRESS_PHASE_SUMMARIZING), phases.toString());
    }

    @Test
    void anExceptionOfTheListenerEndsTheStream() throws InterruptedException {
        CountDownLatch cancelled = new CountDownLatch(1);
        FakeServer.Service endless = new FakeServer.Service() {
            @Override
            public void streamCompress(StreamCompressRequest request, StreamObserver<StreamCompressResponse> observer) {
                ((ServerCallStreamObserver<StreamCompressResponse>) observer).setOnCancelHandler(cancelled::countDown);
                observer.onNext(StreamCompressResponse.newBuilder().setSummaryPiece(
                        io.elbowroom.v1.SummaryPiece.getDefaultInstance()).build());
            }
        };
        try (FakeServer server = new FakeServer(endless); Client fake = Client.connect(server.target())) {
            IllegalStateException thrown = assertThrows(IllegalStateException.class,
                    () -> fake.streamCompress(Body.of(longConversation()), request -> {}, event -> {
                        throw new IllegalStateException("enough");
                    }));
            assertEquals("enough", thrown.getMessage());
            assertTrue(cancelled.await(30, TimeUnit.SECONDS));
        }
    }

    @Test
    void aStreamWithoutAResultIsAnError() {
        FakeServer.Service empty = new FakeServer.Service() {
            @Override
            public void streamCompress(StreamCompressRequest request, StreamObserver<StreamCompressResponse> observer) {
                observer.onCompleted();
            }
        };
        try (FakeServer server = new FakeServer(empty); Client fake = Client.connect(server.target())) {
            assertThrows(InternalException.class,
                    () -> fake.streamCompress(Body.of(longConversation()), request -> {}, event -> {}));
        }
    }

    @Test
    void simulatedRequestsAreMadeOfBodies() {
        Body<List<Map<String, Object>>> body = Body.of(longConversation());
        SimulateCacheRequest.Builder request = SimulateCacheRequest.newBuilder().setModel("gpt-4o");
        for (int i = 0; i < 2; i++) {
            request.addRequests(SimulatedRequest.newBuilder().setConversation(body.conversation()).setStartMs(i * 20_000));
        }
        SimulateCacheResponse response = client.simulateCache(request.build());
        assertTrue(response.getTurns(1).getSplit().getReadTokens() > 0);
    }

    @Test
    void aClientWithAnotherTimeoutSharesTheConnection() {
        Client hasty = client.withTimeout(Duration.ofNanos(1));
        assertThrows(DeadlineExceededException.class, () -> hasty.listModels(""));
        assertTrue(client.listModels("").getModelsCount() > 0);
    }

    @Test
    void anAnswerOfManyMegabytesIsReceived() {
        String text = "[{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"user\",\"content\":\"" + "word ".repeat(2_000_000) + "\"}]";
        CompressResponse full = io.elbowroom.v1.ContextServiceGrpc.newBlockingStub(client.channel())
                .compress(CompressRequest.newBuilder().setConversation(Body.of(text).conversation()).build());
        assertEquals(text, full.getConversation().getNative().getJson());
    }
}
