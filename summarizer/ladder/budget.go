package ladder

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/elbowroom/elbowroom/store"
	"github.com/elbowroom/elbowroom/summarizer"
)

// budgetPeriod is what a budget is for.
const budgetPeriod = time.Hour

// bytesPerToken is about right for prose and code in every vocabulary in use.
const bytesPerToken = 4

// errBudget is a tenant that has used up its tokens.
var errBudget = errors.New("the tenant's budget of summarizer tokens is used up for this hour")

// budgets bound what language models read and write for one tenant in an hour. A
// store that fails bounds nothing: it costs money, never an answer.
type budgets struct {
	store store.Store
	now   func() time.Time
	// tokens of one tenant in a period; 0 is no bound.
	tokens atomic.Int64
}

// reserve takes the tokens that a call may cost out of the budget, so that calls at
// one time do not exceed it together. settle puts back what it did not cost.
func (b *budgets) reserve(ctx context.Context, tenant string, req *summarizer.Request) (settle func(used int), err error) {
	limit := b.tokens.Load()
	if limit <= 0 {
		return func(int) {}, nil
	}
	now := b.now()
	period := now.UnixNano() / int64(budgetPeriod)
	key := storeKey("budget", tenant, strconv.FormatInt(period, 10))
	var size byteCounter
	for _, turn := range req.Turns {
		turn.Message.WriteContent(&size)
	}
	cost := int64(len(req.Previous)+int(size))/bytesPerToken + int64(req.Budget)
	sum, err := b.store.Add(ctx, key, cost, 2*budgetPeriod)
	if err != nil {
		return func(int) {}, nil //nolint:nilerr // see the type's comment
	}
	add := func(n int64) {
		sum, err := b.store.Add(context.WithoutCancel(ctx), key, n, 2*budgetPeriod)
		if err == nil && sum < 0 {
			// The store has lost the reservation, so there is nothing to put back.
			_, _ = b.store.Add(context.WithoutCancel(ctx), key, cost, 2*budgetPeriod)
		}
	}
	if sum > limit {
		add(-cost)
		end := time.Unix(0, (period+1)*int64(budgetPeriod))
		return nil, &tryError{wait: end.Sub(now), err: errBudget}
	}
	return func(used int) { add(int64(used) - cost) }, nil
}

// byteCounter is a writer that counts.
type byteCounter int

func (c *byteCounter) Write(p []byte) (int, error) {
	*c += byteCounter(len(p))
	return len(p), nil
}
