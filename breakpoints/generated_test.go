package breakpoints

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/conversation"
)

// maker writes odd conversations: blank texts, thinking, bare strings, marks in
// every place that could hold one, odd spacing. Equal seeds give equal text.
type maker struct {
	*rand.Rand
	format conversation.Format
}

func (m *maker) pick(options ...string) string { return options[m.IntN(len(options))] }

// object writes members, and perhaps a mark among them.
func (m *maker) object(members ...string) string {
	if m.IntN(4) == 0 {
		at := m.IntN(len(members) + 1)
		ttl := m.pick(`{"type":"ephemeral"}`, `{"type": "ephemeral", "ttl": "1h"}`, `{"type":"ephemeral","ttl":"5m"}`, `null`)
		members = append(members[:at:at], append([]string{`"cache_control"` + m.pick(":", " : ") + ttl}, members[at:]...)...)
	}
	return "{" + strings.Join(members, m.pick(",", ", ")) + "}"
}

func (m *maker) list(n int, element func() string) string {
	var out []string
	for range n {
		out = append(out, element())
	}
	return "[" + strings.Join(out, m.pick(",", " , ")) + "]"
}

func (m *maker) text() string {
	return m.pick(`""`, `" \n"`, `"a"`, `"b\u00e9"`, `"c \"cache_control\""`)
}

func (m *maker) textBlock() string { return m.object(`"type":"text"`, `"text":`+m.text()) }

func (m *maker) caller() []string {
	if m.IntN(3) == 0 {
		return []string{`"caller":{"type":"` + m.pick("code_execution_20250825", "direct") + `"}`}
	}
	return nil
}

func (m *maker) block() string {
	id := fmt.Sprintf(`"id%d"`, m.IntN(4))
	if m.format == openAI {
		switch m.IntN(6) {
		case 0:
			return m.object(`"type":"image_url"`, `"image_url":{"url":"https://example.com/a.png"}`)
		case 1:
			return m.text()
		default:
			return m.textBlock()
		}
	}
	switch m.IntN(10) {
	case 0:
		return m.object(`"type":"image"`, `"source":{"type":"url","url":"https://example.com/a.png"}`)
	case 1:
		return m.object(`"type":"thinking"`, `"thinking":"t"`, `"signature":"c2ln"`)
	case 2:
		return m.object(append([]string{`"type":"tool_use"`, `"id":` + id, `"name":"n"`, `"input":{"cache_control":1}`}, m.caller()...)...)
	case 3, 4:
		content := m.pick(m.text(), "null", m.list(m.IntN(3), m.textBlock))
		return m.object(`"type":"tool_result"`, `"tool_use_id":`+id, `"content":`+content)
	case 5:
		return m.object(`"type":"search_result"`, `"content":`+m.list(1, m.textBlock))
	case 6:
		return m.pick(m.text(), `{"type":"new_thing"}`)
	default:
		return m.textBlock()
	}
}

func (m *maker) content() string {
	switch m.IntN(8) {
	case 0:
		return "null"
	case 1, 2:
		return m.list(m.IntN(4), m.block)
	case 3:
		return m.list(1, m.textBlock)
	default:
		return m.text()
	}
}

func (m *maker) message() string {
	role := m.pick("user", "assistant", "user", "assistant", "tool", "system", "function", "exit")
	if m.format == anthropic {
		role = m.pick("user", "assistant", "user", "assistant", "user", "assistant", "system", "exit")
	}
	members := []string{`"role":"` + role + `"`, `"content":` + m.content()}
	if m.format == openAI && role == "assistant" && m.IntN(2) == 0 {
		call := m.object(`"id":"c"`, `"type":"function"`, `"function":`+m.object(`"name":"n"`, `"arguments":"{}"`))
		members = append([]string{`"reasoning_content":"r"`}, append(members, `"tool_calls":[`+call+`]`)...)
	}
	return m.object(members...)
}

func (m *maker) conversation() string {
	var members []string
	tool := func() string { return m.object(`"name":"n"`, m.pick(`"input_schema":{}`, `"defer_loading":true`)) }
	if m.format == openAI {
		tool = func() string { return m.object(`"type":"function"`, `"function":`+m.object(`"name":"n"`)) }
	}
	if m.IntN(2) == 0 {
		members = append(members, `"tools":`+m.list(m.IntN(3), tool))
	}
	if m.format == anthropic && m.IntN(2) == 0 {
		members = append(members, `"system":`+m.pick(m.text(), m.list(m.IntN(3), m.textBlock)))
	}
	messages := m.list(m.IntN(9), m.message)
	if m.format == openAI && m.IntN(2) == 0 {
		lead := m.object(`"role":"`+m.pick("system", "developer")+`"`, `"content":`+m.content())
		messages = "[" + lead + strings.Replace(","+messages[1:], ",]", "]", 1)
	}
	return m.object(append(members, `"messages":`+messages)...)
}

// expected says which places are to be marked, worked out from the JSON alone.
func expected(format conversation.Format, src string, opts Options) []string {
	var body struct {
		System   any
		Messages []map[string]any
	}
	if err := json.Unmarshal([]byte(src), &body); err != nil {
		panic(err)
	}
	suffix := ""
	if opts.TTL == TTL1h {
		suffix = "@1h"
	}
	programmatic := map[any]bool{}
	results := map[string]bool{}
	newest := -1
	for i, m := range body.Messages {
		request := false
		for j, b := range elements(m["content"]) {
			block, _ := b.(map[string]any)
			caller, _ := block["caller"].(map[string]any)
			switch block["type"] {
			case "tool_use":
				kind, _ := caller["type"].(string)
				programmatic[block["id"]] = strings.HasPrefix(kind, "code_execution")
				results[fmt.Sprint(i, " ", j)] = programmatic[block["id"]]
			case "tool_result":
				results[fmt.Sprint(i, " ", j)] = programmatic[block["tool_use_id"]]
			case "thinking":
			case "text", nil:
				text, isText := b.(string)
				if block != nil {
					text, isText = block["text"].(string)
				}
				request = request || isText && strings.TrimSpace(text) != ""
			default:
				request = true
			}
		}
		if m["role"] == "user" && request {
			newest = i
		}
	}
	last := func(i int, content any) int {
		blocks := elements(content)
		_, isString := content.(string)
		for j := len(blocks) - 1; j >= 0; j-- {
			block, isObject := blocks[j].(map[string]any)
			text, _ := block["text"].(string)
			if isString {
				text = content.(string)
			}
			switch {
			case !isString && !isObject && j == len(blocks)-1:
				return -1
			case isString || block["type"] == "text":
				if strings.TrimSpace(text) != "" {
					return j
				}
			case format == openAI:
			case block["type"] == "image" || block["type"] == "search_result":
				return j
			case block["type"] == "tool_use" && !results[fmt.Sprint(i, " ", j)]:
				return j
			case block["type"] == "tool_result" && !results[fmt.Sprint(i, " ", j)]:
				for _, part := range elements(block["content"]) {
					text, isText := part.(string)
					if p, ok := part.(map[string]any); ok {
						text, isText = p["text"].(string)
					}
					if isText && strings.TrimSpace(text) != "" {
						return j
					}
				}
			}
		}
		return -1
	}
	free := MaxMarks - opts.Reserved
	first := 0
	var system []string
	if body.System != nil {
		if j := last(-1, body.System); j >= 0 {
			system = []string{fmt.Sprintf("system[%d]", j)}
		}
	} else {
		for first < len(body.Messages) && (body.Messages[first]["role"] == "system" || body.Messages[first]["role"] == "developer") {
			first++
		}
		for i := first - 1; i >= 0 && system == nil; i-- {
			if j := last(i, body.Messages[i]["content"]); j >= 0 {
				system = []string{fmt.Sprintf("messages[%d].content[%d]", i, j)}
			}
		}
	}
	if free == 0 {
		return nil
	}
	free -= len(system)
	end := len(body.Messages)
	if opts.LeaveNewestUserUnmarked && newest >= 0 {
		end = newest
	}
	var places []string
	for i := end - 1; i >= first && free > 0; i-- {
		switch body.Messages[i]["role"] {
		case "user", "assistant":
		case "tool":
			if opts.Layout == LayoutLiteLLM && !opts.MarkToolMessages {
				continue
			}
		default:
			continue
		}
		if j := last(i, body.Messages[i]["content"]); j >= 0 {
			places = append([]string{fmt.Sprintf("messages[%d].content[%d]", i, j)}, places...)
			free--
		}
	}
	places = append(system, places...)
	for i := range places {
		places[i] += suffix
	}
	return places
}

// elements reads a string as a list of one.
func elements(content any) []any {
	if _, ok := content.(string); ok {
		return []any{content}
	}
	l, _ := content.([]any)
	return l
}

func TestGeneratedConversations(t *testing.T) {
	for seed := range uint64(4000) {
		format := []conversation.Format{anthropic, openAI}[seed%2]
		m := &maker{Rand: rand.New(rand.NewPCG(seed, 1)), format: format}
		src := m.conversation()
		opts := variants(format)[m.IntN(len(variants(format)))]
		res, out := place(t, format, src, opts)
		checkProgram(t, format, src, out, res)
		if diff := cmp.Diff(expected(format, src, opts), marksIn(t, format, out)); diff != "" {
			t.Errorf("seed %d: marks (-want +got):\n%s", seed, diff)
		}
		checkInvariants(t, format, src, opts)
		if t.Failed() {
			t.Fatalf("seed %d, options %+v:\n%s\n%s", seed, opts, src, out)
		}
	}
}

// checkProgram follows the edit program and compares the arrays it gives with
// those of the spliced output.
func checkProgram(t *testing.T, format conversation.Format, src, out string, res *Result) {
	t.Helper()
	in, after := parse(t, format, src), parse(t, format, out)
	got := map[conversation.Section][]string{}
	was := elementsOf(in)
	for _, op := range res.Rewrite.Program() {
		switch op.Kind {
		case conversation.OpKeep:
			got[op.Section] = append(got[op.Section], was[op.Section][op.Start:op.End]...)
		case conversation.OpReplace:
			got[op.Section] = append(got[op.Section], op.JSON)
		case conversation.OpInsert:
			if op.Section != conversation.SectionBody {
				t.Errorf("marking inserts nothing but the request's own mark: %+v", op)
			}
			got[op.Section] = append(got[op.Section], op.JSON)
		case conversation.OpDrop:
			if op.Section != conversation.SectionBody {
				t.Errorf("marking drops nothing but the request's own mark: %+v", op)
			}
		default:
			t.Errorf("no edit of marking: %+v", op)
		}
	}
	if in.System != nil && in.System.Shape == conversation.ShapeString && after.System.Shape == conversation.ShapeList {
		// The replacement of a string is the whole new system value.
		got[conversation.SectionSystem] = elementsOf(parse(t, format, `{"system":`+got[conversation.SectionSystem][0]+`,"messages":[]}`))[conversation.SectionSystem]
	}
	want := elementsOf(after)
	for _, section := range []conversation.Section{conversation.SectionTools, conversation.SectionSystem, conversation.SectionMessages, conversation.SectionBody} {
		if diff := cmp.Diff(want[section], got[section]); diff != "" {
			t.Errorf("section %v by splices and by edits (-splices +edits):\n%s", section, diff)
		}
	}
}

func elementsOf(c *conversation.Conversation) map[conversation.Section][]string {
	out := map[conversation.Section][]string{}
	for i := range c.Tools {
		out[conversation.SectionTools] = append(out[conversation.SectionTools], c.Raw(c.Tools[i].Span))
	}
	if c.System != nil {
		for i := range c.System.Blocks {
			out[conversation.SectionSystem] = append(out[conversation.SectionSystem], c.Raw(c.System.Blocks[i].Span))
		}
	}
	for i := range c.Messages {
		out[conversation.SectionMessages] = append(out[conversation.SectionMessages], c.Raw(c.Messages[i].Span))
	}
	if c.AutoMark != nil {
		out[conversation.SectionBody] = []string{c.Raw(c.AutoMark.Value)}
	}
	return out
}
