package conformance

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/elbowroom/elbowroom/compressor"
	"github.com/elbowroom/elbowroom/conversation"
	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"github.com/elbowroom/elbowroom/internal/memo"
	"github.com/elbowroom/elbowroom/internal/testutil/wild"
	"github.com/elbowroom/elbowroom/store"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/extractive"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
	"github.com/elbowroom/elbowroom/tokens"
)

// bench is an engine with everything it needs, without a server.
type bench struct {
	engine   *compressor.Engine
	counter  *tokens.Counter
	registry *tokens.Registry
}

// counter is shared by all tests: it reads its vocabularies once.
var counter = sync.OnceValue(func() *tokens.Counter { return tokens.NewCounter() })

func newBench(t testing.TB, rungs ...summarizer.Summarizer) *bench {
	t.Helper()
	return newBenchWith(t, nil, rungs...)
}

// newBenchWith is newBench with other options of the engine.
func newBenchWith(t testing.TB, change func(o *compressor.Options), rungs ...summarizer.Summarizer) *bench {
	t.Helper()
	registry, err := tokens.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	memory, err := store.NewMemory(store.MemoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(rungs) == 0 {
		rungs = []summarizer.Summarizer{extractive.New()}
	}
	steps, err := ladder.New(ladder.Options{Rungs: rungs, Store: memory})
	if err != nil {
		t.Fatal(err)
	}
	options := compressor.Options{Counter: counter(), Ladder: steps, Store: memory, Memo: memo.New(memo.DefaultBytes)}
	if change != nil {
		change(&options)
	}
	engine, err := compressor.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return &bench{engine: engine, counter: counter(), registry: registry}
}

// run compresses JSON text and returns the result's text.
func (b *bench) run(d Dialect, text string, req compressor.Request) (string, *compressor.Result, error) {
	format := conversation.FormatOpenAIChat
	if d == Anthropic {
		format = conversation.FormatAnthropicMessages
	}
	c, err := conversation.Parse(format, text, conversation.Limits{})
	if err != nil {
		return "", nil, errUnreadable
	}
	req.Conversation = c
	if req.Model.Name == "" {
		req.Model = b.registry.Lookup("gpt-4o")
	}
	result, err := b.engine.Compress(context.Background(), req)
	if err != nil {
		return "", nil, err
	}
	return conversation.ApplySplices(text, result.Rewrite.Splices()), result, nil
}

var errUnreadable = errors.New("the input cannot be read")

// protoReport writes an engine's report as the checker reads it. The numbers of
// the enumerations are the same on both sides.
func protoReport(r *compressor.Report, outcome compressor.Outcome) *pb.CompressionReport {
	out := &pb.CompressionReport{
		TokensBefore: int32(r.TokensBefore), TokensAfter: int32(r.TokensAfter),
		MessagesBefore: int32(r.MessagesBefore), MessagesAfter: int32(r.MessagesAfter),
		Rung: pb.Rung(r.Rung), Reason: r.Reason, ThinkingRemoved: int32(r.ThinkingRemoved),
	}
	if r.SummaryIndex >= 0 {
		out.SummaryIndex = proto.Int32(int32(r.SummaryIndex))
	}
	if outcome.Changed() {
		out.FirstChangedIndex = proto.Int32(int32(r.FirstChanged))
	}
	for _, region := range r.Regions {
		out.Regions = append(out.Regions, &pb.Region{Kind: pb.RegionKind(region.Kind), Start: int32(region.Start), End: int32(region.End)})
	}
	for _, p := range r.Pruned {
		out.Pruned = append(out.Pruned, &pb.PrunedItem{MessageIndex: int32(p.Ref.Message), BlockIndex: int32(p.Ref.Block), Kind: pb.PruneKind(p.Kind)})
	}
	for _, p := range r.Repairs {
		out.Repairs = append(out.Repairs, &pb.Repair{Kind: pb.RepairKind(p.Kind), MessageIndex: int32(p.Message), ToolUseId: p.ToolUseID})
	}
	return out
}

// randomRequest draws a policy and what else a caller may set.
func randomRequest(d *wild.Dice, b *bench) compressor.Request {
	req := compressor.Request{
		Force: true, ContextWindow: []int{400, 2_000, 16_000, 200_000}[d.Roll(4)],
		Model: b.registry.Lookup([]string{"gpt-4o", "claude-sonnet-4-5", "claude-opus-5-5", "nobody-knows"}[d.Roll(4)]),
	}
	if d.Once(3) {
		req.Policy.ProtectFirstN = new(d.Roll(6))
	}
	if !d.Once(3) {
		req.Policy.ProtectLastN = new(d.Roll(25))
	}
	if d.Once(4) {
		req.Policy.TargetTokens = new(50 + d.Roll(2000))
	}
	if d.Once(4) {
		req.Policy.Alternation = new(compressor.AlternationStrict)
	}
	if d.Once(3) {
		req.Policy.Thinking = new(compressor.Thinking(d.Roll(3)))
	}
	if d.Once(4) {
		req.Policy.SystemNote = new(compressor.SystemNoteNone)
	}
	if d.Once(4) {
		req.Policy.SummaryMinTokens = new(d.Roll(400))
	}
	if d.Once(4) {
		req.Policy.PruneOverChars = new(1 + d.Roll(400))
	}
	return req
}

func FuzzCompressOpenAI(f *testing.F)    { fuzzCompress(f, OpenAI) }
func FuzzCompressAnthropic(f *testing.F) { fuzzCompress(f, Anthropic) }

func fuzzCompress(f *testing.F, d Dialect) {
	for seed := range 60 {
		data := make([]byte, 400)
		for i, state := 0, uint32(seed*2654435761+1); i < len(data); i++ {
			state = state*1664525 + 1013904223
			data[i] = byte(state >> 24)
		}
		f.Add(data)
	}
	b := newBench(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		d1 := &wild.Dice{Data: data}
		req := randomRequest(d1, b)
		g := &wild.Generator{Dice: d1, Anthropic: d == Anthropic}
		text := g.Conversation()
		if d1.Once(4) {
			text = d1.Mutate(text)
		}
		compressThenCheck(t, b, d, text, req, d1)
	})
}

// compressThenCheck compresses, checks, and compresses the result once more.
func compressThenCheck(t *testing.T, b *bench, d Dialect, text string, req compressor.Request, choices *wild.Dice) {
	t.Helper()
	input, err := Read(d, []byte(text))
	if err != nil {
		// What encoding/json or the checker cannot read may be refused or carried;
		// it must not crash.
		_, _, _ = b.run(d, text, req)
		return
	}
	if choices.Once(4) && input.Len() > 0 {
		req.Pinned = []int{choices.Roll(input.Len())}
	}
	out, result, err := b.run(d, text, req)
	var refused *compressor.RefusedError
	switch {
	case errors.Is(err, errUnreadable), errors.As(err, &refused):
		return
	case err != nil:
		t.Fatalf("%v\nrequest %+v\ninput %s", err, req, brief(text))
	}
	output, err := ReadLike(d, []byte(out), input)
	if err != nil {
		t.Fatalf("the output cannot be read: %v\n%s\n%s", err, brief(text), brief(out))
	}
	c := Compression{
		Input: input, Output: output, Outcome: pb.Outcome(result.Outcome), Report: protoReport(&result.Report, result.Outcome),
		Summary: result.Summary, Handoffs: input.Handoffs(), TokensOnly: true,
		Strict: req.Policy.Alternation != nil && *req.Policy.Alternation == compressor.AlternationStrict && !warned(result, "ALTERNATION"),
		NoNote: req.Policy.SystemNote != nil && *req.Policy.SystemNote == compressor.SystemNoteNone,
	}
	for _, i := range req.Pinned {
		c.Pinned = append(c.Pinned, int32(i))
	}
	for _, v := range c.Check() {
		t.Errorf("%v", v)
	}
	again, _, err := b.run(d, text, req)
	if err != nil || again != out {
		t.Errorf("two runs differ (%v)", err)
	}
	if req.Pinned == nil {
		second, result, err := b.run(d, out, req)
		if err != nil {
			t.Errorf("second pass: %v", err)
		} else if !bytes.Equal([]byte(second), []byte(out)) {
			t.Errorf("the second pass changed its input: %v, %d tokens became %d", result.Outcome, result.Report.TokensBefore, result.Report.TokensAfter)
		}
	}
	if t.Failed() {
		t.Logf("request %+v\ninput %s\noutput %s", req, brief(text), brief(out))
	}
}

var longLiteral = regexp.MustCompile(`("(?:[^"\\]|\\.){24})(?:[^"\\]|\\.)*"`)

// brief shortens the strings of a JSON text for a test log.
func brief(text string) string {
	return longLiteral.ReplaceAllString(text, `$1…"`)
}

func warned(result *compressor.Result, code string) bool {
	for _, w := range result.Report.Warnings {
		if w.Code == code {
			return true
		}
	}
	return false
}
