package compressor

import (
	"context"
	"slices"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/memo"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/extractive"
	"github.com/elbowroom/elbowroom/summarizer/fidelity"
)

// aheadShare is the share of the threshold from which messages are read ahead. Most
// conversations end below it, and would have been read for nothing.
const aheadShare = 0.5

// readAhead does for the messages that came since the last turn what a compression
// will have to do for every message by itself: looking for secrets, cutting into lines,
// looking for names. It takes a fraction of a millisecond a turn, and the turn that
// compresses waits that much less. What it finds out goes into the memo alone.
func (j *job) readAhead(ctx context.Context) {
	known := j.memo()
	if known == nil || !j.quotes() || ctx.Err() != nil || float64(j.report.JudgedTokens) < aheadShare*float64(j.budget.threshold) {
		return
	}
	var fresh []summarizer.Turn
	var keys []memo.Key
	for i := len(j.c.Messages) - 1; i >= 0; i-- {
		m := &j.c.Messages[i]
		key := messageKey(known, m.Blocks)
		if _, read := known.Get(key); read {
			break // and so were those before it
		}
		fresh, keys = append(fresh, summarizer.Turn{Index: i, Message: m}), append(keys, key)
	}
	if len(fresh) == 0 {
		return
	}
	slices.Reverse(fresh)
	extractive.Ahead(&summarizer.Request{Turns: fresh, KeepSecrets: !j.rules.redact, Memo: known})
	// Some of them will be summarized, the others stay: both are looked at for names.
	j.engine.checker.Read(fidelity.Request{Turns: fresh, Kept: fresh, Memo: known})
	for _, key := range keys {
		known.Put(key, true, 0)
	}
}

// messageKey is the key that says that a message was read.
func messageKey(known *memo.Memo, blocks []conversation.Block) memo.Key {
	var key memo.Key
	for i := range blocks {
		b := &blocks[i]
		for _, text := range [...]string{b.Text, b.Input, b.Raw} {
			key = key.Join(known.Key(memo.Seen, text))
		}
		if len(b.Result) > 0 {
			key = key.Join(messageKey(known, b.Result))
		}
	}
	return key
}

// memo is what is remembered of the tenant's texts.
func (j *job) memo() *memo.Memo { return j.engine.memo.For(j.req.Tenant) }
