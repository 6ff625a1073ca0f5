package conformance

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Dialect is the form of a conversation.
type Dialect int

// The dialects.
const (
	OpenAI Dialect = iota + 1
	Anthropic
	// Typed is the protobuf form, written as JSON by [ReadTyped].
	Typed
)

// Transcript is a conversation taken apart: every message, and every byte
// between and around them.
type Transcript struct {
	dialect Dialect
	raw     []byte
	bare    bool   // raw is the list of messages itself
	body    object // of a request body
	list    array
	tools   array
	system  *message // Anthropic's top-level system prompt, as a message without a frame

	messages []*message
}

// Len is the number of messages.
func (t *Transcript) Len() int { return len(t.messages) }

// Handoffs lists the messages that begin as a summary of the service does, by index.
func (t *Transcript) Handoffs() []int {
	var out []int
	for i, m := range t.messages {
		if len(m.content.blocks) == 1 && strings.HasPrefix(m.content.blocks[0].text, "[ELBOWROOM CONTEXT SUMMARY") {
			out = append(out, i)
		}
	}
	return out
}

// Legal reports whether a provider would take the conversation.
func (t *Transcript) Legal() bool { return len(t.judge().faults) == 0 }

// message is one message taken apart.
type message struct {
	raw     []byte
	object  object
	role    string
	content content
	calls   []call // tool_calls and function_call of an OpenAI message
	// answers are the spellings under which an OpenAI tool message names its call.
	answers []string
	legacy  bool // a function message without an id
}

// shape is how a content value is written.
type shape int

const (
	shapeAbsent shape = iota
	shapeNull
	shapeString
	shapeList
	shapeOther
)

// content is a content value taken apart. A string is one text block.
type content struct {
	raw    []byte
	shape  shape
	list   array
	blocks []block
}

// block is one content block.
type block struct {
	raw      []byte
	object   object
	kind     string // its type word; "text" for a bare string
	isObject bool
	text     string
	hasText  bool
	id       string // of a call, or the call that a result answers
}

// call is one call of an OpenAI message.
type call struct {
	raw       []byte
	ids       []string
	legacy    bool
	arguments []byte // the value as written, nil when absent
}

// Read takes a request body or a bare array of messages apart.
func Read(d Dialect, raw []byte) (*Transcript, error) { return ReadLike(d, raw, nil) }

// ReadLike is [Read] for an output whose messages are mostly those of like, which
// are not taken apart a second time.
func ReadLike(d Dialect, raw []byte, like *Transcript) (*Transcript, error) {
	t := &Transcript{dialect: d, raw: raw}
	known := make(map[string]*message)
	if like != nil {
		for _, m := range like.messages {
			known[string(m.raw)] = m
		}
	}
	if !utf8.Valid(raw) {
		return nil, fmt.Errorf("not valid UTF-8")
	}
	list := raw
	if !strings.HasPrefix(strings.TrimLeft(string(raw[:min(len(raw), 4096)]), " \t\r\n"), "[") {
		body, err := splitObject(raw)
		if err != nil {
			return nil, fmt.Errorf("body: %w", err)
		}
		t.body = body
		if list = body.get("messages"); list == nil {
			return nil, fmt.Errorf("body: no messages")
		}
		if err := t.readSides(); err != nil {
			return nil, err
		}
	} else {
		t.bare = true
	}
	var err error
	if t.list, err = splitArray(list); err != nil {
		return nil, fmt.Errorf("messages: %w", err)
	}
	for i, element := range t.list.elements {
		m := known[string(element)]
		if m == nil {
			if m, err = d.message(element); err != nil {
				return nil, fmt.Errorf("messages[%d]: %w", i, err)
			}
		}
		t.messages = append(t.messages, m)
	}
	return t, nil
}

// readSides takes tools and the top-level system prompt apart.
func (t *Transcript) readSides() error {
	var err error
	tools := t.body.get("tools")
	if isNull(tools) && t.dialect == OpenAI {
		tools = t.body.get("functions") // the older name of the same list
	}
	if !isNull(tools) {
		if t.tools, err = splitArray(tools); err != nil {
			return fmt.Errorf("tools: %w", err)
		}
	}
	if t.dialect != Anthropic {
		return nil
	}
	if system := t.body.get("system"); !isNull(system) {
		c, err := readContent(system)
		if err != nil {
			return fmt.Errorf("system: %w", err)
		}
		t.system = &message{raw: system, role: "system", content: c}
	}
	return nil
}

// message takes one message apart.
func (d Dialect) message(raw []byte) (*message, error) {
	o, err := splitObject(raw)
	if err != nil {
		return nil, err
	}
	m := &message{raw: raw, object: o, role: o.text("role")}
	if m.content, err = readContent(o.get("content")); err != nil {
		return nil, fmt.Errorf("content: %w", err)
	}
	if d != OpenAI {
		return m, nil
	}
	if calls := o.get("tool_calls"); !isNull(calls) {
		list, err := splitArray(calls)
		if err != nil {
			return nil, fmt.Errorf("tool_calls: %w", err)
		}
		for i, element := range list.elements {
			c, err := readCall(element)
			if err != nil {
				return nil, fmt.Errorf("tool_calls[%d]: %w", i, err)
			}
			m.calls = append(m.calls, c)
		}
	}
	if raw := o.get("function_call"); !isNull(raw) {
		c, err := readCall(raw)
		if err != nil {
			return nil, fmt.Errorf("function_call: %w", err)
		}
		c.legacy, c.ids = true, append(c.ids, "") // its result names the function only
		m.calls = append(m.calls, c)
	}
	if m.isResult() {
		id := o.text("tool_call_id")
		m.answers = spellings(id)
		m.legacy = id == "" && m.role == "function"
	}
	return m, nil
}

// readContent takes a content value apart.
func readContent(raw []byte) (content, error) {
	c := content{raw: raw}
	switch {
	case raw == nil:
		c.shape = shapeAbsent
	case string(raw) == "null":
		c.shape = shapeNull
	case raw[0] == '"':
		c.shape = shapeString
		text, _ := decodeString(raw)
		c.blocks = []block{{raw: raw, kind: "text", text: text, hasText: true}}
	case raw[0] == '[':
		c.shape = shapeList
		var err error
		if c.list, err = splitArray(raw); err != nil {
			return c, err
		}
		for i, element := range c.list.elements {
			b, err := readBlock(element)
			if err != nil {
				return c, fmt.Errorf("[%d]: %w", i, err)
			}
			c.blocks = append(c.blocks, b)
		}
	default:
		c.shape = shapeOther
		c.blocks = []block{{raw: raw}}
	}
	return c, nil
}

func readBlock(raw []byte) (block, error) {
	b := block{raw: raw}
	switch raw[0] {
	case '"':
		b.kind = "text"
		b.text, b.hasText = decodeString(raw)
		return b, nil
	case '{':
		b.isObject = true
	default:
		return b, nil
	}
	var err error
	if b.object, err = splitObject(raw); err != nil {
		return b, err
	}
	b.kind = b.object.text("type")
	switch {
	case b.isText():
		b.text, b.hasText = decodeString(b.object.get("text"))
	case b.isAnswer():
		b.id = b.object.text("tool_use_id")
	case b.isCall():
		b.id = b.object.text("id")
	}
	return b, nil
}

// readCall takes an OpenAI call apart: the arguments stand in its function or
// custom object, or in the call itself.
func readCall(raw []byte) (call, error) {
	c := call{raw: raw}
	if raw[0] != '{' {
		return c, nil
	}
	o, err := splitObject(raw)
	if err != nil {
		return c, err
	}
	c.ids = append(spellings(o.text("id")), spellings(o.text("call_id"))...)
	c.arguments = o.get("arguments")
	for _, key := range []string{"function", "custom"} {
		if inner := o.get(key); !isNull(inner) && inner[0] == '{' {
			fn, err := splitObject(inner)
			if err != nil {
				return c, fmt.Errorf("%s: %w", key, err)
			}
			for _, name := range []string{"arguments", "input"} {
				if c.arguments == nil {
					c.arguments = fn.get(name)
				}
			}
		}
	}
	return c, nil
}

// spellings lists an id and the halves of a joined "call|item" id.
func spellings(id string) []string {
	if id == "" {
		return nil
	}
	ids := []string{id}
	if head, tail, ok := strings.Cut(id, "|"); ok {
		ids = append(ids, head, tail)
	}
	return ids
}

func (m *message) isResult() bool { return m.role == "tool" || m.role == "function" }
func (m *message) isSystem() bool { return m.role == "system" || m.role == "developer" }

// has reports whether the message holds a block of the kind.
func (m *message) has(kind string) bool {
	for b := range m.content.blocks {
		if m.content.blocks[b].kind == kind {
			return true
		}
	}
	return false
}

func (b *block) isText() bool {
	return b.kind == "text" || b.kind == "input_text" || b.kind == "output_text"
}
func (b *block) isBlank() bool { return b.hasText && strings.TrimSpace(b.text) == "" }
func (b *block) isThinking() bool {
	return b.kind == "thinking" || b.kind == "redacted_thinking"
}

// isCall covers calls of the client and of the provider's own tools.
func (b *block) isCall() bool {
	return b.kind == "tool_use" || b.kind == "server_tool_use" || b.kind == "mcp_tool_use"
}

func (b *block) isServerCall() bool { return b.isCall() && b.kind != "tool_use" }

// isAnswer covers results of the client and of the provider's own tools.
func (b *block) isAnswer() bool {
	return b.kind == "tool_result" || b.kind == "mcp_tool_result" || strings.HasSuffix(b.kind, "_tool_result")
}

func (b *block) isServerAnswer() bool { return b.isAnswer() && b.kind != "tool_result" }

// textOnly reports whether a content value holds text and nothing else, and how
// many characters of it.
func (c *content) textOnly() (chars int, ok bool) {
	for i := range c.blocks {
		if !c.blocks[i].hasText {
			return 0, false
		}
		chars += utf8.RuneCountInString(c.blocks[i].text)
	}
	return chars, c.shape == shapeString || c.shape == shapeList
}

// text joins the texts of a content value.
func (c *content) text() string {
	if len(c.blocks) == 1 {
		return c.blocks[0].text
	}
	var sb strings.Builder
	for i := range c.blocks {
		sb.WriteString(c.blocks[i].text)
	}
	return sb.String()
}

// empty reports whether a content value holds nothing at all.
func (c *content) empty() bool {
	switch c.shape {
	case shapeString:
		return c.blocks[0].isBlank()
	case shapeOther:
		return false
	default:
		return len(c.blocks) == 0
	}
}

// quote writes s as a JSON string.
func quote(s string) []byte {
	b, _ := json.Marshal(s) // a string always has a form
	return b
}
