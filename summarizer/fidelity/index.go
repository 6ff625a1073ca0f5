package fidelity

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/memo"
	"github.com/elbowroom/elbowroom/internal/parallel"
	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// maxNames is how many names one text may add.
const maxNames = 512

// name is one distinct name of the source.
type name struct {
	text string
	kind kind
	// voices has a bit for each voice that used it.
	voices uint8
	// elsewhere is set when it stands in a message that stays, summarized when it
	// stands in the summary, added when it stands in the section of facts.
	elsewhere, summarized, added bool
	// turns counts the messages with it; lastTurn is the newest, last its passage.
	turns, lastTurn, last int32
	// home and at are the occurrence whose words go with it: the last one of the
	// weightiest voice.
	home, at int32
}

// index is what is known of the source.
type index struct {
	req        *Request
	cues       *facts.Lookout
	reader     reader
	ids        map[string]int32
	shapes     shapes // of the keys of ids
	names      []name
	statements []statement
	wording    *wording // of the statements
	found      []*fact  // those that matter most first
	offsets    []int    // bytes of text before each passage
	bytes      int
}

func newIndex(cues *facts.Lookout, req *Request) *index {
	return &index{
		req: req, cues: cues, ids: make(map[string]int32),
		reader: reader{req: req, byID: make(map[string]*call), byBlock: make(map[*conversation.Block]*call)},
	}
}

// read finds the names and statements of the source.
func (x *index) read() {
	x.reader.readAll()
	passages := x.reader.passages
	mentions := make([][]mention, len(passages))
	parallel.Each(len(passages), func(p int) { mentions[p] = passages[p].remembered(x.req.Memo) })
	x.offsets = make([]int, len(passages))
	for p := range passages {
		x.offsets[p] = x.bytes
		if !passages[p].kept {
			x.bytes += len(passages[p].text)
		}
		x.note(int32(p), mentions[p])
	}
	x.findStatements()
	x.wording = newWording(x.statements)
	x.found = x.facts()
}

// shapes tells quickly of most texts that they are no name that was added. What it
// tells apart are size and three of the characters.
type shapes [1 << 10]uint64

func shapeOf(name string) (word uint32, bit uint64) {
	n := len(name)
	h := (uint32(name[0]) | uint32(name[n/2])<<8 | uint32(name[n-1])<<16 | uint32(n)<<24) * 0x9e3779b1 >> 16
	return h >> 6, 1 << (h & 63)
}

func (s *shapes) add(name string) {
	word, bit := shapeOf(name)
	s[word] |= bit
}

func (s *shapes) mayHave(name string) bool {
	word, bit := shapeOf(name)
	return s[word]&bit != 0
}

// mention is a place in a text at which a name may stand.
type mention struct {
	key        string // the name, without the commas of a number
	start, end int32
	class      facts.Class
	inside     bool // of a path or address that was mentioned before
}

// mentionBytes is the size of a mention in memory, less its key.
const mentionBytes = 40

// remembered is mentions for a text that may be remembered.
func (p *passage) remembered(known *memo.Memo) []mention {
	if known == nil || len(p.text) < memo.Least {
		return p.mentions()
	}
	kind := memo.Names
	if p.ofTool() {
		kind = memo.ToolNames
	}
	key := known.Key(kind, p.text)
	if found, ok := known.Get(key); ok {
		return found.([]mention) //nolint:forcetypeassert // entries of a kind are of one type
	}
	fresh := p.mentions()
	// The copy does not hold on to the text.
	size := 0
	for i := range fresh {
		size += len(fresh[i].key)
	}
	keys := make([]byte, 0, size)
	for i := range fresh {
		keys = append(keys, fresh[i].key...)
	}
	all, kept := string(keys), make([]mention, len(fresh))
	for i := range fresh {
		kept[i] = fresh[i]
		kept[i].key, all = all[:len(fresh[i].key)], all[len(fresh[i].key):]
	}
	known.Put(key, kept, size+mentionBytes*len(kept))
	return kept
}

// ofTool reports whether only a tool says what the text says.
func (p *passage) ofTool() bool { return p.voice == voiceTool && !p.kept }

// mentions lists what may be a name in one text. It depends on the text and ofTool alone.
func (p *passage) mentions() []mention {
	text, within := p.text, 0
	out := make([]mention, 0, len(text)/128)
	tool := p.ofTool()
	facts.Terms(text, func(start, end int, c facts.Class) {
		switch c {
		case facts.Caps:
			if end-start < 5 || text[start] != 'E' {
				return
			}
		case facts.Pair:
			if !facts.Digit(text[end-1]) {
				return
			}
		case facts.Number, facts.Symbol:
			// What a tool alone says of these is no fact (see isFact): most of its text
			// is passed over here.
			if tool && (c == facts.Number || !telling(text[start:end])) {
				return
			}
		case facts.Mixed, facts.Path, facts.Address:
		default:
			return
		}
		if start > 0 && text[start-1] >= utf8.RuneSelf && text[start] == '/' {
			return // the rest of a path with characters that no name is looked for in
		}
		key := text[start:end]
		if c == facts.Number && end-start == 3 {
			from, to, joined, later := grouped(text, start, end)
			if later {
				return
			}
			if joined != "" {
				key, start, end = joined, from, to
			}
		}
		out = append(out, mention{key, int32(start), int32(end), c, start < within})
		if c >= facts.Path {
			within = end
		}
	})
	return out
}

// note takes the names of one passage in. Messages that stay add none; they only
// tell which names are not lost.
func (x *index) note(p int32, mentions []mention) {
	pa := &x.reader.passages[p]
	text, fresh := pa.text, 0
	for i := range mentions {
		m := &mentions[i]
		id, known := x.ids[m.key]
		if !known {
			if pa.kept || fresh >= maxNames || m.inside || strings.HasPrefix(text[m.end:], `":`) {
				continue // neither a part of a name nor a key of JSON adds a name
			}
			fresh++
			id = int32(len(x.names))
			x.ids[m.key] = id
			x.shapes.add(m.key)
			n := name{text: text[m.start:m.end], kind: kindOf(m.key, m.class), lastTurn: -3, home: -1}
			if strings.HasPrefix(text[max(int(m.start)-len(secretHead), 0):], secretHead) {
				n.kind = kindNone // the kind of a secret that was replaced
			}
			x.names = append(x.names, n)
		}
		n := &x.names[id]
		if n.kind == kindNone {
			continue
		}
		if pa.kept {
			n.elsewhere = true
			continue
		}
		n.voices |= 1 << pa.voice
		n.last = p
		if n.lastTurn != pa.turn {
			n.lastTurn = pa.turn
			n.turns++
		}
		if n.home < 0 || pa.voice >= x.reader.passages[n.home].voice {
			n.home, n.at = p, m.start
		}
	}
}

// telling reports whether a symbol is a file's name or an error's.
func telling(s string) bool { return fileName(s) || errorClass(s) }

// secretHead begins the placeholder of a secret (package redact).
const secretHead = "[SECRET:"

// grouped reads a number written in groups of three, 12,345,678. For the group
// after the first comma, text[start:end], it returns the whole and its digits
// without commas; later is set for the groups after that, which the whole holds.
// Any other number stands alone.
func grouped(text string, start, end int) (from, to int, joined string, later bool) {
	if end-start != 3 || start < 2 || text[start-1] != ',' || !facts.Digit(text[start-2]) {
		return start, end, "", false
	}
	from = start - 1
	for from > 0 && start-1-from < 4 && facts.Digit(text[from-1]) {
		from--
	}
	switch {
	case start-1-from > 3:
		return start, end, "", false
	case from >= 2 && text[from-1] == ',' && facts.Digit(text[from-2]):
		return start, end, "", true
	}
	to = end
	for to+4 <= len(text) && to-from < 24 && text[to] == ',' && digits(text[to+1:to+4]) == 3 && (to+4 == len(text) || !facts.Digit(text[to+4])) {
		to += 4
	}
	return from, to, strings.ReplaceAll(text[from:to], ",", ""), false
}

// said are the voices whose every name counts.
const said = 1<<voiceUser | 1<<voiceAssistant | 1<<voiceCall | 1<<voiceEarlier

// isFact reports whether a name is a fact of the removed messages.
func (n *name) isFact() bool {
	return n.kind != kindNone && n.home >= 0 && !n.elsewhere && (n.voices&said != 0 || n.kind.strong())
}

// weigh says how much a name matters.
func (x *index) weigh(n *name) float64 {
	home := &x.reader.passages[n.home]
	w := kindWeights[n.kind] * voiceWeights[home.voice]
	w *= 1 + 0.5*math.Log2(float64(min(n.turns, 16)))
	if n.voices&(1<<voiceCall) != 0 && n.voices != 1<<voiceCall {
		w *= 1.5
	}
	return w * x.recency(n.last)
}

// What a fact keeps of its weight from an earlier round on, and with each more.
const (
	carriedShare = 0.7
	ageing       = 0.85
)

// recency falls from 1 for the newest passage towards a floor; facts of earlier
// rounds lose with every round.
func (x *index) recency(passage int32) float64 {
	if age := x.reader.passages[passage].age; age > 0 {
		return carriedShare * math.Pow(ageing, float64(min(age, 64)))
	}
	const floor, half = 0.4, 32 << 10 // bytes, some 8,000 tokens
	distance := float64(x.bytes - x.offsets[passage])
	return floor + (1-floor)*half/(half+distance)
}
