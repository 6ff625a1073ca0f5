package server_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// canary stands in every request of the table below and must never be logged.
const canary = "canary-7f3a"

// send makes the call that takes the request.
func send(ctx context.Context, f *fixture, req proto.Message) (proto.Message, error) {
	switch req := req.(type) {
	case *elbowroomv1.CompressRequest:
		return f.client.Compress(ctx, req)
	case *elbowroomv1.ApplyCacheControlRequest:
		return f.client.ApplyCacheControl(ctx, req)
	case *elbowroomv1.CountTokensRequest:
		return f.client.CountTokens(ctx, req)
	case *elbowroomv1.PrepareRequest:
		return f.client.Prepare(ctx, req)
	case *elbowroomv1.ListModelsRequest:
		return f.client.ListModels(ctx, req)
	default:
		return nil, fmt.Errorf("no call for %T", req)
	}
}

// details are what a status says to a program.
type details struct {
	field, description, reason string
	metadata                   map[string]string
	retry                      time.Duration
}

func detailsOf(err error) details {
	var out details
	for _, d := range status.Convert(err).Details() {
		switch d := d.(type) {
		case *errdetails.BadRequest:
			out.field, out.description = d.GetFieldViolations()[0].GetField(), d.GetFieldViolations()[0].GetDescription()
		case *errdetails.ErrorInfo:
			out.reason, out.metadata = d.GetReason(), d.GetMetadata()
		case *errdetails.RetryInfo:
			out.retry = d.GetRetryDelay().AsDuration()
		}
	}
	return out
}

// badJSON are native conversations that cannot be read, with the byte at which
// reading stops; -1 where no single byte is at fault.
var badJSON = []struct {
	name   string
	json   string
	offset int
	path   string
}{
	{"nothing", ``, 0, ""},
	{"white space", " \n\t", 3, ""},
	{"null", `null`, 0, ""},
	{"a number", `42`, 0, ""},
	{"a string", `"messages"`, 0, ""},
	{"cut off in the body", `{"messages":[`, 13, "messages[0]"},
	{"cut off in a string", `[{"role":"user","content":"canary-7f3a`, 38, "messages[0].content"},
	{"cut off in an escape", `[{"role":"user","content":"a\`, 29, "messages[0].content"},
	{"text after the end", `[] canary-7f3a`, 3, ""},
	{"two bodies", `{"messages":[]}{"messages":[]}`, 15, ""},
	{"single quotes", `[{'role':'user'}]`, 2, "messages[0]"},
	{"a comma at the end", `[{"role":"user","content":"x"},]`, 31, "messages[1]"},
	{"a comma too few", `[{"role":"user" "content":"x"}]`, 16, "messages[0]"},
	{"a comment", "// canary-7f3a\n[]", 0, ""},
	{"a byte order mark", "\ufeff[]", 0, ""},
	{"NaN", `{"temperature":NaN,"messages":[]}`, 15, "temperature"},
	{"a number with a leading zero", `{"n":01,"messages":[]}`, 6, ""},
	{"a raw newline in a string", "[{\"role\":\"user\",\"content\":\"a\nb\"}]", 28, "messages[0].content"},
	{"a raw NUL in a string", "[{\"role\":\"user\",\"content\":\"a\x00b\"}]", 28, "messages[0].content"},
	{"an unknown escape", `[{"role":"user","content":"\q"}]`, 27, "messages[0].content"},
	{"a short unicode escape", `[{"role":"user","content":"\u12"}]`, 27, "messages[0].content"},
	{"no messages", `{"model":"claude","prompt":"canary-7f3a"}`, -1, "messages"},
	{"messages as an object", `{"messages":{"role":"user"}}`, 12, "messages"},
	{"messages as null", `{"messages":null}`, 12, "messages"},
	{"a message as a string", `["canary-7f3a"]`, 1, "messages[0]"},
	{"a message as null", `[{"role":"user","content":"x"},null]`, 31, "messages[1]"},
	{"a message without a role", `[{"content":"canary-7f3a"}]`, 1, "messages[0].role"},
	{"a role that is a number", `[{"role":1,"content":"x"}]`, 9, "messages[0].role"},
	{"a key twice in a message", `[{"role":"user","content":"x","content":"y"}]`, 30, "messages[0]"},
	{"messages twice", `{"messages":[],"messages":[]}`, 15, ""},
	{"tools as an object", `{"tools":{},"messages":[]}`, 9, "tools"},
	{"a tool as a string", `{"tools":["canary-7f3a"],"messages":[]}`, 10, "tools[0]"},
	{"10,000 lists deep", `[{"role":"user","content":` + strings.Repeat("[", 10_000), 536, ""},
	{"10,000 objects deep in an unknown field", `{"metadata":` + strings.Repeat(`{"a":`, 10_000) + `1` + strings.Repeat("}", 10_000) + `,"messages":[]}`, 2567, "metadata"},
	{"a million closing brackets", strings.Repeat("]", 1_000_000), 0, ""},
	{"a million opening brackets", strings.Repeat("[", 1_000_000), 1, "messages[0]"},
}

func TestBrokenJSONIsRefusedWithPlace(t *testing.T) {
	f := start(t, nil)
	for _, c := range badJSON {
		for name, conv := range map[string]*elbowroomv1.Conversation{
			"conversation.native.json":       anthropic(c.json),
			"conversation.native.json_bytes": inBytes(anthropic(c.json)),
		} {
			t.Run(c.name+" "+name, func(t *testing.T) {
				for _, req := range []proto.Message{
					&elbowroomv1.CompressRequest{Conversation: conv}, &elbowroomv1.ApplyCacheControlRequest{Conversation: conv},
					&elbowroomv1.CountTokensRequest{Conversation: conv}, &elbowroomv1.PrepareRequest{Conversation: conv},
				} {
					_, err := send(t.Context(), f, req)
					d := detailsOf(err)
					if status.Code(err) != codes.InvalidArgument || d.field != name || d.reason != "INVALID_CONVERSATION" {
						t.Fatalf("%T: %v, field %q, reason %q", req, err, d.field, d.reason)
					}
					offset := ""
					if c.offset >= 0 {
						offset = fmt.Sprint(c.offset)
						if !strings.HasSuffix(d.description, "at byte "+offset) {
							t.Errorf("%T: description %q does not name byte %s", req, d.description, offset)
						}
					}
					if d.metadata["byte_offset"] != offset {
						t.Errorf("%T: byte_offset %q, want %q (%v)", req, d.metadata["byte_offset"], offset, err)
					}
					if path := d.metadata["path"]; path != c.path && c.path != "" {
						t.Errorf("%T: path %q, want %q (%v)", req, path, c.path, err)
					}
					if size := proto.Size(status.Convert(err).Proto()); size > 4<<10 {
						t.Errorf("%T: the status has %d bytes", req, size)
					}
				}
			})
		}
	}
	if strings.Contains(f.log.String(), canary) {
		t.Error("the log quotes the caller")
	}
}

func TestInvalidUTF8IsRefusedWithPlace(t *testing.T) {
	f := start(t, nil)
	body := []byte(`[{"role":"user","content":"` + canary + `"}]`)
	body[30] = 0xff
	_, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{Conversation: &elbowroomv1.Conversation{
		Native: &elbowroomv1.NativeRequest{Format: elbowroomv1.Format_FORMAT_OPENAI_CHAT, Body: &elbowroomv1.NativeRequest_JsonBytes{JsonBytes: body}},
	}})
	if d := detailsOf(err); status.Code(err) != codes.InvalidArgument || d.metadata["byte_offset"] != "30" {
		t.Errorf("%v, metadata %v, want INVALID_ARGUMENT at byte 30", err, d.metadata)
	}
}

// nested is a tool result inside a tool result, and so on.
func nested(depth int) *elbowroomv1.Conversation {
	b := &elbowroomv1.Block{Kind: &elbowroomv1.Block_Text{Text: canary}}
	for range depth {
		b = &elbowroomv1.Block{Kind: &elbowroomv1.Block_ToolResult{ToolResult: &elbowroomv1.ToolResult{ToolUseId: "c", Blocks: []*elbowroomv1.Block{b}}}}
	}
	return &elbowroomv1.Conversation{Messages: []*elbowroomv1.Message{{Role: elbowroomv1.Role_ROLE_TOOL, Blocks: []*elbowroomv1.Block{b}}}}
}

// marked is an Anthropic body of blocks with marks of the given lives.
func marked(ttls ...string) *elbowroomv1.Conversation {
	var blocks []string
	for _, ttl := range ttls {
		blocks = append(blocks, fmt.Sprintf(`{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":%q}}`, ttl))
	}
	return anthropic(`{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":[` + strings.Join(blocks, ",") + `]}]}`)
}

func policy(change func(p *elbowroomv1.CompressionPolicy)) *elbowroomv1.CompressionPolicy {
	p := &elbowroomv1.CompressionPolicy{}
	change(p)
	return p
}

func TestRequestsThatCannotBeServed(t *testing.T) {
	f := start(t, nil)
	good := anthropic(`{"messages":[{"role":"user","content":"` + canary + `"}]}`)
	message := func(m *elbowroomv1.Message) *elbowroomv1.Conversation {
		return &elbowroomv1.Conversation{Messages: []*elbowroomv1.Message{m}}
	}
	text := canary
	for _, c := range []struct {
		name   string
		req    proto.Message
		code   codes.Code
		field  string
		reason string
		meta   map[string]string
	}{
		{"no conversation", &elbowroomv1.CompressRequest{}, codes.InvalidArgument, "conversation", "", nil},
		{"no conversation to mark", &elbowroomv1.ApplyCacheControlRequest{}, codes.InvalidArgument, "conversation", "", nil},
		{"no conversation to prepare", &elbowroomv1.PrepareRequest{}, codes.InvalidArgument, "conversation", "", nil},
		{"both forms", &elbowroomv1.CompressRequest{Conversation: &elbowroomv1.Conversation{
			Messages: typedBody().GetMessages(), Native: good.GetNative(),
		}}, codes.InvalidArgument, "conversation", "", nil},
		{"native form without a format", &elbowroomv1.CompressRequest{Conversation: &elbowroomv1.Conversation{
			Native: &elbowroomv1.NativeRequest{Body: good.GetNative().GetBody()},
		}}, codes.InvalidArgument, "conversation.native.format", "", nil},
		{"native form of an unknown format", &elbowroomv1.CompressRequest{Conversation: &elbowroomv1.Conversation{
			Native: &elbowroomv1.NativeRequest{Format: 99, Body: good.GetNative().GetBody()},
		}}, codes.InvalidArgument, "conversation.native.format", "", nil},
		{"native form without a body", &elbowroomv1.CountTokensRequest{Conversation: &elbowroomv1.Conversation{
			Native: &elbowroomv1.NativeRequest{Format: elbowroomv1.Format_FORMAT_OPENAI_CHAT},
		}}, codes.InvalidArgument, "conversation.native.body", "", nil},
		{"a message without a role", &elbowroomv1.CountTokensRequest{Conversation: message(&elbowroomv1.Message{})}, codes.InvalidArgument, "conversation.messages[0].role", "", nil},
		{"a message of an unknown role", &elbowroomv1.CountTokensRequest{Conversation: message(&elbowroomv1.Message{Role: 77})}, codes.InvalidArgument, "conversation.messages[0].role", "", nil},
		{"a block without a kind", &elbowroomv1.CountTokensRequest{Conversation: message(&elbowroomv1.Message{
			Role: elbowroomv1.Role_ROLE_USER, Blocks: []*elbowroomv1.Block{{}},
		})}, codes.InvalidArgument, "conversation.messages[0].blocks[0].kind", "", nil},
		{"a breakpoint of an unknown life", &elbowroomv1.CountTokensRequest{Conversation: message(&elbowroomv1.Message{
			Role: elbowroomv1.Role_ROLE_USER, Blocks: []*elbowroomv1.Block{{
				Kind: &elbowroomv1.Block_Text{Text: "x"}, CacheControl: &elbowroomv1.CacheControl{Ttl: 9},
			}},
		})}, codes.InvalidArgument, "conversation.messages[0].blocks[0].cache_control.ttl", "", nil},
		{"an image of negative width", &elbowroomv1.CountTokensRequest{Conversation: message(&elbowroomv1.Message{
			Role: elbowroomv1.Role_ROLE_USER, Blocks: []*elbowroomv1.Block{{Kind: &elbowroomv1.Block_Media{Media: &elbowroomv1.Media{Width: -1}}}},
		})}, codes.InvalidArgument, "conversation.messages[0].blocks[0].media.width", "", nil},
		{"a tool without a name", &elbowroomv1.CountTokensRequest{Conversation: &elbowroomv1.Conversation{Tools: []*elbowroomv1.Tool{{}}}}, codes.InvalidArgument, "conversation.tools[0].name", "", nil},
		{"tool results 600 deep", &elbowroomv1.CompressRequest{Conversation: nested(600)}, codes.InvalidArgument, "conversation.messages", "INVALID_CONVERSATION", map[string]string{"message_index": "0"}},
		{"tool results 4,000 deep", &elbowroomv1.CountTokensRequest{Conversation: nested(4_000)}, codes.InvalidArgument, "conversation.messages", "INVALID_CONVERSATION", map[string]string{"message_index": "0"}},
		{"a negative window", &elbowroomv1.CompressRequest{Conversation: good, ContextWindow: -1}, codes.InvalidArgument, "context_window", "", nil},
		{"a negative window to prepare for", &elbowroomv1.PrepareRequest{Conversation: good, ContextWindow: math.MinInt32}, codes.InvalidArgument, "context_window", "", nil},
		{"a negative reservation", &elbowroomv1.CompressRequest{Conversation: good, MaxOutputTokens: -5}, codes.InvalidArgument, "max_output_tokens", "", nil},
		{"negative usage", &elbowroomv1.CompressRequest{Conversation: good, LastUsage: &elbowroomv1.Usage{PromptTokens: -1}}, codes.InvalidArgument, "last_usage.prompt_tokens", "", nil},
		{"a negative pin", &elbowroomv1.CompressRequest{Conversation: good, Pinned: []int32{0, -1}}, codes.InvalidArgument, "pinned[1]", "", nil},
		{"a pin beyond the end", &elbowroomv1.CompressRequest{Conversation: good, Pinned: []int32{1}}, codes.InvalidArgument, "pinned", "", nil},
		{"an unknown layer", &elbowroomv1.CompressRequest{Conversation: good, Layer: 9}, codes.InvalidArgument, "layer", "", nil},
		{"an unknown view", &elbowroomv1.CompressRequest{Conversation: good, View: 9}, codes.InvalidArgument, "view", "", nil},
		{"a model name of 300 characters", &elbowroomv1.CompressRequest{Conversation: good, Model: strings.Repeat("m", 300)}, codes.InvalidArgument, "model", "", nil},
		{"a focus of 5,000 characters", &elbowroomv1.CompressRequest{Conversation: good, Focus: strings.Repeat("f", 5_000)}, codes.InvalidArgument, "focus", "", nil},
		{"a session name of 300 characters", &elbowroomv1.CompressRequest{Conversation: good, SessionId: strings.Repeat("s", 300)}, codes.InvalidArgument, "session_id", "", nil},
		{"a threshold of 0", &elbowroomv1.CompressRequest{Conversation: good, Policy: policy(func(p *elbowroomv1.CompressionPolicy) { p.Threshold = proto.Float64(0) })}, codes.InvalidArgument, "policy.threshold", "", nil},
		{"a threshold of 50", &elbowroomv1.CompressRequest{Conversation: good, Policy: policy(func(p *elbowroomv1.CompressionPolicy) { p.Threshold = proto.Float64(50) })}, codes.InvalidArgument, "policy.threshold", "", nil},
		{"a threshold that is no number", &elbowroomv1.CompressRequest{Conversation: good, Policy: policy(func(p *elbowroomv1.CompressionPolicy) { p.Threshold = proto.Float64(math.NaN()) })}, codes.InvalidArgument, "policy.threshold", "", nil},
		{"a target ratio of 2", &elbowroomv1.CompressRequest{Conversation: good, Policy: policy(func(p *elbowroomv1.CompressionPolicy) { p.TargetRatio = proto.Float64(2) })}, codes.InvalidArgument, "policy.target_ratio", "", nil},
		{"a negative head", &elbowroomv1.CompressRequest{Conversation: good, Policy: policy(func(p *elbowroomv1.CompressionPolicy) { p.ProtectFirstN = proto.Int32(-1) })}, codes.InvalidArgument, "policy.protect_first_n", "", nil},
		{"a negative tail", &elbowroomv1.PrepareRequest{Conversation: good, Policy: policy(func(p *elbowroomv1.CompressionPolicy) { p.ProtectLastN = proto.Int32(-1) })}, codes.InvalidArgument, "policy.protect_last_n", "", nil},
		{"an unknown profile", &elbowroomv1.CompressRequest{Conversation: good, Policy: policy(func(p *elbowroomv1.CompressionPolicy) { p.Profile = 5 })}, codes.InvalidArgument, "policy.profile", "", nil},
		{"an unknown summarizer", &elbowroomv1.CompressRequest{Conversation: good, Policy: policy(func(p *elbowroomv1.CompressionPolicy) { p.Summarizer = proto.String("gpt-9") })}, codes.InvalidArgument, "policy.summarizer", "", nil},
		{"an unknown layout", &elbowroomv1.ApplyCacheControlRequest{Conversation: good, Layout: 42}, codes.InvalidArgument, "layout", "", nil},
		{"a layout for another form", &elbowroomv1.ApplyCacheControlRequest{Conversation: good, Layout: elbowroomv1.Layout_LAYOUT_LITELLM}, codes.InvalidArgument, "layout", "", nil},
		{"a layout for another form to prepare", &elbowroomv1.PrepareRequest{Conversation: good, Layout: elbowroomv1.Layout_LAYOUT_OPENROUTER}, codes.InvalidArgument, "layout", "", nil},
		{"an unknown strategy", &elbowroomv1.ApplyCacheControlRequest{Conversation: good, Strategy: 42}, codes.InvalidArgument, "strategy", "", nil},
		{"an unknown ttl", &elbowroomv1.ApplyCacheControlRequest{Conversation: good, Ttl: 42}, codes.InvalidArgument, "ttl", "", nil},
		{"a ttl for responses only", &elbowroomv1.ApplyCacheControlRequest{Conversation: good, Ttl: elbowroomv1.CacheTtl_CACHE_TTL_30M}, codes.InvalidArgument, "ttl", "", nil},
		{"a cache state of 5,000 bytes", &elbowroomv1.ApplyCacheControlRequest{Conversation: good, CacheState: make([]byte, 5_000)}, codes.InvalidArgument, "cache_state", "", nil},
		{"a negative number of head messages", &elbowroomv1.ApplyCacheControlRequest{Conversation: good, HeadMessages: -1}, codes.InvalidArgument, "head_messages", "", nil},
		{"five reserved marks", &elbowroomv1.ApplyCacheControlRequest{Conversation: good, Reserved: 5}, codes.InvalidArgument, "reserved", "", nil},
		{"neither conversation nor text", &elbowroomv1.CountTokensRequest{}, codes.InvalidArgument, "", "", nil},
		{"conversation and text", &elbowroomv1.CountTokensRequest{Conversation: good, Text: &text}, codes.InvalidArgument, "", "", nil},
		{"a method for responses only", &elbowroomv1.CountTokensRequest{Text: &text, Method: elbowroomv1.Method_METHOD_ESTIMATE}, codes.InvalidArgument, "method", "", nil},
		{"a filter of 300 characters", &elbowroomv1.ListModelsRequest{Filter: strings.Repeat("f", 300)}, codes.InvalidArgument, "filter", "", nil},
		{
			"five marks to respect", &elbowroomv1.ApplyCacheControlRequest{Conversation: marked("5m", "5m", "5m", "5m", "5m"), Existing: elbowroomv1.ExistingMarks_EXISTING_MARKS_RESPECT},
			codes.FailedPrecondition, "", "TOO_MANY_MARKS", map[string]string{"section": "SECTION_MESSAGES", "message_index": "0", "block_index": "4"},
		},
		{
			"a longer life after a shorter one", &elbowroomv1.PrepareRequest{Conversation: marked("5m", "1h"), Existing: elbowroomv1.ExistingMarks_EXISTING_MARKS_RESPECT},
			codes.FailedPrecondition, "", "TTL_ORDER", map[string]string{"section": "SECTION_MESSAGES", "message_index": "0", "block_index": "1"},
		},
		{
			"two calls of one id", &elbowroomv1.CompressRequest{Force: true, Conversation: anthropic(`[{"role":"user","content":"a"},{"role":"assistant","content":[
				{"type":"tool_use","id":"t","name":"f","input":{}},{"type":"tool_use","id":"t","name":"f","input":{}}]},{"role":"user","content":[
				{"type":"tool_result","tool_use_id":"t","content":"1"},{"type":"tool_result","tool_use_id":"t","content":"2"}]},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]`)},
			codes.FailedPrecondition, "", "DUPLICATE_CALL_ID", map[string]string{"message_index": "1"},
		},
		{"65 MiB", &elbowroomv1.CountTokensRequest{Text: proto.String(strings.Repeat("x", 65<<20))}, codes.ResourceExhausted, "", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := send(t.Context(), f, c.req)
			d := detailsOf(err)
			if status.Code(err) != c.code {
				t.Fatalf("%v, want %v", err, c.code)
			}
			if d.field != c.field || d.reason != c.reason {
				t.Errorf("field %q, reason %q, want %q and %q (%v)", d.field, d.reason, c.field, c.reason, err)
			}
			if c.field != "" && d.description == "" {
				t.Error("no description")
			}
			for key, want := range c.meta {
				if d.metadata[key] != want {
					t.Errorf("metadata %s is %q, want %q", key, d.metadata[key], want)
				}
			}
		})
	}
	if log := f.log.String(); strings.Contains(log, canary) {
		t.Error("the log quotes the caller")
	}
}

// What is odd and legal, or has a listed repair, is served.
func TestOddConversationsAreServed(t *testing.T) {
	f := start(t, nil)
	for _, c := range []struct {
		name string
		conv *elbowroomv1.Conversation
	}{
		{"no messages", anthropic(`{"messages":[]}`)},
		{"an empty bare array", openai(`[]`)},
		{"an empty typed conversation", &elbowroomv1.Conversation{}},
		{"only a system message", openai(`[{"role":"system","content":"x"}]`)},
		{"only a system prompt", anthropic(`{"system":"x","messages":[]}`)},
		{"lone surrogate escapes", openai(`[{"role":"user","content":"a\ud800b\udc00"}]`)},
		{"an escaped NUL", openai(`[{"role":"user","content":"a\u0000b"}]`)},
		{"huge numbers", openai(`{"seed":1e999999,"n":123456789012345678901234567890,"messages":[{"role":"user","content":"x"}]}`)},
		{"a role nobody knows", openai(`[{"role":"narrator","content":"x"}]`)},
		{"content of the wrong type", openai(`[{"role":"user","content":7},{"role":"assistant","content":{"a":1}}]`)},
		{"null content", openai(`[{"role":"assistant","content":null}]`)},
		{"blocks that are not objects", anthropic(`[{"role":"user","content":["x",1,null,[]]}]`)},
		{"a block of an unknown type", anthropic(`[{"role":"user","content":[{"type":"hologram","x":{}}]}]`)},
		{"a tool use without id and name", anthropic(`[{"role":"assistant","content":[{"type":"tool_use"}]}]`)},
		{"ids used again in a later turn", openai(`[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"1"},
			{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"2"}]`)},
		{"two calls of one id", openai(`[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}},{"id":"c","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"1"}]`)},
		{"a result before its call", openai(`[{"role":"tool","tool_call_id":"c","content":"1"},{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":"x"}]`)},
		{"a result nobody asked for", anthropic(`[{"role":"user","content":[{"type":"tool_result","tool_use_id":"zz","content":"1"}]}]`)},
		{"arguments that are not JSON", openai(`[{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{broken"}}]}]`)},
		{"white space everywhere", openai(" [ { \"role\" : \"user\" , \"content\" : [ ] } ] \r\n")},
		{"a deep tool schema", openai(`{"tools":[{"function":{"name":"f","parameters":` + strings.Repeat(`{"a":`, 400) + `1` + strings.Repeat("}", 400) + `}}],"messages":[]}`)},
		{"tool results 500 deep", nested(500)},
		{"a typed message without blocks", &elbowroomv1.Conversation{Messages: []*elbowroomv1.Message{{Role: elbowroomv1.Role_ROLE_USER}}}},
		{"a typed block of broken JSON", &elbowroomv1.Conversation{Messages: []*elbowroomv1.Message{{
			Role: elbowroomv1.Role_ROLE_USER, Blocks: []*elbowroomv1.Block{{Kind: &elbowroomv1.Block_OpaqueJson{OpaqueJson: "{"}}, {Kind: &elbowroomv1.Block_Text{Text: "\x00"}}},
		}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, view := range []elbowroomv1.View{elbowroomv1.View_VIEW_FULL, elbowroomv1.View_VIEW_EDITS} {
				for _, req := range []proto.Message{
					&elbowroomv1.CompressRequest{Conversation: c.conv, View: view},
					&elbowroomv1.CompressRequest{Conversation: c.conv, View: view, Force: true},
					&elbowroomv1.ApplyCacheControlRequest{Conversation: c.conv, View: view, Model: testModel},
					&elbowroomv1.PrepareRequest{Conversation: c.conv, View: view, Model: testModel, Force: true},
					&elbowroomv1.CountTokensRequest{Conversation: c.conv},
				} {
					if _, err := send(t.Context(), f, req); err != nil {
						t.Errorf("%T: %v", req, err)
					}
				}
			}
		})
	}
}
