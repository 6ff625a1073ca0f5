package server

import (
	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/server/wire"
)

// typedForm is a conversation as protobuf messages.
type typedForm struct {
	request *elbowroomv1.Conversation
	result  typedResult
	kept    keeping
}

func (f *typedForm) read(limits conversation.Limits) (*conversation.Conversation, error) {
	return readTyped(f.result.conversation, limits)
}

func (f *typedForm) apply(rw *conversation.Rewrite) {
	if rw.Empty() {
		return
	}
	before := f.result
	f.result = before.render(rw)
	f.kept.messages(rw, before, f.result)
}

func (f *typedForm) altered() int { return f.kept.changed }

func (f *typedForm) full() *elbowroomv1.Conversation { return f.result.conversation }

func (f *typedForm) pieces() *wire.Native { return nil }

func (f *typedForm) edits() ([]*elbowroomv1.Edit, []*elbowroomv1.Splice) {
	return f.result.edits(f.request), nil
}

// typedResult is a rewritten typed conversation. Messages and tools that were
// kept are the caller's very objects.
type typedResult struct {
	conversation *elbowroomv1.Conversation
	// from[i] is the index of message i in the request, -1 for a new message.
	from []int
}

// keepTyped is the result in which nothing has changed.
func keepTyped(in *elbowroomv1.Conversation) typedResult {
	from := make([]int, len(in.GetMessages()))
	for i := range from {
		from[i] = i
	}
	return typedResult{conversation: in, from: from}
}

// render follows a rewrite of the conversation that the result holds.
func (r typedResult) render(rw *conversation.Rewrite) typedResult {
	in := r.conversation
	out := typedResult{conversation: &elbowroomv1.Conversation{
		Messages: make([]*elbowroomv1.Message, 0, len(in.GetMessages())+1),
		Tools:    make([]*elbowroomv1.Tool, len(in.GetTools())),
	}}
	out.conversation.ProtoReflect().SetUnknown(in.ProtoReflect().GetUnknown())
	for i, t := range in.GetTools() {
		out.conversation.Tools[i] = renderTool(t, rw.Tool(i))
	}
	add := func(m *elbowroomv1.Message, from int) {
		out.conversation.Messages = append(out.conversation.Messages, m)
		out.from = append(out.from, from)
	}
	for i := 0; i <= len(in.GetMessages()); i++ {
		for _, m := range rw.Inserted(i) {
			add(newMessage(m), -1)
		}
		if i == len(in.GetMessages()) {
			break
		}
		switch e := rw.Message(i); {
		case e == nil:
			add(in.GetMessages()[i], r.from[i])
		case !e.Drop:
			add(renderMessage(in.GetMessages()[i], e), r.from[i])
		}
	}
	return out
}

// edits lists what leads from the request's conversation to the result. It is
// nil when nothing changed.
func (r typedResult) edits(in *elbowroomv1.Conversation) []*elbowroomv1.Edit {
	var out editList
	for i, t := range r.conversation.GetTools() {
		if t == in.GetTools()[i] {
			out.keep(elbowroomv1.Section_SECTION_TOOLS, i)
			continue
		}
		out.replace(elbowroomv1.Section_SECTION_TOOLS, &elbowroomv1.ReplaceEdit{Index: int32(i), Element: &elbowroomv1.ReplaceEdit_Tool{Tool: t}})
	}
	const section = elbowroomv1.Section_SECTION_MESSAGES
	at := 0 // next message of the input
	for i, m := range r.conversation.GetMessages() {
		from := r.from[i]
		if from < 0 {
			out.insert(section, &elbowroomv1.InsertEdit{Element: &elbowroomv1.InsertEdit_Message{Message: m}})
			continue
		}
		out.drop(section, at, from)
		at = from + 1
		if m == in.GetMessages()[from] {
			out.keep(section, from)
			continue
		}
		out.replace(section, &elbowroomv1.ReplaceEdit{Index: int32(from), Element: &elbowroomv1.ReplaceEdit_Message{Message: m}})
	}
	out.drop(section, at, len(in.GetMessages()))
	if !out.changed {
		return nil
	}
	return out.edits
}

// editList writes an edit program in which neighbouring keeps are one edit.
type editList struct {
	edits   []*elbowroomv1.Edit
	changed bool
}

func (l *editList) keep(section elbowroomv1.Section, index int) {
	if n := len(l.edits); n > 0 && l.edits[n-1].GetSection() == section {
		if keep := l.edits[n-1].GetKeep(); keep != nil && keep.GetEnd() == int32(index) {
			keep.End++
			return
		}
	}
	l.edits = append(l.edits, &elbowroomv1.Edit{Section: section, Op: &elbowroomv1.Edit_Keep{
		Keep: &elbowroomv1.KeepEdit{Start: int32(index), End: int32(index + 1)},
	}})
}

func (l *editList) drop(section elbowroomv1.Section, start, end int) {
	if start >= end {
		return
	}
	l.changed = true
	l.edits = append(l.edits, &elbowroomv1.Edit{Section: section, Op: &elbowroomv1.Edit_Drop{
		Drop: &elbowroomv1.DropEdit{Start: int32(start), End: int32(end)},
	}})
}

func (l *editList) replace(section elbowroomv1.Section, e *elbowroomv1.ReplaceEdit) {
	l.changed = true
	l.edits = append(l.edits, &elbowroomv1.Edit{Section: section, Op: &elbowroomv1.Edit_Replace{Replace: e}})
}

func (l *editList) insert(section elbowroomv1.Section, e *elbowroomv1.InsertEdit) {
	l.changed = true
	l.edits = append(l.edits, &elbowroomv1.Edit{Section: section, Op: &elbowroomv1.Edit_Insert{Insert: e}})
}

func renderTool(in *elbowroomv1.Tool, mark conversation.MarkEdit) *elbowroomv1.Tool {
	if mark.Kind == conversation.MarkKeep {
		return in
	}
	out := proto.CloneOf(in)
	out.CacheControl = renderMark(out.GetCacheControl(), mark)
	return out
}

// renderMessage returns an edited copy.
func renderMessage(in *elbowroomv1.Message, e *conversation.MessageEdit) *elbowroomv1.Message {
	out := proto.CloneOf(in)
	blocks := make([]*elbowroomv1.Block, 0, len(out.GetBlocks())+len(e.Results)+1)
	for _, res := range e.Results {
		blocks = append(blocks, resultBlock(res))
	}
	for i, b := range out.GetBlocks() {
		be := e.Block(i)
		if be != nil && be.Drop {
			continue
		}
		if be == nil {
			blocks = append(blocks, b)
			continue
		}
		rest := splitBlock(b, be)
		editBlock(b, be)
		blocks = append(blocks, b)
		if rest != nil {
			blocks = append(blocks, rest)
		}
	}
	if e.Append != "" {
		blocks = append(blocks, textBlock(e.Append))
	}
	out.Blocks = blocks
	return out
}

// splitBlock takes the second half of a text block off, nil when it stays whole.
func splitBlock(b *elbowroomv1.Block, e *conversation.BlockEdit) *elbowroomv1.Block {
	text, ok := b.GetKind().(*elbowroomv1.Block_Text)
	if !ok || e.Split <= 0 || e.Split >= len(text.Text) {
		return nil
	}
	rest := textBlock(text.Text[e.Split:])
	rest.CacheControl = renderMark(nil, e.RestMark)
	text.Text = text.Text[:e.Split]
	return rest
}

// editBlock changes a block that belongs to a copy.
func editBlock(b *elbowroomv1.Block, e *conversation.BlockEdit) {
	if e.Text != nil {
		switch kind := b.GetKind().(type) {
		case *elbowroomv1.Block_Text:
			kind.Text = *e.Text
		case *elbowroomv1.Block_ToolResult:
			kind.ToolResult.Blocks = []*elbowroomv1.Block{textBlock(*e.Text)}
		}
	}
	if e.Input != nil && b.GetToolUse() != nil {
		b.GetToolUse().InputJson = *e.Input
	}
	b.CacheControl = renderMark(b.GetCacheControl(), e.Mark)
	for _, i := range e.EditedParts() {
		part := b.GetToolResult().GetBlocks()[i]
		part.CacheControl = renderMark(part.GetCacheControl(), e.Part(i))
	}
}

func renderMark(have *elbowroomv1.CacheControl, e conversation.MarkEdit) *elbowroomv1.CacheControl {
	switch e.Kind {
	case conversation.MarkSet:
		if have == nil {
			have = &elbowroomv1.CacheControl{}
		}
		have.Ttl = elbowroomv1.CacheTtl_CACHE_TTL_5M
		if e.TTL == "1h" {
			have.Ttl = elbowroomv1.CacheTtl_CACHE_TTL_1H
		}
		return have
	case conversation.MarkRemove:
		return nil
	default:
		return have
	}
}

func newMessage(m conversation.NewMessage) *elbowroomv1.Message {
	if m.Result != nil {
		return &elbowroomv1.Message{Role: elbowroomv1.Role_ROLE_TOOL, Blocks: []*elbowroomv1.Block{resultBlock(*m.Result)}}
	}
	return &elbowroomv1.Message{Role: protoRole(m.Role), Blocks: []*elbowroomv1.Block{textBlock(m.Text)}}
}

func resultBlock(res conversation.NewResult) *elbowroomv1.Block {
	return &elbowroomv1.Block{Kind: &elbowroomv1.Block_ToolResult{ToolResult: &elbowroomv1.ToolResult{
		ToolUseId: res.ID, Blocks: []*elbowroomv1.Block{textBlock(res.Text)},
	}}}
}

func textBlock(text string) *elbowroomv1.Block {
	return &elbowroomv1.Block{Kind: &elbowroomv1.Block_Text{Text: text}}
}

func protoRole(r conversation.Role) elbowroomv1.Role {
	switch r {
	case conversation.RoleSystem:
		return elbowroomv1.Role_ROLE_SYSTEM
	case conversation.RoleAssistant:
		return elbowroomv1.Role_ROLE_ASSISTANT
	case conversation.RoleTool:
		return elbowroomv1.Role_ROLE_TOOL
	default:
		return elbowroomv1.Role_ROLE_USER
	}
}
