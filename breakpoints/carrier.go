package breakpoints

import "github.com/elbowroom/elbowroom/conversation"

// carrier returns the part of a tool result that carries a message's mark, -1
// when the block itself does, or the reason why the block cannot carry one.
func (p *placer) carrier(m *conversation.Message, ref conversation.Ref) (part int, reason Reason) {
	b := &m.Blocks[ref.Block]
	switch {
	case p.bare(b, m.Shape):
		return -1, ReasonBareString
	case !p.rules.Assistant && m.Role == conversation.RoleAssistant:
		return -1, ReasonAssistant
	case b.Kind == conversation.KindToolResult && p.rules.Results != "block":
		return p.textPart(b)
	}
	return -1, p.block(b, ref)
}

// block is the rule for a block that would carry the mark itself.
func (p *placer) block(b *conversation.Block, ref conversation.Ref) Reason {
	switch b.Kind {
	case conversation.KindText:
		if conversation.Blank(b.Text) {
			return ReasonEmptyText
		}
		return ""
	case conversation.KindThinking, conversation.KindRedactedThinking:
		return ReasonThinking
	case conversation.KindMedia:
		if !p.rules.Media {
			return ReasonNotText
		}
		return ""
	}
	if !p.rules.Calls {
		return ReasonNotText
	}
	switch b.Kind {
	case conversation.KindToolUse, conversation.KindToolResult, conversation.KindServerToolUse, conversation.KindServerToolResult:
		if p.found.programmatic[ref] {
			return ReasonProgrammatic
		}
		if b.Kind == conversation.KindToolResult && emptyResult(b) {
			return ReasonEmptyResult
		}
	case conversation.KindCompaction:
	default:
		// Block types of the API that take a mark and that the model does not read.
		switch b.Type {
		case "search_result", "container_upload", "tool_addition":
		default:
			return ReasonUnknownBlock
		}
	}
	return ""
}

// textOnly is the rule for a part of a tool result.
func textOnly(b *conversation.Block) Reason {
	switch b.Kind {
	case conversation.KindText:
		if conversation.Blank(b.Text) {
			return ReasonEmptyText
		}
		return ""
	case conversation.KindThinking, conversation.KindRedactedThinking:
		return ReasonThinking
	default:
		return ReasonNotText
	}
}

// textPart finds the last text of a tool result that can carry a mark.
func (p *placer) textPart(b *conversation.Block) (int, Reason) {
	switch {
	case p.rules.Results == "none" && !p.opts.MarkToolMessages:
		return -1, ReasonToolMessage
	case len(b.Result) == 0:
		return -1, ReasonEmptyResult
	case p.bare(&b.Result[len(b.Result)-1], b.ResultShape):
		return -1, ReasonBareString
	}
	reason := ReasonEmptyResult
	for i := len(b.Result) - 1; i >= 0; i-- {
		switch {
		case p.bare(&b.Result[i], b.ResultShape):
		case textOnly(&b.Result[i]) == "":
			return i, ""
		case textOnly(&b.Result[i]) != ReasonEmptyText:
			reason = ReasonNotText
		}
	}
	return -1, reason
}

// bare reports whether an element of a content list is not an object and so has
// no place for a mark.
func (p *placer) bare(b *conversation.Block, shape conversation.Shape) bool {
	if p.c.Format == conversation.FormatTyped || shape != conversation.ShapeList || b.Type != "" {
		return false
	}
	return b.Kind == conversation.KindText || b.Raw != "" && b.Raw[0] != '{'
}

// emptyResult reports whether a tool result holds nothing but blank text.
func emptyResult(b *conversation.Block) bool {
	for i := range b.Result {
		if b.Result[i].Kind != conversation.KindText || !conversation.Blank(b.Result[i].Text) {
			return false
		}
	}
	return true
}

// contentBlocks is the range of a message's blocks that stand in its content:
// reasoning fields come before them, tool calls and the like after them.
func contentBlocks(m *conversation.Message) (from, to int) {
	for from < len(m.Blocks) && m.Blocks[from].Site == conversation.SiteReasoning {
		from++
	}
	to = from
	for to < len(m.Blocks) && (m.Blocks[to].Site == conversation.SiteContent || m.Blocks[to].Site == conversation.SiteMessage) {
		to++
	}
	return from, to
}
