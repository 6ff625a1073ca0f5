package compressor

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/elbowroom/elbowroom/conversation"
)

func callBlock(name, input string) *conversation.Block {
	return &conversation.Block{Kind: conversation.KindToolUse, Name: name, Input: input}
}

func TestStubLineSaysToolArgumentsSizeAndExitStatus(t *testing.T) {
	log47 := strings.Repeat("ok\n", 46) + `{"exit_code": 0}`
	tests := []struct {
		name string
		call *conversation.Block
		text string
		want string
	}{
		{"PR5 terminal", callBlock("terminal", `{"command":"npm test"}`), log47, "[terminal] ran `npm test` -> exit 0, 47 lines output"},
		{"a failed command quotes its first error", callBlock("Bash", `{"command":"make"}`), "cc main.c\nmain.c:3: error: no semicolon\nexit status 2", "[Bash] ran `make` -> exit 2, 3 lines output; main.c:3: error: no semicolon"},
		{"no exit status", callBlock("terminal", `{"command":"ls"}`), "a\nb", "[terminal] ran `ls` -> exit ?, 2 lines output"},
		{"read_file", callBlock("read_file", `{"path":"a/b.go","offset":40}`), "xxxx", "[read_file] read a/b.go from line 40 (4 chars)"},
		{"write_file", callBlock("write_file", `{"path":"a.md","content":"one\ntwo"}`), "saved", "[write_file] wrote to a.md (2 lines)"},
		{"search_files", callBlock("search_files", `{"pattern":"foo","path":"src"}`), `{"total_count": 12}`, "[search_files] content search for 'foo' in src -> 12 matches"},
		{"PR8 unknown tool", callBlock("t", `{"a":1,"b":"x","c":2}`), "12345", "[t] a=1 b=x (5 chars result)"},
		{"PR9 arguments of odd types", callBlock("read_file", `{"path":null,"offset":true}`), "1234", "[read_file] read null from line true (4 chars)"},
		{"PR9 arguments that are no JSON", callBlock("t", `{broken`), "12345", "[t] (5 chars result)"},
		{"PR10 several addresses", callBlock("web_extract", `{"urls":[{"url":"https://a.example/x"},"https://b.example"]}`), "12345", "[web_extract] https://a.example/x (+1 more) (5 chars)"},
		{"PR11 unknown call", nil, "12345", "[unknown] (5 chars result)"},
		{"thousands", callBlock("t", `{}`), strings.Repeat("x", 12_345), "[t] (12,345 chars result)"},
		{"a long command is cut", callBlock("terminal", `{"command":"`+strings.Repeat("a", 300)+`"}`), "x\nexit code: 0", "[terminal] ran `" + strings.Repeat("a", 77) + "...` -> exit 0, 2 lines output"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			result := &conversation.Block{Kind: conversation.KindToolResult}
			got := stubLine(tt.call, result, tt.text, utf8.RuneCountInString(tt.text))
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if !isStub(got, toolName(tt.call, result)) {
				t.Error("the line is not recognized as one")
			}
		})
	}
}

func TestStubLinesStayWithinTheirLimitWhateverTheArguments(t *testing.T) {
	long := strings.Repeat("界", 500)
	for _, tool := range []string{"terminal", "read_file", "search_files", "web_extract", "patch", "custom", long} {
		call := callBlock(tool, `{"command":"`+long+`","path":"`+long+`","pattern":"`+long+`","urls":["`+long+`"],"`+long+`":1}`)
		line := stubLine(call, &conversation.Block{}, "x", 1)
		if n := utf8.RuneCountInString(line); n > stubMaxChars || !utf8.ValidString(line) {
			t.Errorf("PR7 %.20s: %d characters: %s", tool, n, line)
		}
		if !isStub(line, tool) {
			t.Errorf("PR7 %.20s: not recognized: %s", tool, line)
		}
	}
}

func TestArgumentsAreCutInsideTheirJSON(t *testing.T) {
	long := strings.Repeat("x", 600)
	head := strings.Repeat("x", 200)
	tests := []struct {
		name, input, want string
	}{
		{"PR15 the path stays, the content is cut", `{"path":"a.md", "content":"` + long + `"}`, `{"path":"a.md", "content":"` + head + `...[truncated: 400 more characters]"}`},
		{"PR16 no JSON stays", `{"content":"` + strings.Repeat("y", 1_200), ""},
		{"PR17 nested leaves are cut, short ones stay", `{"a":[{"b":"` + long + `"},"short"]}`, `{"a":[{"b":"` + head + `...[truncated: 400 more characters]"},"short"]}`},
		{"PR18 numbers, booleans and null stay", `{"n":1.0,"b":true,"z":null,"l":[1,2],"s":"` + long + `"}`, `{"n":1.0,"b":true,"z":null,"l":[1,2],"s":"` + head + `...[truncated: 400 more characters]"}`},
		{"PR19 one string", `"` + long + `"`, `"` + head + `...[truncated: 400 more characters]"`},
		{"PR20 other scripts stay readable", `{"s":"` + strings.Repeat("漢", 501) + `"}`, `{"s":"` + strings.Repeat("漢", 200) + `...[truncated: 301 more characters]"}`},
		{"PR21 short arguments stay", `{"s":"` + strings.Repeat("x", 400) + `"}`, ""},
		{"PR22 a leaf that would not shrink stays", `{"s":"` + strings.Repeat("x", 230) + `","n":"` + strings.Repeat("9 ", 99) + `","m":"` + strings.Repeat("8 ", 99) + `"}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, ok := pruneArguments(conversation.Ref{}, callBlock("write_file", tt.input))
			if ok != (tt.want != "") || e.text != tt.want {
				t.Fatalf("got %v %.300s\nwant %.300s", ok, e.text, tt.want)
			}
			if !ok {
				return
			}
			if again, twice := pruneArguments(conversation.Ref{}, callBlock("write_file", e.text+strings.Repeat(" ", 500))); twice {
				t.Errorf("PR23 cut again: %.300s", again.text)
			}
		})
	}
}

func TestNoCutTearsAnEmoji(t *testing.T) {
	family := "👩‍👩‍👧‍👦"
	for pad := 190; pad <= 200; pad++ {
		s, ok := cutLeaf(strings.Repeat("x", pad) + family + strings.Repeat("y", 300))
		if !ok || !utf8.ValidString(s) {
			t.Fatalf("pad %d: %v %q", pad, ok, s)
		}
		head, _, _ := strings.Cut(s, leafMarker)
		if rest := strings.TrimLeft(head, "x"); rest != "" && rest != family && !strings.HasPrefix(rest, family+"y") {
			t.Errorf("pad %d: torn: %q", pad, rest)
		}
	}
}
