package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/server"
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

func TestEveryFormComesBackInItsForm(t *testing.T) {
	f := start(t, nil)
	for name, do := range calls {
		for form, c := range forms() {
			t.Run(name+" "+form, func(t *testing.T) {
				got := do(t, f, c, elbowroomv1.View_VIEW_FULL)
				if got.GetEdits() != nil || got.GetSplices() != nil {
					t.Error("VIEW_FULL has edits")
				}
				out := got.GetConversation()
				if (c.GetNative() == nil) != (out.GetNative() == nil) {
					t.Fatalf("a %s request got %v", form, out)
				}
				if c.GetNative() == nil {
					return
				}
				if c.GetNative().GetFormat() != out.GetNative().GetFormat() {
					t.Errorf("format %v, want %v", out.GetNative().GetFormat(), c.GetNative().GetFormat())
				}
				_, inBytes := c.GetNative().GetBody().(*elbowroomv1.NativeRequest_JsonBytes)
				_, outBytes := out.GetNative().GetBody().(*elbowroomv1.NativeRequest_JsonBytes)
				if inBytes != outBytes {
					t.Errorf("json_bytes in: %v, out: %v", inBytes, outBytes)
				}
				if !json.Valid([]byte(nativeText(out))) {
					t.Error("the result is not valid JSON")
				}
			})
		}
	}
}

func nativeText(c *elbowroomv1.Conversation) string {
	if b := c.GetNative().GetJsonBytes(); b != nil {
		return string(b)
	}
	return c.GetNative().GetJson()
}

// Both ways to follow the edits give exactly the full view.
func TestEditsGiveTheFullView(t *testing.T) {
	f := start(t, nil)
	for name, do := range calls {
		for form, c := range forms() {
			t.Run(name+" "+form, func(t *testing.T) {
				full := do(t, f, c, elbowroomv1.View_VIEW_FULL).GetConversation()
				got := do(t, f, c, elbowroomv1.View_VIEW_EDITS)
				if got.GetConversation() != nil {
					t.Error("VIEW_EDITS has a conversation")
				}
				if len(got.GetEdits()) == 0 {
					t.Fatal("no edits")
				}
				if c.GetNative() == nil {
					if diff := cmp.Diff(full, followTyped(t, c, got.GetEdits()), protocmp.Transform()); diff != "" {
						t.Errorf("following the edits (-full +edits):\n%s", diff)
					}
					return
				}
				if spliced := splice(t, nativeText(c), got.GetSplices()); spliced != nativeText(full) {
					t.Errorf("the splices give\n%s\nwant\n%s", spliced, nativeText(full))
				}
				alone := do(t, f, c, elbowroomv1.View_VIEW_SPLICES)
				if len(alone.GetEdits()) > 0 || alone.GetConversation() != nil || splice(t, nativeText(c), alone.GetSplices()) != nativeText(full) {
					t.Errorf("VIEW_SPLICES gives %v", alone)
				}
				want, followed := sections(t, nativeText(full)), followNative(t, nativeText(c), got.GetEdits())
				if diff := cmp.Diff(want, followed); diff != "" {
					t.Errorf("following the edits (-full +edits):\n%s", diff)
				}
			})
		}
	}
}

// splice applies splices as a client would, in bytes.
func splice(t *testing.T, src string, splices []*elbowroomv1.Splice) string {
	t.Helper()
	var sb strings.Builder
	at := int64(0)
	for _, sp := range splices {
		if sp.GetOffset() < at || sp.GetOffset()+sp.GetLength() > int64(len(src)) {
			t.Fatalf("splice at %d of %d bytes after byte %d", sp.GetOffset(), sp.GetLength(), at)
		}
		sb.WriteString(src[at:sp.GetOffset()] + sp.GetText())
		at = sp.GetOffset() + sp.GetLength()
	}
	return sb.String() + src[at:]
}

// sections lists the elements of the three arrays of a body as raw JSON, read by
// a parser that is not the service's. A system string is one element.
func sections(t *testing.T, body string) map[elbowroomv1.Section][]string {
	t.Helper()
	var in struct {
		System   json.RawMessage   `json:"system"`
		Tools    []json.RawMessage `json:"tools"`
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal([]byte(body), &in); err != nil {
		t.Fatal(err)
	}
	out := map[elbowroomv1.Section][]string{}
	for _, m := range in.Messages {
		out[elbowroomv1.Section_SECTION_MESSAGES] = append(out[elbowroomv1.Section_SECTION_MESSAGES], string(m))
	}
	for _, m := range in.Tools {
		out[elbowroomv1.Section_SECTION_TOOLS] = append(out[elbowroomv1.Section_SECTION_TOOLS], string(m))
	}
	if in.System != nil {
		out[elbowroomv1.Section_SECTION_SYSTEM] = []string{string(in.System)}
	}
	return out
}

// passed checks that a program names the elements of each section once and in
// order.
type passed struct {
	t  *testing.T
	at map[elbowroomv1.Section]int32
}

func (p passed) over(s elbowroomv1.Section, start, end int32) {
	p.t.Helper()
	if start != p.at[s] || end <= start {
		p.t.Fatalf("%v: an edit of %d to %d where the next element is %d", s, start, end, p.at[s])
	}
	p.at[s] = end
}

func followNative(t *testing.T, body string, edits []*elbowroomv1.Edit) map[elbowroomv1.Section][]string {
	t.Helper()
	in, out := sections(t, body), map[elbowroomv1.Section][]string{}
	p := passed{t, map[elbowroomv1.Section]int32{}}
	for _, e := range edits {
		s := e.GetSection()
		switch op := e.GetOp().(type) {
		case *elbowroomv1.Edit_Keep:
			p.over(s, op.Keep.GetStart(), op.Keep.GetEnd())
			out[s] = append(out[s], in[s][op.Keep.GetStart():op.Keep.GetEnd()]...)
		case *elbowroomv1.Edit_Drop:
			p.over(s, op.Drop.GetStart(), op.Drop.GetEnd())
		case *elbowroomv1.Edit_Replace:
			p.over(s, op.Replace.GetIndex(), op.Replace.GetIndex()+1)
			out[s] = append(out[s], op.Replace.GetJson())
		case *elbowroomv1.Edit_Insert:
			out[s] = append(out[s], op.Insert.GetJson())
		}
	}
	for s, elements := range in {
		if int(p.at[s]) != len(elements) {
			t.Fatalf("%v: the program ends at element %d of %d", s, p.at[s], len(elements))
		}
	}
	return out
}

func followTyped(t *testing.T, in *elbowroomv1.Conversation, edits []*elbowroomv1.Edit) *elbowroomv1.Conversation {
	t.Helper()
	out := &elbowroomv1.Conversation{}
	p := passed{t, map[elbowroomv1.Section]int32{}}
	for _, e := range edits {
		s := e.GetSection()
		tools := s == elbowroomv1.Section_SECTION_TOOLS
		switch op := e.GetOp().(type) {
		case *elbowroomv1.Edit_Keep:
			p.over(s, op.Keep.GetStart(), op.Keep.GetEnd())
			if tools {
				out.Tools = append(out.Tools, in.GetTools()[op.Keep.GetStart():op.Keep.GetEnd()]...)
			} else {
				out.Messages = append(out.Messages, in.GetMessages()[op.Keep.GetStart():op.Keep.GetEnd()]...)
			}
		case *elbowroomv1.Edit_Drop:
			p.over(s, op.Drop.GetStart(), op.Drop.GetEnd())
		case *elbowroomv1.Edit_Replace:
			p.over(s, op.Replace.GetIndex(), op.Replace.GetIndex()+1)
			if tools {
				out.Tools = append(out.Tools, op.Replace.GetTool())
			} else {
				out.Messages = append(out.Messages, op.Replace.GetMessage())
			}
		case *elbowroomv1.Edit_Insert:
			out.Messages = append(out.Messages, op.Insert.GetMessage())
		}
	}
	return out
}

// A message that is kept leaves byte for byte, and so does the body around it.
func TestKeptMessagesLeaveByteForByte(t *testing.T) {
	f := start(t, nil)
	in := anthropicBody()
	out := nativeText(compress(t, f, anthropic(in), elbowroomv1.View_VIEW_FULL).GetConversation())
	if !strings.HasPrefix(out, `{ "max_tokens":1.0e3, "model": "claude-sonnet-4-5", "system":"You fix \u0062ugs.`) {
		t.Errorf("the head of the body was changed: %.120s", out)
	}
	before, after := sections(t, in)[elbowroomv1.Section_SECTION_MESSAGES], sections(t, out)[elbowroomv1.Section_SECTION_MESSAGES]
	if before[0] != after[0] {
		t.Errorf("the first message left as %s, came as %s", after[0], before[0])
	}
	for i := 1; i <= 3; i++ {
		if a, b := after[len(after)-i], before[len(before)-i]; a != b {
			t.Errorf("message %d from the end left as %s, came as %s", i, a, b)
		}
	}
}

// Prepare is Compress followed by ApplyCacheControl.
func TestPrepareIsCompressThenApplyCacheControl(t *testing.T) {
	f := start(t, nil)
	for form, c := range forms() {
		t.Run(form, func(t *testing.T) {
			shorter := compress(t, f, c, elbowroomv1.View_VIEW_FULL).GetConversation()
			want := mark(t, f, shorter, elbowroomv1.View_VIEW_FULL).GetConversation()
			got := prepare(t, f, c, elbowroomv1.View_VIEW_FULL).GetConversation()
			if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
				t.Errorf("Prepare (-two calls +one call):\n%s", diff)
			}
		})
	}
}

func TestNothingChangedIsTheSameConversationAndNoEdits(t *testing.T) {
	f := start(t, nil)
	for form, c := range forms() {
		for _, view := range []elbowroomv1.View{elbowroomv1.View_VIEW_FULL, elbowroomv1.View_VIEW_EDITS} {
			t.Run(fmt.Sprint(form, " ", view), func(t *testing.T) {
				out, err := f.client.Compress(t.Context(), &elbowroomv1.CompressRequest{Conversation: c, Model: testModel, View: view})
				if err != nil {
					t.Fatal(err)
				}
				if out.GetOutcome() != elbowroomv1.Outcome_OUTCOME_BELOW_THRESHOLD {
					t.Errorf("outcome %v, want BELOW_THRESHOLD", out.GetOutcome())
				}
				if out.GetEdits() != nil || out.GetSplices() != nil {
					t.Errorf("edits of a conversation that did not change: %v", out)
				}
				want := c
				if view == elbowroomv1.View_VIEW_EDITS {
					want = nil
				}
				if diff := cmp.Diff(want, out.GetConversation(), protocmp.Transform()); diff != "" {
					t.Errorf("conversation (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestMarkingAMarkedConversationChangesNothing(t *testing.T) {
	f := start(t, nil)
	for form, c := range forms() {
		t.Run(form, func(t *testing.T) {
			once := mark(t, f, c, elbowroomv1.View_VIEW_FULL).GetConversation()
			if edits := mark(t, f, once, elbowroomv1.View_VIEW_EDITS); edits.GetEdits() != nil || edits.GetSplices() != nil {
				t.Errorf("the second marking has edits: %v", edits)
			}
		})
	}
}

func TestPlanOnlyChangesNothing(t *testing.T) {
	f := start(t, nil)
	out, err := f.client.Compress(t.Context(), &elbowroomv1.CompressRequest{
		Conversation: anthropic(anthropicBody()), ContextWindow: 8_000, PlanOnly: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if out.GetOutcome() != elbowroomv1.Outcome_OUTCOME_PLANNED || nativeText(out.GetConversation()) != anthropicBody() {
		t.Errorf("outcome %v, unchanged %v", out.GetOutcome(), nativeText(out.GetConversation()) == anthropicBody())
	}
	if len(out.GetReport().GetRegions()) == 0 {
		t.Error("the plan has no regions")
	}
}

func TestCountTokensAddsUp(t *testing.T) {
	f := start(t, nil)
	for form, c := range forms() {
		t.Run(form, func(t *testing.T) {
			out, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{Conversation: c, Model: "gpt-4o"})
			if err != nil {
				t.Fatal(err)
			}
			if out.GetTokens() < 5_000 || out.GetLowerBound() > out.GetTokens() || out.GetUpperBound() < out.GetTokens() {
				t.Errorf("%d tokens in [%d, %d]", out.GetTokens(), out.GetLowerBound(), out.GetUpperBound())
			}
			if out.GetMethod() != elbowroomv1.Method_METHOD_LOCAL || out.GetEncoding() != "o200k_base" {
				t.Errorf("method %v, encoding %s", out.GetMethod(), out.GetEncoding())
			}
			p := out.GetParts()
			if sum := p.GetSystem() + p.GetTools() + p.GetText() + p.GetToolCalls() + p.GetToolResults() + p.GetMedia() + p.GetFraming() + p.GetReasoning(); sum != out.GetTokens() {
				t.Errorf("the parts add up to %d, the count is %d", sum, out.GetTokens())
			}
			messages := int32(0)
			for _, m := range out.GetMessages() {
				messages += m.GetTokens()
			}
			if messages > out.GetTokens() || messages < out.GetTokens()*9/10 {
				t.Errorf("the messages add up to %d of %d", messages, out.GetTokens())
			}
		})
	}
}

func TestCountTokensOfAText(t *testing.T) {
	f := start(t, nil)
	for _, c := range []struct {
		model  string
		tokens int32
		method elbowroomv1.Method
	}{
		{"gpt-4o", 2, elbowroomv1.Method_METHOD_LOCAL},
		{"claude-sonnet-4-5", 2, elbowroomv1.Method_METHOD_LOCAL},
		{"gemini-2.5-pro", 0, elbowroomv1.Method_METHOD_ESTIMATE},
	} {
		text := "hello world"
		out, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{Text: &text, Model: c.model})
		if err != nil {
			t.Fatal(err)
		}
		if c.tokens > 0 && out.GetTokens() != c.tokens || out.GetTokens() == 0 || out.GetMethod() != c.method || len(out.GetMessages()) > 0 {
			t.Errorf("%s: %v", c.model, out)
		}
	}
}

func TestWarmCountsNothingWrong(t *testing.T) {
	f := start(t, nil)
	if err := f.server.Warm(t.Context()); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.server.Warm(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
}

func TestListModels(t *testing.T) {
	f := start(t, nil)
	all, err := f.client.ListModels(t.Context(), &elbowroomv1.ListModelsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	some, err := f.client.ListModels(t.Context(), &elbowroomv1.ListModelsRequest{Filter: "Claude"})
	if err != nil {
		t.Fatal(err)
	}
	if len(some.GetModels()) == 0 || len(some.GetModels()) >= len(all.GetModels()) {
		t.Errorf("%d models, %d of them Claude", len(all.GetModels()), len(some.GetModels()))
	}
	last := ""
	for _, m := range all.GetModels() {
		if m.GetId() <= last {
			t.Errorf("%s after %s", m.GetId(), last)
		}
		last = m.GetId()
		if m.GetContextWindow() <= 0 || m.GetEncoding() == "" {
			t.Errorf("model without window or encoding: %v", m)
		}
	}
	for _, m := range some.GetModels() {
		if !strings.Contains(m.GetId(), "claude") {
			t.Errorf("the filter let %s through", m.GetId())
		}
	}
	if all.GetUnknown().GetContextWindow() != 128_000 || all.GetUnknown().GetId() != "" {
		t.Errorf("unknown model: %v", all.GetUnknown())
	}
}

func TestTheServersLifeOfBreakpointsIsADefault(t *testing.T) {
	f := start(t, func(o *server.Options) { o.CacheTTL = breakpoints.TTL1h })
	for asked, want := range map[elbowroomv1.CacheTtl]elbowroomv1.CacheTtl{
		elbowroomv1.CacheTtl_CACHE_TTL_UNSPECIFIED: elbowroomv1.CacheTtl_CACHE_TTL_1H,
		elbowroomv1.CacheTtl_CACHE_TTL_5M:          elbowroomv1.CacheTtl_CACHE_TTL_5M,
		elbowroomv1.CacheTtl_CACHE_TTL_1H:          elbowroomv1.CacheTtl_CACHE_TTL_1H,
	} {
		out, err := f.client.ApplyCacheControl(t.Context(), &elbowroomv1.ApplyCacheControlRequest{Conversation: typedBody(), Model: testModel, Ttl: asked})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range out.GetBreakpoints() {
			if b.GetTtl() != want {
				t.Errorf("asked for %v, breakpoint %v", asked, b)
			}
		}
		last := out.GetConversation().GetMessages()[len(out.GetConversation().GetMessages())-1]
		if got := last.GetBlocks()[0].GetCacheControl().GetTtl(); got != want {
			t.Errorf("asked for %v, the block has %v", asked, got)
		}
	}
}

func TestOptionsOfBreakpointsReachThePlacer(t *testing.T) {
	f := start(t, nil)
	ask := func(req *elbowroomv1.ApplyCacheControlRequest) *elbowroomv1.ApplyCacheControlResponse {
		t.Helper()
		if req.GetConversation() == nil {
			req.Conversation = openai(openaiBody())
		}
		out, err := f.client.ApplyCacheControl(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := ask(&elbowroomv1.ApplyCacheControlRequest{}); out.GetLayout() != elbowroomv1.Layout_LAYOUT_OPENROUTER || out.GetLayoutReason() == "" {
		t.Errorf("OpenAI chat with a Claude model: %v %q", out.GetLayout(), out.GetLayoutReason())
	}
	if out := ask(&elbowroomv1.ApplyCacheControlRequest{Model: "gpt-4o"}); out.GetLayout() != elbowroomv1.Layout_LAYOUT_UNSPECIFIED || len(out.GetBreakpoints()) != 0 {
		t.Errorf("a model without breakpoints: %v", out.GetLayout())
	}
	if out := ask(&elbowroomv1.ApplyCacheControlRequest{Reserved: 3}); len(out.GetBreakpoints()) != 1 {
		t.Errorf("three reserved: %d breakpoints", len(out.GetBreakpoints()))
	}
	if out := ask(&elbowroomv1.ApplyCacheControlRequest{Strategy: elbowroomv1.Strategy_STRATEGY_NONE}); len(out.GetBreakpoints()) != 0 {
		t.Errorf("STRATEGY_NONE: %d breakpoints", len(out.GetBreakpoints()))
	}
	lite := ask(&elbowroomv1.ApplyCacheControlRequest{Layout: elbowroomv1.Layout_LAYOUT_LITELLM})
	if len(lite.GetSkipped()) == 0 || !strings.HasPrefix(lite.GetSkipped()[0].GetReason(), "TOOL_MESSAGE: ") {
		t.Errorf("LiteLLM skips %v", lite.GetSkipped())
	}
	tools := ask(&elbowroomv1.ApplyCacheControlRequest{Layout: elbowroomv1.Layout_LAYOUT_LITELLM, MarkToolMessages: true})
	if len(tools.GetSkipped()) >= len(lite.GetSkipped()) {
		t.Errorf("with tool messages marked, %v are skipped", tools.GetSkipped())
	}
	forked := ask(&elbowroomv1.ApplyCacheControlRequest{LeaveNewestUserUnmarked: true})
	newest := int32(2 + 2*rounds + 1)
	for _, b := range forked.GetBreakpoints() {
		if b.GetMessageIndex() >= newest {
			t.Errorf("the newest user message is marked: %v", b)
		}
	}
	once := ask(&elbowroomv1.ApplyCacheControlRequest{Ttl: elbowroomv1.CacheTtl_CACHE_TTL_1H})
	kept := ask(&elbowroomv1.ApplyCacheControlRequest{Conversation: once.GetConversation(), Existing: elbowroomv1.ExistingMarks_EXISTING_MARKS_RESPECT})
	if nativeText(kept.GetConversation()) != nativeText(once.GetConversation()) || kept.GetBreakpoints()[0].GetTtl() != elbowroomv1.CacheTtl_CACHE_TTL_1H {
		t.Error("EXISTING_MARKS_RESPECT changed the marks")
	}
}

func TestTheWindowOfUnknownModelsIsTheServers(t *testing.T) {
	f := start(t, func(o *server.Options) { o.UnknownWindow = 32_000 })
	tests := []struct {
		name, model string
		asked, want int32
	}{
		{"an unknown model", "our-own-model", 0, 32_000},
		{"no model", "", 0, 32_000},
		{"the request's word counts more", "our-own-model", 16_000, 16_000},
		{"so does the name's", "our-own-model[1m]", 0, 1_000_000},
		{"a known model has its own", "gpt-4o", 0, 128_000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := f.client.Compress(t.Context(), &elbowroomv1.CompressRequest{
				Model: tt.model, ContextWindow: tt.asked,
				Conversation: &elbowroomv1.Conversation{Messages: []*elbowroomv1.Message{{
					Role: elbowroomv1.Role_ROLE_USER, Blocks: []*elbowroomv1.Block{{Kind: &elbowroomv1.Block_Text{Text: "hi"}}},
				}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := out.GetReport().GetContextWindow(); got != tt.want {
				t.Errorf("window %d, want %d", got, tt.want)
			}
		})
	}
}
