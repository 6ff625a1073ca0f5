package server

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/compressor"
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/fidelity"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
	"github.com/elbowroom/elbowroom/tokens"
)

func fullPolicy() *elbowroomv1.CompressionPolicy {
	return &elbowroomv1.CompressionPolicy{
		Profile: elbowroomv1.Profile_PROFILE_CLASSIC, Enabled: proto.Bool(false), Threshold: proto.Float64(0.4), TargetRatio: proto.Float64(0.3),
		ProtectFirstN: proto.Int32(1), ProtectLastN: proto.Int32(2), PruneOverChars: proto.Int32(3), TargetTokens: proto.Int32(4),
		SystemNote: elbowroomv1.SystemNote_SYSTEM_NOTE_NONE, Thinking: elbowroomv1.ThinkingPolicy_THINKING_POLICY_REMOVE,
		Alternation: elbowroomv1.Alternation_ALTERNATION_STRICT, FailurePolicy: elbowroomv1.FailurePolicy_FAILURE_POLICY_ABORT,
		Summarizer: proto.String("s"), SummaryRatio: proto.Float64(0.1), SummaryMinTokens: proto.Int32(5), SummaryMaxTokens: proto.Int32(6),
		PruneToolArguments: proto.Bool(false), Redact: proto.Bool(false), MinGain: proto.Float64(0.05), ThresholdTokens: proto.Int32(7),
	}
}

// complete fails the test unless every field of a message is set: a field that
// was added to the proto and forgotten here would go unnoticed otherwise.
func complete(t *testing.T, m proto.Message) {
	t.Helper()
	fields := m.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if f := fields.Get(i); !m.ProtoReflect().Has(f) {
			t.Errorf("%s is not set", f.FullName())
		}
	}
}

func TestPolicyOfConvertsEveryField(t *testing.T) {
	in := fullPolicy()
	complete(t, in)
	want := compressor.Policy{
		Enabled: new(false), Threshold: new(0.4), TargetRatio: new(0.3), ProtectFirstN: new(1), ProtectLastN: new(2), PruneOverChars: new(3),
		TargetTokens: new(4), SystemNote: new(compressor.SystemNoteNone), Thinking: new(compressor.ThinkingRemove),
		Alternation: new(compressor.AlternationStrict), FailurePolicy: new(compressor.FailureAbort), Summarizer: new("s"), SummaryRatio: new(0.1),
		SummaryMinTokens: new(5), SummaryMaxTokens: new(6), PruneToolArguments: new(false), Redact: new(false), MinGain: new(0.05), ThresholdTokens: new(7),
	}
	got := policyOf(in)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("policyOf (-want +got):\n%s", diff)
	}
	for v, i := reflect.ValueOf(got), 0; i < v.NumField(); i++ {
		if v.Field(i).IsNil() {
			t.Errorf("Policy.%s is open", v.Type().Field(i).Name)
		}
	}
	if diff := cmp.Diff(compressor.Policy{}, policyOf(&elbowroomv1.CompressionPolicy{})); diff != "" {
		t.Errorf("an empty policy is not open (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(compressor.Policy{}, policyOf(nil)); diff != "" {
		t.Errorf("no policy is not open (-want +got):\n%s", diff)
	}
}

func TestRequestsOfBothCallsAreConvertedAlike(t *testing.T) {
	registry, err := tokens.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{lasting: &lasting{registry: registry}}
	c := &conversation.Conversation{Model: "gpt-4o"}
	usage := &elbowroomv1.Usage{PromptTokens: 10, CompletionTokens: 11, MessageCount: 12}
	want := compressor.Request{
		Conversation: c, Model: registry.Lookup("claude-sonnet-4-5"), ContextWindow: 1, Policy: policyOf(fullPolicy()), Layer: compressor.LayerGateway,
		Force: true, LastUsage: &compressor.Usage{PromptTokens: 10, MessageCount: 12}, PreviousSummary: "p", Focus: "f", SessionID: "s",
		Pinned: []int{2, 3}, State: []byte("state"), MaxOutputTokens: 4,
	}
	for name, in := range map[string]compressFields{
		"Compress": &elbowroomv1.CompressRequest{
			Model: "claude-sonnet-4-5", ContextWindow: 1, Policy: fullPolicy(), Layer: elbowroomv1.Layer_LAYER_GATEWAY, Force: true, LastUsage: usage,
			PreviousSummary: "p", Focus: "f", SessionId: "s", Pinned: []int32{2, 3}, CompressionState: []byte("state"), MaxOutputTokens: 4,
		},
		"Prepare": &elbowroomv1.PrepareRequest{
			Model: "claude-sonnet-4-5", ContextWindow: 1, Policy: fullPolicy(), Layer: elbowroomv1.Layer_LAYER_GATEWAY, Force: true, LastUsage: usage,
			PreviousSummary: "p", Focus: "f", SessionId: "s", Pinned: []int32{2, 3}, CompressionState: []byte("state"), MaxOutputTokens: 4,
		},
	} {
		got := s.compressRequest(t.Context(), in, c)
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%s: request\n%+v\nwant\n%+v", name, got, want)
		}
	}
	if got := s.compressRequest(t.Context(), &elbowroomv1.CompressRequest{}, c); got.Model.Name != "gpt-4o" || got.LastUsage != nil || got.Layer != compressor.LayerAgent {
		t.Errorf("an empty request: %+v", got)
	}
}

func TestReportOfConvertsEveryField(t *testing.T) {
	in := &compressor.Result{Outcome: compressor.OutcomeCompressed, Report: compressor.Report{
		TokensBefore: 1, TokensAfter: 2, MessagesBefore: 3, MessagesAfter: 4, ContextWindow: 5, ThresholdTokens: 6, JudgedTokens: 7, JudgedBy: "usage",
		TailBudgetTokens: 8, SummaryBudgetTokens: 9, Rung: compressor.RungExtractive, Reason: "r", SummaryTokens: 10, SummaryIndex: 11, Round: 12,
		MessagesSummarized: 13, ThinkingRemoved: 14, FirstChanged: -1, BindingConstraint: "b", RetryAfter: time.Second, State: "verified", CountedBy: "c",
		Regions:     []compressor.Region{{Kind: compressor.RegionTail, Start: 15, End: 16, Tokens: 17}},
		Pruned:      []compressor.Pruned{{Ref: conversation.Ref{Message: 18, Block: 19}, Kind: compressor.PruneStub, Tool: "t", CharsBefore: 20, CharsAfter: 21}},
		Repairs:     []compressor.Repair{{Kind: compressor.RepairOrphanResult, Message: 22, ToolUseID: "id"}},
		FailedRungs: []ladder.Failed{{Name: "n", Code: "c", Reason: "why", Attempts: 41}},
		Summarizer:  compressor.SummarizerUsage{Name: "n", Model: "m", Reused: true, Calls: 23, PromptTokens: 24, CompletionTokens: 25},
		Removed:     compressor.Removed{Messages: 27, Tokens: 28, ToolCalls: 29, ToolResults: 30, Media: 31, ThinkingBlocks: 32},
		Continuity:  compressor.Continuity{Looked: true, Hit: true, Round: 42, Key: "k", Covered: 43},
		Fidelity: &fidelity.Report{Facts: 45, Kept: 46, Repaired: 47, Lost: 48, Invented: 49, Items: []fidelity.Item{
			{Fate: fidelity.Repaired, Kind: "path", Text: "a/b", Message: 50}, {Fate: fidelity.Invented, Kind: "url", Text: "u", Message: -1},
		}},
		Change:        &compressor.Change{Kept: 51, Rewritten: 52, Saved: 53, Turns: 54, Head: 55, Planned: true},
		FrontMessages: 56,
		Redactions:    []summarizer.Redaction{{Kind: "k", Count: 44}},
		Warnings:      []conversation.Warning{{Code: "W", Message: 26, Detail: "d"}, {Code: "X", Message: -1}},
	}}
	for v, i := reflect.ValueOf(in.Report), 0; i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Errorf("the test leaves Report.%s empty", v.Type().Field(i).Name)
		}
	}
	got := reportOf(in)
	complete(t, got)
	got.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if f.IsList() && f.Message() != nil {
			complete(t, v.List().Get(0).Message().Interface())
		}
		return true
	})
	complete(t, got.GetSummarizerUsage())
	if e := got.GetCacheEffect(); e.GetKeptTokens() != 51 || e.GetRewrittenTokens() != 52 || e.GetSavedTokens() != 53 || !e.GetPlanned() {
		t.Errorf("cache effect %v", e)
	}
	complete(t, got.GetRemoved())
	complete(t, got.GetFidelity())
	items := got.GetFidelity().GetItems()
	complete(t, items[0])
	if items[0].GetMessageIndex() != 50 || items[0].GetFate() != elbowroomv1.FactFate_FACT_FATE_REPAIRED || items[1].MessageIndex != nil {
		t.Errorf("fidelity %v", items)
	}
	if got.GetFirstChangedIndex() != -1 || got.GetSummaryIndex() != 11 || got.GetRetryAfter().AsDuration() != time.Second {
		t.Errorf("report %v", got)
	}
	if got.GetWarnings()[0].GetMessageIndex() != 26 || got.GetWarnings()[1].MessageIndex != nil {
		t.Errorf("warnings %v", got.GetWarnings())
	}

	unchanged := reportOf(&compressor.Result{Outcome: compressor.OutcomeNoGain, Report: compressor.Report{SummaryIndex: -1}})
	if unchanged.FirstChangedIndex != nil || unchanged.SummaryIndex != nil || unchanged.RetryAfter != nil || unchanged.SummarizerUsage != nil || unchanged.Removed != nil {
		t.Errorf("a report of nothing: %v", unchanged)
	}
}

func TestCountCutsOffWhatDoesNotFit(t *testing.T) {
	for in, want := range map[int]int32{0: 0, -1: -1, 1 << 40: 1<<31 - 1, -1 << 40: -1 << 31} {
		if got := count(in); got != want {
			t.Errorf("count(%d) = %d, want %d", in, got, want)
		}
	}
}

func TestPrefixSizesAreExactAtTheStart(t *testing.T) {
	registry, err := tokens.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{lasting: &lasting{registry: registry, counter: tokens.NewCounter()}}
	long := make([]byte, 3*countedBytes)
	for i := range long {
		long[i] = "the cat sat on "[i%15]
	}
	message := func(text string) conversation.Message {
		return conversation.Message{Role: conversation.RoleUser, Shape: conversation.ShapeList, Blocks: []conversation.Block{{Kind: conversation.KindText, Text: text}}}
	}
	image := message("")
	image.Blocks = append(image.Blocks, conversation.Block{Kind: conversation.KindMedia, Media: &conversation.Media{Data: string(long)}})
	c := &conversation.Conversation{
		Tools:    []conversation.Tool{{Name: "f", Schema: "{}"}},
		System:   &conversation.Message{Role: conversation.RoleSystem, Blocks: []conversation.Block{{Kind: conversation.KindText, Text: "be brief"}}},
		Messages: []conversation.Message{message("hello"), message(string(long)), message("after"), image},
	}
	model := registry.Lookup("gpt-4o")
	exact, err := s.counter.Count(t.Context(), c, model)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.prefixSizes(t.Context(), c, model)
	if err != nil {
		t.Fatal(err)
	}
	if got.Tools != exact.Tools || got.System != exact.System || got.Messages[0] != exact.Messages[0] {
		t.Errorf("the start is %d, %d, %d, want %d, %d, %d", got.Tools, got.System, got.Messages[0], exact.Tools, exact.System, exact.Messages[0])
	}
	if want := len(long) / bytesPerToken; got.Messages[1] != want || got.Messages[2] != 1 || got.Messages[3] != tokensPerMedia {
		t.Errorf("the rest is %v, want %d, 1 and %d", got.Messages[1:], want, tokensPerMedia)
	}
}
