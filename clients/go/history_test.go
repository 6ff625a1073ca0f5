package elbowroom_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	elbowroom "github.com/elbowroom/elbowroom/clients/go"
	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"github.com/elbowroom/elbowroom/internal/testutil/localserver"
)

// request is a body as a program builds it.
type request struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	System    string    `json:"system"`
	Messages  []message `json:"messages"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// talk is a conversation of n questions and answers, and a last question.
func talk(n int) *request {
	r := &request{Model: "claude-sonnet-4-5", MaxTokens: 64, System: "Be brief."}
	for i := range n {
		r.say("user", fmt.Sprintf("Question %d: what does part_%d.go do?", i, i))
		r.say("assistant", fmt.Sprintf("Answer %d: ", i)+strings.Repeat(fmt.Sprintf("part_%d.go reads %d lines and writes them. ", i, i*7), 12))
	}
	r.say("user", "And what is left to do?")
	return r
}

func (r *request) say(role, content string) { r.Messages = append(r.Messages, message{role, content}) }

// compressing is a request that compresses talks of more than a few questions.
func compressing() *pb.PrepareRequest {
	first, last := int32(2), int32(4)
	return &pb.PrepareRequest{ContextWindow: 2_000, Policy: &pb.CompressionPolicy{ProtectFirstN: &first, ProtectLastN: &last}}
}

func before(t *testing.T, c *elbowroom.Conversation, body any, options ...elbowroom.CallOption) string {
	t.Helper()
	out, err := c.BeforeRequest(t.Context(), body, options...)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(out) {
		t.Fatalf("no JSON: %s", out)
	}
	return string(out)
}

// patient waits for a server that has been started again.
var patient = elbowroom.WithCallOptions(grpc.WaitForReady(true))

const (
	noteBegins    = "[Note: earlier messages"
	summaryBegins = "[ELBOWROOM CONTEXT SUMMARY"
)

func TestACompressedHistoryStaysCompressed(t *testing.T) {
	c := connect(t).NewConversation(compressing())
	r := talk(12)
	first := before(t, c, r)
	if c.Last().Outcome != pb.Outcome_OUTCOME_COMPRESSED || !strings.Contains(first, summaryBegins) || !strings.Contains(first, noteBegins) {
		t.Fatalf("%v: %s", c.Last().Outcome, first)
	}
	r.say("assistant", "Nothing.")
	r.say("user", "Then stop.")
	second := before(t, c, r)
	if turn := c.Last(); turn.Outcome != pb.Outcome_OUTCOME_BELOW_THRESHOLD || !turn.Continued || !turn.Delta {
		t.Errorf("%+v", turn)
	}
	for _, want := range []string{summaryBegins, noteBegins, "Nothing.", "Then stop."} {
		if strings.Count(second, want) != 1 {
			t.Errorf("%q: %s", want, second)
		}
	}
	// The caller's own system prompt counts once it is another one.
	r.System = "Be very brief."
	if third := before(t, c, r); strings.Contains(third, "Be brief.") || !strings.Contains(third, "Be very brief.") || !strings.Contains(third, summaryBegins) {
		t.Errorf("a new system prompt: %s", third)
	}
}

func TestTheListThatCameBackIsContinued(t *testing.T) {
	c := connect(t).NewConversation(compressing())
	first := before(t, c, talk(12))
	fresh := `,{"role":"assistant","content":"Nothing."},{"role":"user","content":"Then stop."}]}`
	second := before(t, c, strings.TrimSuffix(first, "]}")+fresh)
	if turn := c.Last(); !turn.Continued || turn.Outcome != pb.Outcome_OUTCOME_BELOW_THRESHOLD {
		t.Errorf("%+v", turn)
	}
	if strings.Count(second, noteBegins) != 1 || !strings.Contains(second, summaryOf(t, first)) {
		t.Errorf("%s", second)
	}
}

func TestAnotherHistoryBeginsAnew(t *testing.T) {
	c := connect(t).NewConversation(compressing())
	r := talk(12)
	before(t, c, r)
	r.Messages[3].Content = "Another answer."
	before(t, c, r)
	if turn := c.Last(); turn.Continued {
		t.Error("an edited history was continued")
	}
	short := talk(1)
	if got := before(t, c, short); strings.Contains(got, summaryBegins) || c.Last().Continued {
		t.Errorf("a shorter history was continued: %s", got)
	}
	// A body that nobody can take apart is the service's to judge.
	_, err := c.BeforeRequest(t.Context(), `{"messages":[`)
	var request *elbowroom.InvalidRequestError
	if !errors.As(err, &request) || request.ByteOffset != 13 {
		t.Errorf("broken JSON: %v", err)
	}
}

func TestAServerThatForgotGetsTheBodyInFull(t *testing.T) {
	lis := localserver.Listen(t, "127.0.0.1:0")
	addr := lis.Addr().String()
	stop := localserver.Serve(t, lis)
	c := connectTo(t, addr).NewConversation(compressing())
	r := talk(12)
	first := before(t, c, r)
	stop()
	t.Cleanup(localserver.Serve(t, localserver.Listen(t, addr)))
	r.say("assistant", "Nothing.")
	r.say("user", "Then stop.")
	second := before(t, c, r, patient)
	if turn := c.Last(); turn.Delta || !turn.Continued {
		t.Errorf("%+v", turn)
	}
	if !strings.Contains(second, summaryOf(t, first)) {
		t.Errorf("another summary: %s", second)
	}
	r.say("assistant", "Stopped.")
	r.say("user", "Thanks.")
	before(t, c, r)
	if !c.Last().Delta {
		t.Error("the server holds the body again and got it in full")
	}
}

// summaryOf is the text of the summary in a body.
func summaryOf(t *testing.T, body string) string {
	t.Helper()
	_, rest, ok := strings.Cut(body, summaryBegins)
	text, _, end := strings.Cut(rest, `"`)
	if !ok || !end {
		t.Fatalf("no summary: %s", body)
	}
	return text
}

func TestAFailureKeepsTheCompressedHistory(t *testing.T) {
	lis := localserver.Listen(t, "127.0.0.1:0")
	addr := lis.Addr().String()
	stop := localserver.Serve(t, lis)
	c := connectTo(t, addr, elbowroom.WithTimeout(5*time.Second)).NewConversation(compressing(), elbowroom.WithFailOpen())
	r := talk(12)
	first := before(t, c, r)
	stop()
	r.say("assistant", "Nothing.")
	r.say("user", "Then stop.")
	open := before(t, c, r)
	if c.Last().Err == nil || !strings.Contains(open, summaryOf(t, first)) || !strings.Contains(open, "Then stop.") {
		t.Errorf("%v: %s", c.Last().Err, open)
	}
	if n := strings.Count(open, `"cache_control"`); n > 4 {
		t.Errorf("%d breakpoints", n)
	}
	// A question on the side has another history, and leaves this one alone.
	if aside := before(t, c, talk(1)); strings.Contains(aside, summaryOf(t, first)) || c.Last().Continued {
		t.Errorf("the answer on the side: %s", aside)
	}
	if err := c.AfterResponse(map[string]int{"input_tokens": 190_000}); err != nil {
		t.Error(err)
	}
	t.Cleanup(localserver.Serve(t, localserver.Listen(t, addr)))
	r.say("assistant", "Stopped.")
	r.say("user", "Thanks.")
	again := before(t, c, r, patient)
	if turn := c.Last(); turn.Err != nil || !turn.Continued || !strings.Contains(again, summaryOf(t, first)) {
		t.Errorf("%+v: %s", turn, again)
	}
}

func TestAFailureDoesNotAddUpBreakpoints(t *testing.T) {
	lis := localserver.Listen(t, "127.0.0.1:0")
	stop := localserver.Serve(t, lis)
	c := connectTo(t, lis.Addr().String()).NewConversation(nil, elbowroom.WithFailOpen())
	r := talk(3)
	before(t, c, r)
	stop()
	r.say("assistant", "Nothing.")
	text, err := elbowroom.JSON(r)
	if err != nil {
		t.Fatal(err)
	}
	own := strings.TrimSuffix(string(text), "]}") + `,{"role":"user","content":[{"type":"text","text":"Then stop.","cache_control":{"type":"ephemeral"}}]}]}`
	if got := before(t, c, own); got != own || c.Last().Err == nil {
		t.Errorf("%v: %s", c.Last().Err, got)
	}
}

func TestABareListAndUsageAreTaken(t *testing.T) {
	client := connect(t)
	c := client.NewConversation(&pb.PrepareRequest{Model: "claude-sonnet-4-5"}, elbowroom.WithConversationFormat(elbowroom.AnthropicMessages))
	list := talk(2).Messages
	if got := before(t, c, list); !strings.HasPrefix(got, "[") {
		t.Errorf("%s", got)
	}
	// The provider counted far more than is counted here: time to compress.
	if err := c.AfterResponse(map[string]int{"input_tokens": 150_000, "output_tokens": 3}); err != nil {
		t.Fatal(err)
	}
	before(t, c, append(list, message{"assistant", "ok"}, message{"user", "go on"}))
	if by := c.Last().Report.GetJudgedBy(); by != "usage" {
		t.Errorf("judged by %q", by)
	}
	for _, nothing := range []any{nil, `{}`, map[string]int{"input_tokens": 0}} {
		if err := c.AfterResponse(nothing); err != nil {
			t.Errorf("%v: %v", nothing, err)
		}
	}
	if client.NewConversation(nil).SessionID() == c.SessionID() {
		t.Error("two conversations share a session")
	}
}
