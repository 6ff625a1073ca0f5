package fidelity

import (
	"context"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/summarizer"
)

func text(role conversation.Role, s string) conversation.Message {
	return conversation.Message{Role: role, RawRole: role.String(), Shape: conversation.ShapeString, Blocks: []conversation.Block{{Kind: conversation.KindText, Text: s}}}
}

func user(s string) conversation.Message      { return text(conversation.RoleUser, s) }
func assistant(s string) conversation.Message { return text(conversation.RoleAssistant, s) }

func calling(id, name, input string) conversation.Message {
	return conversation.Message{Role: conversation.RoleAssistant, RawRole: "assistant", Blocks: []conversation.Block{{Kind: conversation.KindToolUse, ID: id, Name: name, Input: input}}}
}

func answering(id, s string) conversation.Message {
	return conversation.Message{Role: conversation.RoleTool, RawRole: "tool", Blocks: []conversation.Block{{
		Kind: conversation.KindToolResult, ID: id, Result: []conversation.Block{{Kind: conversation.KindText, Text: s}},
	}}}
}

func turns(messages ...conversation.Message) []summarizer.Turn {
	out := make([]summarizer.Turn, len(messages))
	for i := range messages {
		out[i] = summarizer.Turn{Index: 10 + i, Message: &messages[i]}
	}
	return out
}

// quarter counts four bytes as a token.
func quarter(_ context.Context, s string) (int, error) { return (len(s) + 3) / 4, nil }

// request checks a summary of some messages, the first of which has index 10.
func request(summary string, messages ...conversation.Message) Request {
	return Request{Summary: summary, Tokens: (len(summary) + 3) / 4, Turns: turns(messages...), Round: 1, Budget: 4000, Count: quarter}
}

// check runs the check and holds what is true of every result.
func check(t testing.TB, req Request) Result {
	t.Helper()
	got, err := New().Check(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	again, err := New().Check(context.Background(), req)
	if err != nil || again.Text != got.Text {
		t.Fatalf("two checks differ, error %v", err)
	}
	if n, _ := req.Count(context.Background(), got.Text); n > max(req.Budget, req.Tokens) {
		t.Fatalf("%d tokens, %d were allowed", n, req.Budget)
	}
	headings := 0
	for line := range strings.SplitSeq(got.Text, "\n") {
		if strings.TrimSpace(line) == Heading {
			headings++
		}
	}
	if headings > 1 {
		t.Fatalf("the section stands %d times in\n%s", headings, got.Text)
	}
	r := got.Report
	if r.Kept+r.Repaired+r.Lost != r.Facts || len(r.Items) > MaxItems {
		t.Fatalf("the report does not add up: %+v", r)
	}
	return got
}

// fates lists the items of a report, "repaired path a/b @12".
func fates(r Report) []string {
	var out []string
	for _, i := range r.Items {
		fate := [...]string{"", "repaired", "lost", "invented"}[i.Fate]
		out = append(out, fate+" "+i.Kind+" "+i.Text)
	}
	return out
}
