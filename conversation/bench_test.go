package conversation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/internal/testdata"
)

// nativeFormat is the codec of a test data format.
func nativeFormat(format string) Format {
	if format == testdata.Anthropic {
		return FormatAnthropicMessages
	}
	return FormatOpenAIChat
}

func BenchmarkParse(b *testing.B) {
	for _, f := range testdata.Conversations(b) {
		b.Run(f.Name, func(b *testing.B) { benchmarkParse(b, nativeFormat(f.Format), f.JSON) })
	}
}

func benchmarkParse(b *testing.B, format Format, src string) {
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(format, src, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParseHostile shows that time per byte does not grow with the size, on
// inputs made to be costly.
func BenchmarkParseHostile(b *testing.B) {
	many := func(n int, format string) string {
		elems := make([]string, n)
		for i := range elems {
			elems[i] = fmt.Sprintf(format, i)
		}
		return strings.Join(elems, ",")
	}
	for _, h := range []struct {
		name string
		make func(n int) string
	}{
		{"many keys", func(n int) string { return `[{"role":"user",` + many(n, `"k%d":1`) + `}]` }},
		{"tiny blocks", func(n int) string { return `[{"role":"user","content":[` + many(n, `%d`) + `]}]` }},
		{"tiny messages", func(n int) string { return `[` + many(n, `{"role":"%d"}`) + `]` }},
		{"escapes", func(n int) string { return `[{"role":"user","content":"` + strings.Repeat(`\n`, n) + `"}]` }},
		{"marks", func(n int) string {
			return `[{"role":"user","content":[` + many(n, `{"cache_control":{"ttl":"%d"}}`) + `]}]`
		}},
		{"nesting", func(n int) string {
			deep := strings.Repeat("[", 500) + strings.Repeat("]", 500)
			return `[{"role":"user","x":[` + strings.TrimSuffix(strings.Repeat(deep+",", n/500), ",") + `]}]`
		}},
	} {
		for _, n := range []int{19_000, 190_000} { // the limit is 200,000 blocks
			b.Run(fmt.Sprint(h.name, "/", n), func(b *testing.B) { benchmarkParse(b, FormatAnthropicMessages, h.make(n)) })
		}
	}
}

func BenchmarkPair(b *testing.B) {
	f := testdata.Conversation(b, "pi-ts-session-907")
	c := mustParse(b, nativeFormat(f.Format), f.JSON)
	b.ReportAllocs()
	for b.Loop() {
		Pair(c)
	}
}

// BenchmarkRewrite renders a typical compression: the middle goes, a summary
// comes, the last messages are marked.
func BenchmarkRewrite(b *testing.B) {
	f := testdata.Conversation(b, "cc-go-thinking-590")
	c := mustParse(b, nativeFormat(f.Format), f.JSON)
	n := len(c.Messages)
	r := NewRewrite(c)
	for i := 3; i < n-20; i++ {
		r.Drop(i)
	}
	r.Insert(3, NewMessage{Role: RoleUser, Text: strings.Repeat("what happened so far\n", 400)})
	for i := n - 3; i < n; i++ {
		r.MarkBlock(Ref{i, 0}, "")
	}
	for name, render := range map[string]func(){
		"Render":  func() { r.Render() },
		"Program": func() { r.Program() },
		"Apply":   func() { r.Apply() },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				render()
			}
		})
	}
}
