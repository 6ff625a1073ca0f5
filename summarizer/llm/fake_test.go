package llm

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/summarizer"
)

// step is what a scripted backend does with one call.
type step struct {
	answer summarizer.Completion
	err    error
	pieces []string
}

// scripted is a backend that plays steps in order and keeps the prompts it saw.
type scripted struct {
	steps   []step
	prompts []summarizer.Prompt
}

func (s *scripted) Name() string { return "scripted:model" }

func (s *scripted) Complete(ctx context.Context, prompt summarizer.Prompt, onText func(string)) (summarizer.Completion, error) {
	s.prompts = append(s.prompts, prompt)
	if err := ctx.Err(); err != nil {
		return summarizer.Completion{}, err
	}
	if len(s.prompts) > len(s.steps) {
		return summarizer.Completion{}, errors.New("the script has no further step")
	}
	now := s.steps[len(s.prompts)-1]
	if onText != nil {
		for _, piece := range now.pieces {
			onText(piece)
		}
	}
	return now.answer, now.err
}

// says is a complete answer.
func says(text string) step {
	return step{answer: summarizer.Completion{
		Text: text, Finish: summarizer.FinishStop, Model: "model-1", PromptTokens: 100, CompletionTokens: 10,
	}}
}

func fails(failure summarizer.Failure) step {
	return step{err: &summarizer.BackendError{Failure: failure, Err: errors.New("scripted")}}
}

// fourBytes counts a token for every four bytes.
func fourBytes(_ context.Context, text string) (int, error) { return (len(text) + 3) / 4, nil }

func text(role conversation.Role, said string) *conversation.Message {
	return &conversation.Message{Role: role, Blocks: []conversation.Block{{Kind: conversation.KindText, Text: said}}}
}

func user(said string) *conversation.Message      { return text(conversation.RoleUser, said) }
func assistant(said string) *conversation.Message { return text(conversation.RoleAssistant, said) }

func calling(name, input string) *conversation.Message {
	return &conversation.Message{Role: conversation.RoleAssistant, Blocks: []conversation.Block{
		{Kind: conversation.KindToolUse, ID: "c1", Name: name, Input: input},
	}}
}

func answering(name string, blocks ...conversation.Block) *conversation.Message {
	return &conversation.Message{Role: conversation.RoleTool, Blocks: []conversation.Block{
		{Kind: conversation.KindToolResult, ID: "c1", Name: name, Result: blocks},
	}}
}

func textBlock(said string) conversation.Block {
	return conversation.Block{Kind: conversation.KindText, Text: said}
}

// request is a first compression of the messages, numbered from 3.
func request(messages ...*conversation.Message) summarizer.Request {
	req := summarizer.Request{Round: 1, Budget: 2_000, Count: fourBytes}
	for i, m := range messages {
		req.Turns = append(req.Turns, summarizer.Turn{Index: i + 3, Message: m})
	}
	return req
}

func newSummarizer(t *testing.T, o Options) *Summarizer {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// promptsOf are the prompts for a request whose every answer is good.
func promptsOf(t *testing.T, o Options, req summarizer.Request) []summarizer.Prompt {
	t.Helper()
	backend := &scripted{steps: make([]step, 64)}
	for i := range backend.steps {
		backend.steps[i] = says("## Goal\n- part " + strings.Repeat("x", i+1))
	}
	o.Backend = backend
	if _, err := newSummarizer(t, o).Summarize(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	return backend.prompts
}
