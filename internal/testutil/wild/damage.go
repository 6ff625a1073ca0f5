package wild

import (
	"encoding/json"
	"regexp"
	"strings"
)

// Parts takes a body or a bare array of messages apart: what stands before the first
// message, the messages as they are written, and what stands behind the last. It
// returns false for what it cannot read.
func Parts(text string) (head string, messages []string, tail string, ok bool) {
	list := text
	if body := strings.TrimLeft(text, " \t\r\n"); !strings.HasPrefix(body, "[") {
		var fields struct {
			Messages json.RawMessage `json:"messages"`
		}
		if json.Unmarshal([]byte(text), &fields) != nil {
			return "", nil, "", false
		}
		list = string(fields.Messages)
	}
	var elements []json.RawMessage
	at := strings.Index(text, list)
	if list == "" || at < 0 || json.Unmarshal([]byte(list), &elements) != nil || len(elements) == 0 {
		return "", nil, "", false
	}
	for _, e := range elements {
		messages = append(messages, string(e))
	}
	return text[:at] + "[", messages, "]" + text[at+len(list):], true
}

// Damage changes the structure of a body: its messages, and what is in them. What comes
// out is mostly JSON still. others are messages of other conversations.
func (d *Dice) Damage(text string, others []string) string {
	head, messages, tail, ok := Parts(text)
	if !ok {
		return d.Mutate(text)
	}
	for n := 1 + d.Roll(4); n > 0 && len(messages) > 0; n-- {
		if d.Roll(3) == 0 {
			messages = d.moved(messages, others)
			continue
		}
		at := d.Roll(len(messages))
		messages[at] = d.damaged(messages[at])
	}
	if d.Once(8) {
		head = d.respelled(head)
	}
	return head + strings.Join(messages, d.Pick(",", ", ", "\n,\t")) + tail
}

// moved changes which messages there are, and where.
func (d *Dice) moved(messages, others []string) []string {
	a, b := d.Roll(len(messages)), d.Roll(len(messages))
	insert := func(at int, more ...string) []string {
		return append(messages[:at:at], append(more, messages[at:]...)...)
	}
	switch d.Roll(7) {
	case 0:
		return append(messages[:a:a], messages[a+1:]...)
	case 1:
		return insert(b, messages[a])
	case 2:
		messages[a], messages[b] = messages[b], messages[a]
		return messages
	case 3:
		return messages[min(a, b):]
	case 4:
		return messages[:max(a, b)+1]
	case 5:
		if len(others) > 0 {
			return insert(b, others[d.Roll(len(others))])
		}
		return messages
	default:
		return insert(b, d.Pick(`null`, `7`, `"text"`, `[]`, `{}`, `{"role":"user"}`, `{"role":"tool","tool_call_id":"none","content":"x"}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"none","content":[{"type":"tool_result","tool_use_id":"none","content":"deep"}]}]}`,
			`{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":""}]}`,
			`{"role":"assistant","content":[],"tool_calls":[]}`, `{"role":"system","content":"again"}`,
			`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`))
	}
}

var (
	idMember   = regexp.MustCompile(`"(id|tool_call_id|tool_use_id)"\s*:\s*"[^"\\]*"`)
	roleMember = regexp.MustCompile(`"role"\s*:\s*"[a-z]+"`)
	typeMember = regexp.MustCompile(`"type"\s*:\s*"[a-z_]+"`)
	blockBegin = regexp.MustCompile(`\{\s*"type"\s*:`)
	listBegin  = regexp.MustCompile(`"content"\s*:\s*\[`)
	plainText  = regexp.MustCompile(`"(content|text|thinking)"\s*:\s*"[^"\\]+`)
)

// damaged changes one message.
func (d *Dice) damaged(m string) string {
	switch d.Roll(12) {
	case 0:
		return d.replaced(m, idMember, `"id":"c0"`, `"tool_call_id":"c1"`, `"tool_use_id":"c0"`, `"id":""`, `"id":null`, `"tool_use_id":"`+strings.Repeat("x", 300)+`"`)
	case 1:
		return d.replaced(m, roleMember, `"role":"user"`, `"role":"assistant"`, `"role":"tool"`, `"role":"system"`, `"role":"developer"`, `"role":"nobody"`, `"role":7`)
	case 2:
		return d.replaced(m, typeMember, `"type":"text"`, `"type":"weird"`, `"type":"tool_use"`, `"type":"tool_result"`, `"type":"image"`, `"type":"thinking"`, `"type":null`)
	case 3:
		return d.inserted(m, blockBegin, 1, `"cache_control":{"type":"ephemeral"},`, `"cache_control":{"type":"ephemeral","ttl":"1h"},`, `"cache_control":null,`, `"cache_control":7,`)
	case 4:
		return d.inserted(m, listBegin, -1, `{"type":"weird","x":[1.50]},`, `{"type":"thinking","thinking":"hm","signature":"c2ln"},`, `{"type":"text","text":""},`, `{"type":"text","text":" "},`,
			`null,`, `7,`, `"loose",`, `{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}},`, `{"type":"tool_use","id":"new","name":"f","input":{}},`,
			`{"type":"tool_result","tool_use_id":"c0","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]},`)
	case 5:
		return d.inserted(m, plainText, -1, `\ud83d`, `\udce6`, `\ud83d\udce6`, `\u0000`, `\u0061`, `é`, `\u2028`, `\/`, `\\u0061`)
	case 6:
		return d.first(m, `"role":"user",`, `"content":"twice",`, `"x_unknown":{"b":1,"a":[2.50,null]},`, `"":0,`, `"n":1e400,`, `"n":-0.0,`, `"n":123456789012345678901234567890,`, `"\u0072ole":"user",`, `"ＲＯＬＥ":1,`)
	case 7:
		return d.respelled(m)
	case 8:
		return d.replaced(m, plainText, `"content":"`, `"text":"`, `"content":"`+strings.Repeat("long ", 1+d.Roll(800)))
	case 9:
		return d.first(m, `"content":null,`, `"content":[],`, `"content":"",`, `"tool_calls":null,`, `"tool_calls":[],`, `"reasoning_content":"hm",`, `"name":"anna",`, `"refusal":null,`)
	case 10:
		return strings.Repeat(" ", d.Roll(3)) + m + strings.Repeat("\n", d.Roll(3))
	default:
		return d.Mutate(m)
	}
}

// replaced puts one of the texts in the place of one match.
func (d *Dice) replaced(m string, what *regexp.Regexp, with ...string) string {
	found := what.FindAllStringIndex(m, 64)
	if len(found) == 0 {
		return m
	}
	at := found[d.Roll(len(found))]
	return m[:at[0]] + d.Pick(with...) + m[at[1]:]
}

// inserted puts one of the texts so many bytes behind the beginning of a match, or
// behind all of it.
func (d *Dice) inserted(m string, what *regexp.Regexp, behind int, texts ...string) string {
	found := what.FindAllStringIndex(m, 64)
	if len(found) == 0 {
		return m
	}
	at := found[d.Roll(len(found))]
	cut := at[0] + behind
	if behind < 0 {
		cut = at[1]
	}
	return m[:cut] + d.Pick(texts...) + m[cut:]
}

// first puts one of the texts before the first member of an object.
func (d *Dice) first(m string, texts ...string) string {
	if head, rest, ok := strings.Cut(m, "{"); ok && strings.TrimSpace(rest) != "}" {
		return head + "{" + d.Pick(texts...) + rest
	}
	return m
}

// respelled writes white space between values otherwise.
func (d *Dice) respelled(m string) string {
	var out strings.Builder
	inString, escaped := false, false
	space := d.Pick(" ", "\n", "\t ", "\r\n  ")
	for i := range len(m) {
		c := m[i]
		out.WriteByte(c)
		switch {
		case escaped:
			escaped = false
		case c == '\\' && inString:
			escaped = true
		case c == '"':
			inString = !inString
		case !inString && strings.IndexByte("{[,:", c) >= 0:
			out.WriteString(space)
		}
	}
	return out.String()
}
