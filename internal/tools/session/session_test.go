package session_test

import (
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/tools/session"
	"github.com/elbowroom/elbowroom/tokens"
)

func read(t *testing.T) (string, *conversation.Conversation) {
	t.Helper()
	text, err := session.JSON()
	if err != nil {
		t.Fatal(err)
	}
	c, err := conversation.Parse(conversation.FormatAnthropicMessages, text, conversation.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return text, c
}

func TestTheSessionIsTheSameEveryTime(t *testing.T) {
	first, _ := read(t)
	if second, _ := read(t); first != second {
		t.Error("two calls gave two conversations")
	}
}

func TestTheSessionHasTheSizeOfThePublishedExample(t *testing.T) {
	_, c := read(t)
	registry, err := tokens.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	report, err := tokens.NewCounter().Count(t.Context(), c, registry.Lookup(session.Model))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Messages) != 45 || report.Tokens < 93_000 || report.Tokens > 97_000 {
		t.Errorf("%d messages of %d tokens, want 45 and about 95,000", len(c.Messages), report.Tokens)
	}
}

func TestTheSessionIsLegal(t *testing.T) {
	_, c := read(t)
	p := conversation.Pair(c)
	if n := len(p.Missing) + len(p.InFlight) + len(p.Orphans) + len(p.Duplicates) + len(p.Ambiguous); n > 0 {
		t.Errorf("%d calls and results do not match: %+v", n, p)
	}
	for i := range c.Messages {
		want := conversation.RoleUser
		if i%2 == 1 {
			want = conversation.RoleAssistant
		}
		if c.Messages[i].Role != want {
			t.Errorf("message %d is %v, want %v", i, c.Messages[i].Role, want)
		}
	}
}

func TestTheFactsStandInTheSession(t *testing.T) {
	text, c := read(t)
	for _, f := range session.Facts() {
		if !strings.Contains(text, f.Text) {
			t.Errorf("%s: %q is not in the conversation", f.What, f.Text)
		}
	}
	// The lines that the diagnosis quotes are where it says.
	listing := c.Messages[6].Blocks[0].ResultText()
	for _, line := range []string{"    96\t\tctx, cancel := context.WithTimeout(ctx, 10*time.Second)", "   142\t\tkey := fmt.Sprintf(\"%s-%d\", evt.ID, attempt)"} {
		if !strings.Contains(listing, line) {
			t.Errorf("the listing of dispatch.go has no line %q", line)
		}
	}
	if queue := c.Messages[26].Blocks[0].ResultText(); !strings.Contains(queue, "   120\t\tfor id, have := range q.leases { // read without q.mu") {
		t.Error("the listing of queue.go has no race on line 120")
	}
}
