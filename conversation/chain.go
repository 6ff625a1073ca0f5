package conversation

import (
	"math"
	"strings"
)

// ChainSplices joins the byte edits of two rewrites, the second made of the first
// one's result, into one that leads from the source to the last output. Both are
// ascending and disjoint, as [Rewrite.Splices] returns them, and so is the
// result. The work is linear in the number of splices.
func ChainSplices(first, second []Splice) []Splice {
	switch {
	case len(first) == 0:
		return second
	case len(second) == 0:
		return first
	}
	middle := piecesOf(first)
	var out []piece
	at := 0
	for _, sp := range second {
		out = append(out, middle.take(sp.Offset-at)...)
		middle.take(sp.Length)
		if sp.Text != "" {
			out = append(out, piece{text: sp.Text})
		}
		at = sp.Offset + sp.Length
	}
	return splicesOf(append(out, middle...))
}

// piece is part of a rewritten text: new text, or a stretch of the source.
type piece struct {
	text       string
	start, end int
}

func (p piece) len() int {
	if p.text != "" {
		return len(p.text)
	}
	return p.end - p.start
}

// split cuts the piece after n bytes.
func (p piece) split(n int) (head, tail piece) {
	if p.text != "" {
		return piece{text: p.text[:n]}, piece{text: p.text[n:]}
	}
	return piece{start: p.start, end: p.start + n}, piece{start: p.start + n, end: p.end}
}

// pieces is a rewritten text from some place on, none of them empty.
type pieces []piece

// piecesOf describes the text that splices make. How long the source is does not
// matter: the last piece reaches to its end, wherever that is.
func piecesOf(splices []Splice) pieces {
	out := make(pieces, 0, 2*len(splices)+1)
	at := 0
	for _, sp := range splices {
		if sp.Offset > at {
			out = append(out, piece{start: at, end: sp.Offset})
		}
		if sp.Text != "" {
			out = append(out, piece{text: sp.Text})
		}
		at = sp.Offset + sp.Length
	}
	return append(out, piece{start: at, end: math.MaxInt})
}

// take cuts the first n bytes off.
func (p *pieces) take(n int) pieces {
	whole := 0
	for n > 0 && (*p)[whole].len() <= n {
		n -= (*p)[whole].len()
		whole++
	}
	taken := (*p)[:whole:whole]
	*p = (*p)[whole:]
	if n > 0 {
		head, tail := (*p)[0].split(n)
		taken = append(taken, head)
		(*p)[0] = tail
	}
	return taken
}

// splicesOf is the inverse of piecesOf: what lies between two stretches of the
// source was replaced by the text between them.
func splicesOf(text pieces) []Splice {
	var out []Splice
	var between []string
	at := 0
	for _, p := range text {
		if p.text != "" {
			between = append(between, p.text)
			continue
		}
		if p.start > at || len(between) > 0 {
			out = append(out, Splice{at, p.start - at, strings.Join(between, "")})
			between = between[:0]
		}
		at = p.end
	}
	return out
}

// ChainPrograms joins the edit programs of two rewrites, the second made of the
// first one's result, into one that leads from the first input to the last
// output. Every element of the first input appears in it exactly once. The first
// rewrite must not have marked a system prompt that is one string: marking makes
// a list of it, whose elements the second program would count.
func ChainPrograms(first, second []Op) []Op {
	var out program
	for _, section := range []Section{SectionTools, SectionSystem, SectionMessages, SectionBody} {
		a, b := inSection(first, section), inSection(second, section)
		switch {
		case len(a) == 0:
			out = append(out, b...)
		case len(b) == 0:
			out = append(out, a...)
		default:
			chainSection(&out, a, b)
		}
	}
	return out
}

// inSection returns the ops of one section, which stand together.
func inSection(ops []Op, section Section) []Op {
	start := 0
	for start < len(ops) && ops[start].Section != section {
		start++
	}
	end := start
	for end < len(ops) && ops[end].Section == section {
		end++
	}
	return ops[start:end]
}

// chainSection joins the programs of one section: it follows the second one over
// the elements that the first one makes.
func chainSection(out *program, first, second []Op) {
	middle := middleList{ops: first, out: out}
	for _, op := range second {
		switch op.Kind {
		case OpKeep:
			for range op.End - op.Start {
				out.add(middle.next())
			}
		case OpReplace:
			made := middle.next()
			if made.Kind == OpKeep {
				made.Kind = OpReplace
			}
			// What the first step inserted and the second one changed is still an insert.
			made.JSON, made.New = op.JSON, nil
			out.add(made)
		case OpDrop:
			for range op.End - op.Start {
				if made := middle.next(); made.Kind != OpInsert {
					out.add(Op{Section: made.Section, Kind: OpDrop, Start: made.Start, End: made.End})
				}
			}
		case OpInsert:
			at := middle.position()
			op.Start, op.End = at, at
			out.add(op)
		}
	}
	middle.drops()
}

// middleList walks the elements that a program makes, one by one.
type middleList struct {
	ops  []Op
	used int // elements taken of the keep that ops begins with
	at   int // input elements passed
	out  *program
}

// next returns the op that makes the next element: a keep or replace of one
// input element, or an insert. Drops on the way to it are passed on to out.
func (m *middleList) next() Op {
	m.drops()
	op := m.ops[0]
	if op.Kind == OpKeep {
		op.Start += m.used
		op.End = op.Start + 1
		m.used++
		if op.End < m.ops[0].End {
			m.at = op.End
			return op
		}
		m.used = 0
	}
	m.ops = m.ops[1:]
	m.at = max(m.at, op.End)
	return op
}

// drops passes the drops that come next on to out.
func (m *middleList) drops() {
	for len(m.ops) > 0 && m.ops[0].Kind == OpDrop {
		m.out.add(m.ops[0])
		m.at = m.ops[0].End
		m.ops = m.ops[1:]
	}
}

// position is the input index before which the next element stands.
func (m *middleList) position() int { return m.at }
