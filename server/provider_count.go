package server

import (
	"context"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/server/interceptors/admission"
	"github.com/elbowroom/elbowroom/tokens"
	"github.com/elbowroom/elbowroom/tokens/provider"
)

// countByProvider puts the provider's own count into a response that holds the local one. Where there is none, the local
// count stays and the response says why. c is nil for a plain text.
func (s *Server) countByProvider(ctx context.Context, c *conversation.Conversation, model tokens.Model, out *elbowroomv1.CountTokensResponse) {
	out.Provider = &elbowroomv1.ProviderCount{}
	if model.Family != tokens.FamilyUnknown {
		out.Provider.Name = model.Provider
	}
	if c == nil {
		out.Provider.FallbackReason = (&provider.Error{Kind: provider.NotConversation}).Error()
		return
	}
	back := admission.Aside(ctx)
	n, err := s.providers.Count(ctx, c, model)
	back()
	if err != nil {
		out.Provider.FallbackReason = err.Error()
		return
	}
	out.Provider.Used = true
	out.Method = elbowroomv1.Method_METHOD_PROVIDER
	out.Warnings = append(out.Warnings, warningsOf(n.Warnings)...)
	out.Tokens = count(n.Tokens)
	if len(n.Warnings) == 0 {
		out.LowerBound, out.UpperBound = out.Tokens, out.Tokens
		return
	}
	// The provider counted a slightly different request, so the truth is somewhere between its number and ours.
	out.LowerBound, out.UpperBound = min(out.LowerBound, out.Tokens), max(out.UpperBound, out.Tokens)
}
