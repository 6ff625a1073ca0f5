package elbowroom

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

func TestBodiesAreTakenApartWhereTheyStand(t *testing.T) {
	cases := []struct {
		body             string
		messages, system string // as the client sees them
		ok               bool
	}{
		{`{"messages":[{"role":"user","content":"a]\"}"} , {"n":-1.5e3}],"system":"s"}`, `{"role":"user","content":"a]\"}"}|{"n":-1.5e3}`, `"s"`, true},
		{` { "system" : [ {"text":"x"} ] , "x":{"messages":[1]}, "messages" : [ ] } `, ``, `[ {"text":"x"} ]`, true},
		{`[1,"two",[3],{"four":4},null,true]`, `1|"two"|[3]|{"four":4}|null|true`, ``, true},
		{"\n[]", ``, ``, true},
		{`{"messages":[1],"messages":[2]}`, ``, ``, false},
		{`{"mess\u0061ges":[1]}`, ``, ``, false},
		{`{"messages":{}}`, ``, ``, false},
		{`{"messages":[1]`, ``, ``, false},
		{`{}`, ``, ``, false},
		{`"text"`, ``, ``, false},
		{``, ``, ``, false},
	}
	for _, c := range cases {
		l, ok := takeApart([]byte(c.body))
		if ok != c.ok {
			t.Errorf("%s: %t", c.body, ok)
		}
		if !ok {
			continue
		}
		var messages []string
		for _, m := range l.messages {
			messages = append(messages, string(l.of(m)))
		}
		if got := strings.Join(messages, "|"); got != c.messages || string(l.of(l.system)) != c.system {
			t.Errorf("%s: messages %s, system %s", c.body, got, l.of(l.system))
		}
	}
}

func FuzzTakeApart(f *testing.F) {
	f.Add(`{"messages":[{"a":"\\\"]"},1e5],"system":null}`)
	f.Add(` [ [], {} , "x" ] `)
	f.Fuzz(func(t *testing.T, body string) {
		l, ok := takeApart([]byte(body))
		if !ok {
			return
		}
		list := []byte(body)
		if !l.bare {
			var fields map[string]json.RawMessage
			if err := json.Unmarshal(list, &fields); err != nil {
				t.Fatal(err)
			}
			list = fields["messages"]
		}
		var want []json.RawMessage
		if err := json.Unmarshal(list, &want); err != nil {
			t.Fatal(err)
		}
		if len(want) != len(l.messages) {
			t.Fatalf("%d messages, want %d", len(l.messages), len(want))
		}
		for i := range want {
			if got := l.of(l.messages[i]); !bytes.Equal(got, want[i]) {
				t.Errorf("message %d: %s, want %s", i, got, want[i])
			}
		}
	})
}

func TestADeltaLeadsFromBaseToBody(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test
	alphabet := []rune(`ab,"{}é世😀`)
	text := func(n int) string {
		var out strings.Builder
		for range n {
			out.WriteRune(alphabet[random.IntN(len(alphabet))])
		}
		return out.String()
	}
	deltas := 0
	for range 2000 {
		base := text(random.IntN(400))
		cut := random.IntN(len(base) + 1)
		end := cut + random.IntN(len(base)-cut+1)
		body := strings.ToValidUTF8(base[:cut], "") + text(random.IntN(20)) + strings.ToValidUTF8(base[end:], "")
		d := deltaOf([]byte(base), []byte(body))
		if d == nil {
			continue
		}
		deltas++
		got, err := spliced([]byte(base), d.GetSplices())
		if err != nil || string(got) != body {
			t.Fatalf("%q to %q by %v: %q, %v", base, body, d, got, err)
		}
	}
	if deltas < 500 {
		t.Errorf("only %d deltas", deltas)
	}
	// The two characters share their first two bytes.
	if d := deltaOf([]byte(strings.Repeat("a", 200)+"世"), []byte(strings.Repeat("a", 200)+"丗")); d == nil || d.GetSplices()[0].GetText() != "丗" {
		t.Errorf("a character that differs in its last byte: %v", d)
	}
	same := strings.Repeat("a", 200)
	if d := deltaOf([]byte(same), []byte(same)); d == nil || len(d.GetSplices()) != 0 {
		t.Errorf("the same body: %v", d)
	}
	if d := deltaOf([]byte(strings.Repeat("b", 200)), []byte(same)); d != nil {
		t.Errorf("another body: %v", d)
	}
}

func TestFormatsAreToldFromWhatOnlyOneHas(t *testing.T) {
	o, a, none := OpenAIChat, AnthropicMessages, elbowroomv1.Format_FORMAT_UNSPECIFIED
	cases := map[string]elbowroomv1.Format{
		`{"system":"s","messages":[]}`:                                                          a,
		`{"messages":[],"tools":[{"name":"x","input_schema":{}}]}`:                              a,
		`{"messages":[],"tools":[{"type":"function","function":{"name":"x"}}]}`:                 o,
		`{"messages":[{"role":"system","content":"s"}]}`:                                        o,
		`[ {"role":"developer","content":"s"}]`:                                                 o,
		`[{"role":"assistant","tool_calls":[]},{"role":"tool","content":"x"}]`:                  o,
		`[{"role":"user","content":"q"},{"role":"user","content":[{"type":"tool_result"}]}]`:    a,
		`[{"role":"assistant","content":[{"type":"text"},{"type":"thinking"}]}]`:                a,
		`[{"role":"user","content":[{"type":"image_url"}]}]`:                                    o,
		`[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]`:               none,
		`{"model":"claude-sonnet-4-5","max_tokens":1,"messages":[{"role":"user","content":1}]}`: none,
	}
	for body, want := range cases {
		got, err := detectFormat([]byte(body))
		var request *InvalidRequestError
		if got != want || (want == none) != errors.As(err, &request) {
			t.Errorf("%s: %v, %v", body, got, err)
		}
	}
	_, err := detectFormat([]byte(`{"messages":[}`))
	var request *InvalidRequestError
	if !errors.As(err, &request) || request.ByteOffset < 0 || request.Field != "body" {
		t.Errorf("broken JSON: %v", err)
	}
}

func TestValuesAreMarshalledAsProvidersGetThem(t *testing.T) {
	got, err := JSON(map[string]any{"content": "<a> & é \u2028"})
	if want := `{"content":"<a> & é \u2028"}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	for _, body := range []any{`{"a": 1e2}`, []byte(`{"a": 1e2}`), json.RawMessage(`{"a": 1e2}`)} {
		if got, err := JSON(body); err != nil || string(got) != `{"a": 1e2}` {
			t.Errorf("%T: %s, %v", body, got, err)
		}
	}
	if _, err := JSON(func() {}); err == nil {
		t.Error("a function is no body")
	}
}

type rawUsage struct{}

func (rawUsage) RawJSON() string { return `{"input_tokens":5,"output_tokens":6}` }

func TestUsageIsReadAsProvidersReportIt(t *testing.T) {
	cases := []struct {
		usage              any
		prompt, completion int32
	}{
		{`{"input_tokens":1,"cache_read_input_tokens":20,"cache_creation_input_tokens":300,"output_tokens":7}`, 321, 7},
		{map[string]any{"prompt_tokens": 40, "completion_tokens": 2, "prompt_tokens_details": map[string]any{"cached_tokens": 30}}, 40, 2},
		{[]byte(`{"id":"x","usage":{"prompt_tokens":40,"completion_tokens":2}}`), 40, 2},
		{struct {
			InputTokens int `json:"input_tokens"`
		}{9}, 9, 0},
		{rawUsage{}, 5, 6},
	}
	for _, c := range cases {
		got, err := usageOf(c.usage)
		if err != nil || got.GetPromptTokens() != c.prompt || got.GetCompletionTokens() != c.completion {
			t.Errorf("%v: %v, %v", c.usage, got, err)
		}
	}
	for _, usage := range []any{nil, `{}`, `null`, `{"prompt_tokens":0}`, `{"prompt_tokens":-1}`, `{"prompt_tokens":99999999999}`} {
		if got, err := usageOf(usage); got != nil || err != nil {
			t.Errorf("%v: %v, %v; it says nothing that could be true", usage, got, err)
		}
	}
	for _, usage := range []any{`[`, make(chan int)} {
		if got, err := usageOf(usage); err == nil {
			t.Errorf("%v: %v", usage, got)
		}
	}
}

func TestSplicesThatDoNotFitAreAFault(t *testing.T) {
	for _, splices := range [][]*elbowroomv1.Splice{
		{{Offset: 4, Length: 0}}, {{Offset: 1, Length: 3}}, {{Offset: -1}}, {{Offset: 1, Length: -1}},
		{{Offset: 2, Length: 1}, {Offset: 1, Length: 1}},
	} {
		_, err := spliced([]byte("abc"), splices)
		var internal *InternalError
		if !errors.As(err, &internal) {
			t.Errorf("%v: %v", splices, err)
		}
	}
	got, err := spliced([]byte("abc"), []*elbowroomv1.Splice{{Offset: 0, Text: "x"}, {Offset: 1, Length: 1}, {Offset: 3, Text: "é"}})
	if diff := cmp.Diff("xacé", string(got)); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
