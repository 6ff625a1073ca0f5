package compressor

import "runtime"

// Phase is a step of [Engine.Compress] that a caller may watch.
type Phase int

// The phases, in their order.
const (
	PhaseCounting Phase = iota + 1
	PhasePlanning
	PhaseSummarizing
	PhaseChecking
	PhaseAssembling
)

// Progress says that a phase begins.
type Progress struct {
	Phase Phase
	// Tokens is the size of the conversation, from [PhasePlanning] on.
	Tokens int
	// Summarized is the size of what is summarized, Summarizer the rung at work: both
	// belong to [PhaseSummarizing], which begins anew with every rung.
	Summarized int
	Summarizer string
}

// progress tells a watching caller which phase begins. Between two phases others may have
// the processor.
func (j *job) progress(p Progress) {
	runtime.Gosched()
	if j.req.OnProgress != nil {
		j.req.OnProgress(p)
	}
}
