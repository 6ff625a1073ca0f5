package conformance

import (
	"fmt"
	"strings"
)

// dice turns fuzz bytes into choices. When the bytes run out, every choice is 0.
type dice struct{ data []byte }

// roll returns a number below n.
func (d *dice) roll(n int) int {
	if len(d.data) == 0 || n <= 1 {
		return 0
	}
	v := int(d.data[0])
	d.data = d.data[1:]
	if n > 256 && len(d.data) > 0 {
		v = v<<8 | int(d.data[0])
		d.data = d.data[1:]
	}
	return v % n
}

// once in n: true when the die shows its last face, so that spent bytes choose
// the ordinary way.
func (d *dice) once(n int) bool { return d.roll(n) == n-1 }

// generator writes conversations as JSON text: mostly legal, with every kind of
// oddity mixed in.
type generator struct {
	*dice
	anthropic bool
	legal     bool // no oddity that a provider refuses
	calls     int
	last      string // the text of an earlier result, which tools repeat
}

// conversation writes a body or a bare array.
func (g *generator) conversation() string {
	g.legal = !g.once(3)
	var messages []string
	if !g.anthropic && !g.once(4) {
		messages = append(messages, g.system())
	}
	for n := 2 + g.roll(40); n > 0; n-- {
		messages = append(messages, g.turn()...)
	}
	if g.once(5) {
		messages = append(messages, g.pendingCall())
	}
	if !g.legal {
		messages = g.disorder(messages)
	}
	list := "[" + strings.Join(messages, g.pick(",", ", ", ",\n  ")) + "]"
	if g.once(4) {
		return list
	}
	side := g.pick(`"model":"claude-sonnet-4-5",`, `"model" : "gpt-4o", "temperature": 1.0,`, `"n":1E+02,"x":{"y":[1,2.50]},`, ``)
	if g.anthropic {
		side += g.pick(`"system":"You help.",`, `"system":[{"type":"text","text":"You help."}],`, `"system":[],`, ``)
	}
	if g.once(3) {
		side += `"tools":[{"name":"look","description":"looks","input_schema":{"type":"object"}}],`
	}
	return "{" + side + `"messages":` + list + g.pick("}", ` , "stream":true}`)
}

func (g *generator) pick(options ...string) string { return options[g.roll(len(options))] }

// text writes a string literal: short or long, in several scripts and spellings.
func (g *generator) text() string {
	word := g.pick("go on", "the log line", `tab\tand \"quote\" \\`, "漢字仮名 ", `\ud83d\udce6 box`, "📥 /etc/app.conf", "Zeile für Zeile", `<tag attr='1'>`, "E042: timeout after 30s")
	switch g.roll(4) {
	case 0:
		return `"` + word + `"`
	case 1:
		return `"` + strings.Repeat(word+" ", 3+g.roll(20)) + `"`
	default:
		return `"` + fmt.Sprintf("%s %d: ", word, g.roll(256)) + strings.Repeat(word+" ", 10+g.roll(200)) + `"`
	}
}

func (g *generator) system() string {
	return g.pick(`{"role":"system","content":"You help."}`, `{"role":"developer","content":[{"type":"text","text":"Be brief."}]}`, `{"role":"system","content":"You help.","extra":1.0}`)
}

// turn writes what one exchange adds: a request, an answer, or calls and results.
func (g *generator) turn() []string {
	switch g.roll(5) {
	case 0:
		return []string{g.user()}
	case 1:
		return []string{g.assistant()}
	default:
		return g.group()
	}
}

func (g *generator) user() string {
	media := `{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}`
	if g.anthropic {
		media = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}`
	}
	return g.pick(
		`{"role":"user","content":`+g.text()+`}`,
		`{"content":[{"type":"text","text":`+g.text()+`}],"role":"user"}`,
		`{"role": "user", "content": [{"type":"text","text":`+g.text()+`},`+media+`]}`,
		`{"role":"user","content":`+g.text()+`,"name":"anna","unknown":{"b":1,"a":[]}}`,
	)
}

func (g *generator) assistant() string {
	if !g.anthropic {
		return g.pick(
			`{"role":"assistant","content":`+g.text()+`}`,
			`{"role":"assistant","content":`+g.text()+`,"reasoning_content":`+g.text()+`}`,
			`{"role":"assistant","content":[{"type":"text","text":`+g.text()+`}],"score":0.50}`,
		)
	}
	search := `{"type":"server_tool_use","id":"srv1","name":"web_search","input":{"q":"x"}},{"type":"web_search_tool_result","tool_use_id":"srv1","content":[{"type":"web_search_result","encrypted_content":"eA=="}]},`
	return `{"role":"assistant","content":[` + g.thinking() + g.pick("", "", search) + `{"type":"text","text":` + g.text() + `}]}`
}

func (g *generator) thinking() string {
	return g.pick("", "", `{"type":"thinking","thinking":"plan","signature":"c2ln"},`, `{"type":"redacted_thinking","data":"eHh4"},`)
}

// group writes an assistant turn with calls, and their results.
func (g *generator) group() []string {
	n := 1 + g.roll(3)
	var calls, results []string
	for range n {
		id := fmt.Sprintf("c%d", g.calls)
		if g.once(6) {
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
	if !g.legal {
		results = g.spoil(results)
	}
	if g.anthropic {
		lead := g.thinking() + g.pick("", `{"type":"text","text":`+g.text()+`},`)
		out := []string{`{"role":"assistant","content":[` + lead + strings.Join(calls, ",") + `]}`}
		if len(results) == 0 {
			return out
		}
		return append(out, `{"role":"user","content":[`+strings.Join(results, ",")+g.pick("", `,{"type":"text","text":`+g.text()+`}`)+`]}`)
	}
	if g.once(12) && n == 1 {
		return []string{`{"role":"assistant","content":null,"function_call":{"name":"look","arguments":"{}"}}`, `{"role":"function","name":"look","content":` + g.text() + `}`}
	}
	content := g.pick("null", `""`, g.text())
	return append([]string{`{"role":"assistant","content":` + content + `,"tool_calls":[` + strings.Join(calls, ",") + `]}`}, results...)
}

func (g *generator) call(id string) string {
	if g.anthropic {
		return `{"type":"tool_use","id":"` + id + `","name":"look","input":` + g.pick(`{}`, `{"path":"a.md","text":`+g.text()+`,"n":1.0}`, `{"deep":{"list":[`+g.text()+`,2,null]}}`) + `}`
	}
	arguments := g.pick(`{}`, `{"path": "a.md", "text": `+g.text()+`, "n": 1.0}`, `{"deep":{"list":[`+g.text()+`,2,null]}}`, `not json`, g.text())
	return `{"id":"` + id + `","type":"function","function":{"name":"` + g.pick("look", "write_file", "terminal") + `","arguments":` + string(quote(arguments)) + `}` + g.pick("", `,"extra_content":{"google":{"thought_signature":"c2ln"}}`) + `}`
}

func (g *generator) result(id string) []string {
	text := g.text()
	if g.last != "" && g.once(4) {
		text = g.last
	}
	g.last = text
	if g.anthropic {
		return []string{g.pick(
			`{"type":"tool_result","tool_use_id":"`+id+`","content":`+text+`}`,
			`{"type":"tool_result","tool_use_id":"`+id+`","content":[{"type":"text","text":`+text+`}],"is_error":true}`,
			`{"type":"tool_result","tool_use_id":"`+id+`"}`,
			`{"type":"tool_result","tool_use_id":"`+id+`","content":[{"type":"text","text":`+text+`},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]}`,
		)}
	}
	return []string{g.pick(
		`{"role":"tool","tool_call_id":"`+id+`","content":`+text+`}`,
		`{"role":"tool","tool_call_id":"`+id+`","content":[{"type":"text","text":`+text+`}],"name":"look"}`,
		`{"role":"tool","tool_call_id":"`+id+`","content":""}`,
	)}
}

func (g *generator) pendingCall() string {
	if g.anthropic {
		return `{"role":"assistant","content":[` + g.thinking() + g.call("pending") + `]}`
	}
	return `{"role":"assistant","content":null,"tool_calls":[` + g.call("pending") + `]}`
}

// spoil breaks a group's results.
func (g *generator) spoil(results []string) []string {
	switch g.roll(5) {
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
func (g *generator) disorder(messages []string) []string {
	odd := []string{
		`{"role":"user","content":""}`, `{"role":"user","content":[]}`, `{"role":"assistant","content":null}`,
		`{"role":"exit","content":"bye"}`, `{"role":"user","content":[{"type":"text","text":" \n"},{"type":"text","text":"words"}]}`,
		`{"role":"user","content":"\ud83d half"}`, `{"role":"system","content":"late"}`, `{"role":"user"}`,
		`{"role":"assistant","content":[{"type":"text","text":""}]}`, `{"role":"user","content":["loose",7]}`,
	}
	for n := g.roll(4); n > 0; n-- {
		at := g.roll(len(messages) + 1)
		messages = append(messages[:at:at], append([]string{odd[g.roll(len(odd))]}, messages[at:]...)...)
	}
	if g.once(3) && len(messages) > 1 {
		a, b := g.roll(len(messages)), g.roll(len(messages))
		messages[a], messages[b] = messages[b], messages[a]
	}
	if g.once(3) {
		messages = messages[g.roll(len(messages)):]
	}
	return messages
}

// mutate breaks JSON text at random places.
func (d *dice) mutate(text string) string {
	b := []byte(text)
	for n := d.roll(4); n > 0 && len(b) > 0; n-- {
		at := d.roll(len(b))
		switch d.roll(3) {
		case 0:
			b[at] = byte(d.roll(256))
		case 1:
			b = append(b[:at], b[min(len(b), at+1+d.roll(16)):]...)
		default:
			end := min(len(b), at+1+d.roll(64))
			b = append(b[:end:end], append([]byte(string(b[at:end])), b[end:]...)...)
		}
	}
	return string(b)
}
