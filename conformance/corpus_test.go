package conformance

import (
	"fmt"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"github.com/elbowroom/elbowroom/internal/testdata"
)

// subject is one conversation in one form, ready to be sent.
type subject struct {
	name    string
	dialect Dialect
	model   string
	conv    *pb.Conversation
	in      *Transcript
}

// corpus is taken apart once for all tests. Nothing in it is changed.
var corpus struct {
	sync.Mutex
	list []subject
}

// subjects are all real conversations in native and in typed form.
func subjects(t testing.TB) []subject {
	t.Helper()
	corpus.Lock()
	defer corpus.Unlock()
	if corpus.list != nil {
		return corpus.list
	}
	for _, f := range testdata.Conversations(t) {
		d := dialectOf(f.Format)
		s := subject{name: f.Name, dialect: d, model: "gpt-4o", conv: native(formatOf(d), f.JSON)}
		if d == Anthropic {
			s.model = "claude-sonnet-4-5"
		}
		s.in = read(t, d, s.conv, nil)
		typed := subject{name: f.Name + "/typed", dialect: Typed, model: s.model, conv: TypedForm(s.in)}
		typed.in = read(t, Typed, typed.conv, nil)
		corpus.list = append(corpus.list, s, typed)
	}
	return corpus.list
}

// recorded returns one real conversation in its native form.
func recorded(t testing.TB, name string) subject {
	t.Helper()
	for _, s := range subjects(t) {
		if s.name == name {
			return s
		}
	}
	t.Fatalf("no conversation %s", name)
	return subject{}
}

// setting is one way to ask.
type setting struct {
	window int32
	layer  pb.Layer
	force  bool
	view   pb.View
}

func (s setting) String() string {
	way := "threshold"
	if s.force {
		way = "forced"
	}
	return fmt.Sprintf("%dK %v %s %v", s.window/1000, s.layer, way, s.view)
}

// settings is the full product.
func settings() []setting {
	var out []setting
	for _, window := range []int32{16_000, 64_000, 200_000} {
		for _, layer := range []pb.Layer{pb.Layer_LAYER_AGENT, pb.Layer_LAYER_GATEWAY} {
			for _, force := range []bool{true, false} {
				for _, view := range []pb.View{pb.View_VIEW_FULL, pb.View_VIEW_EDITS} {
					out = append(out, setting{window, layer, force, view})
				}
			}
		}
	}
	return out
}

// sample keeps every nth setting, another share for each subject, so that all of
// them are met over the corpus.
func sample(all []setting, subject, n int) []setting {
	if fullProduct() {
		return all
	}
	var out []setting
	for i, s := range all {
		if (i+subject*5)%n == 0 {
			out = append(out, s)
		}
	}
	return out
}

func (s subject) request(with setting) *pb.CompressRequest {
	return &pb.CompressRequest{
		Conversation: s.conv, Model: s.model, ContextWindow: with.window, Layer: with.layer, Force: with.force, View: with.view,
	}
}

// TestEveryConversationComesOutWholeFromEveryRPC sends the corpus through Compress,
// Prepare, ApplyCacheControl and CountTokens over the wire.
func TestEveryConversationComesOutWholeFromEveryRPC(t *testing.T) {
	w := dial(t)
	for i, s := range subjects(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for _, with := range sample(settings(), i, 8) {
				t.Run(with.String(), func(t *testing.T) { w.everyRPC(t, s, with) })
			}
		})
	}
}

// everyRPC checks one conversation under one setting.
func (w *wire) everyRPC(t *testing.T, s subject, with setting) {
	full := setting{with.window, with.layer, with.force, pb.View_VIEW_FULL}
	first := w.compress(t, s.request(full))
	out := read(t, s.dialect, first.GetConversation(), s.in)
	report(t, s.compression(first, out).Check())

	w.sameAgain(t, s, with, first, out)
	w.secondPass(t, s, with, first, out)
	w.counts(t, s, first)
	w.markAndPrepare(t, s, with, first, out)
}

func (s subject) compression(resp *pb.CompressResponse, out *Transcript) *Compression {
	return &Compression{
		Input: s.in, Output: out, Outcome: resp.GetOutcome(), Report: resp.GetReport(), Summary: resp.GetSummary(),
		Handoffs: s.in.Handoffs(), KeepThinking: true, // sonnet 4.5 is unbound, gpt-4o signs nothing
	}
}

// sameAgain is invariant 6, and the short form of the same answer.
func (w *wire) sameAgain(t *testing.T, s subject, with setting, first *pb.CompressResponse, out *Transcript) {
	again := w.compress(t, s.request(with))
	if with.view == pb.View_VIEW_FULL {
		if !proto.Equal(first, again) {
			t.Error("two runs differ")
		}
		return
	}
	edits := Edits{
		Input: s.conv, Full: first.GetConversation(), Before: s.in, After: out,
		Edits: again.GetEdits(), Splices: again.GetSplices(), Carried: again.GetConversation(),
	}
	report(t, edits.Check())
	if !proto.Equal(first.GetReport(), again.GetReport()) || first.GetSummary() != again.GetSummary() {
		t.Error("the reports of the two views differ")
	}
}

// secondPass is invariant 7: the output comes back as it is, forced or not.
func (w *wire) secondPass(t *testing.T, s subject, with setting, first *pb.CompressResponse, out *Transcript) {
	if first.GetOutcome() != pb.Outcome_OUTCOME_COMPRESSED {
		return
	}
	for _, force := range []bool{true, false} {
		req := s.request(setting{with.window, with.layer, force, pb.View_VIEW_FULL})
		req.Conversation = first.GetConversation()
		second := w.compress(t, req)
		if !proto.Equal(second.GetConversation(), first.GetConversation()) {
			r := second.GetReport()
			t.Errorf("a second pass (force %v) changed its input: %v (%s), %d messages became %d, %d tokens became %d",
				force, second.GetOutcome(), r.GetReason(), out.Len(), r.GetMessagesAfter(), r.GetTokensBefore(), r.GetTokensAfter())
		}
	}
}

// counts compares the report's figures with CountTokens: one counter for all.
func (w *wire) counts(t *testing.T, s subject, first *pb.CompressResponse) {
	before := w.count(t, &pb.CountTokensRequest{Conversation: s.conv, Model: s.model})
	after := w.count(t, &pb.CountTokensRequest{Conversation: first.GetConversation(), Model: s.model})
	r := first.GetReport()
	if before.GetTokens() != r.GetTokensBefore() || after.GetTokens() != r.GetTokensAfter() {
		t.Errorf("counted %d and %d tokens, reported %d and %d", before.GetTokens(), after.GetTokens(), r.GetTokensBefore(), r.GetTokensAfter())
	}
	checkCount(t, before, s.in.Len())
}

func checkCount(t *testing.T, c *pb.CountTokensResponse, messages int) {
	t.Helper()
	p := c.GetParts()
	if sum := p.GetSystem() + p.GetTools() + p.GetText() + p.GetToolCalls() + p.GetToolResults() + p.GetMedia() + p.GetFraming() + p.GetReasoning(); sum != c.GetTokens() {
		t.Errorf("the parts add up to %d of %d tokens", sum, c.GetTokens())
	}
	if c.GetLowerBound() > c.GetTokens() || c.GetUpperBound() < c.GetTokens() || c.GetTokens() <= 0 {
		t.Errorf("%d tokens are not between %d and %d", c.GetTokens(), c.GetLowerBound(), c.GetUpperBound())
	}
	if len(c.GetMessages()) != messages {
		t.Errorf("%d messages counted, there are %d", len(c.GetMessages()), messages)
	}
}

// markingStrategies are taken in turn.
var markingStrategies = []pb.Strategy{
	pb.Strategy_STRATEGY_UNSPECIFIED, pb.Strategy_STRATEGY_HERMES_DEFAULT, pb.Strategy_STRATEGY_TRANSACTION_ENDS,
	pb.Strategy_STRATEGY_ANCHORED, pb.Strategy_STRATEGY_AUTO_PLUS_SYSTEM,
}

// markAndPrepare marks the compressed conversation, and compares with Prepare,
// which does both at once.
func (w *wire) markAndPrepare(t *testing.T, s subject, with setting, first *pb.CompressResponse, out *Transcript) {
	const model = "claude-sonnet-4-5"
	layout := pb.Layout_LAYOUT_ANTHROPIC
	if s.dialect == OpenAI {
		layout = pb.Layout_LAYOUT_OPENROUTER
	}
	ttl := pb.CacheTtl_CACHE_TTL_5M
	if with.window == 64_000 {
		ttl = pb.CacheTtl_CACHE_TTL_1H
	}
	strategy := markingStrategies[(len(s.name)+int(with.window))%len(markingStrategies)]
	ask := &pb.ApplyCacheControlRequest{Conversation: first.GetConversation(), Model: model, Layout: layout, Ttl: ttl, Strategy: strategy}
	marked := w.mark(t, ask)
	after := read(t, s.dialect, marked.GetConversation(), out)
	report(t, (&Marking{Input: out, Output: after, Breakpoints: marked.GetBreakpoints()}).Check())
	if len(marked.GetBreakpoints()) == 0 {
		t.Error("no breakpoint was placed")
	}

	again := w.mark(t, &pb.ApplyCacheControlRequest{Conversation: marked.GetConversation(), Model: model, Layout: layout, Ttl: ttl, Strategy: strategy})
	if !proto.Equal(again.GetConversation(), marked.GetConversation()) {
		t.Error("marking a marked conversation changed it")
	}
	ask.View = pb.View_VIEW_EDITS
	short := w.mark(t, ask)
	report(t, (&Edits{
		Input: first.GetConversation(), Full: marked.GetConversation(), Before: out, After: after,
		Edits: short.GetEdits(), Splices: short.GetSplices(), Carried: short.GetConversation(),
	}).Check())

	if model != s.model {
		return // another model counts otherwise and cuts elsewhere
	}
	prepare := &pb.PrepareRequest{
		Conversation: s.conv, Model: model, ContextWindow: with.window, Layer: with.layer, Force: with.force, Layout: layout, Ttl: ttl, Strategy: strategy,
	}
	prepared := w.prepare(t, prepare)
	if !proto.Equal(prepared.GetConversation(), marked.GetConversation()) {
		t.Fatal("Prepare gives something else than Compress and ApplyCacheControl")
	}
	// Prepare knows route and life, by which the effect on the cache is priced.
	prepared.Report.CacheEffect, first.Report.CacheEffect = nil, nil
	if !proto.Equal(prepared.GetReport(), first.GetReport()) || prepared.GetOutcome() != first.GetOutcome() {
		t.Error("Prepare reports another compression than Compress")
	}
	prepare.View = pb.View_VIEW_EDITS
	shortPrepared := w.prepare(t, prepare)
	report(t, (&Edits{
		Input: s.conv, Full: prepared.GetConversation(), Before: s.in, After: after,
		Edits: shortPrepared.GetEdits(), Splices: shortPrepared.GetSplices(), Carried: shortPrepared.GetConversation(),
	}).Check())
}

func report(t *testing.T, violations []Violation) {
	t.Helper()
	for _, v := range violations {
		t.Error(v)
	}
}

func TestListModelsKnowsTheModelsOfTheCorpus(t *testing.T) {
	w := dial(t)
	resp, err := w.ListModels(w.ctx, &pb.ListModelsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	regimes := make(map[string]pb.ThinkingRegime)
	for i, m := range resp.GetModels() {
		regimes[m.GetId()] = m.GetThinking()
		if m.GetContextWindow() <= 0 || m.GetEncoding() == "" || m.GetSource() == "" || m.GetAsOf() == "" {
			t.Errorf("%s lacks a figure or its source: %v", m.GetId(), m)
		}
		if i > 0 && resp.GetModels()[i-1].GetId() >= m.GetId() {
			t.Errorf("%s stands before %s", resp.GetModels()[i-1].GetId(), m.GetId())
		}
	}
	if len(resp.GetModels()) < 20 || resp.GetUnknown().GetContextWindow() <= 0 {
		t.Errorf("%d models, unknown %v", len(resp.GetModels()), resp.GetUnknown())
	}
	for id, want := range map[string]pb.ThinkingRegime{
		"claude-sonnet-4-5": pb.ThinkingRegime_THINKING_REGIME_UNBOUND,
		"claude-opus-5-5":   pb.ThinkingRegime_THINKING_REGIME_BOUND,
		"gpt-4o":            pb.ThinkingRegime_THINKING_REGIME_UNSPECIFIED,
	} {
		if got, ok := regimes[id]; !ok || got != want {
			t.Errorf("%s: regime %v, known %v, want %v", id, got, ok, want)
		}
	}
	filtered, err := w.ListModels(w.ctx, &pb.ListModelsRequest{Filter: "SONNET-4-5"})
	if err != nil || len(filtered.GetModels()) == 0 || len(filtered.GetModels()) >= len(resp.GetModels()) {
		t.Errorf("filter: %d models, error %v", len(filtered.GetModels()), err)
	}
}
