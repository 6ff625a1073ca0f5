package compressor

import (
	"context"

	"github.com/elbowroom/elbowroom/conversation"
)

// settle makes sure that a result without a summary is one that a second pass
// would leave alone. Shortened messages can move the tail's start; where a second
// pass would then find a middle, that middle is summarized at once.
func (j *job) settle(ctx context.Context, pruned summary) (summary, verdict, error) {
	next, err := j.secondPass(ctx, pruned)
	if err != nil || next == nil {
		return pruned, verdict{}, err
	}
	if len(next.rows) != len(j.rows) {
		return summary{}, verdict{OutcomeNoGain, "shortening alone would not last"}, nil
	}
	j.layout = next.layout
	j.planDuplicates()
	j.reportRegions()
	s, v, err := j.summarize(ctx)
	if err == nil && s.rung == RungPruneOnly {
		return summary{}, verdict{OutcomeNoGain, "shortening alone would not last"}, nil
	}
	return s, v, err
}

// secondPass plans a second pass over the shortened conversation and returns it
// when it would summarize something, nil when it would not.
func (j *job) secondPass(ctx context.Context, pruned summary) (*job, error) {
	scratch, report := *j, *j.report
	scratch.report = &report
	rewrite := conversation.NewRewrite(j.c)
	scratch.assemble(rewrite, pruned)
	applied := rewrite.Apply()
	req := j.req
	req.Conversation, req.State, req.Pinned = applied.Conversation, nil, nil
	pinned := make(map[int]bool, len(j.req.Pinned))
	for _, i := range j.req.Pinned {
		pinned[i] = true
	}
	for i, from := range applied.From {
		if pinned[from] {
			req.Pinned = append(req.Pinned, i)
		}
	}
	next := &job{engine: j.engine, req: req, c: req.Conversation, report: &Report{}}
	if err := next.prepare(ctx); err != nil {
		return nil, err
	}
	next.judge()
	if _, stop, err := next.plan(ctx); err != nil || stop || next.layout.pruneOnly {
		return nil, err
	}
	if next.summaryRequest().Budget <= 0 {
		return nil, nil //nolint:nilnil // no second pass is the answer
	}
	return next, nil
}
