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
	var anchor *elbowroomv1.UsageAnchor
	var c *conversation.Conversation
	var model tokens.Model
	var err error
	var done func(*tokens.Report)
	if in.Text != nil {
		ctx, done = s.telemetry.Count(ctx, nil)
		model = s.model(ctx, in.GetModel(), nil)
		report, err = s.counter.CountText(ctx, in.GetText(), model)
	} else {
		if c, err = formOf(in.GetConversation(), elbowroomv1.View_VIEW_FULL).read(s.limits); err != nil {
			return nil, s.fail(ctx, err)
		}
		ctx, done = s.telemetry.Count(ctx, c)
		model = s.model(ctx, in.GetModel(), c)
		warnings = c.Warnings
		if u := in.GetLastUsage(); u != nil {
			var a tokens.Anchor
			report, a, err = s.counter.CountAfter(ctx, c, model, tokens.Usage{
				PromptTokens: int(u.GetPromptTokens()), MessageCount: int(u.GetMessageCount()),
			})
			if anchor = anchorOf(a); a.Applied {
				report.Tokens, report.Lower, report.Upper = a.Tokens, a.Lower, a.Upper
			}
		} else {
			report, err = s.counter.Count(ctx, c, model)
		}
	}
	done(&report)
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
		Anchor:   anchor,
	}
	if report.Method == tokens.MethodLocal {
		out.Method = elbowroomv1.Method_METHOD_LOCAL
	}
	for _, n := range report.Messages {
		out.Messages = append(out.Messages, &elbowroomv1.MessageTokens{Tokens: count(n)})
	}
	if in.GetMethod() == elbowroomv1.Method_METHOD_PROVIDER {
		s.countByProvider(ctx, c, model, out)
	}
	return out, nil
}

func anchorOf(a tokens.Anchor) *elbowroomv1.UsageAnchor {
	out := &elbowroomv1.UsageAnchor{
		Applied:         a.Applied,
		Reason:          a.Reason,
		PromptTokens:    count(a.PromptTokens),
		CoveredMessages: count(a.Covered),
	}
	if !a.Applied {
		return out
	}
	out.CoveredLocalTokens, out.TokensAfter = count(a.CoveredLocal), count(a.After)
	out.Correction, out.MeasuredRatio = a.Correction, a.Ratio
	if a.Corrected {
		out.CorrectionMin, out.CorrectionMax = tokens.CorrectionMin, tokens.CorrectionMax
	}
	return out
}
