package server_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/breakpoints/simulator"
	"github.com/elbowroom/elbowroom/server"
)

// Layouts, strategies and lives have one number and one name here and there.
func TestEveryLayoutAndStrategyOfTheAPIIsServed(t *testing.T) {
	if got, want := len(elbowroomv1.Layout_name), int(breakpoints.LayoutMoonshot)+1; got != want {
		t.Errorf("%d layouts in the API, %d in the placer", got, want)
	}
	for n, name := range elbowroomv1.Layout_name {
		if got := "LAYOUT_" + breakpoints.Layout(n).String(); got != name {
			t.Errorf("layout %d is %s in the API, %s in the placer", n, name, got)
		}
	}
	f := start(t, nil)
	want := map[elbowroomv1.Strategy]int{ // marks on the body below
		elbowroomv1.Strategy_STRATEGY_UNSPECIFIED: 4, elbowroomv1.Strategy_STRATEGY_SYSTEM_AND_3: 4, elbowroomv1.Strategy_STRATEGY_NONE: 0,
		elbowroomv1.Strategy_STRATEGY_HERMES_DEFAULT: 4, elbowroomv1.Strategy_STRATEGY_TRANSACTION_ENDS: 4, elbowroomv1.Strategy_STRATEGY_ANCHORED: 3,
		elbowroomv1.Strategy_STRATEGY_AUTO_PLUS_SYSTEM: 2, elbowroomv1.Strategy_STRATEGY_SYSTEM_ONLY: 1,
	}
	places := map[string]elbowroomv1.Strategy{}
	for n := range elbowroomv1.Strategy_name {
		s := elbowroomv1.Strategy(n)
		count, known := want[s]
		out, err := f.client.ApplyCacheControl(t.Context(), &elbowroomv1.ApplyCacheControlRequest{
			Conversation: anthropic(anthropicBody()), Strategy: s, StaticSystemPrefix: "You fix ", SplitSystem: true,
		})
		if err != nil || !known || len(out.GetBreakpoints()) != count {
			t.Errorf("%v: %d marks, want %d (known %v): %v", s, len(out.GetBreakpoints()), count, known, err)
			continue
		}
		text := nativeText(out.GetConversation())
		if other, taken := places[text]; taken && s+other != elbowroomv1.Strategy_STRATEGY_SYSTEM_AND_3 {
			t.Errorf("%v marks what %v marks", s, other)
		}
		places[text] = s
		if hasState := len(out.GetCacheState()) > 0; hasState != (s == elbowroomv1.Strategy_STRATEGY_ANCHORED) {
			t.Errorf("%v: a state of %d bytes", s, len(out.GetCacheState()))
		}
	}
}

func TestCacheStateLeadsFromOneTurnToTheNext(t *testing.T) {
	keyed := func(o *server.Options) { o.StateKeys = [][]byte{[]byte("a key of thirty-two characters..")} }
	const first = `{"model":"claude-opus-5","system":"S","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}`
	next := strings.Replace(first, `"c"}`, `"c"},{"role":"assistant","content":"d"},{"role":"assistant","content":"e"},{"role":"user","content":"f"}`, 1)
	for name, tt := range map[string]struct {
		change  func(o *server.Options)
		verdict string
	}{"signed": {keyed, "verified"}, "summed": {nil, "unverified"}} {
		t.Run(name, func(t *testing.T) {
			f := start(t, tt.change)
			strategy := elbowroomv1.Strategy_STRATEGY_ANCHORED
			before, err := f.client.ApplyCacheControl(t.Context(), &elbowroomv1.ApplyCacheControlRequest{Conversation: anthropic(first), Strategy: strategy})
			if err != nil {
				t.Fatal(err)
			}
			if got := before.GetPlan().GetState(); got != "none" {
				t.Errorf("without a state: %q", got)
			}
			after, err := f.client.ApplyCacheControl(t.Context(), &elbowroomv1.ApplyCacheControlRequest{Conversation: anthropic(next), Strategy: strategy, CacheState: before.GetCacheState()})
			if err != nil {
				t.Fatal(err)
			}
			if got := after.GetPlan(); got.GetState() != tt.verdict || got.GetAnchor() != "STATE" {
				t.Errorf("plan %v, want %s", got, tt.verdict)
			}
			if got := after.GetBreakpoints()[1].GetMessageIndex(); got != 2 {
				t.Errorf("the anchor is on message %d, want 2", got)
			}
			prepared, err := f.client.Prepare(t.Context(), &elbowroomv1.PrepareRequest{Conversation: anthropic(next), Strategy: strategy, CacheState: before.GetCacheState()})
			if err != nil {
				t.Fatal(err)
			}
			if !proto.Equal(prepared.GetCachePlan(), after.GetPlan()) || string(prepared.GetCacheState()) != string(after.GetCacheState()) || len(prepared.GetCacheState()) == 0 {
				t.Errorf("Prepare: plan %v, %d bytes of state", prepared.GetCachePlan(), len(prepared.GetCacheState()))
			}
		})
	}
}

func TestBedrockConverseTakesCachePoints(t *testing.T) {
	f := start(t, nil)
	converse := func(json string) *elbowroomv1.Conversation {
		c := anthropic(json)
		c.Native.Format = elbowroomv1.Format_FORMAT_BEDROCK_CONVERSE
		return c
	}
	const in = `{"modelId":"anthropic.claude-sonnet-4-5","messages":[{"role":"user","content":[{"text":"a"}]}]}`
	const want = `{"modelId":"anthropic.claude-sonnet-4-5","messages":[{"role":"user","content":[{"text":"a"},{"cachePoint":{"type":"default"}}]}]}`
	out, err := f.client.ApplyCacheControl(t.Context(), &elbowroomv1.ApplyCacheControlRequest{Conversation: converse(in)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, nativeText(out.GetConversation())); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	if b := out.GetBreakpoints(); len(b) != 1 || !b[0].GetInert() || out.GetLayout() != elbowroomv1.Layout_LAYOUT_BEDROCK {
		t.Errorf("layout %v, breakpoints %v", out.GetLayout(), b)
	}
	short, err := f.client.ApplyCacheControl(t.Context(), &elbowroomv1.ApplyCacheControlRequest{Conversation: converse(in), View: elbowroomv1.View_VIEW_EDITS})
	if err != nil {
		t.Fatal(err)
	}
	replaced := `{"role":"user","content":[{"text":"a"},{"cachePoint":{"type":"default"}}]}`
	if e := short.GetEdits(); len(e) != 1 || e[0].GetSection() != elbowroomv1.Section_SECTION_MESSAGES || e[0].GetReplace().GetJson() != replaced ||
		len(short.GetSplices()) != 1 || applied(in, short.GetSplices()) != want {
		t.Errorf("edits %v, splices %v", short.GetEdits(), short.GetSplices())
	}
	for name, call := range map[string]func() error{
		"another layout": func() error {
			_, err := f.client.ApplyCacheControl(t.Context(), &elbowroomv1.ApplyCacheControlRequest{Conversation: converse(in), Layout: elbowroomv1.Layout_LAYOUT_ANTHROPIC})
			return err
		},
		"broken JSON": func() error {
			_, err := f.client.ApplyCacheControl(t.Context(), &elbowroomv1.ApplyCacheControlRequest{Conversation: converse(in[1:])})
			return err
		},
		"Compress": func() error {
			_, err := f.client.Compress(t.Context(), &elbowroomv1.CompressRequest{Conversation: converse(in)})
			return err
		},
		"Prepare": func() error {
			_, err := f.client.Prepare(t.Context(), &elbowroomv1.PrepareRequest{Conversation: converse(in)})
			return err
		},
		"CountTokens": func() error {
			_, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{Conversation: converse(in)})
			return err
		},
	} {
		if err := call(); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func applied(text string, splices []*elbowroomv1.Splice) string {
	for i := len(splices) - 1; i >= 0; i-- {
		s := splices[i]
		text = text[:s.GetOffset()] + s.GetText() + text[s.GetOffset()+s.GetLength():]
	}
	return text
}

func TestASplitSystemPromptInEveryForm(t *testing.T) {
	f := start(t, nil)
	ask := func(c *elbowroomv1.Conversation, view elbowroomv1.View) *elbowroomv1.ApplyCacheControlResponse {
		out, err := f.client.ApplyCacheControl(t.Context(), &elbowroomv1.ApplyCacheControlRequest{
			Conversation: c, Model: testModel, View: view, Strategy: elbowroomv1.Strategy_STRATEGY_HERMES_DEFAULT, StaticSystemPrefix: "You fix ", SplitSystem: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	typed := ask(typedBody(), elbowroomv1.View_VIEW_FULL).GetConversation().GetMessages()[0].GetBlocks()
	if len(typed) != 2 || typed[0].GetText() != "You fix " || typed[1].GetText() != "bugs." || typed[0].GetCacheControl() == nil || typed[1].GetCacheControl() == nil {
		t.Errorf("typed: %v", typed)
	}
	const halves = `[{"type":"text","text":"You fix ","cache_control":{"type":"ephemeral"}},{"type":"text","text":"\u0062ugs.","cache_control":{"type":"ephemeral"}}]`
	full := nativeText(ask(anthropic(anthropicBody()), elbowroomv1.View_VIEW_FULL).GetConversation())
	if !strings.Contains(full, `"system":`+halves) {
		t.Errorf("native: %.300s", full)
	}
	short := ask(anthropic(anthropicBody()), elbowroomv1.View_VIEW_EDITS)
	if got := applied(anthropicBody(), short.GetSplices()); got != full {
		t.Errorf("the splices give %.300s", got)
	}
}

func TestTheLayoutTableCanBeReplaced(t *testing.T) {
	layouts, err := breakpoints.NewLayouts([]byte(`{"layouts":[{"name":"ANTHROPIC","mark":"cache_control","forms":["anthropic-messages"],"results":"block","max_marks":2,"ttls":["5m"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	caches, err := simulator.NewTables(layouts)
	if err != nil {
		t.Fatal(err)
	}
	f := start(t, func(o *server.Options) { o.Caches = caches })
	out, err := f.client.ApplyCacheControl(t.Context(), &elbowroomv1.ApplyCacheControlRequest{Conversation: anthropic(anthropicBody())})
	if err != nil || len(out.GetBreakpoints()) != 2 {
		t.Errorf("%d breakpoints, want 2: %v", len(out.GetBreakpoints()), err)
	}
}

func TestThePredictedUsageAddsUpToThePrompt(t *testing.T) {
	f := start(t, nil)
	long := strings.Repeat("All work and no play. ", 400)
	const first = `{"model":"claude-opus-5","system":"LONG","messages":[{"role":"user","content":"a"}]}`
	const next = `{"model":"claude-opus-5","system":"LONG","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}`
	usage := map[string]*elbowroomv1.PredictedUsage{}
	for name, body := range map[string]string{"first": first, "next": next, "large": strings.ReplaceAll(next, `"c"`, `"`+strings.Repeat(long, 4)+`"`)} {
		conversation := anthropic(strings.ReplaceAll(body, "LONG", long))
		out, err := f.client.ApplyCacheControl(t.Context(), &elbowroomv1.ApplyCacheControlRequest{Conversation: conversation})
		if err != nil {
			t.Fatal(err)
		}
		u := out.GetPredictedUsage()
		if sum := u.GetReadTokens() + u.GetWrite_5MTokens() + u.GetWrite_1HTokens() + u.GetWriteTokens() + u.GetUncachedTokens(); sum == 0 || sum != u.GetPromptTokens() {
			t.Errorf("%s: the parts are %d tokens, the prompt is %d", name, sum, u.GetPromptTokens())
		}
		usage[name] = u
		prepared, err := f.client.Prepare(t.Context(), &elbowroomv1.PrepareRequest{Conversation: conversation})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(u, prepared.GetPredictedUsage(), protocmp.Transform()); diff != "" {
			t.Errorf("%s: Prepare, which did not compress, predicts otherwise:\n%s", name, diff)
		}
	}
	if u := usage["first"]; u.GetBasis() != "FIRST" || u.GetReadTokens() != 0 || u.GetWrite_5MTokens() != u.GetPromptTokens() {
		t.Errorf("the first request: %v", u)
	}
	if u := usage["next"]; u.GetBasis() != "ANCHOR" || u.GetReadTokens() != usage["first"].GetPromptTokens() {
		t.Errorf("the next request is to read what the first wrote, %d tokens: %v", usage["first"].GetPromptTokens(), u)
	}
	if !usage["large"].GetEstimated() {
		t.Error("what lies behind the first 16 KiB is estimated, and is not said to be")
	}
	out, err := f.client.ApplyCacheControl(t.Context(), &elbowroomv1.ApplyCacheControlRequest{Conversation: anthropic(first), Strategy: elbowroomv1.Strategy_STRATEGY_NONE})
	if err != nil || out.GetPredictedUsage() != nil {
		t.Errorf("without a layout: %v, %v", out.GetPredictedUsage(), err)
	}
}

// A delta is made of valid pieces, and may still cut a character in two.
func TestADeltaThatCutsACharacterIsRefused(t *testing.T) {
	f := start(t, nil)
	body := `{"model":"claude-opus-5","messages":[{"role":"user","content":"é"}]}`
	if _, err := f.client.ApplyCacheControl(t.Context(), &elbowroomv1.ApplyCacheControlRequest{Conversation: kept(body)}); err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256([]byte(body))
	_, err := f.client.ApplyCacheControl(t.Context(), &elbowroomv1.ApplyCacheControlRequest{Conversation: &elbowroomv1.Conversation{Native: &elbowroomv1.NativeRequest{
		Format: elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES,
		Body: &elbowroomv1.NativeRequest_Delta{Delta: &elbowroomv1.NativeDelta{
			Base: digest[:], Splices: []*elbowroomv1.Splice{{Offset: int64(strings.Index(body, "é")), Length: 1, Text: "x"}},
		}},
	}}})
	if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("a body that is no UTF-8 gives %v", err)
	}
}

func kept(body string) *elbowroomv1.Conversation {
	c := anthropic(body)
	c.Native.Keep = true
	return c
}

// Calls use the room of earlier ones again, and answer in pieces of their request.
func TestCallsAtOneTimeAnswerWithTheirOwnConversation(t *testing.T) {
	f := start(t, nil)
	request := func(n int) *elbowroomv1.ApplyCacheControlRequest {
		var sb strings.Builder
		for i := range 1 + n*7%40 {
			fmt.Fprintf(&sb, `,{"role":"assistant","content":[{"type":"tool_use","id":"%d-%d","name":"read","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"%d-%d","content":[{"type":"text","text":%q}]}]}`,
				n, i, n, i, prose(n+i, 40*n))
		}
		return &elbowroomv1.ApplyCacheControlRequest{Model: "claude-sonnet-4-5", Conversation: anthropic(fmt.Sprintf(`{"messages":[{"role":"user","content":"%d"}%s]}`, n, sb.String()))}
	}
	const callers = 8
	var want [callers]*elbowroomv1.ApplyCacheControlResponse
	for n := range callers {
		var err error
		if want[n], err = f.client.ApplyCacheControl(t.Context(), request(n)); err != nil {
			t.Fatal(err)
		}
	}
	var group sync.WaitGroup
	for n := range callers {
		group.Go(func() {
			for range 10 {
				got, err := f.client.ApplyCacheControl(t.Context(), request(n))
				if err != nil {
					t.Errorf("caller %d: %v", n, err)
					return
				}
				if diff := cmp.Diff(want[n], got, protocmp.Transform()); diff != "" {
					t.Errorf("caller %d (-alone +among others):\n%s", n, diff)
					return
				}
			}
		})
	}
	group.Wait()
}
