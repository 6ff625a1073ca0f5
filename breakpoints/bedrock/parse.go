package bedrock

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/elbowroom/elbowroom/conversation"
)

// Request is a Converse request.
type Request struct {
	// Source is the caller's JSON.
	Source string
	// Conversation is its domain view, of the typed form: no spans, and cachePoint
	// blocks are marks on what they follow. Indices of blocks do not count them.
	Conversation *conversation.Conversation

	tools, system list
	messages      []message
}

// message is where a message's blocks stand.
type message struct {
	content list
	// results are the contents of tool results, in which no cachePoint may stand.
	results []list
}

// list is a JSON array of blocks with cachePoints among them.
type list struct {
	elements []element
	// blocks are the elements that are blocks of the domain view.
	blocks []int
}

// element is one element of a list.
type element struct {
	at conversation.Span
	// text is the string literal of a text block.
	text conversation.Span
	// point is set for a cachePoint, stray for one that follows no block.
	point, stray bool
}

// reader reads one request.
type reader struct {
	src    string
	budget int
	limit  int
	path   string // of the part being read, for errors
}

// Parse reads a request body ({"system", "messages", "toolConfig", ...}) or a bare
// array of messages. Errors are of type [*conversation.Error].
func Parse(src string, limits conversation.Limits) (*Request, error) {
	if limits.MaxBlocks <= 0 {
		limits.MaxBlocks = conversation.DefaultMaxBlocks
	}
	if err := wellFormed(src); err != nil {
		return nil, err
	}
	r := &reader{src: src, budget: limits.MaxBlocks, limit: limits.MaxBlocks}
	out := &Request{Source: src, Conversation: &conversation.Conversation{Format: conversation.FormatTyped}}
	body, isBody := conversation.Members(src)
	if !isBody {
		if _, isArray := conversation.Elements(src); !isArray {
			return nil, &conversation.Error{Offset: 0, Message: -1, Reason: "want a request body or an array of messages, nested no deeper than 512 levels"}
		}
		body = []conversation.Member{{Key: "messages", Value: src, At: conversation.Span{End: len(src)}}}
	}
	if err := r.body(out, body); err != nil {
		return nil, err
	}
	return out, nil
}

// wellFormed finds what makes the text no JSON at all.
func wellFormed(src string) error {
	if !utf8.ValidString(src) {
		at := 0
		for at < len(src) {
			r, size := utf8.DecodeRuneInString(src[at:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			at += size
		}
		return &conversation.Error{Offset: at, Message: -1, Reason: "invalid UTF-8"}
	}
	var raw json.RawMessage
	var syntax *json.SyntaxError
	if err := json.Unmarshal([]byte(src), &raw); errors.As(err, &syntax) {
		return &conversation.Error{Offset: max(0, int(syntax.Offset)-1), Message: -1, Reason: syntax.Error()}
	}
	return nil
}

func (r *reader) body(out *Request, body []conversation.Member) error {
	if err := r.unique(body, 0); err != nil {
		return err
	}
	found := false
	var err error
	for _, m := range body {
		switch m.Key {
		case "modelId":
			out.Conversation.Model = m.Text
		case "toolConfig":
			err = r.toolConfig(out, m)
		case "system":
			r.path = "system"
			system := &conversation.Message{Role: conversation.RoleSystem, RawRole: "system"}
			if out.system, _, err = r.content(m, system); err == nil && system.Shape == conversation.ShapeList {
				out.Conversation.System = system
			}
		case "messages":
			found = true
			err = r.messages(out, m)
		}
		if err != nil {
			return err
		}
	}
	if !found {
		return &conversation.Error{Offset: -1, Path: "messages", Message: -1, Reason: "the request body has no messages"}
	}
	return nil
}

// unique refuses a key that occurs twice: readers disagree on which one counts.
func (r *reader) unique(members []conversation.Member, base int) error {
	seen := make(map[string]bool, len(members))
	for _, m := range members {
		if seen[m.Key] {
			return r.fail(base+m.At.Start, fmt.Sprintf("duplicate key %.40q", m.Key))
		}
		seen[m.Key] = true
	}
	return nil
}

func (r *reader) fail(at int, reason string) error {
	return &conversation.Error{Offset: at, Path: r.path, Message: -1, Reason: reason}
}

// members lists an object that stands at base in the source.
func (r *reader) members(value string, base int) ([]conversation.Member, error) {
	members, ok := conversation.Members(value)
	if !ok {
		return nil, r.fail(base, "want an object")
	}
	return members, r.unique(members, base)
}

// elements lists an array and takes its elements from the budget.
func (r *reader) elements(value string, base int) ([]conversation.Member, error) {
	elements, ok := conversation.Elements(value)
	if !ok {
		return nil, r.fail(base, "want an array")
	}
	if r.budget -= len(elements); r.budget < 0 {
		return nil, r.fail(base, fmt.Sprintf("more than %d messages, blocks and tools", r.limit))
	}
	return elements, nil
}

func (r *reader) messages(out *Request, list conversation.Member) error {
	r.path = "messages"
	elements, err := r.elements(list.Value, list.At.Start)
	if err != nil {
		return err
	}
	for i, e := range elements {
		r.path = fmt.Sprintf("messages[%d]", i)
		base := list.At.Start + e.At.Start
		members, err := r.members(e.Value, base)
		if err != nil {
			return err
		}
		m := conversation.Message{Span: conversation.Span{Start: base, End: base + len(e.Value)}}
		var at message
		for _, field := range members {
			field.At.Start += base
			switch field.Key {
			case "role":
				m.RawRole = field.Text
				m.Role = map[string]conversation.Role{"user": conversation.RoleUser, "assistant": conversation.RoleAssistant}[field.Text]
			case "content":
				if at.content, at.results, err = r.content(field, &m); err != nil {
					return err
				}
			}
		}
		out.messages = append(out.messages, at)
		out.Conversation.Messages = append(out.Conversation.Messages, m)
	}
	return nil
}

// toolConfig reads the tools.
func (r *reader) toolConfig(out *Request, config conversation.Member) error {
	r.path = "toolConfig"
	members, err := r.members(config.Value, config.At.Start)
	if err != nil {
		return err
	}
	for _, m := range members {
		if m.Key != "tools" {
			continue
		}
		base := config.At.Start + m.At.Start
		elements, err := r.elements(m.Value, base)
		if err != nil {
			return err
		}
		var early []*conversation.Mark // before the first tool
		for _, e := range elements {
			one, mark, tool := r.tool(e, base)
			marks := out.tools.add(one)
			n := len(out.Conversation.Tools)
			switch {
			case !one.point:
				tool.Strays, early = early, nil
				out.Conversation.Tools = append(out.Conversation.Tools, tool)
			case marks:
				out.Conversation.Tools[n-1].Mark = mark
			case n > 0:
				out.Conversation.Tools[n-1].Strays = append(out.Conversation.Tools[n-1].Strays, mark)
			default:
				early = append(early, mark)
			}
		}
		if len(early) > 0 { // points and no tool: something that carries them and takes none
			out.Conversation.Tools = append(out.Conversation.Tools, conversation.Tool{Deferred: true, Strays: early})
		}
	}
	return nil
}

func (r *reader) tool(e conversation.Member, base int) (element, *conversation.Mark, conversation.Tool) {
	one := element{at: conversation.Span{Start: base + e.At.Start, End: base + e.At.End}}
	tool := conversation.Tool{Raw: e.Value}
	members, _ := conversation.Members(e.Value)
	for _, m := range members {
		switch m.Key {
		case "cachePoint":
			one.point = true
			return one, readPoint(m.Value), tool
		case "toolSpec":
			tool.Type = m.Key
			spec, _ := conversation.Members(m.Value)
			for _, field := range spec {
				switch field.Key {
				case "name":
					tool.Name = field.Text
				case "description":
					tool.Description = field.Text
				case "inputSchema":
					tool.Schema = field.Value
				}
			}
		}
	}
	return one, nil, tool
}

// readPoint reads the value of a cachePoint.
func readPoint(value string) *conversation.Mark {
	mark := &conversation.Mark{}
	members, _ := conversation.Members(value)
	for _, m := range members {
		if m.Key == "ttl" {
			mark.TTL = m.Text
		}
	}
	return mark
}

// add appends an element. It reports whether it is a point that marks the block
// before it: one that follows no block, or another point, is a stray.
func (l *list) add(e element) bool {
	if n := len(l.elements); e.point && (n == 0 || l.elements[n-1].point) {
		e.stray = true
	}
	if !e.point {
		l.blocks = append(l.blocks, len(l.elements))
	}
	l.elements = append(l.elements, e)
	return e.point && !e.stray
}
