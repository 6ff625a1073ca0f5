package breakpoints

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"unsafe"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/seal"
)

// stateKind is the first byte of every cache state: its kind and version.
const stateKind = 3

// stateEnds is how many ends of earlier requests a state holds: one is enough while a
// conversation grows, the others serve when its newest messages are replaced.
const stateEnds = 4

// state is what a cache state carries. Places are named by what stands before them.
type state struct {
	// Layout and Model are those of the request: entries of others cannot be read.
	Layout string `json:"l"`
	Model  string `json:"m"`
	// Tools and System are digests, the latter of the static part, to see whether the
	// system prompt alone has changed.
	Tools  uint32 `json:"t"`
	System uint32 `json:"s"`
	// Varies is set once it has.
	Varies bool `json:"v,omitempty"`
	// Ends are the last blocks of this request and of those before, the longest first.
	Ends []end `json:"e"`
}

// end is the end of a request: the bytes of content before it, and their digest.
type end struct {
	Bytes  int64  `json:"n"`
	Digest uint32 `json:"d"`
}

// chain hashes what a conversation says, block by block. Marks and the way strings,
// lists, schemas and arguments are written make no difference; the order of keys does. The sum is one that
// processors take at the speed of memory, since the whole conversation goes through it
// in every call. It keeps nobody out, the seal does that: an end that is mistaken for
// another costs a mark that finds nothing.
type chain struct {
	sum   uint32
	bytes int64
	table *crc32.Table
}

func newChain() *chain { return &chain{table: crc32.MakeTable(crc32.Castagnoli)} }

// Write implements io.Writer.
func (c *chain) Write(p []byte) (int, error) {
	c.bytes += int64(len(p))
	c.sum = crc32.Update(c.sum, c.table, p)
	return len(p), nil
}

// WriteString implements io.StringWriter.
func (c *chain) WriteString(s string) (int, error) {
	return c.Write(unsafe.Slice(unsafe.StringData(s), len(s))) //nolint:gosec // Write only reads, and a copy takes longer than the sum
}

func (c *chain) digest() uint32 { return c.sum }

// history is what a walk over the conversation finds.
type history struct {
	tools, system uint32
	// last is the end of this request, found the ends that the old state names, in the
	// order of the conversation, with the places they are at.
	last  end
	found []foundEnd
}

type foundEnd struct {
	end
	at site
}

// walk hashes the conversation up to its last marked block and finds the ends that
// the old state names.
func (p *placer) walk(old []end, system static, last site) history {
	c := newChain()
	for i := range p.c.Tools {
		t := &p.c.Tools[i]
		fmt.Fprintf(c, "%q %q %q %s\n", t.Type, t.Name, t.Description, conversation.Canonical(t.Schema))
	}
	out, found := history{tools: c.digest()}, false
	for _, b := range p.systemBlocks() { // as one text, since it may be split
		static := len(b.text)
		ends := len(system.end) > 0 && b.at == system.end[0]
		if ends && p.splitAt > 0 {
			static = p.splitAt
		}
		_, _ = io.WriteString(c, b.text[:static])
		if ends {
			out.system, found = c.digest(), true
		}
		_, _ = io.WriteString(c, b.text[static:])
	}
	if !found {
		out.system = c.digest()
	}
	content := conversation.ContentWriter{W: c, Source: p.c}
	for i := p.first; i <= last.message; i++ {
		m := &p.c.Messages[i]
		for b := range m.Blocks {
			one := conversation.Message{Role: m.Role, Name: m.Name, Blocks: m.Blocks[b : b+1]}
			content.Message(&one)
			for _, e := range old {
				if e.Bytes == c.bytes && e.Digest == c.digest() {
					at, _ := p.siteOf(i, b)
					out.found = append(out.found, foundEnd{e, at})
				}
			}
			if i == last.message && b == last.block {
				out.last = end{c.bytes, c.digest()}
				return out
			}
		}
	}
	return out
}

// readState opens the state that was handed over. What does not belong to this
// layout and model is of no use.
func (p *placer) readState() (state, bool) {
	payload, verdict := p.seal().Open(p.opts.State)
	p.out.StateVerdict = verdict
	var s state
	switch {
	case !verdict.Good():
		return state{}, false
	case json.Unmarshal(payload, &s) != nil:
		p.out.StateVerdict = seal.Broken
		return state{}, false
	case s.Layout != p.layout.String() || s.Model != p.opts.Model:
		p.out.StateVerdict = "ignored: of another layout or model"
		return state{}, false
	}
	return s, true
}

func (p *placer) seal() seal.Codec {
	return seal.Codec{Kind: stateKind, Keys: p.opts.StateKeys, Tenant: p.opts.Tenant}
}

// writeState seals what the next request has to know.
func (p *placer) writeState(h *history, varies bool) {
	s := state{Layout: p.layout.String(), Model: p.opts.Model, Tools: h.tools, System: h.system, Varies: varies, Ends: []end{h.last}}
	for _, f := range slices.Backward(h.found) {
		if f.end != h.last && len(s.Ends) < stateEnds {
			s.Ends = append(s.Ends, f.end)
		}
	}
	payload, err := json.Marshal(s)
	if err != nil {
		return // strings and numbers always encode
	}
	p.out.State = p.seal().Seal(payload)
}
