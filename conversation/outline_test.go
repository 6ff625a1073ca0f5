package conversation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/elbowroom/elbowroom/internal/testdata"
)

// sameWhenDecoded compares an outline in a used room with what Parse makes of the same
// source.
func sameWhenDecoded(t *testing.T, format Format, src string) (escaped int) {
	t.Helper()
	var room Room
	if _, err := (Reading{Room: &room}).Parse(format, samples[0].json); err != nil {
		t.Fatal(err)
	}
	room.Clear()
	want, wantErr := Parse(format, src, Limits{})
	got, err := Reading{Outline: true, Room: &room}.Parse(format, src)
	if diff := cmp.Diff(wantErr, err); diff != "" {
		t.Fatalf("errors differ (-Parse +outline):\n%s", diff)
	}
	if err != nil {
		return 0
	}
	for i := range got.Messages {
		m := &got.Messages[i]
		for _, blocks := range [][]Block{m.Blocks, results(m.Blocks)} {
			for k := range blocks {
				if blocks[k].Escaped {
					escaped++
					if Blank(blocks[k].Text) && blocks[k].Text != "" || Blank(unescape(blocks[k].Text)) && blocks[k].Input == "" {
						t.Errorf("message %d: a blank text was left escaped: %q", i, blocks[k].Text)
					}
				}
			}
		}
		before := got.Messages[i]
		got.Messages[i] = *m.Decoded()
		if anyEscaped(before.Blocks) && &before.Blocks[0] == &got.Messages[i].Blocks[0] {
			t.Errorf("message %d was decoded in place", i)
		}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Conversation{}), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("(-Parse +outline, decoded):\n%s", diff)
	}
	return escaped
}

func results(blocks []Block) (out []Block) {
	for i := range blocks {
		out = append(out, blocks[i].Result...)
	}
	return out
}

func TestAnOutlineDecodesToWhatParseGives(t *testing.T) {
	for _, f := range testdata.Conversations(t) {
		t.Run(f.Name, func(t *testing.T) { sameWhenDecoded(t, nativeFormat(f.Format), f.JSON) })
	}
	for _, c := range testdata.Cases(t) {
		if c.JSON != "" {
			sameWhenDecoded(t, nativeFormat(c.Format), c.JSON)
		}
	}
}

func TestAnOutlineLeavesTextsOfMessagesAsTheyAre(t *testing.T) {
	const n = 256
	long := strings.Repeat(`a line\n`, n/8)
	blank := strings.Repeat(`\n`, n)
	wide := `\u3000` + strings.Repeat(`\n`, n) // a blank that is no ASCII
	for _, tt := range []struct {
		name, src string
		format    Format
		escaped   int
	}{
		{"content string", `[{"role":"user","content":"` + long + `"}]`, FormatAnthropicMessages, 1},
		{"blocks", `[{"role":"user","content":[{"type":"text","text":"` + long + `"},{"type":"thinking","thinking":"` + long + `"},"` + long + `"]}]`, FormatAnthropicMessages, 3},
		{"tool result", `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"` + long + `"}]}]`, FormatAnthropicMessages, 1},
		{"arguments", `[{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"` + long + `"}}]}]`, FormatOpenAIChat, 1},
		{"tool message", `[{"role":"tool","tool_call_id":"1","content":"` + long + `"}]`, FormatOpenAIChat, 1},
		{"reasoning", `[{"role":"assistant","reasoning_content":"` + long + `","content":"x"}]`, FormatOpenAIChat, 1},
		{"no escapes", `[{"role":"user","content":"` + strings.Repeat("a", 2*n) + `"}]`, FormatAnthropicMessages, 0},
		{"short", `[{"role":"user","content":"a\nb"}]`, FormatAnthropicMessages, 1},
		{"blank", `[{"role":"user","content":"` + blank + `"}]`, FormatAnthropicMessages, 0},
		{"blank beyond ASCII", `[{"role":"user","content":"` + wide + `"}]`, FormatAnthropicMessages, 0},
		{"white space, then text", `[{"role":"user","content":"` + blank + `x"}]`, FormatAnthropicMessages, 1},
		{"system prompt", `{"system":[{"type":"text","text":"` + long + `"}],"messages":[]}`, FormatAnthropicMessages, 0},
		{"system message, role last", `[{"content":"` + long + `","role":"system"}]`, FormatOpenAIChat, 0},
		{"compaction", `[{"role":"assistant","content":[{"type":"compaction","content":"` + long + `"}]}]`, FormatAnthropicMessages, 0},
		{"document", `[{"role":"user","content":[{"type":"document","source":{"type":"content","content":[{"type":"text","text":"` + long + `"}]}}]}]`, FormatAnthropicMessages, 0},
		{"broken escape", `[{"role":"user","content":"` + long + `\q"}]`, FormatAnthropicMessages, 0},
		{"control character", `[{"role":"user","content":"` + long + "\n" + `"}]`, FormatAnthropicMessages, 0},
		{"open string", `[{"role":"user","content":"` + long, FormatAnthropicMessages, 0},
		{"surrogate", `[{"role":"user","content":"` + long + `\ud800 ` + long + `"}]`, FormatAnthropicMessages, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := sameWhenDecoded(t, tt.format, tt.src); got != tt.escaped {
				t.Errorf("%d texts left as they are, want %d", got, tt.escaped)
			}
		})
	}
}

// Every length and place of an escape, a quote and a fault around the 64 bytes that are looked at together.
func TestStringsOfEveryLengthReadTheSameInAnOutline(t *testing.T) {
	for n := range 200 {
		for _, end := range []string{`"`, `\n"`, `\\"`, `\\\"x"`, `\u00e9"`, `\/"`, `\q"`, "\x01\"", `\`, `\\\\\\\\\\\"`} {
			src := `["` + strings.Repeat("a", n) + end
			fast, plain := newScanner(src, 9), newScanner(src, 9)
			fast.pos, plain.pos = 1, 1
			span, err := fast.str()
			at, _, wantErr := plain.text()
			if span != at && err == nil || cmp.Diff(wantErr, err) != "" || err == nil && fast.escaped != strings.Contains(src, `\`) {
				t.Fatalf("%q: %v, %v, escaped %t; text says %v, %v", src, span, err, fast.escaped, at, wantErr)
			}
			if want := strings.Contains(src, `\u`) || strings.Contains(src, `\/`); err == nil && fast.uncommon != want {
				t.Fatalf("%q: uncommon escapes %t, want %t", src, fast.uncommon, want)
			}
		}
	}
}
