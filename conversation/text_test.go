package conversation

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestQuoteEscapesOnlyWhatJSONDemands(t *testing.T) {
	for in, want := range map[string]string{
		"":                      `""`,
		"plain":                 `"plain"`,
		"naïve 📥 漢字":            `"naïve 📥 漢字"`,
		"<b>&amp;\u2028\x7f":    "\"<b>&amp;\u2028\x7f\"",
		`a "b" \c`:              `"a \"b\" \\c"`,
		"\n\r\t\b\f\x00\x1f":    `"\n\r\t\u0008\u000c\u0000\u001f"`,
		"half \xed\xa0\x80 bad": `"half ` + "\ufffd\ufffd\ufffd" + ` bad"`,
		"/":                     `"/"`,
	} {
		got := Quote(in)
		if got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
		var back string
		if err := json.Unmarshal([]byte(got), &back); err != nil || back != eachByteValid(in) {
			t.Errorf("%q reads back as %q: %v", in, back, err)
		}
	}
}

// eachByteValid writes U+FFFD for every byte that is not part of valid UTF-8.
func eachByteValid(s string) string { return string([]rune(s)) }

func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "a\"\\\n", "📥", "\xff", "\u2028", strings.Repeat("é\x01", 20)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		lit := Quote(s)
		var back string
		if err := json.Unmarshal([]byte(lit), &back); err != nil {
			t.Fatalf("%q: %v", lit, err)
		}
		if want := eachByteValid(s); back != want {
			t.Fatalf("%q reads back as %q, want %q", s, back, want)
		}
		if got := unquote(lit); got != back {
			t.Fatalf("unquote gives %q, encoding/json %q", got, back)
		}
	})
}

func FuzzUnquote(f *testing.F) {
	for _, s := range []string{`"a"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ude00\ud83d"`, `"\ud83d\u0041"`, `"\ud83d\ud83d\ude00"`, `"\/\b\f\n\r\t\\\""`, `"\u00e9\u0000"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, lit string) {
		s := newScanner(lit, 1)
		span, err := s.str()
		if err != nil || span != (Span{0, len(lit)}) || !utf8.ValidString(lit) {
			t.Skip()
		}
		var want string
		if err := json.Unmarshal([]byte(lit), &want); err != nil {
			t.Fatalf("accepted %q: %v", lit, err)
		}
		if got := unquote(lit); got != want {
			t.Fatalf("%s: got %q, want %q", lit, got, want)
		}
	})
}

// Reading a literal in one go gives what passing over it and decoding it gives, errors and lone surrogates included.
func FuzzText(f *testing.F) {
	for _, s := range []string{
		``, `x`, `"`, `"a"`, `"a" b`, `""`, `"a\n\"b\\"c`, `"\`, `"\x"`, `"\u12"`, `"\u00zz"`, `"\u00e9\u0000"`, "\"a\\n\x01\"", "\"\x01",
		`"\ud83d\ude00!"`, `"\ud83d"`, `"\ude00\ud83d"`, `"\ud83d\u0041"`, `"\/\b\f\n\r\t"`, ` "a\t` + strings.Repeat("long ", 50) + `\n"`, `"\n`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		two, one := newScanner(src, 1), newScanner(src, 1)
		wantSpan, wantErr := two.str()
		span, text, err := one.text()
		if diff := cmp.Diff(wantErr, err); diff != "" || span != wantSpan {
			t.Fatalf("%q: span %v, want %v; error (-want +got):\n%s", src, span, wantSpan, diff)
		}
		if err != nil {
			return
		}
		if want := unquote(src[span.Start:span.End]); text != want || one.pos != two.pos || one.surrogate != two.surrogate {
			t.Fatalf("%q: got %q at %d, surrogate %d; want %q at %d, surrogate %d", src, text, one.pos, one.surrogate, want, two.pos, two.surrogate)
		}
	})
}

func TestPlainEndFindsTheFirstSpecialByteAtAnyDistance(t *testing.T) {
	for at := range 40 {
		for b := range 256 {
			src := strings.Repeat("é~ ", 20)[:at] + string([]byte{byte(b)}) + strings.Repeat("x\"\x01", 10)
			want := strings.IndexFunc(src, func(r rune) bool { return r == '"' || r == '\\' || r < ' ' })
			if got := plainEnd(src, 0); got != want {
				t.Fatalf("%q: got %d, want %d", src, got, want)
			}
		}
	}
	if got := plainEnd("abc", 1); got != 3 {
		t.Errorf("without a special byte: got %d, want the end", got)
	}
}

func TestStringValuesListsValuesAndNoKeys(t *testing.T) {
	src := ` {"k":"a","l":["b\n",{"m":"\u0063","n":null}],"o":1.5,"k":""} `
	lits, ok := StringValues(src)
	if !ok {
		t.Fatal("refused")
	}
	var got []string
	for _, l := range lits {
		got = append(got, l.Text)
		if src[l.Span.Start] != '"' || unquote(src[l.Span.Start:l.Span.End]) != l.Text {
			t.Errorf("span of %q holds %s", l.Text, src[l.Span.Start:l.Span.End])
		}
	}
	checkSame(t, "values", []string{"a", "b\n", "c", ""}, got)
	for _, bad := range []string{"", "{", `"a" "b"`, "not JSON", strings.Repeat("[", 600) + strings.Repeat("]", 600)} {
		if lits, ok := StringValues(bad); ok || lits != nil {
			t.Errorf("%q: got %v, %v", clip(bad, 20), lits, ok)
		}
	}
	if lits, ok := StringValues(`"alone"`); !ok || len(lits) != 1 || lits[0].Text != "alone" {
		t.Errorf("a string alone: %v, %v", lits, ok)
	}
	if lits, ok := StringValues("17"); !ok || len(lits) != 0 {
		t.Errorf("a number alone: %v, %v", lits, ok)
	}
}

func TestMembersKeepTheirOrder(t *testing.T) {
	const object = `{"b": "x\n", "a" :{"c":1}, "\u0062":null}`
	got, ok := Members(object)
	if !ok {
		t.Fatal("refused")
	}
	checkPlaces(t, object, got)
	checkSame(t, "members", []Member{
		{Key: "b", Value: `"x\n"`, Text: "x\n", IsString: true},
		{Key: "a", Value: `{"c":1}`},
		{Key: "b", Value: `null`},
	}, got)
	for _, bad := range []string{"", "[]", `"a"`, "{}{}", `{"a":1,}`, `{"a":01}`} {
		if got, ok := Members(bad); ok {
			t.Errorf("%s: got %v", bad, got)
		}
	}
}

// checkPlaces verifies where the values are said to stand, and takes that out.
func checkPlaces(t *testing.T, json string, members []Member) {
	t.Helper()
	for i := range members {
		if m := &members[i]; json[m.At.Start:m.At.End] != m.Value {
			t.Errorf("%s is said to stand at %v, where there is %s", m.Value, m.At, json[m.At.Start:m.At.End])
		}
		members[i].At = Span{}
	}
}

func TestElementsKeepTheirOrder(t *testing.T) {
	const array = ` ["x\n", {"a":1} ,[], -1.50] `
	got, ok := Elements(array)
	if !ok {
		t.Fatal("refused")
	}
	checkPlaces(t, array, got)
	checkSame(t, "elements", []Member{{Value: `"x\n"`, Text: "x\n", IsString: true}, {Value: `{"a":1}`}, {Value: "[]"}, {Value: "-1.50"}}, got)
	for _, bad := range []string{"", "{}", "[1,]", "[] []", `["a]`} {
		if got, ok := Elements(bad); ok {
			t.Errorf("%s: got %v", bad, got)
		}
	}
}

func TestBlankIsWhiteSpaceOfAnyScript(t *testing.T) {
	for _, text := range []string{"", " \n\t\u00a0\u3000"} {
		if !Blank(text) {
			t.Errorf("%q is not blank", text)
		}
	}
	for _, text := range []string{"\u200b", " .", "\x00"} {
		if Blank(text) {
			t.Errorf("%q is blank", text)
		}
	}
}

func TestTextLeavesOutWhatIsNoText(t *testing.T) {
	image := Block{Kind: KindMedia, Text: "text of a document", Media: &Media{}}
	blocks := func(b ...Block) []Block { return b }
	for _, c := range []struct {
		name   string
		blocks []Block
		text   string
		isText bool
	}{
		{"nothing", nil, "", false},
		{"one text", blocks(says("a")), "a", true},
		{"several", blocks(says("a"), block("b"), says("")), "a\nb\n", true},
		{"media between", blocks(says("a"), image, says("b")), "a\nb", false},
		{"media alone", blocks(image), "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i := range c.blocks {
				if b := &c.blocks[i]; b.HasText() != (b.Kind == KindText && b.Text != "") {
					t.Errorf("HasText of %+v is %v", b, b.HasText())
				}
			}
			m, r := Message{Blocks: c.blocks}, Block{Result: c.blocks}
			if m.Text() != c.text || r.ResultText() != c.text || r.ResultIsText() != c.isText {
				t.Errorf("got %q, %q, %v", m.Text(), r.ResultText(), r.ResultIsText())
			}
		})
	}
}

func TestRequestsAreWhatAUserSaid(t *testing.T) {
	for _, c := range []struct {
		name string
		m    Message
		want bool
	}{
		{"text", user(ShapeString, says("hi")), true},
		{"blank text", user(ShapeString, says(" \n")), false},
		{"an image", user(ShapeList, Block{Kind: KindMedia}), true},
		{"something unknown", user(ShapeList, Block{Kind: KindOpaque}), true},
		{"a result", user(ShapeList, toolResult("a", ShapeString, says("x"))), false},
		{"a result and text", user(ShapeList, toolResult("a", ShapeString), block("go on")), true},
		{"nothing", user(ShapeList), false},
		{"an assistant", assistant(ShapeString, says("hi")), false},
		{"a tool", toolMessage("a", ShapeString, says("x")), false},
	} {
		if got := c.m.IsRequest(); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

func TestFormatsAndRolesHaveTheirWords(t *testing.T) {
	for f, want := range map[Format]string{FormatTyped: "typed", FormatOpenAIChat: "openai-chat", FormatAnthropicMessages: "anthropic-messages"} {
		if f.String() != want {
			t.Errorf("got %q, want %q", f, want)
		}
	}
	for r, want := range map[Role]string{RoleOther: "other", RoleSystem: "system", RoleUser: "user", RoleAssistant: "assistant", RoleTool: "tool"} {
		if r.String() != want {
			t.Errorf("got %q, want %q", r, want)
		}
	}
}

func TestThinkingIsOnlyWhatStandsInTheContent(t *testing.T) {
	for _, c := range []struct {
		b    Block
		want bool
	}{
		{Block{Kind: KindThinking}, true},
		{Block{Kind: KindRedactedThinking}, true},
		{Block{Kind: KindThinking, Site: SiteReasoning}, false},
		{Block{Kind: KindText}, false},
	} {
		if got := c.b.IsThinking(); got != c.want {
			t.Errorf("%+v: got %v", c.b, got)
		}
	}
}
