package extractive

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/testdata"
	"github.com/elbowroom/elbowroom/summarizer"
)

// The builders below write a middle the way a codec would read it.

func text(role conversation.Role, s string) conversation.Message {
	return conversation.Message{Role: role, RawRole: role.String(), Shape: conversation.ShapeString, Blocks: []conversation.Block{{Kind: conversation.KindText, Text: s}}}
}

func user(s string) conversation.Message      { return text(conversation.RoleUser, s) }
func assistant(s string) conversation.Message { return text(conversation.RoleAssistant, s) }

// calling is an assistant message with one call.
func calling(id, name, input string) conversation.Message {
	return conversation.Message{Role: conversation.RoleAssistant, RawRole: "assistant", Blocks: []conversation.Block{{Kind: conversation.KindToolUse, ID: id, Name: name, Input: input}}}
}

func result(id, s string) conversation.Message {
	return conversation.Message{Role: conversation.RoleTool, RawRole: "tool", Blocks: []conversation.Block{{
		Kind: conversation.KindToolResult, ID: id, Result: []conversation.Block{{Kind: conversation.KindText, Text: s}},
	}}}
}

func failing(id, s string) conversation.Message {
	m := result(id, s)
	m.Blocks[0].IsError = true
	return m
}

func turns(messages ...conversation.Message) []summarizer.Turn {
	out := make([]summarizer.Turn, len(messages))
	for i := range messages {
		out[i] = summarizer.Turn{Index: i, Message: &messages[i]}
	}
	return out
}

// quarter counts four bytes as a token.
func quarter(_ context.Context, s string) (int, error) { return (len(s) + 3) / 4, nil }

// request asks for a summary with plenty of room.
func request(messages ...conversation.Message) summarizer.Request {
	return summarizer.Request{Turns: turns(messages...), Round: 1, Budget: 4000, Count: quarter}
}

func summarize(t testing.TB, req summarizer.Request) string {
	t.Helper()
	resp, err := New().Summarize(context.Background(), req)
	if err != nil {
		t.Fatalf("Summarize: %v", err)
	}
	checkShape(t, req, resp)
	return resp.Text
}

// checkShape holds for every summary: inside the budget, and nothing but
// headings of the page and tagged lines.
func checkShape(t testing.TB, req summarizer.Request, resp summarizer.Response) {
	t.Helper()
	n, err := req.Count(context.Background(), resp.Text)
	if err != nil {
		t.Fatal(err)
	}
	if n > req.Budget || n != resp.Tokens || n == 0 {
		t.Errorf("summary of %d tokens, said to be %d, budget %d", n, resp.Tokens, req.Budget)
	}
	for _, line := range strings.Split(resp.Text, "\n") {
		rest, item := strings.CutPrefix(line, "- ")
		_, _, tagged := ownTag(rest)
		if line != "" && !(item && tagged) && !knownHeading(line) {
			t.Errorf("a line that is neither a heading nor tagged: %q", line)
		}
	}
	if strings.ToValidUTF8(resp.Text, "?") != resp.Text {
		t.Errorf("invalid UTF-8 in %q", resp.Text)
	}
}

func knownHeading(line string) bool {
	for s := range sectionCount {
		if line == s.heading() {
			return true
		}
	}
	return line == "## Progress"
}

// lines returns the lines of one section, without the heading.
func lines(t testing.TB, summary string, s section) []string {
	t.Helper()
	_, rest, ok := strings.Cut("\n"+summary, "\n"+s.heading()+"\n")
	if !ok {
		return nil
	}
	var lines []string
	for _, line := range strings.Split(rest, "\n") {
		if strings.HasPrefix(line, "#") {
			break
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func wantLine(t testing.TB, summary string, s section, want string) {
	t.Helper()
	for _, line := range lines(t, summary, s) {
		if line == want {
			return
		}
	}
	t.Errorf("%s lacks %q in\n%s", s.heading(), want, summary)
}

func wantNone(t testing.TB, summary string, words ...string) {
	t.Helper()
	for _, w := range words {
		if strings.Contains(summary, w) {
			t.Errorf("%q must not occur in\n%s", w, summary)
		}
	}
}

func wantAll(t testing.TB, summary string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(summary, w) {
			t.Errorf("%q is missing in\n%s", w, summary)
		}
	}
}

// middleOf is a request for the whole of a real conversation but its head.
func middleOf(t testing.TB, f testdata.File, count func(context.Context, string) (int, error)) summarizer.Request {
	t.Helper()
	format := conversation.FormatOpenAIChat
	if f.Format == testdata.Anthropic {
		format = conversation.FormatAnthropicMessages
	}
	c, err := conversation.Parse(format, f.JSON, conversation.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	pair := conversation.Pair(c)
	req := summarizer.Request{Round: 1, Count: count, Calls: func(ref conversation.Ref) *conversation.Block {
		call, ok := pair.CallOf[ref]
		if !ok {
			return nil
		}
		return c.At(call)
	}}
	for i := range c.Messages {
		req.Turns = append(req.Turns, summarizer.Turn{Index: i, Message: &c.Messages[i]})
	}
	return req
}

// chatter is talk without facts.
func chatter(n int) []conversation.Message {
	var out []conversation.Message
	for i := range n {
		out = append(out,
			user(fmt.Sprintf("Tell me something about the weather in part %d of the story, with some colour and a little detail please.", i)),
			assistant(fmt.Sprintf("In part %d the weather was mild, the wind came from the west and people were walking along the shore as before.", i)))
	}
	return out
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}
