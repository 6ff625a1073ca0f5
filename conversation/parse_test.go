package conversation

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// fault is a bad input: ¦ stands where the error must point.
type fault struct {
	name, src string
	path      string
	message   int
	reason    string // how the reason begins
}

func checkFaults(t *testing.T, format Format, limits Limits, faults []fault) {
	t.Helper()
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			at := strings.Index(f.src, "¦")
			c, err := Parse(format, strings.Replace(f.src, "¦", "", 1), limits)
			var e *Error
			if !errors.As(err, &e) || c != nil {
				t.Fatalf("got %v, %v, want an *Error alone", c, err)
			}
			if e.Offset != at || e.Path != f.path || e.Message != f.message || !strings.HasPrefix(e.Reason, f.reason) {
				t.Errorf("got  %d %q message %d: %s\nwant %d %q message %d: %s", e.Offset, e.Path, e.Message, e.Reason, at, f.path, f.message, f.reason)
			}
		})
	}
}

func TestTruncatedJSONIsRefusedAtItsEnd(t *testing.T) {
	checkFaults(t, FormatOpenAIChat, Limits{}, []fault{
		{"nothing at all", "¦", "", -1, "JSON ends where a request body or an array of messages was expected"},
		{"white space", " \n\t ¦", "", -1, "JSON ends where a request body"},
		{"after the opening bracket", "[¦", "messages[0]", 0, "JSON ends where a message object"},
		{"after the opening brace", "{¦", "", -1, "JSON ends where a string"},
		{"after a message", `[{"role":"user"}¦`, "messages", -1, "JSON ends where ',' or ']'"},
		{"after a comma between messages", `[{"role":"user"},¦`, "messages[1]", 1, "JSON ends where a message object"},
		{"after a message's brace", `[{¦`, "messages[0]", 0, "JSON ends where a string"},
		{"inside a key", `[{"role":"user","con¦`, "messages[0]", 0, "JSON ends inside a string that began at byte 16"},
		{"after a key", `[{"role"¦`, "messages[0]", 0, "JSON ends where ':'"},
		{"after a colon", `[{"role":¦`, "messages[0].role", 0, "JSON ends where a role string"},
		{"inside the role", `[{"role":"us¦`, "messages[0].role", 0, "JSON ends inside a string"},
		{"after a comma between members", `[{"role":"user",¦`, "messages[0]", 0, "JSON ends where a string"},
		{"inside the content string", `{"messages":[{"role":"user","content":"abc¦`, "messages[0].content", 0, "JSON ends inside a string"},
		{"after a backslash", `{"messages":[{"role":"user","content":"abc\¦`, "messages[0].content", 0, "JSON ends inside an escape"},
		{"inside a \\u escape", `{"messages":[{"role":"user","content":"abc\u00¦`, "messages[0].content", 0, "JSON ends inside an escape"},
		{"inside the content list", `[{"role":"user","content":[{"type":"text","text":"a"},¦`, "messages[0].content[1]", 0, "JSON ends where a value"},
		{"inside a block", `[{"role":"user","content":[{"type":"text","text":¦`, "messages[0].content[0].text", 0, "JSON ends where a value"},
		{"inside a source", `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"¦`, "messages[0].content[0].image_url.url", 0, "JSON ends inside a string"},
		{"inside true", `[{"role":"user","x":tr¦`, "messages[0].x", 0, "JSON ends where true"},
		{"after a minus", `[{"role":"user","x":-¦`, "messages[0].x", 0, "JSON ends where a digit"},
		{"inside arguments", `[{"role":"user"},{"role":"assistant","tool_calls":[{"id":"a"},{"function":{"arguments":"{\"¦`, "messages[1].tool_calls[1].function.arguments", 1, "JSON ends inside a string"},
		{"inside an unknown member", `[{"role":"user","x":{"y":[1,¦`, "messages[0].x", 0, "JSON ends where a value"},
		{"inside the tools", `{"messages":[],"tools":[{"function":{"name":"f","parameters":{¦`, "tools[0].function.parameters", -1, "JSON ends where a string"},
		{"before the last brace", `{"messages":[]¦`, "", -1, "JSON ends where ',' or '}'"},
	})
}

func TestEveryPrefixOfGoodJSONIsRefusedAtItsEnd(t *testing.T) {
	for _, s := range forms(t) {
		whole := strings.TrimSpace(s.json)
		for n := range len(whole) - 1 {
			cut := strings.ToValidUTF8(whole[:n], "")
			_, err := Parse(s.format, cut, Limits{})
			var e *Error
			if !errors.As(err, &e) || e.Offset != len(cut) || !strings.HasPrefix(e.Reason, "JSON ends") {
				t.Fatalf("%s, cut at %d: got %v, want an error at %d", s.name, n, err, len(cut))
			}
		}
	}
}

func TestBadSyntaxIsRefusedWhereItStands(t *testing.T) {
	checkFaults(t, FormatOpenAIChat, Limits{}, []fault{
		{"a byte order mark", "¦\ufeff[]", "", -1, "unexpected U+FEFF where a request body"},
		{"a word", "¦messages", "", -1, "unexpected 'm'"},
		{"text after the end", "[] ¦x", "", -1, "unexpected 'x' where the end of the JSON"},
		{"a second document", `{"messages":[]}¦{"messages":[]}`, "", -1, "unexpected '{' where the end of the JSON"},
		{"a null character after the end", "[]¦\x00", "", -1, "unexpected U+0000 where the end"},
		{"a comma before the bracket", `[{"role":"user"},¦]`, "messages[1]", 1, "unexpected ']'"},
		{"a comma before the brace", `[{"role":"user",¦}]`, "messages[0]", 0, "unexpected '}' where a string"},
		{"a comma at the start", `[¦,{"role":"user"}]`, "messages[0]", 0, "unexpected ','"},
		{"two commas", `[{"role":"user",¦,"x":1}]`, "messages[0]", 0, "unexpected ','"},
		{"no comma between members", `[{"role":"user" ¦"x":1}]`, "messages[0]", 0, "unexpected '\"' where ',' or '}'"},
		{"no comma between messages", `[{"role":"user"} ¦{"role":"user"}]`, "messages", -1, "unexpected '{' where ',' or ']'"},
		{"no colon", `[{"role" ¦"user"}]`, "messages[0]", 0, "unexpected '\"' where ':'"},
		{"the wrong bracket", `[{"role":"user"¦]`, "messages[0]", 0, "unexpected ']'"},
		{"a key without quotes", `[{¦role:"user"}]`, "messages[0]", 0, "unexpected 'r'"},
		{"single quotes", `[{"role":¦'user'}]`, "messages[0].role", 0, "unexpected '''"},
		{"a comment", "[¦/* no */]", "messages[0]", 0, "unexpected '/'"},
		{"a comma before a content bracket", `[{"role":"user","content":["a",¦]}]`, "messages[0].content[1]", 0, "unexpected ']' where a value"},
		{"a misspelled word", `[{"role":"user","content":nul¦}]`, "messages[0].content", 0, "unexpected '}' where null"},
		{"a capital word", `[{"role":"user","x":¦True}]`, "messages[0].x", 0, "unexpected 'T' where a value"},
		{"a word with a tail", `[{"role":"user","x":true¦r}]`, "messages[0]", 0, "unexpected 'r' where ',' or '}'"},
		{"NaN", `[{"role":"user","x":¦NaN}]`, "messages[0].x", 0, "unexpected 'N'"},
		{"an escape that is none", `[{"role":"user","content":"a¦\x41"}]`, "messages[0].content", 0, "unknown escape"},
		{"an escape with three digits", `[{"role":"user","content":"a¦\u123g"}]`, "messages[0].content", 0, `\u without four hexadecimal digits`},
		{"an escape cut by the quote", `[{"role":"user","content":"a¦\u12"}]`, "messages[0].content", 0, `\u without four hexadecimal digits`},
		{"a line break in a string", "[{\"role\":\"user\",\"content\":\"a¦\n\"}]", "messages[0].content", 0, "control character in a string"},
		{"a null character in a string", "[{\"role\":\"user\",\"content\":\"abcdefghijkl¦\x00mnopqrst\"}]", "messages[0].content", 0, "control character"},
		{"a tab in a key", "[{\"role\":\"user\",\"a¦\tb\":1}]", "messages[0]", 0, "control character"},
		{"a form feed as space", "[¦\f]", "messages[0]", 0, "unexpected U+000C"},
		{"a space of another script", "[¦\u2028]", "messages[0]", 0, "unexpected U+2028"},
	})
}

func TestNumbersFollowTheGrammarAtAnySize(t *testing.T) {
	var bad []fault
	for _, n := range []string{"-¦", "-¦a", "0¦1", "-0¦1", "1.¦", "1.¦e1", "1e¦", "1e+¦", "1E-¦x", "¦+1", "¦.5", "0¦x1", "1¦_0", "-¦-1", "1.5¦.2", "¦Infinity"} {
		bad = append(bad, fault{n, `[{"role":"user","x":[` + n + `]}]`, "messages[0].x", 0, "unexpected"})
	}
	checkFaults(t, FormatOpenAIChat, Limits{}, bad)
	for _, n := range []string{"0", "-0", "0.0", "1e5", "1E+5", "1e-5", "-1.25e400", strings.Repeat("9", 5000), "0." + strings.Repeat("3", 5000), "1e" + strings.Repeat("9", 500)} {
		src := `[{"role":"user","content":` + n + `}]`
		if c := mustParse(t, FormatOpenAIChat, src); c.Messages[0].Blocks[0].Raw != n {
			t.Errorf("%s was read as %s", clip(n, 40), c.Messages[0].Blocks[0].Raw)
		}
	}
}

func TestInvalidUTF8IsRefusedAtItsFirstByte(t *testing.T) {
	for name, bad := range map[string]string{
		"a lone continuation byte": "\x80", "a byte that never occurs": "\xff", "an overlong slash": "\xc0\xaf",
		"a surrogate": "\xed\xa0\x80", "beyond Unicode": "\xf4\x90\x80\x80", "a sequence cut short": "\xe2\x82",
	} {
		t.Run(name, func(t *testing.T) {
			head := "[{\"role\":\"user\",\"content\":\"naïve 📥 "
			checkFaults(t, FormatAnthropicMessages, Limits{}, []fault{
				{"in a string", head + "¦" + bad + "\"}]", "", -1, "invalid UTF-8"},
				{"at the end", "[]¦" + bad, "", -1, "invalid UTF-8"},
			})
		})
	}
}

func TestRepeatedKeysAreRefusedInEveryObjectThatIsRead(t *testing.T) {
	long := make([]string, 0, 40)
	for i := range 40 {
		long = append(long, fmt.Sprintf(`"k%d":%d`, i, i))
	}
	many := strings.Join(long, ",")
	checkFaults(t, FormatOpenAIChat, Limits{}, []fault{
		{"the body, first and last", `{"messages":[],"model":"a","x":1,¦"messages":[]}`, "", -1, `duplicate key "messages"`},
		{"the body, unknown key", `{"x":1,"messages":[],¦"x":1}`, "", -1, `duplicate key "x"`},
		{"a message", `[{"role":"user","content":"a",¦"role":"system"}]`, "messages[0]", 0, `duplicate key "role"`},
		{"a message, the second spelled with escapes", `[{"role":"user","content":"a",¦"r\u006Fle":"system"}]`, "messages[0]", 0, `duplicate key "role"`},
		{"a message, the first spelled with escapes", `[{"\u0072ole":"user","content":"a",¦"role":"system"}]`, "messages[0]", 0, `duplicate key "role"`},
		{"the last message", `{"messages":[{"role":"user"},{"role":"user","content":"","a":1,¦"content":""}]}`, "messages[1]", 1, `duplicate key "content"`},
		{"a block", `[{"role":"user","content":["x",{"type":"text","text":"a",¦"text":"b"}]}]`, "messages[0].content[1]", 0, `duplicate key "text"`},
		{"a source", `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"a",¦"url":"b"}}]}]`, "messages[0].content[0].image_url", 0, `duplicate key "url"`},
		{"a call", `[{"role":"assistant","tool_calls":[{"id":"a",¦"id":"b"}]}]`, "messages[0].tool_calls[0]", 0, `duplicate key "id"`},
		{"a call's function", `[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"",¦"name":"g"}}]}]`, "messages[0].tool_calls[0].function", 0, `duplicate key "name"`},
		{"a legacy call", `[{"role":"assistant","function_call":{"name":"f",¦"name":"g"}}]`, "messages[0].function_call", 0, `duplicate key "name"`},
		{"a mark", `[{"role":"user","cache_control":{"type":"ephemeral",¦"type":"x"}}]`, "messages[0].cache_control", 0, `duplicate key "type"`},
		{"a tool", `{"messages":[],"tools":[{"type":"function"},{"name":"a",¦"name":"b"}]}`, "tools[1]", -1, `duplicate key "name"`},
		{"a tool's function", `{"messages":[],"tools":[{"function":{"name":"a",¦"name":"b"}}]}`, "tools[0].function", -1, `duplicate key "name"`},
		{"after many keys", `[{"role":"user",` + many + `,¦"k39":1}]`, "messages[0]", 0, `duplicate key "k39"`},
		{"many keys, the first again", `[{"k0":1,"role":"user",¦` + many + `}]`, "messages[0]", 0, `duplicate key "k0"`},
		{"the empty key", `[{"":1,"role":"user",¦"":1}]`, "messages[0]", 0, `duplicate key ""`},
		{"a long key is clipped", `[{"role":"user","` + strings.Repeat("é", 90) + `":1,¦"` + strings.Repeat("é", 90) + `":1}]`, "messages[0]", 0, `duplicate key "` + strings.Repeat("é", 20) + `..."`},
	})
	mustParse(t, FormatOpenAIChat, `[{"role":"user",`+many+`}]`)
	// What the model wrote, or what nobody reads, may say anything.
	mustParse(t, FormatAnthropicMessages, `[{"role":"assistant","x":{"a":1,"a":2},"content":[{"type":"tool_use","id":"a","name":"f","input":{"a":1,"a":2}}]}]`)
}

func TestWrongShapesAreRefusedWithTheirPath(t *testing.T) {
	checkFaults(t, FormatAnthropicMessages, Limits{}, []fault{
		{"a string", `¦"x"`, "", -1, "unexpected '\"' where a request body or an array of messages"},
		{"a number", `¦7`, "", -1, "unexpected '7'"},
		{"null", `¦null`, "", -1, "unexpected 'n'"},
		{"messages that are no array", `{"messages":¦{"role":"user"}}`, "messages", -1, "unexpected '{' where an array"},
		{"null messages", `{"messages":¦null}`, "messages", -1, "unexpected 'n' where an array"},
		{"a message that is a string", `{"messages":[¦"hi"]}`, "messages[0]", 0, "unexpected '\"' where a message object"},
		{"a message that is null", `[{"role":"user"},¦null]`, "messages[1]", 1, "unexpected 'n' where a message object"},
		{"no role", `[{"role":"user"}, ¦{"content":"x"}]`, "messages[1].role", 1, "a message without a role"},
		{"an empty message", `{"messages":[¦{}]}`, "messages[0].role", 0, "a message without a role"},
		{"a null role", `[{"role":¦null,"content":"x"}]`, "messages[0].role", 0, "unexpected 'n' where a role string"},
		{"a role that is a list", `[{"role":¦["user"]}]`, "messages[0].role", 0, "unexpected '[' where a role string"},
		{"tools that are no list", `{"messages":[],"tools":¦{}}`, "tools", -1, "unexpected '{' where an array"},
		{"a tool that is a string", `{"messages":[],"tools":[{},¦"f"]}`, "tools[1]", -1, "unexpected '\"' where a tool definition"},
	})
	checkFaults(t, FormatOpenAIChat, Limits{}, []fault{
		{"calls that are no list", `[{"role":"assistant","tool_calls":¦{"id":"a"}}]`, "messages[0].tool_calls", 0, "unexpected '{' where an array"},
		{"functions that are no list", `{"messages":[],"functions":¦7}`, "functions", -1, "unexpected '7' where an array"},
	})
	for _, src := range []string{`{}`, `{"model":"m"}`, `{"Messages":[]}`} {
		_, err := Parse(FormatOpenAIChat, src, Limits{})
		want := &Error{Offset: -1, Path: "messages", Message: -1, Reason: "the request body has no messages"}
		var e *Error
		if !errors.As(err, &e) || *e != *want {
			t.Errorf("%s: got %v, want %v", src, err, want)
		}
	}
}

func TestDepthIsLimited(t *testing.T) {
	// The list, the message and the content are three levels.
	nest := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	mustParse(t, FormatOpenAIChat, `[{"role":"user","x":`+nest(DefaultMaxDepth-2)+`}]`)
	mustParse(t, FormatOpenAIChat, `[{"role":"user","x":"`+nest(5000)+`"}]`)
	deep := func(n int) string { return strings.Repeat("[", n) + "¦" + strings.Repeat("[", 2000) }
	checkFaults(t, FormatOpenAIChat, Limits{}, []fault{
		{"an unknown member", `[{"role":"user","x":` + deep(DefaultMaxDepth-2), "messages[0].x", 0, "nested deeper than 512 levels"},
		{"content", `[{"role":"user","content":` + deep(DefaultMaxDepth-2), "messages[0].content[0]", 0, "nested deeper than 512 levels"},
		{"objects", `{"messages":[],"x":` + strings.Repeat(`{"a":`, DefaultMaxDepth-1) + `¦{`, "x", -1, "nested deeper than 512 levels"},
	})
	blocks := `{"type":"tool_result","content":[`
	checkFaults(t, FormatAnthropicMessages, Limits{MaxDepth: 8}, []fault{
		{"blocks inside blocks", `[{"role":"user","content":[` + strings.Repeat(blocks, 2) + `{"content":¦[`, "messages[0].content[0].content[0].content[0].content", 0, "nested deeper than 8 levels"},
	})
}

func TestTheNumberOfElementsIsLimited(t *testing.T) {
	limits := Limits{MaxBlocks: 4}
	for _, src := range []string{
		`[{"role":"user","content":["a","b","c"]}]`,
		`{"tools":[{},{}],"messages":[{"role":"user","content":"string content is no extra element"},{"role":"user","content":"b"}]}`,
	} {
		if _, err := Parse(FormatOpenAIChat, src, limits); err != nil {
			t.Errorf("%s: %v", src, err)
		}
	}
	checkFaults(t, FormatOpenAIChat, limits, []fault{
		{"blocks", `[{"role":"user","content":["a","b","c",¦"d"]}]`, "messages[0].content[3]", 0, "more than 4 messages, blocks and tools"},
		{"messages", `[{"role":"a"},{"role":"a"},{"role":"a"},{"role":"a"},¦{"role":"a"}]`, "messages[4]", 4, "more than 4"},
		{"calls", `[{"role":"assistant","tool_calls":[{},{},{},¦{}]}]`, "messages[0].tool_calls[3]", 0, "more than 4"},
		{"tools", `{"tools":[{},{},{},{},¦{}],"messages":[]}`, "tools[4]", -1, "more than 4"},
	})
}

func TestLoneSurrogatesPassWithAWarning(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []int // the messages warned about
	}{
		{"none", `[{"role":"user","content":"\ud83d\ude00 \uD83D\uDE00"}]`, nil},
		{"the first half alone", `[{"role":"user","content":"ok"},{"role":"user","content":"\ud83d"}]`, []int{1}},
		{"the second half alone", `[{"role":"user","content":"\ude00"}]`, []int{0}},
		{"two second halves", `[{"role":"user","content":"\ude00\ude00"}]`, []int{0}},
		{"the halves the wrong way round", `[{"role":"user","content":"\ude00\ud83d"}]`, []int{0}},
		{"a half before another escape", `[{"role":"user","content":"\ud83d\u0041\ud83d\n"}]`, []int{0}},
		{"two messages", `[{"role":"user","content":"\ud83d"},{"role":"user","content":"ok"},{"role":"user","x":"\ud83d"}]`, []int{0, 2}},
		{"in a key", `[{"role":"user","\ud83d":1}]`, []int{0}},
		{"in a tool, then in a message", `{"tools":[{"name":"\ud83d"}],"messages":[{"role":"user","content":"ok"},{"role":"user","content":"\ud83d"}]}`, []int{-1, 1}},
		{"in a tool only", `{"tools":[{"name":"\ud83d"}],"messages":[{"role":"user","content":"ok"}]}`, []int{-1}},
		{"after the messages", `{"messages":[{"role":"user","content":"ok"}],"x":"\ud83d"}`, []int{-1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := mustParse(t, FormatOpenAIChat, c.src)
			var where []int
			for _, w := range got.Warnings {
				if w.Code != WarnLoneSurrogate || !strings.Contains(w.Detail, "at byte") {
					t.Errorf("got %+v", w)
				}
				where = append(where, w.Message)
			}
			checkSame(t, "messages warned about", c.want, where)
			if out := NewRewrite(got).Render(); out != c.src {
				t.Errorf("rendered as %s", out)
			}
		})
	}
	c := mustParse(t, FormatOpenAIChat, `[{"role":"user","content":"a\ud83db"}]`)
	if got := c.Messages[0].Text(); got != "a\ufffdb" {
		t.Errorf("half of a pair reads %q", got)
	}
}

func TestErrorsSayWhereAndWhy(t *testing.T) {
	for want, e := range map[string]*Error{
		"messages[3].content: unexpected 'x' at byte 7": {Offset: 7, Path: "messages[3].content", Reason: "unexpected 'x'"},
		"input: invalid UTF-8 at byte 0":                {Reason: "invalid UTF-8"},
		"messages: there are none":                      {Offset: -1, Path: "messages", Reason: "there are none"},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTheOracleKnowsTheSameSyntax(t *testing.T) {
	// Every one-byte change of a small request, judged by encoding/json.
	src := `{"messages":[{"role":"user","content":[{"type":"text","text":"a\u00e9\n"},-1.5e+3,true,null]}],"x":{}}`
	for at := range len(src) {
		for b := range 256 {
			checkParse(t, FormatOpenAIChat, src[:at]+string([]byte{byte(b)})+src[at+1:])
		}
	}
	for at := range len(src) {
		checkParse(t, FormatOpenAIChat, src[:at]+src[at+1:])
		checkParse(t, FormatAnthropicMessages, src[:at]+src[at:at+1]+src[at:])
	}
	if !json.Valid([]byte(src)) {
		t.Fatal("the request itself is broken")
	}
}
