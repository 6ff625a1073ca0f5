package server_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

func TestCountTokensSaysWhatBecameOfTheLastUsage(t *testing.T) {
	f := start(t, nil)
	text := strings.Repeat("The tide reaches the old pier by noon. ", 200)
	body := `{"messages":[{"role":"user","content":"` + text + `"},{"role":"assistant","content":"` + text + `"},{"role":"user","content":"` + text + `"}]}`
	count := func(model string, usage *elbowroomv1.Usage) *elbowroomv1.CountTokensResponse {
		t.Helper()
		out, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{
			Conversation: &elbowroomv1.Conversation{Native: &elbowroomv1.NativeRequest{
				Format: elbowroomv1.Format_FORMAT_OPENAI_CHAT, Body: &elbowroomv1.NativeRequest_Json{Json: body},
			}},
			Model: model, LastUsage: usage,
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	const priming = 3
	plain := count("gpt-4o", nil)
	if plain.GetAnchor() != nil {
		t.Errorf("an anchor without a usage: %v", plain.GetAnchor())
	}
	first, after := plain.GetMessages()[0].GetTokens(), plain.GetMessages()[1].GetTokens()+plain.GetMessages()[2].GetTokens()

	out := count("gpt-4o", &elbowroomv1.Usage{PromptTokens: 2 * first, CompletionTokens: 99_999, MessageCount: 1})
	want := &elbowroomv1.UsageAnchor{
		Applied: true, PromptTokens: 2 * first, CoveredMessages: 1, CoveredLocalTokens: first + priming,
		TokensAfter: after, Correction: 1, MeasuredRatio: float64(2*first) / float64(first+priming),
	}
	if diff := cmp.Diff(want, out.GetAnchor(), protocmp.Transform()); diff != "" {
		t.Errorf("anchor (-want +got):\n%s", diff)
	}
	if out.GetTokens() != 2*first+after || out.GetLowerBound() != out.GetTokens()-2 || out.GetUpperBound() != out.GetTokens()+2 {
		t.Errorf("%d tokens in [%d, %d], want %d +- 2", out.GetTokens(), out.GetLowerBound(), out.GetUpperBound(), 2*first+after)
	}
	// The messages and the parts stay local counts.
	out.Tokens, out.LowerBound, out.UpperBound, out.Anchor = plain.GetTokens(), plain.GetLowerBound(), plain.GetUpperBound(), nil
	if diff := cmp.Diff(plain, out, protocmp.Transform()); diff != "" {
		t.Errorf("the rest (-without +with a usage):\n%s", diff)
	}

	estimated := count("who-knows", &elbowroomv1.Usage{PromptTokens: first, MessageCount: 1})
	if a := estimated.GetAnchor(); !a.GetApplied() || a.GetCorrection() != a.GetMeasuredRatio() || a.GetCorrection() > 0.85 || a.GetCorrectionMin() != 0.75 || a.GetCorrectionMax() != 1.5 {
		t.Errorf("an estimate 1.25 times too high learned: %v", a)
	}

	ignored := count("gpt-4o", &elbowroomv1.Usage{PromptTokens: 10, MessageCount: 1})
	if a := ignored.GetAnchor(); a.GetApplied() || !strings.HasPrefix(a.GetReason(), "10 tokens are fewer than") || a.GetPromptTokens() != 10 || ignored.GetTokens() != plain.GetTokens() {
		t.Errorf("%d tokens, want %d; anchor %v", ignored.GetTokens(), plain.GetTokens(), a)
	}
}

func TestATextHasNoLastUsage(t *testing.T) {
	f := start(t, nil)
	text := "hello"
	_, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{Text: &text, LastUsage: &elbowroomv1.Usage{PromptTokens: 5}})
	if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "last_usage") {
		t.Errorf("error %v", err)
	}
}

func TestCountTokensAddsUp(t *testing.T) {
	f := start(t, nil)
	for form, c := range forms() {
		t.Run(form, func(t *testing.T) {
			out, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{Conversation: c, Model: "gpt-4o"})
			if err != nil {
				t.Fatal(err)
			}
			if out.GetTokens() < 5_000 || out.GetLowerBound() > out.GetTokens() || out.GetUpperBound() < out.GetTokens() {
				t.Errorf("%d tokens in [%d, %d]", out.GetTokens(), out.GetLowerBound(), out.GetUpperBound())
			}
			if out.GetMethod() != elbowroomv1.Method_METHOD_LOCAL || out.GetEncoding() != "o200k_base" {
				t.Errorf("method %v, encoding %s", out.GetMethod(), out.GetEncoding())
			}
			p := out.GetParts()
			if sum := p.GetSystem() + p.GetTools() + p.GetText() + p.GetToolCalls() + p.GetToolResults() + p.GetMedia() + p.GetFraming() + p.GetReasoning(); sum != out.GetTokens() {
				t.Errorf("the parts add up to %d, the count is %d", sum, out.GetTokens())
			}
			messages := int32(0)
			for _, m := range out.GetMessages() {
				messages += m.GetTokens()
			}
			if messages > out.GetTokens() || messages < out.GetTokens()*9/10 {
				t.Errorf("the messages add up to %d of %d", messages, out.GetTokens())
			}
		})
	}
}

func TestCountTokensOfAText(t *testing.T) {
	f := start(t, nil)
	for _, c := range []struct {
		model  string
		tokens int32
		method elbowroomv1.Method
	}{
		{"gpt-4o", 2, elbowroomv1.Method_METHOD_LOCAL},
		{"claude-sonnet-4-5", 2, elbowroomv1.Method_METHOD_LOCAL},
		{"gemini-2.5-pro", 0, elbowroomv1.Method_METHOD_ESTIMATE},
	} {
		text := "hello world"
		out, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{Text: &text, Model: c.model})
		if err != nil {
			t.Fatal(err)
		}
		if c.tokens > 0 && out.GetTokens() != c.tokens || out.GetTokens() == 0 || out.GetMethod() != c.method || len(out.GetMessages()) > 0 {
			t.Errorf("%s: %v", c.model, out)
		}
	}
}

func TestWarmCountsNothingWrong(t *testing.T) {
	f := start(t, nil)
	if err := f.server.Warm(t.Context()); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.server.Warm(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
}
