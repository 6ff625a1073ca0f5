package server_test

import (
	"strings"
	"testing"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/server"
)

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
