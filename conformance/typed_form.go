package conformance

import (
	"encoding/base64"
	"fmt"
	"strings"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// TypedForm writes a native conversation in the typed form, as somebody would who
// fills protobuf messages from a provider's JSON. Roles that the typed form does not
// have are left out.
func TypedForm(t *Transcript) *pb.Conversation {
	out := &pb.Conversation{}
	if t.system != nil {
		out.Messages = append(out.Messages, &pb.Message{Role: pb.Role_ROLE_SYSTEM, Blocks: typedBlocks(&t.system.content)})
	}
	var lastLegacy string
	for i, m := range t.messages {
		if t.dialect == Anthropic {
			out.Messages = append(out.Messages, typedAnthropic(m)...)
			continue
		}
		typed := &pb.Message{Name: m.object.text("name")}
		switch {
		case m.isSystem():
			typed.Role, typed.Blocks = pb.Role_ROLE_SYSTEM, typedBlocks(&m.content)
		case m.role == "user":
			typed.Role, typed.Blocks = pb.Role_ROLE_USER, typedBlocks(&m.content)
		case m.isResult():
			id := m.object.text("tool_call_id")
			if m.legacy {
				id = lastLegacy
			}
			typed.Role = pb.Role_ROLE_TOOL
			typed.Blocks = []*pb.Block{{Kind: &pb.Block_ToolResult{ToolResult: &pb.ToolResult{ToolUseId: id, Blocks: typedBlocks(&m.content)}}}}
		case m.role == "assistant":
			typed.Role = pb.Role_ROLE_ASSISTANT
			if text := m.object.text("reasoning_content"); text != "" {
				typed.Blocks = append(typed.Blocks, &pb.Block{Kind: &pb.Block_Thinking{Thinking: &pb.Thinking{Text: text}}})
			}
			if !m.content.empty() {
				typed.Blocks = append(typed.Blocks, typedBlocks(&m.content)...)
			}
			for n, c := range m.calls {
				use := typedCall(&c)
				if c.legacy {
					use.Id = fmt.Sprintf("legacy-%d-%d", i, n)
					lastLegacy = use.Id
				}
				typed.Blocks = append(typed.Blocks, &pb.Block{Kind: &pb.Block_ToolUse{ToolUse: use}})
			}
		default:
			continue
		}
		out.Messages = append(out.Messages, typed)
	}
	for _, raw := range t.tools.elements {
		o, err := splitObject(raw)
		if err != nil {
			continue
		}
		fn := inner(&o, "function")
		tool := &pb.Tool{Name: o.text("name"), Description: o.text("description"), InputSchemaJson: string(o.get("input_schema"))}
		if name := fn.text("name"); name != "" {
			tool = &pb.Tool{Name: name, Description: fn.text("description"), InputSchemaJson: string(fn.get("parameters"))}
		}
		if tool.Name != "" {
			out.Tools = append(out.Tools, tool)
		}
	}
	return out
}

// typedAnthropic parts an Anthropic message: results are a message of role tool.
func typedAnthropic(m *message) []*pb.Message {
	role := map[string]pb.Role{"user": pb.Role_ROLE_USER, "assistant": pb.Role_ROLE_ASSISTANT}[m.role]
	if role == pb.Role_ROLE_UNSPECIFIED {
		return nil
	}
	results, rest := &pb.Message{Role: pb.Role_ROLE_TOOL}, &pb.Message{Role: role}
	for _, b := range typedBlocks(&m.content) {
		if b.GetToolResult() != nil {
			results.Blocks = append(results.Blocks, b)
		} else {
			rest.Blocks = append(rest.Blocks, b)
		}
	}
	var out []*pb.Message
	if len(results.Blocks) > 0 {
		out = append(out, results)
	}
	if len(rest.Blocks) > 0 || len(out) == 0 {
		out = append(out, rest)
	}
	return out
}

func typedCall(c *call) *pb.ToolUse {
	o, err := splitObject(c.raw)
	if err != nil {
		return &pb.ToolUse{}
	}
	arguments, isString := decodeString(c.arguments)
	if !isString {
		arguments = string(c.arguments)
	}
	name := inner(&o, "function").text("name")
	if name == "" {
		name = o.text("name")
	}
	return &pb.ToolUse{Id: o.text("id"), Name: name, InputJson: arguments}
}

func typedBlocks(c *content) []*pb.Block {
	var out []*pb.Block
	for i := range c.blocks {
		out = append(out, typedBlock(&c.blocks[i]))
	}
	return out
}

func typedBlock(b *block) *pb.Block {
	switch {
	case b.hasText:
		return &pb.Block{Kind: &pb.Block_Text{Text: b.text}}
	case b.kind == "tool_use":
		return &pb.Block{Kind: &pb.Block_ToolUse{ToolUse: &pb.ToolUse{Id: b.id, Name: b.object.text("name"), InputJson: string(b.object.get("input"))}}}
	case b.kind == "tool_result":
		nested, err := readContent(b.object.get("content"))
		if err != nil {
			break
		}
		return &pb.Block{Kind: &pb.Block_ToolResult{ToolResult: &pb.ToolResult{
			ToolUseId: b.id, Blocks: typedBlocks(&nested), IsError: string(b.object.get("is_error")) == "true",
		}}}
	case b.kind == "thinking":
		return &pb.Block{Kind: &pb.Block_Thinking{Thinking: &pb.Thinking{Text: b.object.text("thinking"), Signature: b.object.text("signature")}}}
	case b.kind == "image" || b.kind == "image_url":
		if media := typedMedia(b); media != nil {
			return &pb.Block{Kind: &pb.Block_Media{Media: media}}
		}
	}
	return &pb.Block{Kind: &pb.Block_OpaqueJson{OpaqueJson: string(b.raw)}}
}

// typedMedia reads an inline image of either format.
func typedMedia(b *block) *pb.Media {
	source := inner(&b.object, "source")
	mime, data := source.text("media_type"), source.text("data")
	if url := inner(&b.object, "image_url").text("url"); url != "" {
		head, base64Text, ok := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
		if !ok {
			return &pb.Media{MimeType: "image/*", Source: &pb.Media_Uri{Uri: url}}
		}
		mime, data = head, base64Text
	}
	decoded, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return nil
	}
	return &pb.Media{MimeType: mime, Source: &pb.Media_Data{Data: decoded}}
}
