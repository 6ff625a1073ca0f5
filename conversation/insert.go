package conversation

// NewMessage is a message that was not in the input: a summary, or the result
// of a call that had none.
type NewMessage struct {
	Role Role
	Text string
	// Result, when not nil, makes the message a tool result; Text is unused then.
	Result *NewResult
}

// NewResult is a stand-in for a tool result that is missing.
type NewResult struct {
	ID   string // the call it answers
	Name string // the tool, needed by the legacy function form
	Text string
	// Legacy is set for the answer to a function_call.
	Legacy bool
}

// JSON writes the new message in a native format.
func (m NewMessage) JSON(format Format) string {
	switch {
	case m.Result == nil:
		return `{"role":` + Quote(m.Role.String()) + `,"content":` + Quote(m.Text) + `}`
	case format == FormatAnthropicMessages:
		return `{"role":"user","content":[` + m.Result.blockJSON() + `]}`
	case m.Result.Legacy:
		return `{"role":"function","name":` + Quote(m.Result.Name) + `,"content":` + Quote(m.Result.Text) + `}`
	default:
		return `{"role":"tool","tool_call_id":` + Quote(m.Result.ID) + `,"content":` + Quote(m.Result.Text) + `}`
	}
}

// blockJSON writes the result as a block of a content list (Anthropic).
func (res *NewResult) blockJSON() string {
	return `{"type":"tool_result","tool_use_id":` + Quote(res.ID) + `,"content":` + Quote(res.Text) + `}`
}

func resultBlocks(results []NewResult) []string {
	out := make([]string, len(results))
	for i := range results {
		out[i] = results[i].blockJSON()
	}
	return out
}

func textBlock(text string) string { return `{"type":"text","text":` + Quote(text) + `}` }

// domain returns the new message as the codec would read it.
func (m NewMessage) domain(format Format) Message {
	if m.Result == nil {
		return Message{Role: m.Role, RawRole: m.Role.String(), Shape: ShapeString, Blocks: []Block{{Kind: KindText, Text: m.Text}}}
	}
	b := m.Result.block()
	if format == FormatAnthropicMessages {
		return Message{Role: RoleUser, RawRole: "user", Shape: ShapeList, Blocks: []Block{b}}
	}
	out := Message{Role: RoleTool, RawRole: "tool", Shape: ShapeString}
	if format == FormatOpenAIChat {
		b.Site, b.Type = SiteMessage, ""
		if m.Result.Legacy {
			b.ID, b.Name = "", m.Result.Name
			out.RawRole, out.Name = "function", m.Result.Name
		}
	}
	out.Blocks = []Block{b}
	return out
}

// block returns the result as the codec would read it in a content list.
func (res *NewResult) block() Block {
	return Block{
		Kind: KindToolResult, Type: "tool_result", ID: res.ID,
		Result: []Block{{Kind: KindText, Text: res.Text}}, ResultShape: ShapeString,
	}
}
