package compressor

import (
	"cmp"
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
	Length int `json:"length"`
	// Rests is how many of them it rests on, 0 for all.
	Rests  int                 `json:"rests"`
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
//
// Each is named twice: for all messages of its conversation, and for those that it
// rests on (see [job.restsOn]), since callers may put something else in the place of
// the newest ones, such as a reminder that stands at the end of every request.
type continuity struct{ store store.Store }

// place is where compressions that cover l messages are named.
func place(l int) int { return 1 << (bits.Len(uint(l)) - 1) } //nolint:gosec // l is at least 1

// named is one compression in the index.
type named struct {
	// Length is how many messages have to be the same, Key the name of those.
	Length int    `json:"length"`
	Key    string `json:"key"`
	// Of is the key of the compression where it is of more messages.
	Of string `json:"of,omitempty"`
}

// find returns the compression with the longest prefix that fits, and how many
// messages that prefix has.
func (c *continuity) find(ctx context.Context, links chain, fits func(found *compressed, covers int) bool) (found compressed, entry named, ok bool) {
	n := len(links) - 1
	for at := place(n); at >= 1; at /= 2 {
		list := c.index(ctx, links, at)
		slices.SortStableFunc(list, func(a, b named) int { return b.Length - a.Length })
		for _, entry = range list {
			if entry.Length > n || entry.Length < at || links.key(entry.Length) != entry.Key {
				continue
			}
			// Nothing of an entry that does not fit may stay in the next one's fields.
			found = compressed{}
			if !c.get(ctx, "continuity/"+cmp.Or(entry.Of, entry.Key), &found) {
				continue
			}
			covers := found.Length
			if entry.Of != "" {
				covers = found.Rests
			}
			if covers == entry.Length && fits(&found, covers) {
				return found, entry, true
			}
		}
	}
	return compressed{}, named{}, false
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
	c.name(ctx, links, named{Length: entry.Length, Key: key})
	if entry.Rests > 0 && entry.Rests < entry.Length {
		c.name(ctx, links, named{Length: entry.Rests, Key: links.key(entry.Rests), Of: key})
	}
}

// name puts a line into the index, in place of an older one for the same messages.
// Conversations with one beginning can be compressed at one time, here and on other
// servers, and none may overwrite the line of another.
func (c *continuity) name(ctx context.Context, links chain, line named) {
	index := indexKey(links, place(line.Length))
	for range continuityTries {
		data, found, err := c.store.Get(ctx, index)
		if err != nil {
			return // see the type's comment
		}
		var list []named
		if json.Unmarshal(data, &list) != nil {
			list = nil // it is not ours, and goes
		}
		list = append(slices.DeleteFunc(list, func(n named) bool { return n.Key == line.Key && (n.Of == "") == (line.Of == "") }), line)
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

// remember stores what was decided on the conversation as it came. The compression
// rests on least messages or more.
func (j *job) remember(ctx context.Context, links chain, result *Result, least int) {
	record, ok := result.Rewrite.Record()
	if !ok {
		return
	}
	r := &result.Report
	j.engine.continuity.put(context.WithoutCancel(ctx), links, compressed{
		Rests: j.restsOn(&record, least), Record: record, Body: result.Summary, Given: j.req.PreviousSummary, Round: r.Round, Rung: r.Rung, Removed: r.Removed,
		Pruned: r.Pruned, Repairs: r.Repairs, Regions: r.Regions, ThinkingRemoved: r.ThinkingRemoved,
	})
}

// restsOn is how many leading messages a compression needs: all that it changes, what
// it points at, and an answer of the model behind them. No turn of a conversation that
// has them is open where something was changed.
func (j *job) restsOn(record *conversation.Record, least int) int {
	messages := j.c.Messages
	units := conversation.Pair(j.c).Unit
	out, unit := len(messages), len(messages)
	for i := len(messages) - 1; i >= max(record.Reach(), least, 1); i-- {
		unit = min(unit, units[i])
		if unit == i && messages[i].Role == conversation.RoleAssistant && messages[i-1].Role != conversation.RoleAssistant {
			out = i + 1
		}
	}
	return out
}

// fits reports whether an earlier compression is one for this request, of which the
// first messages are those of the compressed conversation.
func (j *job) fits(found *compressed, covers int) bool {
	switch {
	case !found.fits(j.req.PreviousSummary):
		return false
	case covers == found.Length:
		return true
	case j.req.Force, len(j.c.Messages) < found.Length: // it went back, and may be small enough as it is
		return false
	case j.rules.thinking == ThinkingAuto && regimeOf(j.req.Model) != regimeFree && j.hasThinking(covers):
		return false // which may be signed over the messages that would go
	}
	request := j.loopStart() - 1
	return request < 0 || !found.Record.Touches(request)
}
