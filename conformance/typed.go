package conformance

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"

	"google.golang.org/protobuf/proto"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// ReadTyped takes a typed conversation apart. Every message is written as JSON
// in a way that two messages have the same bytes exactly when they are
// proto-equal, unknown fields included; so one checker serves all forms.
func ReadTyped(c *pb.Conversation, like *Transcript) (*Transcript, error) {
	var w typedWriter
	w.raw(`{"tools":[`)
	for i, tool := range c.GetTools() {
		w.comma(i)
		w.tool(tool)
	}
	w.raw(`],"messages":[`)
	for i, m := range c.GetMessages() {
		w.comma(i)
		w.message(m)
	}
	w.raw(`]`)
	w.unknown(c)
	w.raw(`}`)
	if w.err != nil {
		return nil, w.err
	}
	return ReadLike(Typed, w.buf.Bytes(), like)
}

// typedWriter writes the typed form as JSON in the shape of Anthropic blocks.
type typedWriter struct {
	buf bytes.Buffer
	err error
}

func (w *typedWriter) raw(s string) { w.buf.WriteString(s) }
func (w *typedWriter) comma(i int) {
	if i > 0 {
		w.raw(",")
	}
}

func (w *typedWriter) field(name, text string) {
	w.raw(`,"` + name + `":`)
	w.buf.Write(quote(text))
}

func (w *typedWriter) unknown(m proto.Message) {
	if unknown := m.ProtoReflect().GetUnknown(); len(unknown) > 0 {
		w.field("unknown", hex.EncodeToString(unknown))
	}
}

func (w *typedWriter) tool(t *pb.Tool) {
	w.raw(`{"name":`)
	w.buf.Write(quote(t.GetName()))
	w.field("description", t.GetDescription())
	w.field("input_schema", t.GetInputSchemaJson())
	w.mark(t.GetCacheControl())
	w.unknown(t)
	w.raw(`}`)
}

func (w *typedWriter) mark(c *pb.CacheControl) {
	if c == nil {
		return
	}
	w.raw(`,"cache_control":{"type":"ephemeral"`)
	switch c.GetTtl() {
	case pb.CacheTtl_CACHE_TTL_1H:
		w.field("ttl", "1h")
	case pb.CacheTtl_CACHE_TTL_5M:
		w.field("ttl", "5m")
	}
	w.unknown(c)
	w.raw(`}`)
}

func (w *typedWriter) message(m *pb.Message) {
	role, ok := map[pb.Role]string{
		pb.Role_ROLE_SYSTEM: "system", pb.Role_ROLE_USER: "user", pb.Role_ROLE_ASSISTANT: "assistant", pb.Role_ROLE_TOOL: "tool",
	}[m.GetRole()]
	if !ok {
		role = m.GetRole().String()
	}
	w.raw(`{"role":`)
	w.buf.Write(quote(role))
	w.field("name", m.GetName())
	w.raw(`,"content":`)
	w.blocks(m.GetBlocks())
	w.unknown(m)
	w.raw(`}`)
}

func (w *typedWriter) blocks(blocks []*pb.Block) {
	w.raw(`[`)
	for i, b := range blocks {
		w.comma(i)
		w.block(b)
	}
	w.raw(`]`)
}

func (w *typedWriter) block(b *pb.Block) {
	switch kind := b.GetKind().(type) {
	case *pb.Block_Text:
		w.raw(`{"type":"text"`)
		w.field("text", kind.Text)
	case *pb.Block_ToolUse:
		w.raw(`{"type":"tool_use"`)
		w.field("id", kind.ToolUse.GetId())
		w.field("name", kind.ToolUse.GetName())
		w.field("input", kind.ToolUse.GetInputJson())
		w.unknown(kind.ToolUse)
	case *pb.Block_ToolResult:
		w.raw(`{"type":"tool_result"`)
		w.field("tool_use_id", kind.ToolResult.GetToolUseId())
		w.raw(`,"is_error":` + strconv.FormatBool(kind.ToolResult.GetIsError()))
		w.raw(`,"content":`)
		w.blocks(kind.ToolResult.GetBlocks())
		w.unknown(kind.ToolResult)
	case *pb.Block_Media:
		w.raw(`{"type":"media"`)
		w.field("mime_type", kind.Media.GetMimeType())
		if kind.Media.GetSource() != nil {
			w.field("uri", kind.Media.GetUri())
			w.field("data", base64.StdEncoding.EncodeToString(kind.Media.GetData()))
		}
		w.raw(fmt.Sprintf(`,"size":[%d,%d]`, kind.Media.GetWidth(), kind.Media.GetHeight()))
		w.unknown(kind.Media)
	case *pb.Block_Thinking:
		w.raw(`{"type":"thinking"`)
		w.field("thinking", kind.Thinking.GetText())
		w.field("signature", kind.Thinking.GetSignature())
		w.unknown(kind.Thinking)
	case *pb.Block_OpaqueJson:
		w.raw(`{"type":"opaque"`)
		w.field("json", kind.OpaqueJson)
	default:
		w.err = fmt.Errorf("a block of no kind")
		w.raw(`{"type":"none"`)
	}
	w.mark(b.GetCacheControl())
	w.unknown(b)
	w.raw(`}`)
}
