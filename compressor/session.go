package compressor

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/elbowroom/elbowroom/store"
)

// Figures of the session rules.
const (
	// poorSaving is the share under which a compression counts as poor; after
	// poorLimit of them the session waits until it has grown by regrowth.
	poorSaving = 0.10
	poorLimit  = 2
	regrowth   = 1.10
	// sessionLife is how long a session is remembered after its last compression.
	sessionLife = 24 * time.Hour
)

// session is what is remembered of one.
type session struct {
	// Poor counts compressions in a row that saved little; Tokens is the size after
	// the last one.
	Poor   int `json:"poor,omitempty"`
	Tokens int `json:"tokens,omitempty"`
}

// session names the request's session among those of all tenants, empty for none.
func (j *job) session() string {
	if j.req.SessionID == "" {
		return ""
	}
	return strconv.Quote(j.req.Tenant) + j.req.SessionID
}

// sessions reads and writes session records. A store that fails costs a wait,
// never an answer.
type sessions struct{ store store.Store }

func (s sessions) get(ctx context.Context, id string) session {
	var rec session
	if id == "" {
		return rec
	}
	value, found, err := s.store.Get(ctx, "session/"+id)
	if err != nil || !found || json.Unmarshal(value, &rec) != nil {
		return session{}
	}
	return rec
}

func (s sessions) put(ctx context.Context, id string, rec session) {
	if id == "" {
		return
	}
	if value, err := json.Marshal(rec); err == nil {
		_ = s.store.Set(ctx, "session/"+id, value, sessionLife) // see the type's comment
	}
}

// thrashing is the size in tokens from which the session may be compressed
// again, 0 when it may at once.
func (s sessions) thrashing(ctx context.Context, id string) int {
	rec := s.get(ctx, id)
	if rec.Poor < poorLimit {
		return 0
	}
	return int(regrowth * float64(rec.Tokens))
}

// record notes a finished compression.
func (s sessions) record(ctx context.Context, id string, before, after int) {
	if id == "" {
		return
	}
	rec := session{Tokens: after}
	if float64(before-after) < poorSaving*float64(before) {
		rec.Poor = s.get(ctx, id).Poor + 1
	}
	s.put(ctx, id, rec)
}
