package io.elbowroom.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.elbowroom.v1.Outcome;
import io.elbowroom.v1.Strategy;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Recorded conversations as the loop of an agent: every request is checked as a strict provider would. */
class ReplayTest {
    private static final int TURNS = 60;

    /** What a turn may cost beside 1.2 times what is new: states, options, hash. Bytes. */
    private static final int PER_TURN = 2_000;

    @Test
    void anAnthropicLoopThatSendsItsFullListEveryTurn() throws IOException {
        replayText(Recording.named("cc-go-thinking-590"), 40_000);
    }

    @Test
    void anAnthropicLoopThatGoesOnWithWhatItGot() throws IOException {
        replayReturned(Recording.named("cc-go-thinking-590"), 40_000);
    }

    @Test
    void anOpenAiLoopThatSendsItsFullListEveryTurn() throws IOException {
        replayText(Recording.named("mini-deepseek-astroid-378"), 25_000);
    }

    @Test
    void anOpenAiLoopThatGoesOnWithWhatItGot() throws IOException {
        replayReturned(Recording.named("mini-deepseek-astroid-378"), 25_000);
    }

    private static Conversation conversation(Client client, Recording recording, int window) {
        return Conversation.builder(client)
                .options(request -> request.setContextWindow(window)
                        .setStrategy(recording.anthropic() ? Strategy.STRATEGY_ANCHORED : Strategy.STRATEGY_UNSPECIFIED))
                .build();
    }

    /** The caller keeps its original list, as text. */
    private static void replayText(Recording recording, int window) throws IOException {
        try (Client client = Client.connect(Server.shared().target())) {
            Conversation conversation = conversation(client, recording, window);
            Wire wire = new Wire(recording);
            int turns = 0;
            int before = 0;
            for (int i = 1; i < recording.count() && turns < TURNS; i++) {
                if (!"assistant".equals(map(Json.parse(recording.message(i).getBytes(StandardCharsets.UTF_8))).get("role"))) {
                    continue;
                }
                String given = recording.body(i);
                long sentBefore = conversation.bytesSent();
                String sent = conversation.beforeRequest(Body.of(given).as(recording.format()));
                checkCost(turns, conversation.bytesSent() - sentBefore, given.length() - before, given);
                before = given.length();
                wire.receive(Json.parse(sent.getBytes(StandardCharsets.UTF_8)), conversation.lastOutcome());
                report(client, conversation, recording, Body.of(sent));
                turns++;
            }
            assertEquals(TURNS, turns);
            assertTrue(wire.compressions >= 2, wire.compressions + " compressions");
        }
    }

    /** The caller goes on with the tree it got back. */
    private static void replayReturned(Recording recording, int window) throws IOException {
        try (Client client = Client.connect(Server.shared().target())) {
            Conversation conversation = conversation(client, recording, window);
            Wire wire = new Wire(recording);
            Map<String, Object> body = map(Json.parse(recording.body(0).getBytes(StandardCharsets.UTF_8)));
            int turns = 0;
            int added = 0;
            for (int i = 0; i < recording.count() && turns < TURNS; i++) {
                Map<String, Object> message = map(Json.parse(recording.message(i).getBytes(StandardCharsets.UTF_8)));
                if (i > 0 && "assistant".equals(message.get("role"))) {
                    long sentBefore = conversation.bytesSent();
                    body = conversation.beforeRequest(Body.of(body).as(recording.format()));
                    checkCost(turns, conversation.bytesSent() - sentBefore, added, "");
                    added = 0;
                    wire.receive(body, conversation.lastOutcome());
                    report(client, conversation, recording, Body.of(body));
                    turns++;
                }
                messages(body).add(message);
                added += recording.message(i).length();
            }
            assertEquals(TURNS, turns);
            assertTrue(wire.compressions >= 2, wire.compressions + " compressions");
        }
    }

    private static void checkCost(int turn, long bytes, int added, String given) {
        if (turn == 0) {
            return;
        }
        int nonAscii = given.getBytes(StandardCharsets.UTF_8).length - given.length();
        assertTrue(bytes <= 1.2 * (added + nonAscii) + PER_TURN, "turn " + turn + " sent " + bytes + " bytes for " + added + " new ones");
    }

    private static void report(Client client, Conversation conversation, Recording recording, Body<?> sent) {
        int prompt = client.countTokens(sent.as(recording.format())).getTokens();
        conversation.afterResponse(recording.anthropic()
                ? Map.of("input_tokens", 3, "cache_read_input_tokens", prompt - 3, "output_tokens", 50)
                : Map.of("prompt_tokens", prompt, "completion_tokens", 50));
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> map(Object tree) {
        return (Map<String, Object>) tree;
    }

    @SuppressWarnings("unchecked")
    private static List<Object> messages(Map<String, Object> body) {
        return (List<Object>) body.get("messages");
    }

    /** What a strict provider checks of successive requests. */
    private static final class Wire {
        private final boolean anthropic;
        private final Set<Object> thinking = new HashSet<>();
        private List<Object> last = List.of();
        private Object lastSystem;
        private int compressions;

        Wire(Recording recording) throws IOException {
            anthropic = recording.anthropic();
            for (int i = 0; i < recording.count(); i++) {
                thinking.addAll(thinking(Json.parse(recording.message(i).getBytes(StandardCharsets.UTF_8))));
            }
            assertEquals(anthropic, !thinking.isEmpty(), "this recording has thinking blocks");
        }

        private static List<Object> thinking(Object message) {
            List<Object> found = new ArrayList<>();
            if (map(message).get("content") instanceof List<?> blocks) {
                for (Object block : blocks) {
                    if (map(block).get("type") instanceof String type && type.contains("thinking")) {
                        found.add(block);
                    }
                }
            }
            return found;
        }

        void receive(Object tree, Outcome outcome) {
            Map<String, Object> body = map(tree);
            List<Object> messages = messages(body);
            assertTrue(marks(body) <= 4, "more than 4 marks");
            for (int i = 0; i < messages.size(); i++) {
                checkPairs(messages, i);
                assertTrue(thinking.containsAll(thinking(messages.get(i))), "a thinking block was changed in message " + i);
            }
            List<Object> unmarked = new ArrayList<>();
            for (Object message : messages) {
                unmarked.add(unmarked(message));
            }
            Object system = unmarked(body.get("system"));
            if (outcome == Outcome.OUTCOME_COMPRESSED || outcome == Outcome.OUTCOME_TARGET_UNREACHABLE) {
                compressions++;
            } else if (!last.isEmpty()) {
                assertEquals(lastSystem, system, "the system prompt changed between compressions");
                assertTrue(unmarked.size() >= last.size(), "messages went missing between compressions");
                for (int i = 0; i < last.size(); i++) {
                    assertEquals(last.get(i), unmarked.get(i), "message " + i + " changed between compressions");
                }
            }
            last = unmarked;
            lastSystem = system;
        }

        private static int marks(Object tree) {
            int marks = 0;
            if (tree instanceof Map<?, ?> map) {
                for (Map.Entry<?, ?> member : map.entrySet()) {
                    marks += member.getKey().equals("cache_control") ? 1 : marks(member.getValue());
                }
            } else if (tree instanceof List<?> list) {
                for (Object element : list) {
                    marks += marks(element);
                }
            }
            return marks;
        }

        /** Without marks, and with a list of one text block as its text. */
        private static Object unmarked(Object tree) {
            if (tree instanceof Map<?, ?> map) {
                Map<Object, Object> result = new LinkedHashMap<>();
                map.forEach((key, value) -> {
                    if (!key.equals("cache_control")) {
                        result.put(key, unmarked(value));
                    }
                });
                return result;
            }
            if (tree instanceof List<?> list) {
                List<Object> result = new ArrayList<>();
                list.forEach(element -> result.add(unmarked(element)));
                if (result.size() == 1 && result.get(0) instanceof Map<?, ?> block && block.size() == 2
                        && "text".equals(block.get("type")) && block.get("text") != null) {
                    return block.get("text");
                }
                return result;
            }
            return tree;
        }

        private void checkPairs(List<Object> messages, int index) {
            List<Object> calls = ids(messages.get(index), anthropic ? "tool_use" : "tool_calls", "id");
            if (!calls.isEmpty() && index + 1 < messages.size()) {
                List<Object> results = new ArrayList<>();
                for (int i = index + 1; i < messages.size(); i++) {
                    List<Object> found = ids(messages.get(i), "tool_result", anthropic ? "tool_use_id" : "tool_call_id");
                    if (found.isEmpty()) {
                        break;
                    }
                    results.addAll(found);
                    if (anthropic) {
                        break;
                    }
                }
                assertEquals(sorted(calls), sorted(results), "calls and results of message " + index);
            }
            if (!ids(messages.get(index), "tool_result", anthropic ? "tool_use_id" : "tool_call_id").isEmpty()) {
                int caller = index - 1;
                while (!anthropic && caller > 0 && "tool".equals(map(messages.get(caller)).get("role"))) {
                    caller--;
                }
                assertTrue(caller >= 0 && !ids(messages.get(caller), anthropic ? "tool_use" : "tool_calls", "id").isEmpty(),
                        "message " + index + " answers no call");
            }
        }

        /** The ids of calls or results in a message. */
        private List<Object> ids(Object message, String kind, String member) {
            List<Object> ids = new ArrayList<>();
            Map<String, Object> fields = map(message);
            if (anthropic) {
                if (fields.get("content") instanceof List<?> blocks) {
                    for (Object block : blocks) {
                        if (kind.equals(map(block).get("type"))) {
                            ids.add(map(block).get(member));
                        }
                        assertTrue(!"".equals(map(block).get("text")), "an empty text block");
                    }
                }
            } else if (kind.equals("tool_calls")) {
                if (fields.get("tool_calls") instanceof List<?> calls) {
                    calls.forEach(call -> ids.add(map(call).get(member)));
                }
            } else if ("tool".equals(fields.get("role"))) {
                ids.add(fields.get(member));
            }
            return ids;
        }

        private static List<Object> sorted(List<Object> ids) {
            return ids.stream().map(String::valueOf).sorted().map(id -> (Object) id).toList();
        }
    }
}
