package tokens

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/conversation"
)

// fieldCase is one reported fault of other counters; see the "count" cases of field-cases.jsonl.
type fieldCase struct {
	ID, Op, Why, Format string
	Messages, Tools     json.RawMessage
	Options             struct {
		Model  string
		System json.RawMessage
	}
}

func fieldCases(t *testing.T) map[string]fieldCase {
	t.Helper()
	path := filepath.Join("..", "..", "shared", "data", "cases", "field-cases.jsonl")
	f, err := os.Open(path)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("the field cases are not here: ", err)
	}
	defer f.Close()
	out := make(map[string]fieldCase)
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var c fieldCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if c.Op == "count" {
			out[c.ID] = c
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func (c *fieldCase) conversation(t *testing.T) *conversation.Conversation {
	t.Helper()
	body := map[string]json.RawMessage{"messages": c.Messages}
	if len(c.Tools) > 0 {
		body["tools"] = c.Tools
	}
	if len(c.Options.System) > 0 {
		body["system"] = c.Options.System
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	if c.Format == "anthropic" {
		return anthropic(t, string(text))
	}
	return openAI(t, string(text))
}

func TestFieldCases(t *testing.T) {
	cases := fieldCases(t)
	counter, registry := NewCounter(), newRegistry(t)
	size := func(t *testing.T, c fieldCase) Report {
		t.Helper()
		return report(t, counter, c.conversation(t), registry.Lookup(c.Options.Model))
	}
	user := func(t *testing.T, content string) Report {
		t.Helper()
		text, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		return report(t, counter, openAI(t, `[{"role":"user","content":`+string(text)+`}]`), registry.Lookup("gpt-4o"))
	}
	checks := map[string]func(t *testing.T, c fieldCase){
		"Nc076": func(t *testing.T, c fieldCase) {
			image := `{"type":"image_url","image_url":{"url":"data:image/png;base64,` + strings.Repeat("QUJD", 50_000) + `"}}`
			for _, messages := range []string{
				`[{"role":"user","content":[{"type":"text","text":"see"},` + image + `]}]`,
				`[{"role":"user","content":"see"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"shot","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":[` + image + `]}]`,
			} {
				c.Messages = json.RawMessage(messages)
				if r := size(t, c); r.Tokens > 4000 || r.Parts.Media == 0 {
					t.Errorf("%+v", r)
				}
			}
		},
		"Nc077": func(t *testing.T, c fieldCase) {
			whole := size(t, c)
			noTools, noSystem := c, c
			noTools.Tools, noSystem.Options.System = nil, nil
			if whole.Tokens <= 100 || size(t, noTools).Tokens >= whole.Tokens || size(t, noSystem).Tokens >= whole.Tokens {
				t.Errorf("whole %d, without tools %d, without system %d", whole.Tokens, size(t, noTools).Tokens, size(t, noSystem).Tokens)
			}
		},
		"Nc079": func(t *testing.T, c fieldCase) {
			conv := c.conversation(t)
			model := registry.Lookup(c.Options.Model)
			last := 0
			for n := range conv.Messages {
				prefix := *conv
				prefix.Messages = conv.Messages[:n+1]
				got := report(t, counter, &prefix, model).Tokens
				if got <= last {
					t.Errorf("%d messages: %d tokens, one less %d", n+1, got, last)
				}
				last = got
			}
			unnamed := *conv
			unnamed.Messages = slices.Clone(conv.Messages)
			for i := range unnamed.Messages {
				unnamed.Messages[i].Name = ""
			}
			if got := report(t, counter, &unnamed, model).Tokens; got > last {
				t.Errorf("%d tokens without names, %d with", got, last)
			}
		},
		"Nc080": func(t *testing.T, c fieldCase) {
			r := size(t, c)
			named := slices.ContainsFunc(r.Warnings, func(w conversation.Warning) bool { return w.Message == 1 })
			if r.Tokens <= 20 || !named {
				t.Errorf("%+v", r)
			}
		},
		"Nc082": func(t *testing.T, _ fieldCase) {
			for _, unit := range []string{"a", "^", " ", "\n", "ab", "0"} {
				if r := user(t, strings.Repeat(unit, 1_000_000/len(unit))); r.Tokens == 0 {
					t.Errorf("%q: %+v", unit, r)
				}
			}
		},
		"Nc083": func(t *testing.T, _ fieldCase) {
			for _, text := range []string{strings.Repeat("漢", 200_000), strings.Repeat("漢字仮名交じり文", 25_000)} {
				if r := user(t, text); r.Tokens < 60_000 {
					t.Errorf("%q...: %+v", text[:12], r)
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				conv := openAI(t, `[{"role":"user","content":"`+text+`"}]`)
				if _, err := counter.Count(ctx, conv, registry.Lookup("gpt-4o")); !errors.Is(err, context.Canceled) {
					t.Errorf("error %v", err)
				}
			}
		},
		"Nc085": func(t *testing.T, c fieldCase) {
			if r := size(t, c); r.Tokens != 9 || r.Method != MethodLocal { // 2 of text, 7 of frame; nothing is fetched
				t.Errorf("%+v", r)
			}
		},
		"Nc086": func(t *testing.T, c fieldCase) {
			if r := size(t, c); r.Method != MethodEstimate || r.Encoding == "" || r.Tokens == 0 {
				t.Errorf("%+v", r)
			}
		},
		"Nc087": func(t *testing.T, c fieldCase) {
			without := c
			without.Tools = nil
			if with, without := size(t, c), size(t, without); with.Tokens-without.Tokens < 150 {
				t.Errorf("%d with tools, %d without", with.Tokens, without.Tokens)
			}
		},
		"Nc088": func(t *testing.T, c fieldCase) {
			conv := c.conversation(t)
			alone, err := counter.CountText(t.Context(), conv.System.Text(), registry.Lookup(c.Options.Model))
			if err != nil {
				t.Fatal(err)
			}
			if got := size(t, c).Tokens; got < alone.Tokens || 10*got > 13*alone.Tokens+200 {
				t.Errorf("%d tokens, the system prompt alone %d", got, alone.Tokens)
			}
		},
	}
	if len(cases) != len(checks) {
		t.Errorf("%d count cases in the file, %d are checked", len(cases), len(checks))
	}
	for _, id := range []string{"Nc076", "Nc077", "Nc079", "Nc080", "Nc082", "Nc083", "Nc085", "Nc086", "Nc087", "Nc088"} {
		c, ok := cases[id]
		if !ok {
			t.Errorf("%s is not in the file", id)
			continue
		}
		t.Run(id, func(t *testing.T) { checks[id](t, c) })
	}
}
