package breakpoints

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/testdata"
)

// The server places marks on an outline, in which long texts are not decoded. Nothing that comes out may show it.
func TestAnOutlineIsMarkedAsTheWholeIs(t *testing.T) {
	for _, f := range testdata.Conversations(t) {
		format := conversation.FormatOpenAIChat
		if f.Format == testdata.Anthropic {
			format = anthropic
		}
		whole, err := conversation.Parse(format, f.JSON, conversation.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		outline, err := conversation.Reading{Outline: true}.Parse(format, f.JSON)
		if err != nil {
			t.Fatal(err)
		}
		sizes := &TokenCounts{Messages: make([]int, len(whole.Messages))}
		for i := range sizes.Messages {
			sizes.Messages[i] = whole.Messages[i].Span.Len() / 4
		}
		for strategy := range strategies {
			opts := Options{Strategy: strategy, Model: "claude-sonnet-5-5", Claude: true, Tokens: sizes}
			want, err := Place(whole, opts)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Place(outline, opts)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Rewrite.Splices(), got.Rewrite.Splices()); diff != "" {
				t.Errorf("%s, strategy %v, splices:\n%s", f.Name, strategy, diff)
			}
			if diff := cmp.Diff(want.Rewrite.Program(), got.Rewrite.Program()); diff != "" {
				t.Errorf("%s, strategy %v, program:\n%s", f.Name, strategy, diff)
			}
			want.Rewrite, got.Rewrite = nil, nil
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, strategy %v:\n%s", f.Name, strategy, diff)
			}
		}
	}
}
