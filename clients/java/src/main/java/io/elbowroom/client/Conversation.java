package io.elbowroom.client;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.elbowroom.v1.CompressionReport;
import io.elbowroom.v1.ContextServiceGrpc;
import io.elbowroom.v1.NativeDelta;
import io.elbowroom.v1.NativeRequest;
import io.elbowroom.v1.Outcome;
import io.elbowroom.v1.PrepareRequest;
import io.elbowroom.v1.PrepareResponse;
import io.elbowroom.v1.Splice;
import io.elbowroom.v1.Usage;
import io.elbowroom.v1.View;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * One conversation of an agent over its turns: {@link #beforeRequest} makes the body that is sent to the model,
 * {@link #afterResponse(Map)} takes in what the provider reported.
 *
 * <p>The agent's loop only appends to its own list of messages. It may hand in that full list every turn, or the list it got back
 * with the new messages behind it: either is recognised by the messages that it begins with, compressed history stays compressed,
 * and its bytes stay the same between two compressions. A list that begins otherwise is a new conversation. The system prompt,
 * tools and other members are always those of the body handed in, but for a system prompt that the service has changed and the
 * caller has not.
 *
 * <p>Between turns the server keeps the last body, so that a turn sends only what is new; a server that has forgotten it gets it
 * in full again. Not for two turns at the same time.
 */
public final class Conversation {
    static final String BASE_UNKNOWN = "BASE_UNKNOWN";

    private final Client client;
    private final Consumer<PrepareRequest.Builder> options;
    private final String sessionId;
    private final boolean failOpen;

    private History history; // null: nothing is known of the conversation
    private byte[] held; // the body that the server may hold: what the last call returned
    private ByteString heldHash;
    private Usage usage;
    private Outcome lastOutcome = Outcome.OUTCOME_UNSPECIFIED;
    private CompressionReport lastReport = CompressionReport.getDefaultInstance();
    private PrepareResponse lastResponse = PrepareResponse.getDefaultInstance();
    private ElbowroomException lastError;
    private long bytesSent;
    private long bytesReceived;

    /**
     * What the turn before left.
     *
     * @param origin the body as the caller handed it in
     * @param sent the body as it was returned, in the bytes that the caller's own copy has when it is handed in again
     */
    private record History(BodyLayout origin, BodyLayout sent, ByteString compressionState, ByteString cacheState) {}

    private Conversation(Builder builder) {
        client = builder.client;
        options = builder.options;
        sessionId = builder.sessionId;
        failOpen = builder.failOpen;
    }

    /** A conversation with the server's defaults. */
    public static Conversation with(Client client) {
        return builder(client).build();
    }

    /** Options of a conversation. */
    public static Builder builder(Client client) {
        return new Builder(client);
    }

    /** Options of a {@link Conversation}. */
    public static final class Builder {
        private final Client client;
        private Consumer<PrepareRequest.Builder> options = request -> {};
        private String sessionId = UUID.randomUUID().toString();
        private boolean failOpen;

        private Builder(Client client) {
            this.client = client;
        }

        /**
         * What every turn asks for: {@code request -> request.setModel("claude-sonnet-4-5").setStrategy(STRATEGY_ANCHORED)}. The
         * conversation, the view, the states and the last usage are set by the conversation. Default: the server's defaults.
         */
        public Builder options(Consumer<PrepareRequest.Builder> options) {
            this.options = options;
            return this;
        }

        /** Names the conversation for the server. Default: random. */
        public Builder sessionId(String sessionId) {
            this.sessionId = sessionId;
            return this;
        }

        /**
         * Whether a failure is kept from the caller: {@link Conversation#beforeRequest} then returns the last compressed history
         * with the new messages, or the body as it was handed in, and {@link Conversation#lastError()} says why. Default false.
         */
        public Builder failOpen(boolean failOpen) {
            this.failOpen = failOpen;
            return this;
        }

        /** The conversation. */
        public Conversation build() {
            return new Conversation(this);
        }
    }

    /**
     * The body to send to the model, in the kind that was handed in.
     *
     * @throws ElbowroomException if the call fails and the conversation does not fail open. The same turn can be tried again.
     */
    public <B> B beforeRequest(Body<B> body) {
        BodyLayout origin = BodyLayout.of(body.json());
        byte[] request = origin == null ? body.json() : continued(origin);
        if (origin == null) {
            forget();
        }
        lastError = null;
        try {
            PrepareResponse response = send(body, request);
            lastResponse = response;
            lastOutcome = response.getOutcome();
            lastReport = response.getReport();
            byte[] result = Splices.apply(request, response.getSplicesList());
            held = result;
            heldHash = sha256(result);
            usage = null;
            B value = body.read(result);
            remember(origin, body.writtenAgain(value, result), response.getCompressionState(), response.getCacheState());
            return value;
        } catch (ElbowroomException e) {
            lastError = e;
            lastResponse = PrepareResponse.getDefaultInstance();
            lastOutcome = Outcome.OUTCOME_UNSPECIFIED;
            lastReport = CompressionReport.getDefaultInstance();
            if (!failOpen) {
                throw e;
            }
            B value = body.read(request);
            remember(origin, body.writtenAgain(value, request),
                    history == null ? ByteString.EMPTY : history.compressionState(),
                    history == null ? ByteString.EMPTY : history.cacheState());
            return value;
        }
    }

    /**
     * The usage object of the provider's answer to the last body, as a map: Anthropic's input_tokens, cache_read_input_tokens,
     * cache_creation_input_tokens and output_tokens, or OpenAI's prompt_tokens and completion_tokens. With it the next turn is
     * judged on what the provider counted. Anything else is ignored.
     */
    public void afterResponse(Map<String, ?> usage) {
        if (usage.containsKey("prompt_tokens")) {
            afterResponse(tokens(usage, "prompt_tokens"), tokens(usage, "completion_tokens"));
        } else if (usage.containsKey("input_tokens")) {
            long input = tokens(usage, "input_tokens") + tokens(usage, "cache_read_input_tokens")
                    + tokens(usage, "cache_creation_input_tokens");
            afterResponse(input, tokens(usage, "output_tokens"));
        }
    }

    /** The same, as JSON text. */
    public void afterResponse(String usage) {
        try {
            if (Json.parse(usage.getBytes(StandardCharsets.UTF_8)) instanceof Map<?, ?> members) {
                @SuppressWarnings("unchecked") // the keys of parsed JSON are strings
                Map<String, ?> map = (Map<String, ?>) members;
                afterResponse(map);
            }
        } catch (IOException e) {
            throw Errors.invalid("last_usage", "the usage is no JSON: " + e.getMessage(),
                    "Pass the provider's usage object.", -1, e);
        }
    }

    /** The same, in tokens: all of the prompt, cached parts included, and the answer. */
    public void afterResponse(long promptTokens, long completionTokens) {
        if (history == null || promptTokens <= 0) {
            return;
        }
        usage = Usage.newBuilder()
                .setPromptTokens((int) Math.min(promptTokens, Integer.MAX_VALUE))
                .setCompletionTokens((int) Math.min(Math.max(completionTokens, 0), Integer.MAX_VALUE))
                .setMessageCount(history.sent().count())
                .build();
    }

    /** The name of the conversation for the server. */
    public String sessionId() {
        return sessionId;
    }

    /** What the last turn did. OUTCOME_UNSPECIFIED before the first and after one that failed. */
    public Outcome lastOutcome() {
        return lastOutcome;
    }

    /** The report of the last turn. Empty before the first and after one that failed. */
    public CompressionReport lastReport() {
        return lastReport;
    }

    /** The whole answer of the last turn, its breakpoints included. Empty before the first and after one that failed. */
    public PrepareResponse lastResponse() {
        return lastResponse;
    }

    /** Why the last turn failed. Empty if it did not. */
    public Optional<ElbowroomException> lastError() {
        return Optional.ofNullable(lastError);
    }

    /** Bytes of all request messages so far. */
    public long bytesSent() {
        return bytesSent;
    }

    /** Bytes of all response messages so far. */
    public long bytesReceived() {
        return bytesReceived;
    }

    /** The body for the service: the history as it was returned last time, where this body continues it. */
    private byte[] continued(BodyLayout body) {
        if (history == null) {
            return body.json();
        }
        int known = body.startsWith(history.origin()) ? history.origin().count()
                : body.startsWith(history.sent()) ? history.sent().count() : 0;
        if (known == 0) {
            forget();
            return body.json();
        }
        BodyLayout sent = history.sent();
        List<Splice> changes = new ArrayList<>();
        changes.add(replace(body.start(0), body.end(known - 1), sent, sent.start(0), sent.end(sent.count() - 1)));
        if (body.hasSystem() && sent.hasSystem() && body.sameSystem(history.origin())) {
            changes.add(replace(body.systemStart(), body.systemEnd(), sent, sent.systemStart(), sent.systemEnd()));
        }
        changes.sort((a, b) -> Long.compare(a.getOffset(), b.getOffset()));
        return Splices.apply(body.json(), changes);
    }

    private static Splice replace(int start, int end, BodyLayout by, int byStart, int byEnd) {
        return Splice.newBuilder()
                .setOffset(start)
                .setLength(end - start)
                .setTextBytes(UnsafeByteOperations.unsafeWrap(by.json(), byStart, byEnd - byStart))
                .build();
    }

    private PrepareResponse send(Body<?> body, byte[] json) {
        PrepareRequest.Builder request = PrepareRequest.newBuilder().setSessionId(sessionId);
        options.accept(request);
        request.setView(View.VIEW_SPLICES); // edits would hold whole changed messages beside
        if (history != null) {
            request.setCompressionState(history.compressionState()).setCacheState(history.cacheState());
            if (usage != null) {
                request.setLastUsage(usage);
            }
        }
        NativeRequest.Builder conversation = body.nativeRequest(request.getConversation().getNative()).setKeep(true);
        List<Splice> delta = held == null ? null : Delta.between(held, json);
        PrepareResponse response = null;
        if (delta != null) {
            conversation.setDelta(NativeDelta.newBuilder().setBase(heldHash).addAllSplices(delta));
            try {
                response = call(request, conversation);
            } catch (RefusedException e) {
                if (!e.reason().equals(BASE_UNKNOWN)) {
                    throw e;
                }
            }
        }
        if (response == null) {
            conversation.setJsonUtf8(UnsafeByteOperations.unsafeWrap(json));
            response = call(request, conversation);
        }
        return response;
    }

    private PrepareResponse call(PrepareRequest.Builder builder, NativeRequest.Builder conversation) {
        PrepareRequest request = builder
                .setConversation(io.elbowroom.v1.Conversation.newBuilder().setNative(conversation))
                .build();
        bytesSent += request.getSerializedSize();
        PrepareResponse response = client.calls().blocking(ContextServiceGrpc.getPrepareMethod(), request);
        bytesReceived += response.getSerializedSize();
        return response;
    }

    private void remember(BodyLayout origin, byte[] sent, ByteString compressionState, ByteString cacheState) {
        BodyLayout layout = origin == null ? null : BodyLayout.of(sent);
        history = layout == null || layout.count() == 0 ? null : new History(origin, layout, compressionState, cacheState);
    }

    private void forget() {
        history = null;
        usage = null;
    }

    private static long tokens(Map<String, ?> usage, String name) {
        return usage.get(name) instanceof Number number ? Math.max(number.longValue(), 0) : 0;
    }

    private static ByteString sha256(byte[] bytes) {
        try {
            return ByteString.copyFrom(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java runtime has SHA-256", e);
        }
    }
}
