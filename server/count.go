package server

import (
	"context"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens"
)

// CountTokens implements the RPC.
func (s *Server) CountTokens(ctx context.Context, in *elbowroomv1.CountTokensRequest) (*elbowroomv1.CountTokensResponse, error) {
	var warnings []conversation.Warning
	var report tokens.Report
	var err error
	if in.Text != nil {
		model := s.model(in.GetModel(), nil)
		report, err = s.counter.CountText(ctx, in.GetText(), model)
	} else {
		var c *conversation.Conversation
		if c, err = formOf(in.GetConversation(), elbowroomv1.View_VIEW_FULL).read(s.limits); err != nil {
			return nil, s.fail(ctx, err)
		}
		model := s.model(in.GetModel(), c)
		warnings = c.Warnings
		report, err = s.counter.Count(ctx, c, model)
	}
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	out := &elbowroomv1.CountTokensResponse{
		Tokens:     count(report.Tokens),
		LowerBound: count(report.Lower),
		UpperBound: count(report.Upper),
		Method:     elbowroomv1.Method_METHOD_ESTIMATE,
		Encoding:   report.Encoding,
		Parts: &elbowroomv1.TokenParts{
			System:      count(report.Parts.System),
			Tools:       count(report.Parts.Tools),
			Text:        count(report.Parts.Text),
			ToolCalls:   count(report.Parts.ToolCalls),
			ToolResults: count(report.Parts.ToolResults),
			Media:       count(report.Parts.Media),
			Framing:     count(report.Parts.Framing),
			Reasoning:   count(report.Parts.Reasoning),
		},
		Warnings: append(warningsOf(warnings), warningsOf(report.Warnings)...),
	}
	if report.Method == tokens.MethodLocal {
		out.Method = elbowroomv1.Method_METHOD_LOCAL
	}
	for _, n := range report.Messages {
		out.Messages = append(out.Messages, &elbowroomv1.MessageTokens{Tokens: count(n)})
	}
	return out, nil
}
