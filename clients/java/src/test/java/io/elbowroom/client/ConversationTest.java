package io.elbowroom.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.google.rpc.ErrorInfo;
import io.elbowroom.v1.ContextServiceGrpc;
import io.elbowroom.v1.NativeRequest;
import io.elbowroom.v1.Outcome;
import io.elbowroom.v1.PrepareRequest;
import io.elbowroom.v1.PrepareResponse;
import io.elbowroom.v1.Splice;
import io.elbowroom.v1.Usage;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a conversation sends, turn after turn, and what it returns. */
@Timeout(60)
class ConversationTest {
    private static final String U1 = "{\"role\":\"user\",\"content\":\"one " + "x".repeat(300) + "\"}";
    private static final String A1 = "{\"role\":\"assistant\",\"content\":\"two\"}";
    private static final String U2 = "{\"role\":\"user\",\"content\":\"three\"}";
    private static final String A2 = "{\"role\":\"assistant\",\"content\":\"four\"}";
    private static final String U3 = "{\"role\":\"user\",\"content\":\"five\"}";
    private static final String SHORT = "{\"role\":\"user\",\"content\":\"<sum>\"}";

    private Scripted service;
    private FakeServer server;
    private Client client;

    @BeforeEach
    void start() {
        service = new Scripted();
        server = new FakeServer(service);
        client = Client.connect(server.target());
    }

    @AfterEach
    void stop() {
        client.close();
        server.close();
    }

    /** A service that replaces texts as it is told, and holds bodies as the real one does. */
    private static final class Scripted extends FakeServer.Service {
        final List<PrepareRequest> requests = new ArrayList<>();
        final List<String> bodies = new ArrayList<>();
        final Map<String, String> replacements = new LinkedHashMap<>();
        final Map<ByteString, byte[]> held = new java.util.HashMap<>();
        Status.Code failure;

        @Override
        public synchronized void prepare(PrepareRequest request, StreamObserver<PrepareResponse> observer) {
            requests.add(request);
            if (failure != null) {
                observer.onError(FakeServer.status(failure, "as the test wants"));
                return;
            }
            NativeRequest given = request.getConversation().getNative();
            byte[] body;
            if (given.hasDelta()) {
                byte[] base = held.get(given.getDelta().getBase());
                if (base == null) {
                    observer.onError(FakeServer.status(Status.Code.FAILED_PRECONDITION, "unknown",
                            ErrorInfo.newBuilder().setReason("BASE_UNKNOWN").build()));
                    return;
                }
                body = Splices.apply(base, given.getDelta().getSplicesList());
            } else {
                body = given.getJsonUtf8().toByteArray();
            }
            String text = new String(body, StandardCharsets.ISO_8859_1); // an offset is a byte
            bodies.add(new String(body, StandardCharsets.UTF_8));
            Map<Long, Splice> splices = new TreeMap<>();
            replacements.forEach((from, to) -> {
                long at = text.indexOf(new String(from.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1));
                if (at >= 0) {
                    splices.put(at, Splice.newBuilder().setOffset(at).setLength(from.length()).setText(to).build());
                }
            });
            byte[] result = Splices.apply(body, List.copyOf(splices.values()));
            for (byte[] one : List.of(body, result)) {
                held.put(sha256(one), one);
            }
            observer.onNext(PrepareResponse.newBuilder()
                    .addAllSplices(splices.values())
                    .setOutcome(splices.isEmpty() ? Outcome.OUTCOME_BELOW_THRESHOLD : Outcome.OUTCOME_COMPRESSED)
                    .setCompressionState(ByteString.copyFromUtf8("state " + requests.size()))
                    .setCacheState(ByteString.copyFromUtf8("cache " + requests.size()))
                    .build());
            observer.onCompleted();
        }

        private static ByteString sha256(byte[] bytes) {
            try {
                return ByteString.copyFrom(MessageDigest.getInstance("SHA-256").digest(bytes));
            } catch (java.security.NoSuchAlgorithmException e) {
                throw new AssertionError(e);
            }
        }

        PrepareRequest lastRequest() {
            return requests.get(requests.size() - 1);
        }

        String lastBody() {
            return bodies.get(bodies.size() - 1);
        }
    }

    private static Body<String> body(String system, String... messages) {
        return Body.of("{\"system\":" + system + ",\"messages\":[" + String.join(",", messages) + "]}");
    }

    private static String text(String system, String... messages) {
        return "{\"system\":" + system + ",\"messages\":[" + String.join(",", messages) + "]}";
    }

    private Conversation conversation() {
        return Conversation.builder(client).sessionId("s").options(request -> request.setModel("m").setContextWindow(9)).build();
    }

    @Test
    void theFirstTurnGoesInFullAndAsksToBeKept() {
        Conversation conversation = conversation();
        Body<String> given = body("\"s\"", U1);
        assertSame(given.read(given.json()), conversation.beforeRequest(given));
        PrepareRequest request = service.lastRequest();
        assertTrue(request.getConversation().getNative().getKeep());
        assertEquals("s", request.getSessionId());
        assertEquals("m", request.getModel());
        assertEquals(9, request.getContextWindow());
        assertEquals(io.elbowroom.v1.View.VIEW_SPLICES, request.getView());
        assertEquals(Outcome.OUTCOME_BELOW_THRESHOLD, conversation.lastOutcome());
        assertEquals(request.getSerializedSize(), conversation.bytesSent());
        assertTrue(conversation.bytesReceived() > 0);
    }

    @Test
    void aCallerWithItsOriginalListKeepsTheCompressedHistory() {
        Conversation conversation = conversation();
        service.replacements.put(U1, SHORT);
        assertEquals(text("\"s\"", SHORT, A1, U2), conversation.beforeRequest(body("\"s\"", U1, A1, U2)));
        service.replacements.clear();
        assertEquals(text("\"s\"", SHORT, A1, U2, A2, U3), conversation.beforeRequest(body("\"s\"", U1, A1, U2, A2, U3)));
        assertEquals(text("\"s\"", SHORT, A1, U2, A2, U3), service.lastBody());
        PrepareRequest request = service.lastRequest();
        assertEquals("state 1", request.getCompressionState().toStringUtf8());
        assertEquals("cache 1", request.getCacheState().toStringUtf8());
        assertTrue(request.getConversation().getNative().hasDelta());
        assertEquals("," + A2 + "," + U3, request.getConversation().getNative().getDelta().getSplices(0).getText());
    }

    @Test
    void aCallerThatGoesOnWithWhatItGotIsRecognisedToo() {
        Conversation conversation = conversation();
        service.replacements.put(U1, SHORT);
        conversation.beforeRequest(body("\"s\"", U1, A1, U2));
        service.replacements.clear();
        conversation.beforeRequest(body("\"s\"", SHORT, A1, U2, A2, U3));
        assertEquals(text("\"s\"", SHORT, A1, U2, A2, U3), service.lastBody());
        assertEquals("state 1", service.lastRequest().getCompressionState().toStringUtf8());
    }

    @Test
    void treesAreRecognisedHoweverTheServiceSpellsWhatItInserts() {
        Conversation conversation = conversation();
        service.replacements.put("\"content\":\"a\"", "\"content\" : \"\\u0062\"");
        List<Map<String, Object>> messages = new ArrayList<>();
        messages.add(message("system", "s"));
        messages.add(message("user", "a"));
        List<Map<String, Object>> returned = conversation.beforeRequest(Body.of(messages));
        assertEquals("b", returned.get(1).get("content"));
        returned.add(message("assistant", "c"));
        conversation.beforeRequest(Body.of(returned));
        assertEquals("state 1", service.lastRequest().getCompressionState().toStringUtf8());
        messages.add(message("assistant", "c"));
        Conversation other = conversation();
        other.beforeRequest(Body.of(messages.subList(0, 2)));
        assertEquals("b", other.beforeRequest(Body.of(messages)).get(1).get("content"));
    }

    private static Map<String, Object> message(String role, String content) {
        Map<String, Object> message = new LinkedHashMap<>();
        message.put("role", role);
        message.put("content", content);
        return message;
    }

    @Test
    void aListThatBeginsOtherwiseIsANewConversation() {
        Conversation conversation = conversation();
        service.replacements.put(U1, SHORT);
        conversation.beforeRequest(body("\"s\"", U1, A1, U2));
        conversation.afterResponse(100, 5);
        service.replacements.clear();
        conversation.beforeRequest(body("\"s\"", U2, A1, U2));
        PrepareRequest request = service.lastRequest();
        assertEquals(text("\"s\"", U2, A1, U2), service.lastBody());
        assertTrue(request.getCompressionState().isEmpty());
        assertTrue(request.getCacheState().isEmpty());
        assertFalse(request.hasLastUsage());
    }

    @Test
    void aSystemPromptThatTheServiceChangedStaysChangedUntilTheCallerChangesIt() {
        Conversation conversation = conversation();
        service.replacements.put("\"s\"", "\"s, and a note\"");
        conversation.beforeRequest(body("\"s\"", U1));
        service.replacements.clear();
        assertEquals(text("\"s, and a note\"", U1, A1, U2), conversation.beforeRequest(body("\"s\"", U1, A1, U2)));
        assertEquals(text("\"s, and a note\"", U1, A1, U2, A2, U3), conversation.beforeRequest(body("\"s\"", U1, A1, U2, A2, U3)));
        assertEquals(text("\"new\"", U1, A1, U2, A2, U3, A2), conversation.beforeRequest(body("\"new\"", U1, A1, U2, A2, U3, A2)));
    }

    @Test
    void membersOfTheBodyAreThoseOfTheCaller() {
        Conversation conversation = conversation();
        service.replacements.put(U1, SHORT);
        conversation.beforeRequest(Body.of("{\"messages\":[" + U1 + "],\"temperature\":1,\"system\":\"s\"}"));
        service.replacements.clear();
        assertEquals("{\"tools\":[],\"messages\":[ " + SHORT + " , " + A1 + "],\"temperature\":0.50,\"system\":\"s\"}",
                conversation.beforeRequest(Body.of(
                        "{\"tools\":[],\"messages\":[ " + U1 + " , " + A1 + "],\"temperature\":0.50,\"system\":\"s\"}")));
    }

    @Test
    void usageCoversTheMessagesThatWereSent() {
        Conversation conversation = conversation();
        service.replacements.put(U1 + "," + A1, SHORT);
        conversation.beforeRequest(body("\"s\"", U1, A1, U2));
        conversation.afterResponse(Map.of("input_tokens", 10, "cache_read_input_tokens", 200,
                "cache_creation_input_tokens", 3000, "output_tokens", 7));
        service.replacements.clear();
        conversation.beforeRequest(body("\"s\"", U1, A1, U2, A2, U3));
        assertEquals(Usage.newBuilder().setPromptTokens(3210).setCompletionTokens(7).setMessageCount(2).build(),
                service.lastRequest().getLastUsage());
        conversation.afterResponse("{\"prompt_tokens\":11,\"completion_tokens\":2,\"prompt_tokens_details\":{\"cached_tokens\":5}}");
        conversation.beforeRequest(body("\"s\"", U1, A1, U2, A2, U3, A1));
        assertEquals(Usage.newBuilder().setPromptTokens(11).setCompletionTokens(2).setMessageCount(4).build(),
                service.lastRequest().getLastUsage());
        conversation.beforeRequest(body("\"s\"", U1, A1, U2, A2, U3, A1, U1));
        assertFalse(service.lastRequest().hasLastUsage(), "a turn without a report has none");
    }

    @Test
    void aServerThatForgotTheBodyGetsItInFullOnce() {
        Conversation conversation = conversation();
        conversation.beforeRequest(body("\"s\"", U1));
        service.held.clear();
        conversation.beforeRequest(body("\"s\"", U1, A1, U2));
        assertEquals(3, service.requests.size());
        assertTrue(service.requests.get(1).getConversation().getNative().hasDelta());
        assertTrue(service.requests.get(2).getConversation().getNative().hasJsonUtf8());
        assertEquals(text("\"s\"", U1, A1, U2), service.lastBody());
        conversation.beforeRequest(body("\"s\"", U1, A1, U2, A2));
        assertEquals(4, service.requests.size());
        long size = service.requests.stream().mapToLong(PrepareRequest::getSerializedSize).sum();
        assertEquals(size, conversation.bytesSent());
    }

    @Test
    void aFailureCanBeTriedAgain() {
        Conversation conversation = conversation();
        service.replacements.put(U1, SHORT);
        conversation.beforeRequest(body("\"s\"", U1, A1, U2));
        service.failure = Status.Code.RESOURCE_EXHAUSTED;
        Body<String> next = body("\"s\"", U1, A1, U2, A2, U3);
        assertThrows(OverloadedException.class, () -> conversation.beforeRequest(next));
        assertInstanceOf(OverloadedException.class, conversation.lastError().orElseThrow());
        assertEquals(Outcome.OUTCOME_UNSPECIFIED, conversation.lastOutcome());
        service.failure = null;
        service.replacements.clear();
        assertEquals(text("\"s\"", SHORT, A1, U2, A2, U3), conversation.beforeRequest(next));
        assertTrue(conversation.lastError().isEmpty());
    }

    @Test
    void failingOpenReturnsTheCompressedHistoryWithTheNewMessages() {
        Conversation conversation = Conversation.builder(client).failOpen(true).build();
        service.failure = Status.Code.PERMISSION_DENIED;
        Body<String> first = body("\"s\"", U1, A1, U2);
        assertSame(first.read(first.json()), conversation.beforeRequest(first));
        assertInstanceOf(PermissionDeniedException.class, conversation.lastError().orElseThrow());

        service.failure = null;
        service.replacements.put(U1, SHORT);
        assertEquals(text("\"s\"", SHORT, A1, U2, A2), conversation.beforeRequest(body("\"s\"", U1, A1, U2, A2)));
        service.failure = Status.Code.INTERNAL;
        assertEquals(text("\"s\"", SHORT, A1, U2, A2, U3), conversation.beforeRequest(body("\"s\"", U1, A1, U2, A2, U3)));
        service.failure = null;
        assertEquals(text("\"s\"", SHORT, A1, U2, A2, U3, A1),
                conversation.beforeRequest(body("\"s\"", U1, A1, U2, A2, U3, A1)));
        assertEquals("state 2", service.lastRequest().getCompressionState().toStringUtf8());
    }

    @Test
    void failingOpenCoversBodiesWhoseFormatCannotBeTold() {
        Conversation conversation = Conversation.builder(client).failOpen(true).build();
        String text = "[" + U1 + "]";
        assertSame(text, conversation.beforeRequest(Body.of(text)));
        assertInstanceOf(InvalidRequestException.class, conversation.lastError().orElseThrow());
        Conversation strict = conversation();
        assertThrows(InvalidRequestException.class, () -> strict.beforeRequest(Body.of("[" + U1 + "]")));
    }

    @Test
    void aRestartOfTheRealServerCostsOneFullBody() {
        Server first = Server.start(0);
        try (Client real = Client.connect(first.target())) {
            Conversation conversation = Conversation.with(real);
            conversation.beforeRequest(body("\"s\"", U1));
            int port = first.port();
            first.close();
            try (Server second = Server.start(port)) {
                ContextServiceGrpc.newBlockingStub(real.channel()).withWaitForReady()
                        .listModels(io.elbowroom.v1.ListModelsRequest.getDefaultInstance()); // until the client sees it
                long before = conversation.bytesSent();
                conversation.beforeRequest(body("\"s\"", U1, A1, U2));
                long full = conversation.bytesSent() - before;
                conversation.beforeRequest(body("\"s\"", U1, A1, U2, A2, U3));
                long delta = conversation.bytesSent() - before - full;
                assertTrue(full > U1.length() && delta < U1.length(), full + " and " + delta);
            }
        } finally {
            first.close();
        }
    }
}
