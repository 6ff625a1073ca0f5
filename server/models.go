package server

import (
	"context"
	"strings"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/tokens"
)

// ListModels implements the RPC.
func (s *Server) ListModels(_ context.Context, in *elbowroomv1.ListModelsRequest) (*elbowroomv1.ListModelsResponse, error) {
	filter := strings.ToLower(in.GetFilter())
	out := &elbowroomv1.ListModelsResponse{Unknown: protoModel(s.registry.Lookup(""))}
	for _, m := range s.registry.All() {
		if strings.Contains(strings.ToLower(m.ID), filter) {
			out.Models = append(out.Models, protoModel(m))
		}
	}
	return out, nil
}

func protoModel(m tokens.Model) *elbowroomv1.Model {
	out := &elbowroomv1.Model{
		Id:                 m.ID,
		Family:             string(m.Family),
		Provider:           m.Provider,
		Encoding:           m.Encoding,
		ContextWindow:      count(m.ContextWindow),
		MaxOutputTokens:    count(m.MaxOutput),
		MinCacheableTokens: count(m.CacheMinimum),
		Source:             m.Source,
		AsOf:               m.Date,
	}
	switch m.Thinking {
	case tokens.ThinkingUnbound:
		out.Thinking = elbowroomv1.ThinkingRegime_THINKING_REGIME_UNBOUND
	case tokens.ThinkingBound:
		out.Thinking = elbowroomv1.ThinkingRegime_THINKING_REGIME_BOUND
	}
	return out
}
