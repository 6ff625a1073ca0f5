package server

import (
	"google.golang.org/protobuf/types/known/durationpb"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/compressor"
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/summarizer/fidelity"
)

// reportOf converts the engine's report. The engine's enumerations are those of
// the API, number by number, which a test checks.
func reportOf(res *compressor.Result) *elbowroomv1.CompressionReport {
	r := &res.Report
	out := &elbowroomv1.CompressionReport{
		TokensBefore:        count(r.TokensBefore),
		TokensAfter:         count(r.TokensAfter),
		MessagesBefore:      count(r.MessagesBefore),
		MessagesAfter:       count(r.MessagesAfter),
		ContextWindow:       count(r.ContextWindow),
		ThresholdTokens:     count(r.ThresholdTokens),
		JudgedTokens:        count(r.JudgedTokens),
		JudgedBy:            r.JudgedBy,
		TailBudgetTokens:    count(r.TailBudgetTokens),
		SummaryBudgetTokens: count(r.SummaryBudgetTokens),
		Rung:                elbowroomv1.Rung(r.Rung),
		Reason:              r.Reason,
		SummaryTokens:       count(r.SummaryTokens),
		Round:               count(r.Round),
		MessagesSummarized:  count(r.MessagesSummarized),
		ThinkingRemoved:     count(r.ThinkingRemoved),
		BindingConstraint:   r.BindingConstraint,
		State:               r.State,
		Warnings:            warningsOf(r.Warnings),
		CountedBy:           r.CountedBy,
	}
	if x := r.Removed; x != (compressor.Removed{}) {
		out.Removed = &elbowroomv1.RemovedContent{
			Messages: count(x.Messages), Tokens: count(x.Tokens), ToolCalls: count(x.ToolCalls),
			ToolResults: count(x.ToolResults), Media: count(x.Media), ThinkingBlocks: count(x.ThinkingBlocks),
		}
	}
	for _, x := range r.Regions {
		out.Regions = append(out.Regions, &elbowroomv1.Region{
			Kind: elbowroomv1.RegionKind(x.Kind), Start: count(x.Start), End: count(x.End), Tokens: count(x.Tokens),
		})
	}
	for _, x := range r.Pruned {
		out.Pruned = append(out.Pruned, &elbowroomv1.PrunedItem{
			MessageIndex: count(x.Ref.Message), BlockIndex: count(x.Ref.Block), Kind: elbowroomv1.PruneKind(x.Kind),
			Tool: x.Tool, CharsBefore: count(x.CharsBefore), CharsAfter: count(x.CharsAfter),
		})
	}
	for _, x := range r.Repairs {
		out.Repairs = append(out.Repairs, &elbowroomv1.Repair{
			Kind: elbowroomv1.RepairKind(x.Kind), MessageIndex: count(x.Message), ToolUseId: x.ToolUseID,
		})
	}
	for _, x := range r.FailedRungs {
		out.FailedRungs = append(out.FailedRungs, &elbowroomv1.FailedRung{
			Summarizer: x.Name, Reason: x.Reason, Code: x.Code, Attempts: count(x.Attempts),
		})
	}
	for _, x := range r.Redactions {
		out.Redactions = append(out.Redactions, &elbowroomv1.Redaction{Kind: x.Kind, Count: count(x.Count)})
	}
	out.Fidelity = fidelityOf(r.Fidelity)
	if c := r.Change; c != nil {
		out.CacheEffect = &elbowroomv1.CacheEffect{
			KeptTokens: count(c.Kept), RewrittenTokens: count(c.Rewritten), SavedTokens: count(c.Saved), Planned: c.Planned,
		}
	}
	if c := r.Continuity; c.Looked {
		out.Continuity = &elbowroomv1.Continuity{Result: elbowroomv1.ContinuityResult_CONTINUITY_RESULT_MISS}
		if c.Hit {
			out.Continuity = &elbowroomv1.Continuity{
				Result: elbowroomv1.ContinuityResult_CONTINUITY_RESULT_HIT,
				Round:  count(c.Round), Key: c.Key, MessagesCovered: count(c.Covered),
			}
		}
	}
	if r.SummaryIndex >= 0 {
		out.SummaryIndex = new(count(r.SummaryIndex))
	}
	if res.Outcome.Changed() {
		out.FirstChangedIndex = new(count(r.FirstChanged))
	}
	if r.RetryAfter > 0 {
		out.RetryAfter = durationpb.New(r.RetryAfter)
	}
	if u := r.Summarizer; u.Name != "" || u.Calls > 0 {
		out.SummarizerUsage = &elbowroomv1.SummarizerUsage{
			Summarizer: u.Name, Model: u.Model, Reused: u.Reused,
			Calls: count(u.Calls), PromptTokens: count(u.PromptTokens), CompletionTokens: count(u.CompletionTokens),
		}
	}
	return out
}

func fidelityOf(r *fidelity.Report) *elbowroomv1.Fidelity {
	if r == nil {
		return nil
	}
	out := &elbowroomv1.Fidelity{
		Facts: count(r.Facts), Kept: count(r.Kept), Repaired: count(r.Repaired), Lost: count(r.Lost), Invented: count(r.Invented),
	}
	for _, x := range r.Items {
		item := &elbowroomv1.FidelityItem{Fate: elbowroomv1.FactFate(x.Fate), Kind: x.Kind, Text: x.Text}
		if x.Message >= 0 {
			item.MessageIndex = new(count(x.Message))
		}
		out.Items = append(out.Items, item)
	}
	return out
}

func warningsOf(in []conversation.Warning) []*elbowroomv1.Warning {
	var out []*elbowroomv1.Warning
	for _, w := range in {
		pw := &elbowroomv1.Warning{Code: w.Code, Detail: w.Detail}
		if w.Message >= 0 {
			pw.MessageIndex = new(count(w.Message))
		}
		out = append(out, pw)
	}
	return out
}
