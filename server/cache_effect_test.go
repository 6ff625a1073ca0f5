package server_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// growing is an Anthropic body of so many exchanges.
func growing(exchanges int) string {
	var messages []string
	for i := range exchanges {
		messages = append(messages, fmt.Sprintf(`{"role":"user","content":%q},{"role":"assistant","content":%q}`, prose(i, 400), prose(i+50, 400)))
	}
	messages = append(messages, `{"role":"user","content":"And now?"}`)
	return `{"model":"claude-opus-5-5","max_tokens":64,"system":` + fmt.Sprintf("%q", prose(99, 900)) + `,"messages":[` + strings.Join(messages, ",") + `]}`
}

func TestCompressReportsWhatItDoesToTheCache(t *testing.T) {
	f := start(t, nil)
	body := growing(20)
	for _, note := range []elbowroomv1.SystemNote{elbowroomv1.SystemNote_SYSTEM_NOTE_APPEND, elbowroomv1.SystemNote_SYSTEM_NOTE_NONE} {
		for _, view := range []elbowroomv1.View{elbowroomv1.View_VIEW_FULL, elbowroomv1.View_VIEW_EDITS} {
			resp, err := f.client.Compress(t.Context(), &elbowroomv1.CompressRequest{
				Conversation: anthropic(body), ContextWindow: 16_000, Force: true, View: view,
				Policy: &elbowroomv1.CompressionPolicy{SystemNote: note, ProtectLastN: new(int32(4))},
			})
			if err != nil {
				t.Fatal(err)
			}
			e, r := resp.GetReport().GetCacheEffect(), resp.GetReport()
			if e.GetKeptTokens()+e.GetRewrittenTokens() != r.GetTokensAfter() || e.GetSavedTokens() != r.GetTokensBefore()-r.GetTokensAfter() {
				t.Errorf("effect %v of a compression from %d to %d tokens", e, r.GetTokensBefore(), r.GetTokensAfter())
			}
			if e.GetReadMultiple() != 0.05 || e.GetWriteMultiple() != 1.25 {
				t.Errorf("multiples %v and %v, Opus 5.5 has 0.05 and 1.25", e.GetReadMultiple(), e.GetWriteMultiple())
			}
			want := int32(math.Ceil((1.25 - 0.05) * float64(e.GetRewrittenTokens()) / (0.05 * float64(e.GetSavedTokens()))))
			if e.PaybackTurns == nil || e.GetPaybackTurns() != want {
				t.Errorf("paid back after %d turns, want %d (%v)", e.GetPaybackTurns(), want, e)
			}
			if noted := note == elbowroomv1.SystemNote_SYSTEM_NOTE_APPEND; strings.Contains(e.GetAdvice(), "SYSTEM_NOTE_NONE") != noted {
				t.Errorf("advice with note %v: %q", note, e.GetAdvice())
			}
			if view == elbowroomv1.View_VIEW_EDITS {
				if at := resp.GetSplices()[0].GetOffset(); e.GetFirstChangedByte() != at {
					t.Errorf("first changed byte %d, the first splice is at %d", e.GetFirstChangedByte(), at)
				}
				continue
			}
			out, at := resp.GetConversation().GetNative().GetJson(), int(e.GetFirstChangedByte())
			if body[:at] != out[:at] {
				t.Errorf("bytes before %d have changed", at)
			}
		}
	}
}

func TestAForcedCompressionThatDoesNotPaySaysSo(t *testing.T) {
	f := start(t, nil)
	resp, err := f.client.Compress(t.Context(), &elbowroomv1.CompressRequest{
		Conversation: anthropic(growing(14)), ContextWindow: 200_000, Force: true,
		Policy: &elbowroomv1.CompressionPolicy{ProtectLastN: new(int32(24))},
	})
	if err != nil {
		t.Fatal(err)
	}
	e := resp.GetReport().GetCacheEffect()
	if e.GetPaybackTurns() <= 14 || !strings.Contains(e.GetAdvice(), "does not pay yet") {
		t.Errorf("effect %v", e)
	}
}

func TestThereIsNoCacheEffectWhereNothingChanged(t *testing.T) {
	f := start(t, nil)
	resp, err := f.client.Compress(t.Context(), &elbowroomv1.CompressRequest{Conversation: anthropic(growing(3))})
	if err != nil {
		t.Fatal(err)
	}
	if resp.GetReport().GetCacheEffect() != nil {
		t.Errorf("%v with %v", resp.GetOutcome(), resp.GetReport().GetCacheEffect())
	}
}

func TestPrepareMarksTheHeadThatCompressionKeeps(t *testing.T) {
	f := start(t, nil)
	marked := func(firstN int32) (messages []int32) {
		resp, err := f.client.Prepare(t.Context(), &elbowroomv1.PrepareRequest{
			Conversation: anthropic(growing(8)), Strategy: elbowroomv1.Strategy_STRATEGY_ANCHORED,
			Policy: &elbowroomv1.CompressionPolicy{ProtectFirstN: new(firstN)},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range resp.GetBreakpoints() {
			if b.GetSection() == elbowroomv1.Section_SECTION_MESSAGES {
				messages = append(messages, b.GetMessageIndex())
			}
		}
		return messages
	}
	for _, c := range []struct {
		firstN int32
		want   []int32
	}{{3, []int32{1, 14, 16}}, {5, []int32{3, 14, 16}}, {1, []int32{14, 16}}} {
		if got := marked(c.firstN); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("protect_first_n %d: breakpoints on messages %v, want %v", c.firstN, got, c.want)
		}
	}
}
