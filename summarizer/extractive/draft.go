package extractive

import (
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/parallel"
	"github.com/elbowroom/elbowroom/internal/redact"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// draft is everything the rules found, before the budget decides.
type draft struct {
	req     *summarizer.Request
	script  *script
	secret  *redact.Redactor
	lex     *lexicon
	cues    *facts.Lookout
	units   []unit
	refs    []int32
	weights []float64
	query   *query

	// notes holds the candidates of each section, the best first.
	notes [sectionCount][]*note
	// carried holds the lines of the previous summary, the newest first.
	carried [sectionCount][]*note
	told    map[line]bool // lines already noted
	offsets []int         // bytes of text before each passage
	average float64
}

// line is the text of a note and where it stands.
type line struct {
	section section
	text    string
}

// newDraft reads the middle and prepares the measures every rule uses.
func newDraft(req *summarizer.Request, secret *redact.Redactor, cues *facts.Lookout, spare *spares) *draft {
	s := read(req, secret)
	q := newQuery(req.Focus)
	if q.empty() {
		q = newQuery(req.Latest)
	}
	lex, units, refs := cut(s, q, req.Memo, spare)
	d := &draft{req: req, script: s, secret: secret, lex: lex, cues: cues, units: units, refs: refs, query: q, told: make(map[line]bool)}
	parallel.Each(len(s.calls), func(i int) {
		c := &s.calls[i]
		c.outcome, c.what, c.file = d.outcomeOf(c), keyArguments(c), fileTool(c)
	})
	d.noteCalls()
	d.weights = lex.weights(len(d.units))
	q.weigh(lex, len(d.units))
	d.average = float64(len(d.refs)+1) / float64(len(d.units)+1)
	sum := 0
	for i := range s.passages {
		d.offsets = append(d.offsets, sum)
		sum += len(s.passages[i].text)
	}
	return d
}

// noteCalls counts the terms of short arguments: what the assistant passes to a
// tool is what it works with.
func (d *draft) noteCalls() {
	for i := range d.script.calls {
		c := &d.script.calls[i]
		for _, a := range c.args {
			text := a.Value
			if a.IsString {
				text = a.Text
			}
			if len(text) > maxKeyArg {
				continue
			}
			facts.Terms(text, func(start, end int, cl facts.Class) {
				d.lex.terms[d.lex.id(text[start:end], cl)].seen(-2-int32(i), int32(c.turn), voiceCall)
			})
		}
	}
}

// refsOf lists the terms of a text without counting them.
func (d *draft) refsOf(text string) []int32 {
	var refs []int32
	facts.Terms(text, func(start, end int, c facts.Class) { refs = append(refs, d.lex.id(text[start:end], c)) })
	for len(d.weights) < len(d.lex.terms) {
		d.weights = append(d.weights, shapeWeight(d.lex.terms[len(d.weights)].class))
	}
	return refs
}

// add keeps a note of this round.
func (d *draft) add(n note) {
	if conversation.Blank(n.text) {
		return
	}
	same := line{n.section, n.text}
	if d.told[same] {
		return
	}
	d.told[same] = true
	n.seq = len(d.notes[n.section])
	n.refs = d.refsOf(n.text)
	d.notes[n.section] = append(d.notes[n.section], &n)
}

// worth is the sum of the weights of some terms, each once.
func (d *draft) worth(refs []int32) float64 {
	sum := 0.0
	for i, id := range refs {
		dup := false
		for _, have := range refs[max(0, i-8):i] {
			dup = dup || have == id
		}
		if !dup {
			sum += d.weights[id]
		}
	}
	return sum
}

// recency falls from 1 for the newest passage towards a floor: what was said
// last is needed most, yet the oldest is not worthless.
func (d *draft) recency(passage int) float64 {
	const floor, half = 0.4, 32 << 10 // bytes, some 8,000 tokens
	distance := float64(d.script.bytes - d.offsets[passage])
	return floor + (1-floor)*half/(half+distance)
}
