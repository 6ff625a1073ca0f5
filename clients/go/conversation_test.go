package elbowroom_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	elbowroom "github.com/elbowroom/elbowroom/clients/go"
	"github.com/elbowroom/elbowroom/conformance"
	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"github.com/elbowroom/elbowroom/internal/agentdouble"
	"github.com/elbowroom/elbowroom/internal/testdata"
)

// turnsPlayed is how many turns of a recorded conversation are played.
const turnsPlayed = 60

// recording is a recorded conversation, played as a live loop.
type recording struct {
	testdata.File
	messages []json.RawMessage
	// asks are the numbers of messages after which the agent asks its model.
	asks []int
}

func readRecording(t *testing.T, name string) recording {
	t.Helper()
	r := recording{File: testdata.Conversation(t, name)}
	var body struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal([]byte(r.JSON), &body); err != nil {
		t.Fatal(err)
	}
	r.messages = body.Messages
	for i, m := range r.messages {
		var head struct {
			Role string `json:"role"`
		}
		if err := json.Unmarshal(m, &head); err != nil {
			t.Fatal(err)
		}
		if head.Role == "assistant" && i > 0 && len(r.asks) < turnsPlayed {
			r.asks = append(r.asks, i)
		}
	}
	if len(r.asks) < turnsPlayed {
		t.Fatalf("%s has %d turns", name, len(r.asks))
	}
	return r
}

// body is a request body with a list of messages.
func (r *recording) body(messages []json.RawMessage) string {
	var out bytes.Buffer
	if r.Format == testdata.Anthropic {
		out.WriteString(`{"model":"claude-sonnet-4-5","max_tokens":1024,"system":"You are a careful coding agent.","messages":[`)
	} else {
		out.WriteString(`{"model":"gpt-4o","messages":[`)
	}
	for i, m := range messages {
		if i > 0 {
			out.WriteString(",\n")
		}
		out.Write(m)
	}
	out.WriteString("]}")
	return out.String()
}

// listOf returns the messages of a body.
func listOf(t *testing.T, body []byte) []json.RawMessage {
	t.Helper()
	var out struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatal(err)
	}
	return out.Messages
}

// bodyOf is the text of messages as the bodies above have them.
func bodyOf(list []json.RawMessage) []byte {
	texts := make([][]byte, len(list))
	for i, m := range list {
		texts[i] = m
	}
	return bytes.Join(texts, []byte(",\n"))
}

// TestALiveLoopStaysShortStableAndCheap plays recorded conversations in both ways
// that a loop may keep its history.
func TestALiveLoopStaysShortStableAndCheap(t *testing.T) {
	client := connect(t)
	for _, name := range []string{"cc-go-parallel-346", "mini-deepseek-astroid-378", "pi-ts-session-907"} {
		for _, way := range []string{"full history", "history as returned"} {
			t.Run(name+"/"+way, func(t *testing.T) {
				r := readRecording(t, name)
				all := r.body(r.messages[:r.asks[turnsPlayed-1]])
				size, err := client.CountTokens(t.Context(), all, nil, elbowroom.WithFormat(formatOf(r.Format)))
				if err != nil {
					t.Fatal(err)
				}
				c := client.NewConversation(&pb.PrepareRequest{
					ContextWindow: max(size.GetTokens()*2/3, 8_000), Strategy: pb.Strategy_STRATEGY_ANCHORED,
				}, elbowroom.WithConversationFormat(formatOf(r.Format)))
				play(t, client, c, &r, way == "history as returned")
			})
		}
	}
}

func play(t *testing.T, client *elbowroom.Client, c *elbowroom.Conversation, r *recording, returned bool) {
	judge := &agentdouble.Judge{Dialect: dialectOf(r.Format)}
	_, faults := (&agentdouble.Judge{Dialect: judge.Dialect}).Look([]byte(r.body(r.messages[:r.asks[turnsPlayed-1]])))
	judge.Faulty = len(faults) > 0
	var history []json.RawMessage
	compressions, done, sentBefore := 0, 0, int64(0)
	var dearest string
	for turn, n := range r.asks {
		fresh := r.messages[done:n]
		history, done = append(history, fresh...), n
		given := r.body(history)
		body, err := c.BeforeRequest(t.Context(), given)
		if err != nil {
			t.Fatalf("turn %d: %v", turn, err)
		}
		last := c.Last()
		changed, problems := judge.Look(body)
		for _, p := range problems {
			t.Errorf("turn %d: %s", turn, p)
		}
		if changed && last.Outcome != pb.Outcome_OUTCOME_COMPRESSED {
			t.Errorf("turn %d: %v changed the prefix", turn, last.Outcome)
		}
		now, err := conformance.Read(judge.Dialect, body)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range (&conformance.Marking{Input: now, Output: now, Breakpoints: last.Breakpoints}).Check() {
			t.Errorf("turn %d: %v", turn, v)
		}
		if list := listOf(t, body); !sameMessage(t, judge.Dialect, r, list[len(list)-1], history[len(history)-1]) {
			t.Errorf("turn %d: the newest message is not the caller's", turn)
		}
		if last.Outcome == pb.Outcome_OUTCOME_COMPRESSED {
			compressions++
		}
		if last.Continued != (turn > 0) {
			t.Errorf("turn %d: continued is %t", turn, last.Continued)
		}
		sent, _ := c.Bytes()
		if turn > 0 && turn < turnsPlayed && !last.Delta {
			t.Errorf("turn %d was sent in full", turn)
		}
		if cost, most := sent-sentBefore, int64(len(bodyOf(fresh)))*12/10+perTurnBytes; turn > 0 && cost > most {
			dearest = fmt.Sprintf("turn %d: %d bytes for %d new ones", turn, cost, len(bodyOf(fresh)))
		}
		sentBefore = sent
		// What the provider would report.
		counted, err := client.CountTokens(t.Context(), []byte(body), nil, elbowroom.WithFormat(formatOf(r.Format)))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AfterResponse(map[string]any{"prompt_tokens": counted.GetTokens(), "completion_tokens": 10}); err != nil {
			t.Fatal(err)
		}
		if returned {
			history = listOf(t, body)
		}
	}
	if compressions < 2 {
		t.Errorf("%d compressions", compressions)
	}
	if dearest != "" {
		t.Error(dearest)
	}
	sent, received := c.Bytes()
	t.Logf("%d turns, %d compressions, history of %d bytes: sent %d, received %d", turnsPlayed, compressions, len(bodyOf(r.messages[:done])), sent, received)
}

// sameMessage reports whether two messages differ in breakpoints at most.
func sameMessage(t *testing.T, d conformance.Dialect, r *recording, a, b json.RawMessage) bool {
	t.Helper()
	var sides [2]*conformance.Transcript
	for i, m := range []json.RawMessage{a, b} {
		var err error
		if sides[i], err = conformance.Read(d, []byte(r.body([]json.RawMessage{m}))); err != nil {
			t.Fatal(err)
		}
	}
	return conformance.SameUnmarked(sides[0], sides[1]) == ""
}

// perTurnBytes is what a turn may cost beside its new messages: the states.
const perTurnBytes = 2048
