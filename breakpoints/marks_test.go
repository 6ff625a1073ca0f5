package breakpoints

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/conversation"
)

const (
	openAI    = conversation.FormatOpenAIChat
	anthropic = conversation.FormatAnthropicMessages
)

func parse(t testing.TB, format conversation.Format, src string) *conversation.Conversation {
	t.Helper()
	c, err := conversation.Parse(format, src, conversation.Limits{})
	if err != nil {
		t.Fatalf("parse: %v\n%s", err, src)
	}
	return c
}

func place(t testing.TB, format conversation.Format, src string, opts Options) (*Result, string) {
	t.Helper()
	res, err := Place(parse(t, format, src), opts)
	if err != nil {
		t.Fatalf("Place: %v", err)
	}
	return res, res.Rewrite.Render()
}

// marksIn lists the marks of a rendered request in prompt order, by looking at the
// JSON alone: nothing of the package under test is used.
func marksIn(t testing.TB, format conversation.Format, src string) []string {
	t.Helper()
	var doc any
	if err := json.Unmarshal([]byte(src), &doc); err != nil {
		t.Fatalf("the output is not JSON: %v\n%s", err, src)
	}
	body, isBody := doc.(map[string]any)
	if !isBody {
		body = map[string]any{"messages": doc}
	}
	var f finder
	f.inside("tools", body["tools"], "function")
	if format == openAI {
		if body["tools"] == nil {
			f.inside("functions", body["functions"], "function")
		}
		f.inside("messages", body["messages"], "content", "source", "tool_calls", "function_call", "function", "custom")
	} else {
		f.inside("system", body["system"], "content", "source")
		f.inside("messages", body["messages"], "content", "source")
	}
	if mark, ok := body["cache_control"]; ok && mark != nil {
		f.found = append(f.found, "automatic")
	}
	return f.found
}

type finder struct{ found []string }

// inside walks lists and the named members. Arguments and schemas are data of the
// tools and hold no marks.
func (f *finder) inside(path string, v any, members ...string) {
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			f.inside(fmt.Sprintf("%s[%d]", path, i), e, members...)
		}
	case map[string]any:
		for _, key := range members {
			f.inside(path+"."+key, v[key], members...)
		}
		mark := v["cache_control"]
		if mark == nil {
			if mark = v["prompt_cache_breakpoint"]; mark == nil {
				return
			}
			path += "#openai"
		}
		if object, ok := mark.(map[string]any); ok && object["ttl"] != nil {
			path += fmt.Sprintf("@%v", object["ttl"])
		}
		f.found = append(f.found, path)
	}
}

var (
	writtenMarks = strings.NewReplacer(`,"cache_control":{"type":"ephemeral"}`, "", `,"cache_control":{"type":"ephemeral","ttl":"1h"}`, "", `,"prompt_cache_breakpoint":{"mode":"explicit"}`, "")
	nullMark     = regexp.MustCompile(`,\s*"cache_control"\s*:\s*null|"cache_control"\s*:\s*null,\s*`)
	onePartList  = regexp.MustCompile(`\[\{"type":"text","text":("(?:[^"\\]|\\.)*")\}\]`)
)

// unmarked takes out the marks in the spelling this package writes, and reads a
// list of one text block as its string. A null goes too: a mark is written over it
// and then removed as a whole. Quotes inside string values are escaped, so nothing
// matches there.
func unmarked(src string) string {
	src = writtenMarks.Replace(src)
	if strings.Contains(src, `"cache_control"`) {
		src = nullMark.ReplaceAllString(src, "")
	}
	return onePartList.ReplaceAllString(src, "$1")
}

// checkInvariants verifies what must hold for every output of Place with marks
// placed anew: at most four marks and all of one life, a second and third pass
// change nothing, messages without a mark before or after keep their bytes, and
// the marked bytes differ from the input by marks alone.
func checkInvariants(t testing.TB, format conversation.Format, src string, opts Options) {
	t.Helper()
	in := parse(t, format, src)
	res, err := Place(in, opts)
	if err != nil {
		t.Fatalf("Place: %v", err)
	}
	out := res.Rewrite.Render()
	marks := marksIn(t, format, out)
	if len(marks) > MaxMarks-opts.Reserved {
		t.Errorf("%d marks with %d reserved: %v", len(marks), opts.Reserved, marks)
	}
	if len(marks) != len(res.Breakpoints) {
		t.Errorf("%d marks in the output, %d reported: %v", len(marks), len(res.Breakpoints), marks)
	}
	for _, m := range marks {
		if long := strings.HasSuffix(m, "@1h"); long != (opts.TTL == TTL1h) {
			t.Errorf("mark %s, wanted life %v", m, opts.TTL)
		}
	}
	for pass := 2; pass <= 3; pass++ {
		again, err := Place(parse(t, format, out), opts)
		if err != nil {
			t.Fatalf("pass %d: %v", pass, err)
		}
		if !again.Rewrite.Empty() {
			t.Errorf("pass %d changes the output of the pass before", pass)
		}
		if got := again.Rewrite.Render(); got != out {
			t.Errorf("pass %d: bytes differ", pass)
		}
	}
	stripped, err := Place(parse(t, format, out), Options{Strategy: StrategyNone})
	if err != nil {
		t.Fatalf("strip: %v", err)
	}
	bare := stripped.Rewrite.Render()
	if left := marksIn(t, format, bare); len(left) > 0 {
		t.Errorf("marks left after stripping: %v", left)
	}
	before, err := Place(in, Options{Strategy: StrategyNone})
	if err != nil {
		t.Fatalf("strip: %v", err)
	}
	if got, want := unmarked(bare), unmarked(before.Rewrite.Render()); got != want {
		t.Errorf("stripping the output does not give back the input (as far as one-part lists are their strings):\n got %s\nwant %s", clip(got), clip(want))
	}
	after := parse(t, format, out)
	for i := range in.Messages {
		was, is := in.Raw(in.Messages[i].Span), after.Raw(after.Messages[i].Span)
		if was != is && !strings.Contains(was, `"cache_control"`) && !strings.Contains(is, `"cache_control"`) {
			t.Errorf("message %d changed without a mark", i)
		}
	}
	if in.Source != src {
		t.Error("the conversation was changed")
	}
}

func clip(s string) string {
	if len(s) > 400 {
		return s[:400] + "..."
	}
	return s
}
