package ladder

import (
	"context"
	"encoding/json"
	"time"

	"github.com/elbowroom/elbowroom/store"
)

// cooldownMemory is how long a session's failures are remembered after the last.
const cooldownMemory = 24 * time.Hour

// waits returns the waits after the first, second and every later failure in a row
// of a session's summarizer (published figures).
func waits(failures int) time.Duration {
	switch failures {
	case 0:
		return 60 * time.Second
	case 1:
		return 300 * time.Second
	default:
		return 900 * time.Second
	}
}

// cooldowns keep a session from calling a summarizer again and again that fails for
// it. A store that fails costs a wait, never an answer.
type cooldowns struct {
	store store.Store
	now   func() time.Time
}

// cooldown is what is remembered of one session and one rung.
type cooldown struct {
	// Failures counts failed calls in a row; Until is the end of the wait in Unix
	// milliseconds.
	Failures int   `json:"failures"`
	Until    int64 `json:"until"`
}

// place names a cooldown. An empty session has none.
type place struct{ tenant, session, rung string }

func (p place) key() string { return storeKey("cooldown", p.tenant, p.session, p.rung) }

func (c cooldowns) get(ctx context.Context, p place) cooldown {
	var rec cooldown
	if p.session == "" {
		return rec
	}
	value, found, err := c.store.Get(ctx, p.key())
	if err != nil || !found || json.Unmarshal(value, &rec) != nil {
		return cooldown{}
	}
	return rec
}

// left is what is left of the wait. Another server's clock may be far ahead of this one's:
// nobody waits longer than the wait was from its beginning.
func (c cooldowns) left(ctx context.Context, p place) time.Duration {
	rec := c.get(ctx, p)
	if rec.Failures < 1 {
		return 0
	}
	return min(max(time.UnixMilli(rec.Until).Sub(c.now()), 0), waits(rec.Failures-1))
}

// fail records a failed call and returns the wait it starts.
func (c cooldowns) fail(ctx context.Context, p place) time.Duration {
	rec := c.get(ctx, p)
	wait := waits(rec.Failures)
	if p.session == "" {
		return wait
	}
	rec.Failures++
	rec.Until = c.now().Add(wait).UnixMilli()
	if value, err := json.Marshal(rec); err == nil {
		_ = c.store.Set(ctx, p.key(), value, cooldownMemory) // see the type's comment
	}
	return wait
}

// succeed forgets the failures.
func (c cooldowns) succeed(ctx context.Context, p place) {
	if p.session != "" && c.get(ctx, p).Failures > 0 {
		_ = c.store.Delete(ctx, p.key()) // see the type's comment
	}
}
