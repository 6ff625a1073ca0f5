package compressor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/store"
)

const (
	// continuityLife is how long a compression is found again.
	continuityLife = 7 * 24 * time.Hour
	// continuityIndexed bounds how many compressions one place of the index names;
	// the newest stay.
	continuityIndexed = 64
	// continuityTries bounds how often a line is put into a place where others are being
	// put at the same time. Every time one of them succeeds.
	continuityTries = 100
)

// Continuity says whether an earlier compression of the same messages was taken
// over.
type Continuity struct {
	// Looked is false when nothing was looked up.
	Looked bool
	// Hit says that one was found; the rest describes it.
	Hit     bool
	Round   int
	Key     string // for logs
	Covered int    // how many leading messages it covers
}

// chain names the prefixes of a conversation: chain[i] covers everything that
// decides a compression of its first i messages.
type chain [][sha256.Size]byte

// newChain hashes the conversation once. Each link covers the one before it, the
// next message, and whether that is pinned.
func (j *job) newChain() chain {
	window := j.req.ContextWindow
	if window <= 0 {
		window = j.req.Model.ContextWindow
	}
	links := make(chain, 1, len(j.c.Messages)+1)
	links[0] = sha256.Sum256(fmt.Appendf(nil, "%q %q %v %t %v %v %d %q",
		j.req.Tenant, j.req.SessionID, j.c.Format, j.c.Bare, regimeOf(j.req.Model), j.rules, window, j.req.Focus))
	pinned := make(map[int]bool, len(j.req.Pinned))
	for _, i := range j.req.Pinned {
		pinned[i] = true
	}
	h := sha256.New()
	for i := range j.c.Messages {
		h.Reset()
		h.Write(links[i][:])
		fmt.Fprintf(h, "%t\n", pinned[i])
		j.c.Messages[i].WriteContent(h)
		links = append(links, [sha256.Size]byte(h.Sum(nil)))
	}
	return links
}

// key is the link's name in the store.
func (c chain) key(i int) string { return hex.EncodeToString(c[i][:]) }

// compressed is a finished compression as it is stored.
type compressed struct {
	Length int                 `json:"length"`
	Record conversation.Record `json:"record"`
	// Body is the summary's, "" when nothing was summarized. Given is the summary that
	// the caller gave along with the messages.
	Body            string   `json:"body,omitempty"`
	Given           string   `json:"given,omitempty"`
	Round           int      `json:"round,omitempty"`
	Rung            Rung     `json:"rung"`
	Removed         Removed  `json:"removed"`
	Pruned          []Pruned `json:"pruned,omitempty"`
	Repairs         []Repair `json:"repairs,omitempty"`
	Regions         []Region `json:"regions,omitempty"`
	ThinkingRemoved int      `json:"thinking_removed,omitempty"`
}

// fits reports whether an entry is the one for a caller who gives this earlier
// summary: the one it was made with, or the one it wrote.
func (c *compressed) fits(given string) bool {
	given = strings.TrimSpace(given)
	return given == strings.TrimSpace(c.Given) || given == strings.TrimSpace(c.Body)
}

// continuity finds finished compressions again. A store that fails costs a
// compression, never an answer.
//
// A conversation of n messages may begin like any compressed one of up to n, and
// asking for each length would cost n calls. So a compression of length l is named
// at the largest power of two that is not above l: a look-up asks there, from the
// longest power down, and then for the one entry.
type continuity struct{ store store.Store }

// place is where compressions of length l are named.
func place(l int) int { return 1 << (bits.Len(uint(l)) - 1) } //nolint:gosec // l is at least 1

// named is one compression in the index.
type named struct {
	Length int    `json:"length"`
	Key    string `json:"key"`
}

// find returns the compression of the longest prefix.
func (c *continuity) find(ctx context.Context, links chain, given string) (found compressed, key string, ok bool) {
	n := len(links) - 1
	for at := place(n); at >= 1; at /= 2 {
		list := c.index(ctx, links, at)
		slices.SortStableFunc(list, func(a, b named) int { return b.Length - a.Length })
		for _, entry := range list {
			if entry.Length > n || entry.Length < at || links.key(entry.Length) != entry.Key {
				continue
			}
			// Nothing of an entry that does not fit may stay in the next one's fields.
			if found = (compressed{}); c.get(ctx, "continuity/"+entry.Key, &found) && found.Length == entry.Length && found.fits(given) {
				return found, entry.Key, true
			}
		}
	}
	return compressed{}, "", false
}

func (c *continuity) index(ctx context.Context, links chain, at int) []named {
	var list []named
	c.get(ctx, indexKey(links, at), &list)
	return list
}

// indexKey is where compressions are named that begin like the chain's first links.
func indexKey(links chain, at int) string { return "continuity/index/" + links.key(at) }

// put stores a compression of the whole conversation.
func (c *continuity) put(ctx context.Context, links chain, entry compressed) {
	entry.Length = len(links) - 1
	key := links.key(entry.Length)
	c.set(ctx, "continuity/"+key, entry)
	c.name(ctx, indexKey(links, place(entry.Length)), named{entry.Length, key})
}

// name puts a line into the index. Conversations with one beginning can be compressed at
// one time, here and on other servers, and none may overwrite the line of another.
func (c *continuity) name(ctx context.Context, index string, line named) {
	for range continuityTries {
		data, found, err := c.store.Get(ctx, index)
		if err != nil {
			return // see the type's comment
		}
		var list []named
		if json.Unmarshal(data, &list) != nil {
			list = nil // it is not ours, and goes
		}
		list = append(slices.DeleteFunc(list, func(n named) bool { return n.Key == line.Key }), line)
		next, err := json.Marshal(list[max(len(list)-continuityIndexed, 0):])
		if err != nil {
			return
		}
		var done bool
		if found {
			done, err = c.store.Swap(ctx, index, data, next, continuityLife)
		} else {
			done, err = c.store.Claim(ctx, index, next, continuityLife)
		}
		if done || err != nil {
			return
		}
	}
}

func (c *continuity) get(ctx context.Context, key string, value any) bool {
	data, found, err := c.store.Get(ctx, key)
	return err == nil && found && json.Unmarshal(data, value) == nil
}

func (c *continuity) set(ctx context.Context, key string, value any) {
	if data, err := json.Marshal(value); err == nil {
		_ = c.store.Set(ctx, key, data, continuityLife) // see the type's comment
	}
}

// remember stores what was decided on the conversation as it came.
func (j *job) remember(ctx context.Context, links chain, result *Result) {
	record, ok := result.Rewrite.Record()
	if !ok {
		return
	}
	r := &result.Report
	j.engine.continuity.put(context.WithoutCancel(ctx), links, compressed{
		Record: record, Body: result.Summary, Given: j.req.PreviousSummary, Round: r.Round, Rung: r.Rung, Removed: r.Removed,
		Pruned: r.Pruned, Repairs: r.Repairs, Regions: r.Regions, ThinkingRemoved: r.ThinkingRemoved,
	})
}
