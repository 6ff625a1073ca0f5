package wild

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Dice turns fuzz bytes into choices. When the bytes run out, every choice is 0.
type Dice struct{ Data []byte }

// Roll returns a number below n.
func (d *Dice) Roll(n int) int {
	if len(d.Data) == 0 || n <= 1 {
		return 0
	}
	v := int(d.Data[0])
	d.Data = d.Data[1:]
	if n > 256 && len(d.Data) > 0 {
		v = v<<8 | int(d.Data[0])
		d.Data = d.Data[1:]
	}
	return v % n
}

// Once in n: true when the die shows its last face, so that spent bytes choose
// the ordinary way.
func (d *Dice) Once(n int) bool { return d.Roll(n) == n-1 }

// Generator writes conversations as JSON text: mostly legal, with every kind of
// oddity mixed in.
type Generator struct {
	*Dice
	// Anthropic chooses Anthropic Messages, else it is OpenAI Chat Completions.
	Anthropic bool
	// Legal says of the last conversation that it has no oddity that a provider refuses.
	Legal bool

	calls int
	last  string // the text of an earlier result, which tools repeat
}

// Conversation writes a body or a bare array.
func (g *Generator) Conversation() string {
	g.Legal = !g.Once(3)
	var messages []string
	if !g.Anthropic && !g.Once(4) {
		messages = append(messages, g.system())
	}
	for n := 2 + g.Roll(40); n > 0; n-- {
		messages = append(messages, g.turn()...)
	}
	if g.Once(5) {
		messages = append(messages, g.pendingCall())
	}
	if !g.Legal {
		messages = g.disorder(messages)
	}
	list := "[" + strings.Join(messages, g.Pick(",", ", ", ",\n  ")) + "]"
	if g.Once(4) {
		return list
	}
	side := g.Pick(`"model":"claude-sonnet-4-5",`, `"model" : "gpt-4o", "temperature": 1.0,`, `"n":1E+02,"x":{"y":[1,2.50]},`, ``)
	if g.Anthropic {
		side += g.Pick(`"system":"You help.",`, `"system":[{"type":"text","text":"You help."}],`, `"system":[],`, ``)
	}
	if g.Once(3) {
		side += `"tools":[{"name":"look","description":"looks","input_schema":{"type":"object"}}],`
	}
	return "{" + side + `"messages":` + list + g.Pick("}", ` , "stream":true}`)
}

// Pick chooses one.
func (d *Dice) Pick(options ...string) string { return options[d.Roll(len(options))] }

// text writes a string literal: short or long, in several scripts and spellings.
func (g *Generator) text() string {
	word := g.Pick("go on", "the log line", `tab\tand \"quote\" \\`, "漢字仮名 ", `\ud83d\udce6 box`, "📥 /etc/app.conf", "Zeile für Zeile", `<tag attr='1'>`, "E042: timeout after 30s")
	switch g.Roll(4) {
	case 0:
		return `"` + word + `"`
	case 1:
		return `"` + strings.Repeat(word+" ", 3+g.Roll(20)) + `"`
	default:
		return `"` + fmt.Sprintf("%s %d: ", word, g.Roll(256)) + strings.Repeat(word+" ", 10+g.Roll(200)) + `"`
	}
}

func (g *Generator) system() string {
	return g.Pick(`{"role":"system","content":"You help."}`, `{"role":"developer","content":[{"type":"text","text":"Be brief."}]}`, `{"role":"system","content":"You help.","extra":1.0}`)
}

// turn writes what one exchange adds: a request, an answer, or calls and results.
func (g *Generator) turn() []string {
	switch g.Roll(5) {
	case 0:
		return []string{g.user()}
	case 1:
		return []string{g.assistant()}
	default:
		return g.group()
	}
}

func (g *Generator) user() string {
	media := `{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}`
	if g.Anthropic {
		media = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}`
	}
	return g.Pick(
		`{"role":"user","content":`+g.text()+`}`,
		`{"content":[{"type":"text","text":`+g.text()+`}],"role":"user"}`,
		`{"role": "user", "content": [{"type":"text","text":`+g.text()+`},`+media+`]}`,
		`{"role":"user","content":`+g.text()+`,"name":"anna","unknown":{"b":1,"a":[]}}`,
	)
}

func (g *Generator) assistant() string {
	if !g.Anthropic {
		return g.Pick(
			`{"role":"assistant","content":`+g.text()+`}`,
			`{"role":"assistant","content":`+g.text()+`,"reasoning_content":`+g.text()+`}`,
			`{"role":"assistant","content":[{"type":"text","text":`+g.text()+`}],"score":0.50}`,
		)
	}
	search := `{"type":"server_tool_use","id":"srv1","name":"web_search","input":{"q":"x"}},{"type":"web_search_tool_result","tool_use_id":"srv1","content":[{"type":"web_search_result","encrypted_content":"eA=="}]},`
	return `{"role":"assistant","content":[` + g.thinking() + g.Pick("", "", search) + `{"type":"text","text":` + g.text() + `}]}`
}

func (g *Generator) thinking() string {
	return g.Pick("", "", `{"type":"thinking","thinking":"plan","signature":"c2ln"},`, `{"type":"redacted_thinking","data":"eHh4"},`)
}

// group writes an assistant turn with calls, and their results.
func (g *Generator) group() []string {
	n := 1 + g.Roll(3)
	var calls, results []string
	for range n {
		id := fmt.Sprintf("c%d", g.calls)
		if g.Once(6) {
			id = "c0" // ids come again in later turns
		} else {
			g.calls++
		}
		if id == "c0" && strings.Contains(strings.Join(calls, ""), `"c0"`) {
			continue
		}
		calls = append(calls, g.call(id))
		results = append(results, g.result(id)...)
	}
	if !g.Legal {
		results = g.spoil(results)
	}
	if g.Anthropic {
		lead := g.thinking() + g.Pick("", `{"type":"text","text":`+g.text()+`},`)
		out := []string{`{"role":"assistant","content":[` + lead + strings.Join(calls, ",") + `]}`}
		if len(results) == 0 {
			return out
		}
		return append(out, `{"role":"user","content":[`+strings.Join(results, ",")+g.Pick("", `,{"type":"text","text":`+g.text()+`}`)+`]}`)
	}
	if g.Once(12) && n == 1 {
		return []string{`{"role":"assistant","content":null,"function_call":{"name":"look","arguments":"{}"}}`, `{"role":"function","name":"look","content":` + g.text() + `}`}
	}
	content := g.Pick("null", `""`, g.text())
	return append([]string{`{"role":"assistant","content":` + content + `,"tool_calls":[` + strings.Join(calls, ",") + `]}`}, results...)
}

func (g *Generator) call(id string) string {
	if g.Anthropic {
		return `{"type":"tool_use","id":"` + id + `","name":"look","input":` + g.Pick(`{}`, `{"path":"a.md","text":`+g.text()+`,"n":1.0}`, `{"deep":{"list":[`+g.text()+`,2,null]}}`) + `}`
	}
	arguments := g.Pick(`{}`, `{"path": "a.md", "text": `+g.text()+`, "n": 1.0}`, `{"deep":{"list":[`+g.text()+`,2,null]}}`, `not json`, g.text())
	return `{"id":"` + id + `","type":"function","function":{"name":"` + g.Pick("look", "write_file", "terminal") + `","arguments":` + quote(arguments) + `}` + g.Pick("", `,"extra_content":{"google":{"thought_signature":"c2ln"}}`) + `}`
}

func (g *Generator) result(id string) []string {
	text := g.text()
	if g.last != "" && g.Once(4) {
		text = g.last
	}
	g.last = text
	if g.Anthropic {
		return []string{g.Pick(
			`{"type":"tool_result","tool_use_id":"`+id+`","content":`+text+`}`,
			`{"type":"tool_result","tool_use_id":"`+id+`","content":[{"type":"text","text":`+text+`}],"is_error":true}`,
			`{"type":"tool_result","tool_use_id":"`+id+`"}`,
			`{"type":"tool_result","tool_use_id":"`+id+`","content":[{"type":"text","text":`+text+`},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]}`,
		)}
	}
	return []string{g.Pick(
		`{"role":"tool","tool_call_id":"`+id+`","content":`+text+`}`,
		`{"role":"tool","tool_call_id":"`+id+`","content":[{"type":"text","text":`+text+`}],"name":"look"}`,
		`{"role":"tool","tool_call_id":"`+id+`","content":""}`,
	)}
}

func (g *Generator) pendingCall() string {
	if g.Anthropic {
		return `{"role":"assistant","content":[` + g.thinking() + g.call("pending") + `]}`
	}
	return `{"role":"assistant","content":null,"tool_calls":[` + g.call("pending") + `]}`
}

// spoil breaks a group's results.
func (g *Generator) spoil(results []string) []string {
	switch g.Roll(5) {
	case 0:
		return results[1:]
	case 1:
		return append(results, results[0])
	case 2:
		return append(results, g.result("nobody")...)
	case 3:
		return nil
	default:
		return results
	}
}

// disorder adds what does not belong and moves what does.
func (g *Generator) disorder(messages []string) []string {
	odd := []string{
		`{"role":"user","content":""}`, `{"role":"user","content":[]}`, `{"role":"assistant","content":null}`,
		`{"role":"exit","content":"bye"}`, `{"role":"user","content":[{"type":"text","text":" \n"},{"type":"text","text":"words"}]}`,
		`{"role":"user","content":"\ud83d half"}`, `{"role":"system","content":"late"}`, `{"role":"user"}`,
		`{"role":"assistant","content":[{"type":"text","text":""}]}`, `{"role":"user","content":["loose",7]}`,
	}
	for n := g.Roll(4); n > 0; n-- {
		at := g.Roll(len(messages) + 1)
		messages = append(messages[:at:at], append([]string{odd[g.Roll(len(odd))]}, messages[at:]...)...)
	}
	if g.Once(3) && len(messages) > 1 {
		a, b := g.Roll(len(messages)), g.Roll(len(messages))
		messages[a], messages[b] = messages[b], messages[a]
	}
	if g.Once(3) {
		messages = messages[g.Roll(len(messages)):]
	}
	return messages
}

// Mutate breaks JSON text at random places.
func (d *Dice) Mutate(text string) string {
	b := []byte(text)
	for n := d.Roll(4); n > 0 && len(b) > 0; n-- {
		at := d.Roll(len(b))
		switch d.Roll(3) {
		case 0:
			b[at] = byte(d.Roll(256))
		case 1:
			b = append(b[:at], b[min(len(b), at+1+d.Roll(16)):]...)
		default:
			end := min(len(b), at+1+d.Roll(64))
			b = append(b[:end:end], append([]byte(string(b[at:end])), b[end:]...)...)
		}
	}
	return string(b)
}

// quote writes a text as a JSON string.
func quote(text string) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string can always be written
	return strings.TrimSuffix(out.String(), "\n")
}
