package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// rounds is the number of tool calls in the conversations below.
const rounds = 16

// anthropicBody is a session with tool calls, spelled in ways that a re-encoding
// would change: spaces, key order, escapes, numbers, unknown keys.
func anthropicBody() string {
	var sb strings.Builder
	sb.WriteString(`{ "max_tokens":1.0e3, "model": "claude-sonnet-4-5", "system":"You fix \u0062ugs.", "tools":[{"input_schema":{"type":"object"},"name":"read"}],
 "messages":[`)
	fmt.Fprintf(&sb, `{"role":"user","content":%s, "x_unknown":{"b":1,"a":2}}`, quote("please fix the build "+prose(1, 50)))
	for i := range rounds {
		fmt.Fprintf(&sb, ",\n  {\"content\":[{\"type\":\"text\",\"text\":\"step %d\"},{\"type\":\"tool_use\",\"id\":\"t%d\",\"name\":\"read\",\"input\":{\"path\":\"src/f%d.go\"}}],\"role\":\"assistant\"}", i, i, i)
		fmt.Fprintf(&sb, ` ,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":%s}]}`, i, quote(prose(i, 400)))
	}
	sb.WriteString(`,{"role":"assistant","content":"done"},{"role":"user","content":"now the tests"}] }`)
	return sb.String()
}

func openaiBody() string {
	var sb strings.Builder
	sb.WriteString(`{"model":"anthropic/claude-sonnet-4.5","messages":[{"role":"system","content":"You fix bugs."},`)
	fmt.Fprintf(&sb, `{"role":"user","content":%s}`, quote("please fix the build "+prose(1, 50)))
	for i := range rounds {
		fmt.Fprintf(&sb, `, {"role":"assistant","content":null,"tool_calls":[{"id":"t%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"src/f%d.go\"}"}}]}`, i, i)
		fmt.Fprintf(&sb, `,{"role":"tool","tool_call_id":"t%d","content":%s}`, i, quote(prose(i, 400)))
	}
	sb.WriteString(`,{"role":"assistant","content":"done"},{"role":"user","content":"now the tests"}],"stream":true}`)
	return sb.String()
}

func typedBody() *elbowroomv1.Conversation {
	text := func(s string) *elbowroomv1.Block { return &elbowroomv1.Block{Kind: &elbowroomv1.Block_Text{Text: s}} }
	c := &elbowroomv1.Conversation{
		Tools: []*elbowroomv1.Tool{{Name: "read", InputSchemaJson: `{"type":"object"}`}},
		Messages: []*elbowroomv1.Message{
			{Role: elbowroomv1.Role_ROLE_SYSTEM, Blocks: []*elbowroomv1.Block{text("You fix bugs.")}},
			{Role: elbowroomv1.Role_ROLE_USER, Blocks: []*elbowroomv1.Block{text("please fix the build " + prose(1, 50))}},
		},
	}
	for i := range rounds {
		id := fmt.Sprint("t", i)
		c.Messages = append(c.Messages,
			&elbowroomv1.Message{Role: elbowroomv1.Role_ROLE_ASSISTANT, Blocks: []*elbowroomv1.Block{
				text(fmt.Sprint("step ", i)),
				{Kind: &elbowroomv1.Block_ToolUse{ToolUse: &elbowroomv1.ToolUse{Id: id, Name: "read", InputJson: `{"path":"src/f.go"}`}}},
			}},
			&elbowroomv1.Message{Role: elbowroomv1.Role_ROLE_TOOL, Blocks: []*elbowroomv1.Block{
				{Kind: &elbowroomv1.Block_ToolResult{ToolResult: &elbowroomv1.ToolResult{ToolUseId: id, Blocks: []*elbowroomv1.Block{text(prose(i, 400))}}}},
			}})
	}
	c.Messages = append(c.Messages,
		&elbowroomv1.Message{Role: elbowroomv1.Role_ROLE_ASSISTANT, Blocks: []*elbowroomv1.Block{text("done")}},
		&elbowroomv1.Message{Role: elbowroomv1.Role_ROLE_USER, Blocks: []*elbowroomv1.Block{text("now the tests")}})
	return c
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// forms are the same session in every form.
func forms() map[string]*elbowroomv1.Conversation {
	return map[string]*elbowroomv1.Conversation{
		"anthropic json":       anthropic(anthropicBody()),
		"anthropic json_bytes": inBytes(anthropic(anthropicBody())),
		"openai json":          openai(openaiBody()),
		"openai json_bytes":    inBytes(openai(openaiBody())),
		"typed":                typedBody(),
	}
}

const testModel = "claude-sonnet-4-5"

// answer is what the three RPCs that return a conversation have in common.
type answer interface {
	GetConversation() *elbowroomv1.Conversation
	GetEdits() []*elbowroomv1.Edit
	GetSplices() []*elbowroomv1.Splice
}

// call runs one RPC on a conversation.
type call func(t *testing.T, f *fixture, c *elbowroomv1.Conversation, view elbowroomv1.View) answer

func compress(t *testing.T, f *fixture, c *elbowroomv1.Conversation, view elbowroomv1.View) answer {
	t.Helper()
	out, err := f.client.Compress(t.Context(), &elbowroomv1.CompressRequest{
		Conversation: c, Model: testModel, ContextWindow: 8_000, View: view,
		Policy: &elbowroomv1.CompressionPolicy{ProtectLastN: proto.Int32(6)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if out.GetOutcome() != elbowroomv1.Outcome_OUTCOME_COMPRESSED {
		t.Fatalf("outcome %v (%s), want COMPRESSED", out.GetOutcome(), out.GetReport().GetReason())
	}
	return out
}

func mark(t *testing.T, f *fixture, c *elbowroomv1.Conversation, view elbowroomv1.View) answer {
	t.Helper()
	out, err := f.client.ApplyCacheControl(t.Context(), &elbowroomv1.ApplyCacheControlRequest{Conversation: c, Model: testModel, View: view})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.GetBreakpoints()) != 4 {
		t.Fatalf("%d breakpoints, want 4 (%s)", len(out.GetBreakpoints()), out.GetLayoutReason())
	}
	return out
}

func prepare(t *testing.T, f *fixture, c *elbowroomv1.Conversation, view elbowroomv1.View) answer {
	t.Helper()
	out, err := f.client.Prepare(t.Context(), &elbowroomv1.PrepareRequest{
		Conversation: c, Model: testModel, ContextWindow: 8_000, View: view,
		Policy: &elbowroomv1.CompressionPolicy{ProtectLastN: proto.Int32(6)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if out.GetOutcome() != elbowroomv1.Outcome_OUTCOME_COMPRESSED || len(out.GetBreakpoints()) != 4 {
		t.Fatalf("outcome %v, %d breakpoints, want COMPRESSED and 4", out.GetOutcome(), len(out.GetBreakpoints()))
	}
	return out
}

var calls = map[string]call{"Compress": compress, "ApplyCacheControl": mark, "Prepare": prepare}

func nativeText(c *elbowroomv1.Conversation) string {
	if b := c.GetNative().GetJsonBytes(); b != nil {
		return string(b)
	}
	return c.GetNative().GetJson()
}
