package server

import (
	"strings"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conversation"
)

// typedReader converts the typed form into the domain model, block by block, so
// that indices are the same on both sides.
type typedReader struct {
	limits conversation.Limits
	blocks int // messages, blocks and tools read so far
}

// readTyped returns the domain view of a typed conversation, or an error of type
// [*requestError] when it exceeds the limits.
func readTyped(in *elbowroomv1.Conversation, limits conversation.Limits) (*conversation.Conversation, error) {
	r := typedReader{limits: limits}
	c := &conversation.Conversation{
		Format:   conversation.FormatTyped,
		Messages: make([]conversation.Message, len(in.GetMessages())),
		Tools:    make([]conversation.Tool, len(in.GetTools())),
	}
	r.blocks = len(c.Messages) + len(c.Tools)
	for i, t := range in.GetTools() {
		c.Tools[i] = conversation.Tool{
			Name:        t.GetName(),
			Description: t.GetDescription(),
			Schema:      t.GetInputSchemaJson(),
			Mark:        readMark(t.GetCacheControl()),
		}
	}
	for i, m := range in.GetMessages() {
		role := roleOf(m.GetRole())
		blocks, err := r.read(m.GetBlocks(), 1)
		if err != nil {
			err.message = i
			return nil, err
		}
		c.Messages[i] = conversation.Message{
			Role: role, RawRole: role.String(), Name: m.GetName(),
			Shape: conversation.ShapeList, Blocks: blocks,
		}
	}
	return c, nil
}

func (r *typedReader) read(in []*elbowroomv1.Block, depth int) ([]conversation.Block, *requestError) {
	r.blocks += len(in)
	if r.blocks > r.limits.MaxBlocks {
		return nil, &requestError{field: "conversation.messages", message: -1, reason: "more than " + itoa(r.limits.MaxBlocks) + " messages, blocks and tools"}
	}
	if depth > r.limits.MaxDepth {
		return nil, &requestError{field: "conversation.messages", message: -1, reason: "tool results nested deeper than " + itoa(r.limits.MaxDepth) + " levels"}
	}
	out := make([]conversation.Block, len(in))
	for i, b := range in {
		if err := r.block(&out[i], b, depth); err != nil {
			return nil, err
		}
		out[i].Mark = readMark(b.GetCacheControl())
	}
	return out, nil
}

func (r *typedReader) block(out *conversation.Block, in *elbowroomv1.Block, depth int) *requestError {
	switch kind := in.GetKind().(type) {
	case *elbowroomv1.Block_Text:
		out.Kind, out.Text = conversation.KindText, kind.Text
	case *elbowroomv1.Block_ToolUse:
		call := kind.ToolUse
		out.Kind, out.ID, out.Name = conversation.KindToolUse, call.GetId(), call.GetName()
		out.Input, out.InputShape = call.GetInputJson(), conversation.ShapeString
	case *elbowroomv1.Block_ToolResult:
		var err *requestError
		out.Kind, out.ID, out.IsError = conversation.KindToolResult, kind.ToolResult.GetToolUseId(), kind.ToolResult.GetIsError()
		out.ResultShape = conversation.ShapeList
		out.Result, err = r.read(kind.ToolResult.GetBlocks(), depth+1)
		return err
	case *elbowroomv1.Block_Media:
		out.Kind, out.Media = conversation.KindMedia, readMedia(kind.Media)
	case *elbowroomv1.Block_Thinking:
		out.Kind, out.Text = conversation.KindThinking, kind.Thinking.GetText()
		out.Signed = kind.Thinking.GetSignature() != ""
	case *elbowroomv1.Block_OpaqueJson:
		out.Kind, out.Raw = conversation.KindOpaque, kind.OpaqueJson
		out.Type = typeWord(kind.OpaqueJson)
	}
	return nil
}

// typeWord finds the type of a block that is carried as JSON, empty when it has
// none.
func typeWord(json string) string {
	members, _ := conversation.Members(json)
	for _, m := range members {
		if m.Key == "type" {
			return m.Text
		}
	}
	return ""
}

func readMedia(in *elbowroomv1.Media) *conversation.Media {
	m := &conversation.Media{
		Kind: mediaKind(in.GetMimeType()), MIMEType: in.GetMimeType(),
		Bytes: in.GetData(), URI: in.GetUri(),
		Width: int(in.GetWidth()), Height: int(in.GetHeight()),
	}
	const scheme = "data:"
	if len(m.URI) < len(scheme) || !strings.EqualFold(m.URI[:len(scheme)], scheme) {
		return m
	}
	if head, data, ok := strings.Cut(m.URI[len(scheme):], ","); ok {
		mime, _, _ := strings.Cut(head, ";")
		m.URI, m.Data = "", data
		if m.MIMEType == "" {
			m.MIMEType, m.Kind = mime, mediaKind(mime)
		}
	}
	return m
}

func mediaKind(mime string) conversation.MediaKind {
	kind, _, _ := strings.Cut(strings.ToLower(mime), "/")
	switch {
	case kind == "image":
		return conversation.MediaImage
	case kind == "audio":
		return conversation.MediaAudio
	case kind == "video":
		return conversation.MediaVideo
	case kind == "text", strings.EqualFold(mime, "application/pdf"):
		return conversation.MediaDocument
	default:
		return conversation.MediaFile
	}
}

// readMark reads a breakpoint. Five minutes is the domain's empty TTL.
func readMark(in *elbowroomv1.CacheControl) *conversation.Mark {
	switch {
	case in == nil:
		return nil
	case in.GetTtl() == elbowroomv1.CacheTtl_CACHE_TTL_1H:
		return &conversation.Mark{TTL: "1h"}
	default:
		return &conversation.Mark{}
	}
}

func roleOf(r elbowroomv1.Role) conversation.Role {
	switch r {
	case elbowroomv1.Role_ROLE_SYSTEM:
		return conversation.RoleSystem
	case elbowroomv1.Role_ROLE_USER:
		return conversation.RoleUser
	case elbowroomv1.Role_ROLE_ASSISTANT:
		return conversation.RoleAssistant
	case elbowroomv1.Role_ROLE_TOOL:
		return conversation.RoleTool
	default:
		return conversation.RoleOther
	}
}

// firstChange implements form: there are no bytes to point at.
func (f *typedForm) firstChange() int { return noChange }
