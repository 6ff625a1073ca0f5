package conversation

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// shapeReasons are what valid JSON may be refused for.
var shapeReasons = []string{
	"duplicate key", "nested deeper than", "a message without a role", "the request body has no messages",
	"where a message object was expected", "where a role string was expected", "where an array was expected",
	"where a tool definition was expected", "where a request body or an array of messages was expected",
}

func isShapeReason(reason string) bool {
	for _, r := range shapeReasons {
		if strings.Contains(reason, r) {
			return true
		}
	}
	return false
}

// checkParse parses anything at all, with encoding/json as the judge. It returns
// nil for what is refused.
func checkParse(t *testing.T, format Format, src string) *Conversation {
	t.Helper()
	valid := utf8.ValidString(src) && json.Valid([]byte(src))
	c, err := Parse(format, src, Limits{})
	if err == nil {
		if !valid {
			t.Fatalf("accepted what encoding/json refuses: %q", src)
		}
		checkSpans(t, c)
		if in := decode(t, format, src); len(in.messages) != len(c.Messages) || len(in.tools) != len(c.Tools) {
			t.Fatalf("%d messages and %d tools, want %d and %d", len(c.Messages), len(c.Tools), len(in.messages), len(in.tools))
		}
		return c
	}
	var e *Error
	if !errors.As(err, &e) || e.Offset < -1 || e.Offset > len(src) || e.Reason == "" {
		t.Fatalf("bad error %#v", err)
	}
	switch {
	case isShapeReason(e.Reason):
	case valid:
		t.Fatalf("refused what encoding/json accepts: %v\n%q", err, src)
	case e.Offset < len(src) && e.Reason != "invalid UTF-8":
		// Everything up to the offset was fine: cut there, the only fault is the cut.
		before, err := Parse(format, src[:e.Offset], Limits{})
		if strings.Contains(e.Reason, "the end of the JSON") {
			if before == nil {
				t.Fatalf("%v, but what comes before gives %v\n%q", e, err, src)
			}
			break
		}
		var cut *Error
		if !errors.As(err, &cut) || cut.Offset != e.Offset || !strings.HasPrefix(cut.Reason, "JSON ends") {
			t.Fatalf("%v, but what comes before gives %v\n%q", e, err, src)
		}
	}
	return nil
}

func addSeeds(f *testing.F) {
	for _, s := range samples {
		f.Add(s.json)
	}
	for _, src := range []string{
		"", "\ufeff[]", "[", "{", `{"messages":[{"role":"user","content":"\ud83d"}]}`, `[{"role":"user","content":[{"type":"text","text":"\u00`,
		`{"messages":[{"role":"user","role":"user"}]}`, `[{"role":"user","content":-01.5e+}]`, "[{\"role\":\"user\",\"content\":\"\xff\"}]",
		`{"functions":[{}],"tools":[{"name":"a"}],"messages":[]}`, strings.Repeat("[", 600), `{"":{"":[nul`,
	} {
		f.Add(src)
	}
}

func FuzzParseOpenAI(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, src string) {
		if c := checkParse(t, FormatOpenAIChat, src); c != nil {
			checkPairing(t, c)
		}
		sameWhenDecoded(t, FormatOpenAIChat, src)
	})
}

func FuzzParseAnthropic(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, src string) {
		if c := checkParse(t, FormatAnthropicMessages, src); c != nil {
			checkPairing(t, c)
		}
		sameWhenDecoded(t, FormatAnthropicMessages, src)
	})
}

// FuzzRewrite lets bytes choose what is done to a conversation, and where the text
// is none, what the conversation is.
func FuzzRewrite(f *testing.F) {
	for i, s := range samples {
		f.Add(s.format == FormatAnthropicMessages, s.json, []byte{byte(i), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 1, 1, 1, 1, 2, 2, 2, 5, 5, 5})
	}
	f.Fuzz(func(t *testing.T, anthropic bool, src string, choices []byte) {
		format := FormatOpenAIChat
		if anthropic {
			format = FormatAnthropicMessages
		}
		pick := func(n int) int {
			if len(choices) == 0 {
				return 0
			}
			k := int(choices[0]) % n
			choices = choices[1:]
			return k
		}
		c, err := Parse(format, src, Limits{})
		if err != nil {
			g := generator{format: format, pick: pick}
			if c = checkParse(t, format, g.request()); c == nil {
				t.Skip("a second tool list, or a call list that is none")
			}
		}
		checkRewrite(t, decide(c, 2, pick))
	})
}
