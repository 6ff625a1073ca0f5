package server

import (
	"context"
	"math"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/compressor"
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/server/interceptors/auth"
	"github.com/elbowroom/elbowroom/tokens"
)

// Compressor compresses conversations: the engine, or a stand-in in tests.
type Compressor interface {
	// Compress decides on one conversation; see [compressor.Engine.Compress].
	Compress(ctx context.Context, req compressor.Request) (*compressor.Result, error)
}

// compressFields are the fields that CompressRequest and PrepareRequest share.
type compressFields interface {
	GetModel() string
	GetContextWindow() int32
	GetPolicy() *elbowroomv1.CompressionPolicy
	GetLayer() elbowroomv1.Layer
	GetForce() bool
	GetLastUsage() *elbowroomv1.Usage
	GetPreviousSummary() string
	GetFocus() string
	GetSessionId() string
	GetPinned() []int32
	GetCompressionState() []byte
	GetMaxOutputTokens() int32
}

// compressRequest converts the fields of a request; plan_only is the caller's.
func (s *Server) compressRequest(ctx context.Context, in compressFields, c *conversation.Conversation) compressor.Request {
	req := compressor.Request{
		Conversation:    c,
		Model:           s.model(ctx, in.GetModel(), c),
		ContextWindow:   int(in.GetContextWindow()),
		Policy:          policyOf(in.GetPolicy()),
		Force:           in.GetForce(),
		PreviousSummary: in.GetPreviousSummary(),
		Focus:           in.GetFocus(),
		Tenant:          auth.FromContext(ctx).Tenant,
		SessionID:       in.GetSessionId(),
		State:           in.GetCompressionState(),
		MaxOutputTokens: int(in.GetMaxOutputTokens()),
	}
	if in.GetLayer() == elbowroomv1.Layer_LAYER_GATEWAY {
		req.Layer = compressor.LayerGateway
	}
	if u := in.GetLastUsage(); u != nil {
		req.LastUsage = &compressor.Usage{PromptTokens: int(u.GetPromptTokens()), MessageCount: int(u.GetMessageCount())}
	}
	for _, i := range in.GetPinned() {
		req.Pinned = append(req.Pinned, int(i))
	}
	return req
}

// model looks a model up: the request's own word, else the one in a native body.
func (s *Server) model(ctx context.Context, name string, c *conversation.Conversation) tokens.Model {
	if name == "" && c != nil {
		name = c.Model
	}
	model := s.registry.Lookup(name)
	// A name that says its window ("my-model[1m]") keeps it.
	if s.window > 0 && !model.Known && model.ContextWindow == tokens.DefaultContextWindow {
		model.ContextWindow = s.window
	}
	model.Scope = auth.FromContext(ctx).Tenant
	return model
}

// policyOf converts a policy. What is not set stays open.
func policyOf(in *elbowroomv1.CompressionPolicy) compressor.Policy {
	if in == nil {
		return compressor.Policy{}
	}
	p := compressor.Policy{
		Enabled:            in.Enabled,
		Threshold:          in.Threshold,
		ThresholdTokens:    intOf(in.ThresholdTokens),
		TargetRatio:        in.TargetRatio,
		ProtectFirstN:      intOf(in.ProtectFirstN),
		ProtectLastN:       intOf(in.ProtectLastN),
		PruneOverChars:     intOf(in.PruneOverChars),
		TargetTokens:       intOf(in.TargetTokens),
		Summarizer:         in.Summarizer,
		SummaryRatio:       in.SummaryRatio,
		SummaryMinTokens:   intOf(in.SummaryMinTokens),
		SummaryMaxTokens:   intOf(in.SummaryMaxTokens),
		PruneToolArguments: in.PruneToolArguments,
		MinGain:            in.MinGain,
		Redact:             in.Redact,
	}
	switch in.GetSystemNote() {
	case elbowroomv1.SystemNote_SYSTEM_NOTE_APPEND:
		p.SystemNote = new(compressor.SystemNoteAppend)
	case elbowroomv1.SystemNote_SYSTEM_NOTE_NONE:
		p.SystemNote = new(compressor.SystemNoteNone)
	}
	switch in.GetThinking() {
	case elbowroomv1.ThinkingPolicy_THINKING_POLICY_AUTO:
		p.Thinking = new(compressor.ThinkingAuto)
	case elbowroomv1.ThinkingPolicy_THINKING_POLICY_KEEP:
		p.Thinking = new(compressor.ThinkingKeep)
	case elbowroomv1.ThinkingPolicy_THINKING_POLICY_REMOVE:
		p.Thinking = new(compressor.ThinkingRemove)
	}
	switch in.GetAlternation() {
	case elbowroomv1.Alternation_ALTERNATION_RELAXED:
		p.Alternation = new(compressor.AlternationRelaxed)
	case elbowroomv1.Alternation_ALTERNATION_STRICT:
		p.Alternation = new(compressor.AlternationStrict)
	}
	switch in.GetFailurePolicy() {
	case elbowroomv1.FailurePolicy_FAILURE_POLICY_FALLBACK:
		p.FailurePolicy = new(compressor.FailureFallback)
	case elbowroomv1.FailurePolicy_FAILURE_POLICY_ABORT:
		p.FailurePolicy = new(compressor.FailureAbort)
	}
	return p
}

func intOf(n *int32) *int {
	if n == nil {
		return nil
	}
	return new(int(*n))
}

// count converts a number to the API's int32. What does not fit is cut off: no
// model's window comes near it.
func count(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }
