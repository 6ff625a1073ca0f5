package breakpoints

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/testdata"
)

// variants are the options under which the invariants are tried.
func variants(format conversation.Format) []Options {
	if format == anthropic {
		return []Options{
			{},
			{TTL: TTL1h},
			{Reserved: 2},
			{LeaveNewestUserUnmarked: true},
		}
	}
	return []Options{
		{Claude: true},
		{Claude: true, TTL: TTL1h, Reserved: 1},
		{Layout: LayoutLiteLLM},
		{Layout: LayoutLiteLLM, MarkToolMessages: true, LeaveNewestUserUnmarked: true},
	}
}

func formatOf(f testdata.File) conversation.Format {
	if f.Format == testdata.Anthropic {
		return anthropic
	}
	return openAI
}

func TestInvariantsHoldOnRealConversations(t *testing.T) {
	for _, f := range testdata.Conversations(t) {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			for _, opts := range variants(formatOf(f)) {
				checkInvariants(t, formatOf(f), f.JSON, opts)
			}
		})
	}
}

// A conversation that grows carries marks of the turns before it; they must go,
// and the newest place must be marked every time.
func TestMarksSlideOverAGrowingConversation(t *testing.T) {
	f := testdata.Conversation(t, "cc-go-unicode-70")
	whole := parse(t, anthropic, f.JSON)
	marked := ""
	for n := 1; n <= len(whole.Messages); n++ {
		next := whole.Raw(whole.Messages[n-1].Span)
		body := `{"messages":[` + next + `]}`
		if n > 1 {
			body = strings.TrimSuffix(marked, "]}") + "," + next + "]}"
		}
		res, out := place(t, anthropic, body, Options{})
		if got := marksIn(t, anthropic, out); len(got) > 4 || len(got) == 0 {
			t.Fatalf("%d messages: marks %v", n, got)
		}
		fresh, want := place(t, anthropic, `{"messages":[`+join(whole, n)+`]}`, Options{})
		if got, want := fmt.Sprint(res.Breakpoints), fmt.Sprint(fresh.Breakpoints); got != want {
			t.Fatalf("%d messages: marks on %v, on the unmarked conversation %v", n, got, want)
		}
		if unmarked(out) != unmarked(want) {
			t.Fatalf("%d messages: the bytes depend on the marks of the turns before", n)
		}
		marked = out
	}
}

func join(c *conversation.Conversation, n int) string {
	var raw []string
	for i := range n {
		raw = append(raw, c.Raw(c.Messages[i].Span))
	}
	return strings.Join(raw, ",")
}

// Stale and mixed marks on every block must not matter.
func TestStaleMarksDoNotMatter(t *testing.T) {
	for _, name := range []string{"cc-go-dirty-106", "tau2-airline-sonnet45-51"} {
		f := testdata.Conversation(t, name)
		format := formatOf(f)
		c := parse(t, format, f.JSON)
		r := conversation.NewRewrite(c)
		for i := range c.Tools {
			r.MarkTool(i, "1h")
		}
		for i := range c.Messages {
			for b := range c.Messages[i].Blocks {
				if site := c.Messages[i].Blocks[b].Site; site == conversation.SiteContent || site == conversation.SiteMessage {
					r.MarkBlock(conversation.Ref{Message: i, Block: b}, []string{"", "1h"}[(i+b)%2])
				}
			}
		}
		stale := r.Render()
		if n := len(marksIn(t, format, stale)); n < 20 {
			t.Fatalf("%s: only %d stale marks", name, n)
		}
		for _, opts := range variants(format) {
			checkInvariants(t, format, stale, opts)
			fresh, clean := place(t, format, f.JSON, opts)
			res, out := place(t, format, stale, opts)
			if got, want := fmt.Sprint(res.Breakpoints), fmt.Sprint(fresh.Breakpoints); got != want {
				t.Errorf("%s: marks on %v, without stale marks on %v", name, got, want)
			}
			if unmarked(out) != unmarked(clean) {
				t.Errorf("%s: bytes differ from those of the clean conversation", name)
			}
		}
	}
}

func FuzzPlace(f *testing.F) {
	seeds := []string{
		chatOfFive,
		`{"system":"S","tools":[{"name":"t","input_schema":{},` + mark1h + `}],"messages":[{"role":"user","content":[` + image + `,{"type":"text","text":"",` + mark + `}]}]}`,
		`{"cache_control":{},"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"t",` + mark + `},{"type":"tool_use","id":"c","name":"n","input":{},"caller":{"type":"code_execution"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"search_result","content":[{` + mark + `,"type":"text","text":"r"}]}]}]}]}`,
		`[{"role":"developer","content":"S"},{"role":"assistant","reasoning":"r","content":null,"tool_calls":[{"id":"c","function":{"name":"n","arguments":"{}",` + mark + `},` + mark + `}]},{"role":"tool","tool_call_id":"c","content":["x",{"type":"text","text":"y","cache_control":null}],` + mark + `},{"role":"function","name":"n","content":"z"}]`,
		"[ {\"content\" : \"\\u00e9\\ud83d\\ude00\" , \"role\":\"user\"} , {\"role\":\"exit\",\"content\":{}} ]",
	}
	for seed := range uint64(20) {
		m := &maker{Rand: rand.New(rand.NewPCG(seed, 2)), format: []conversation.Format{anthropic, openAI}[seed%2]}
		seeds = append(seeds, m.conversation())
	}
	for _, s := range seeds {
		for n := range byte(8) {
			f.Add(s, n)
		}
	}
	f.Fuzz(func(t *testing.T, src string, n byte) {
		format := anthropic
		if n&1 == 1 {
			format = openAI
		}
		if _, err := conversation.Parse(format, src, conversation.Limits{}); err != nil {
			return
		}
		opts := variants(format)[n>>1&3]
		checkInvariants(t, format, src, opts)
	})
}
