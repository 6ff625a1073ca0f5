package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// generated are conversations of coding agents made up from a seed, in both formats and
// of the sizes that recorded ones have, for clones that have none beside them.
func generated(seed uint64) ([]*recording, error) {
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // reproducible
	var out []*recording
	for i, steps := range []int{6, 12, 20, 30, 45, 60, 90, 130, 180, 260} {
		for _, format := range []elbowroomv1.Format{elbowroomv1.Format_FORMAT_OPENAI_CHAT, elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES} {
			w := writer{r: r, anthropic: format == elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES}
			rec, err := newRecording(fmt.Sprintf("generated-%d-%d", i, format), format, w.body(steps))
			if err != nil {
				return nil, err
			}
			out = append(out, rec)
		}
	}
	return out, nil
}

// writer writes bodies whose texts need no escapes.
type writer struct {
	r         *rand.Rand
	anthropic bool
	calls     int
}

const vocabulary = `the pier tide harbour boat log error timeout retry config server handler test passes
	fails line 42 file src/main.go src/tide/table.go returns nil func struct map key value commit branch merge user asks must
	never always before after deploy build cache token window message result 0x7f 3.14 E042 /etc/app.conf https://example.org/a`

func (w *writer) words(n int) string {
	var b strings.Builder
	list := strings.Fields(vocabulary)
	for i := range n {
		if i > 0 {
			b.WriteByte(" \n"[min(1, w.r.IntN(12)/11)])
		}
		b.WriteString(list[w.r.IntN(len(list))])
	}
	return strings.ReplaceAll(b.String(), "\n", `\n`)
}

// body is a session of as many calls of tools, with a request of the user now and then.
func (w *writer) body(steps int) string {
	system := "You help at the harbour. " + w.words(300)
	var messages []string
	if !w.anthropic {
		messages = append(messages, `{"role":"system","content":"`+system+`"}`)
	}
	for i := range steps {
		if i%9 == 0 {
			messages = append(messages, `{"role":"user","content":"`+w.words(20+w.r.IntN(120))+`"}`)
		}
		messages = append(messages, w.step()...)
		if i%9 == 8 {
			messages = append(messages, w.answer())
		}
	}
	list := `"messages":[` + strings.Join(messages, ",") + "]}"
	if w.anthropic {
		return `{"model":"claude-sonnet-4-5","max_tokens":1024,"system":"` + system + `",` + list
	}
	return `{"model":"gpt-4o",` + list
}

func (w *writer) answer() string {
	if w.anthropic {
		return `{"role":"assistant","content":[{"type":"text","text":"` + w.words(80) + `"}]}`
	}
	return `{"role":"assistant","content":"` + w.words(80) + `"}`
}

// step is a call and its result, which is long now and then.
func (w *writer) step() []string {
	w.calls++
	id := fmt.Sprintf("call_%04d", w.calls)
	path := fmt.Sprintf("src/file%d.go", w.r.IntN(50))
	result := w.words(30 + w.r.IntN(400)*(1+w.r.IntN(4)))
	if w.anthropic {
		return []string{
			`{"role":"assistant","content":[{"type":"text","text":"` + w.words(15) + `"},{"type":"tool_use","id":"` + id + `","name":"read","input":{"path":"` + path + `"}}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"` + result + `"}]}`,
		}
	}
	return []string{
		`{"role":"assistant","content":null,"tool_calls":[{"id":"` + id + `","type":"function","function":{"name":"read","arguments":"{\"path\":\"` + path + `\"}"}}]}`,
		`{"role":"tool","tool_call_id":"` + id + `","content":"` + result + `"}`,
	}
}
