package bedrock

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/conversation"
)

func mark(t testing.TB, src string, opts breakpoints.Options) (*breakpoints.Result, string) {
	t.Helper()
	r, err := Parse(src, conversation.Limits{})
	if err != nil {
		t.Fatalf("parse: %v\n%s", err, src)
	}
	opts.Layout = breakpoints.LayoutBedrock
	res, err := breakpoints.Place(r.Conversation, opts)
	if err != nil {
		t.Fatal(err)
	}
	return res, r.Render(res.Rewrite)
}

const (
	plainPoint = `{"cachePoint":{"type":"default"}}`
	hourPoint  = `{"cachePoint":{"type":"default","ttl":"1h"}}`
)

func TestCachePointsFollowWhatTheyMark(t *testing.T) {
	tests := []struct {
		name     string
		opts     breakpoints.Options
		in, want string
	}{
		{
			name: "system and three",
			in:   `{"modelId":"m", "system":[ {"text":"S"} ],"messages":[{"role":"user","content":[{"text":"a"}]},{"role":"assistant","content":[{"text":"b"},{"toolUse":{"toolUseId":"c","name":"n","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"c","content":[{"json":{"x":1.0}}]}} ]}]}`,
			want: `{"modelId":"m", "system":[ {"text":"S"},` + plainPoint + ` ],"messages":[{"role":"user","content":[{"text":"a"},` + plainPoint + `]},{"role":"assistant","content":[{"text":"b"},{"toolUse":{"toolUseId":"c","name":"n","input":{}}},` + plainPoint + `]},{"role":"user","content":[{"toolResult":{"toolUseId":"c","content":[{"json":{"x":1.0}}]}},` + plainPoint + ` ]}]}`,
		},
		{
			name: "points that are there move",
			in:   `{"toolConfig":{"tools":[{"toolSpec":{"name":"n"}} , ` + plainPoint + `]},"messages":[{"role":"user","content":[` + plainPoint + `,{"text":"a"},` + hourPoint + `,` + plainPoint + `,{"text":"b"}]}]}`,
			want: `{"toolConfig":{"tools":[{"toolSpec":{"name":"n"}}]},"messages":[{"role":"user","content":[{"text":"a"},{"text":"b"},` + plainPoint + `]}]}`,
		},
		{
			name: "a point that is right is not touched",
			in:   `[{"role":"user","content":[{"text":"a"} , { "cachePoint" : {"type":"default"} } ]}]`,
			want: `[{"role":"user","content":[{"text":"a"} , { "cachePoint" : {"type":"default"} } ]}]`,
		},
		{
			name: "an hour",
			opts: breakpoints.Options{TTL: breakpoints.TTL1h},
			in:   `[{"role":"user","content":[{"text":"a"},` + plainPoint + `]}]`,
			want: `[{"role":"user","content":[{"text":"a"},` + hourPoint + `]}]`,
		},
		{
			name: "not behind reasoning, blank text, or what is not known",
			in:   `[{"role":"assistant","content":[{"text":"a"},{"text":" "},{"guardContent":{"text":{"text":"x"}}},{"reasoningContent":{"reasoningText":{"text":"t","signature":"s"}}}]}]`,
			want: `[{"role":"assistant","content":[{"text":"a"},` + plainPoint + `,{"text":" "},{"guardContent":{"text":{"text":"x"}}},{"reasoningContent":{"reasoningText":{"text":"t","signature":"s"}}}]}]`,
		},
		{
			name: "none inside a result",
			in:   `[{"role":"user","content":[{"toolResult":{"toolUseId":"c","content":[` + plainPoint + `,{"text":"r"},` + plainPoint + `]}}]}]`,
			want: `[{"role":"user","content":[{"toolResult":{"toolUseId":"c","content":[{"text":"r"}]}},` + plainPoint + `]}]`,
		},
		{
			name: "tools too, by another strategy",
			opts: breakpoints.Options{Strategy: breakpoints.StrategyTransactionEnds},
			in:   `{"toolConfig":{"tools":[` + plainPoint + `,{"toolSpec":{"name":"n","inputSchema":{"json":{}}}},{"toolSpec":{"name":"o"}}]},"messages":[{"role":"user","content":[{"text":"a"}]}]}`,
			want: `{"toolConfig":{"tools":[{"toolSpec":{"name":"n","inputSchema":{"json":{}}}},{"toolSpec":{"name":"o"}},` + plainPoint + `]},"messages":[{"role":"user","content":[{"text":"a"},` + plainPoint + `]}]}`,
		},
		{
			name: "a split system prompt",
			opts: breakpoints.Options{Strategy: breakpoints.StrategyHermesDefault, SplitSystem: true},
			in:   `{"system":[{"text":"Be \u00e9.\ncwd: /src"}],"messages":[]}`,
			want: `{"system":[{"text":"Be \u00e9.\n"},` + plainPoint + `,{"text":"cwd: /src"},` + plainPoint + `],"messages":[]}`,
		},
		{
			name: "a split of a prompt whose point is kept, which moves to the first half",
			opts: breakpoints.Options{Strategy: breakpoints.StrategySystemOnly, SplitSystem: true},
			in:   `{"system":[{"text":"Be \u00e9.\ncwd: /src"}, {"cachePoint": {"type":"default"}}, {"text":"b"}],"messages":[]}`,
			want: `{"system":[{"text":"Be \u00e9.\n"},{"cachePoint": {"type":"default"}},{"text":"cwd: /src"}, {"text":"b"}],"messages":[]}`,
		},
		{
			name: "a split of a prompt that keeps both its points",
			opts: breakpoints.Options{Strategy: breakpoints.StrategyHermesDefault, SplitSystem: true},
			in:   `{"system":[{"text":"Be \u00e9.\ncwd: /src"},` + plainPoint + `],"messages":[]}`,
			want: `{"system":[{"text":"Be \u00e9.\n"},` + plainPoint + `,{"text":"cwd: /src"},` + plainPoint + `],"messages":[]}`,
		},
		{
			name: "none at all",
			opts: breakpoints.Options{Strategy: breakpoints.StrategyNone},
			in:   `{"system":[` + plainPoint + `],"messages":[{"role":"user","content":[` + plainPoint + `,` + plainPoint + `,{"text":"a"}, ` + plainPoint + `]},{"role":"user","content":"odd"}]}`,
			want: `{"system":[],"messages":[{"role":"user","content":[{"text":"a"}]},{"role":"user","content":"odd"}]}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, out := mark(t, tt.in, tt.opts)
			if diff := cmp.Diff(tt.want, out); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			checkRequest(t, tt.in, tt.opts)
		})
	}
}

func TestWhatIsNoRequestIsRefusedWithItsPlace(t *testing.T) {
	tests := []struct {
		name, in string
		offset   int
		path     string
	}{
		{"broken", `{"messages":[{]}`, 14, ""},
		{"invalid UTF-8", "{\"messages\":[\"\xff\"]}", 14, ""},
		{"a number", `17`, 0, ""},
		{"no messages", `{"system":[]}`, -1, "messages"},
		{"a repeated key", `{"messages":[],"messages":[]}`, 26, ""},
		{"a message that is none", `{"messages":[{"role":"user","content":[]},5]}`, 42, "messages[1]"},
		{"messages that are none", `{"messages":{}}`, 12, "messages"},
		{"a repeated key in a block", `[{"role":"user","content":[{"text":"a","text":"b"}]}]`, 46, "messages[0]"},
		{"too many", `[{"content":[{"text":"a"},{"text":"b"},{"text":"c"}]}]`, 12, "messages[0]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse(tt.in, conversation.Limits{MaxBlocks: 3})
			var at *conversation.Error
			if !errors.As(err, &at) {
				t.Fatalf("got %v", err)
			}
			if at.Offset != tt.offset || at.Path != tt.path {
				t.Errorf("byte %d, path %q, want %d, %q (%v)", at.Offset, at.Path, tt.offset, tt.path, err)
			}
		})
	}
}

// checkRequest verifies what must hold for every output: at most four points, each
// behind a block that takes one, a second pass that changes nothing, and no other
// byte changed.
func checkRequest(t testing.TB, src string, opts breakpoints.Options) {
	t.Helper()
	res, out := mark(t, src, opts)
	points := pointsIn(t, out)
	if len(points) > breakpoints.MaxMarks || len(points) != len(res.Breakpoints) {
		t.Errorf("%d points, %d reported", len(points), len(res.Breakpoints))
	}
	for _, p := range points {
		if p != "" {
			t.Errorf("a point %s in %s", p, out)
		}
	}
	followed(t, src, out, opts)
	if _, again := mark(t, out, opts); again != out {
		t.Errorf("the second pass changes\n%s\nto\n%s", out, again)
	}
	if opts.SplitSystem {
		return
	}
	none := breakpoints.Options{Strategy: breakpoints.StrategyNone}
	_, bare := mark(t, out, none)
	if _, want := mark(t, src, none); bare != want {
		t.Errorf("more than points changed:\n got %s\nwant %s", bare, want)
	}
}

// pointsIn lists the cache points of a request, each with what is wrong with it, by
// looking at the JSON alone.
func pointsIn(t testing.TB, src string) []string {
	t.Helper()
	var doc any
	if err := json.Unmarshal([]byte(src), &doc); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, src)
	}
	body, ok := doc.(map[string]any)
	if !ok {
		body = map[string]any{"messages": doc}
	}
	var out []string
	list := func(v any) {
		blocks, _ := v.([]any)
		var before map[string]any
		for i, e := range blocks {
			b, _ := e.(map[string]any)
			if b["cachePoint"] != nil {
				wrong := ""
				text, isText := before["text"].(string)
				switch {
				case i == 0:
					wrong = "first in its list"
				case before["cachePoint"] != nil:
					wrong = "behind another"
				case before["reasoningContent"] != nil:
					wrong = "behind reasoning"
				case isText && strings.TrimSpace(text) == "":
					wrong = "behind blank text"
				}
				out = append(out, wrong)
			}
			if result, ok := b["toolResult"].(map[string]any); ok {
				parts, _ := result["content"].([]any)
				for _, p := range parts {
					if part, ok := p.(map[string]any); ok && part["cachePoint"] != nil {
						out = append(out, "inside a result")
					}
				}
			}
			before = b
		}
	}
	if config, ok := body["toolConfig"].(map[string]any); ok {
		list(config["tools"])
	}
	list(body["system"])
	messages, _ := body["messages"].([]any)
	for _, m := range messages {
		message, _ := m.(map[string]any)
		list(message["content"])
	}
	return out
}

// request writes an odd Converse request.
func request(r *rand.Rand) string {
	pick := func(options ...string) string { return options[r.IntN(len(options))] }
	list := func(n int, elements ...string) string {
		var out []string
		for range n {
			out = append(out, pick(append(elements, plainPoint, hourPoint, `{"cachePoint": {"type":"default","ttl":"5m"}}`)...))
		}
		return "[" + strings.Join(out, pick(",", " , ")) + "]"
	}
	text := func() string { return pick(`{"text":"a"}`, `{"text":" "}`, `{ "text" : "b\u00e9\n" }`) }
	block := func() string {
		return pick(text(), text(), `{"image":{"format":"png","source":{"bytes":"aGk="}}}`, `{"reasoningContent":{"reasoningText":{"text":"t"}}}`,
			`{"toolUse":{"toolUseId":"c","name":"n","input":{"cachePoint":1}}}`, `{"toolResult":{"toolUseId":"c","content":`+list(r.IntN(3), text())+`}}`, `{"new":{}}`, `5`, `{}`)
	}
	var messages []string
	for range r.IntN(6) {
		messages = append(messages, fmt.Sprintf(`{"role":%q,"content":%s}`, pick("user", "assistant"), list(r.IntN(5), block(), block(), block(), block(), block())))
	}
	body := "[" + strings.Join(messages, ",") + "]"
	if r.IntN(3) > 0 {
		body = `{"toolConfig":{"tools":[{"toolSpec":{"name":"n"}},` + list(1+r.IntN(3), `{"toolSpec":{"name":"o"}}`)[1:] + `},"system":` + list(r.IntN(4), text(), text()) + `,"messages":` + body + `}`
	}
	return body
}

func ways() []breakpoints.Options {
	var out []breakpoints.Options
	for s := breakpoints.StrategySystemAnd3; s <= breakpoints.StrategySystemOnly; s++ {
		out = append(out, breakpoints.Options{Strategy: s}, breakpoints.Options{Strategy: s, TTL: breakpoints.TTL1h, RetryAnchor: true})
	}
	return out
}

func TestOddRequestsAreMarkedLegally(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		src := request(r)
		opts := ways()[r.IntN(len(ways()))]
		checkRequest(t, src, opts)
		if t.Failed() {
			t.Fatalf("seed %d, %+v:\n%s", seed, opts, src)
		}
	}
}

func FuzzConverse(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(request(rand.New(rand.NewPCG(seed, 2))), byte(seed))
	}
	f.Fuzz(func(t *testing.T, src string, way byte) {
		if _, err := Parse(src, conversation.Limits{}); err == nil {
			checkRequest(t, src, ways()[int(way)%len(ways())])
		}
	})
}

// arrays are the elements of the three arrays that edit programs are about.
func arrays(t testing.TB, src string) map[conversation.Section][]string {
	t.Helper()
	r, err := Parse(src, conversation.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[conversation.Section][]string)
	for section, l := range map[conversation.Section]*list{conversation.SectionTools: &r.tools, conversation.SectionSystem: &r.system} {
		for _, e := range l.elements {
			out[section] = append(out[section], src[e.at.Start:e.at.End])
		}
	}
	for i := range r.Conversation.Messages {
		at := r.Conversation.Messages[i].Span
		out[conversation.SectionMessages] = append(out[conversation.SectionMessages], src[at.Start:at.End])
	}
	return out
}

// followed checks that the edit program lists every element once and leads to the output.
func followed(t testing.TB, src, out string, opts breakpoints.Options) {
	t.Helper()
	r, err := Parse(src, conversation.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	opts.Layout = breakpoints.LayoutBedrock
	res, err := breakpoints.Place(r.Conversation, opts)
	if err != nil {
		t.Fatal(err)
	}
	in, got, at := arrays(t, src), make(map[conversation.Section][]string), make(map[conversation.Section]int)
	for _, op := range r.Program(res.Rewrite) {
		if op.Kind != conversation.OpInsert && op.Start != at[op.Section] || op.Kind == conversation.OpInsert && (op.Start != at[op.Section] || op.JSON == "") {
			t.Fatalf("%+v comes after element %d", op, at[op.Section])
		}
		switch op.Kind {
		case conversation.OpKeep:
			got[op.Section] = append(got[op.Section], in[op.Section][op.Start:op.End]...)
		case conversation.OpReplace, conversation.OpInsert:
			got[op.Section] = append(got[op.Section], op.JSON)
		}
		at[op.Section] = op.End
	}
	for section, elements := range in {
		if at[section] != len(elements) {
			t.Errorf("the program of section %v ends at %d of %d", section, at[section], len(elements))
		}
	}
	if diff := cmp.Diff(arrays(t, out), got); diff != "" {
		t.Errorf("following the program (-output +followed):\n%s\nfor %s", diff, src)
	}
}
