package redact

import (
	"slices"
	"strconv"
	"strings"
)

// Count says how many secrets of a kind were replaced.
type Count struct {
	Kind string
	// Distinct is the number of different secrets, Total the number of places.
	Distinct, Total int
}

// Redactor replaces secrets in any number of texts of one request. Placeholders
// are numbered by kind in order of appearance. The zero value is ready to use; a
// Redactor is not safe for concurrent use.
type Redactor struct {
	placeholders map[string]placeholder // by secret
	last         map[string]int         // highest number given, by kind
	counts       map[string]Count
	echoes       echoes
	clean        map[string]struct{} // texts known to hold no secret of their own, see Ahead
	work         int                 // bytes looked at, for the tests of linearity
}

type placeholder struct {
	kind, text string
}

// New returns a Redactor for one request. A nil one replaces nothing.
func New() *Redactor { return &Redactor{} }

// Text returns s with every secret replaced. Text without secrets is returned
// as it is, without copying. Placeholders are left alone, so a second pass
// changes nothing.
//
// A secret that was found under a name is also replaced where it stands without
// one, in the same text and in those that follow. To have it replaced in texts
// redacted earlier, pass these once more.
func (r *Redactor) Text(s string) string {
	if r == nil {
		return s
	}
	if _, clean := r.clean[s]; clean && !r.echoed(s) {
		return s
	}
	r.open()
	r.Reserve(s)
	// Each pass replaces at least one place, and what one pass learnt is looked for
	// by the next. Nearly every text needs one pass, one with secrets needs two.
	for range maxPasses {
		before := s
		if s = r.pass(s); s == before {
			break
		}
	}
	return s
}

// pass looks at a text as it stands, and then with its escapes undone.
func (r *Redactor) pass(s string) string {
	v := r.undone(s, 0)
	for level := 0; level <= maxUndone && v != nil; level++ {
		for _, look := range [...]func(*view) string{r.echo, r.scan} {
			if out := look(v); out != s {
				s = out
				if v = r.undone(s, level); v == nil {
					return s
				}
			}
		}
		r.work += len(v.src)
		v = v.undone()
	}
	return s
}

// undone is the view of a text with so many levels of escapes undone, nil where it
// does not have them.
func (r *Redactor) undone(s string, levels int) *view {
	v := &view{src: s}
	for n := 0; n < levels && v != nil; n++ {
		r.work += len(v.src)
		v = v.undone()
	}
	return v
}

// scan replaces the secrets that a view shows.
func (r *Redactor) scan(v *view) string {
	sc := scanner{edit: newEdit(v), r: r}
	for _, part := range v.stretches() {
		sc.run(part[0], part[1])
		sc.work += part[1] - part[0]
	}
	r.work += sc.work
	return sc.finish()
}

// maxPasses bounds the passes over a text. What a pass leaves for the next is a
// value it has only just learnt, so three reach the end.
const maxPasses = 4

// Again redacts what a model wrote back. A secret the Redactor has seen gets the
// placeholder it had; found counts the places, 0 for an answer that is clean.
func (r *Redactor) Again(s string) (out string, found int) {
	before := r.total()
	out = r.Text(s)
	return out, r.total() - before
}

// Reserve reads the placeholders that stand in a text, so that new secrets get
// other numbers. Text does so for its own argument; call Reserve for all texts of
// a request first when a later one may hold placeholders of an earlier request.
func (r *Redactor) Reserve(s string) {
	if r == nil {
		return
	}
	r.open()
	for {
		at := strings.Index(s, placeholderHead)
		if at < 0 {
			return
		}
		s = s[at:]
		kind, n, width := parsePlaceholder(s)
		if width == 0 {
			s = s[len(placeholderHead):]
			continue
		}
		s = s[width:]
		r.last[kind] = max(r.last[kind], n)
	}
}

// Counts lists what was replaced, by kind in alphabetical order.
func (r *Redactor) Counts() []Count {
	if r == nil {
		return nil
	}
	out := make([]Count, 0, len(r.counts))
	for _, c := range r.counts {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Count) int { return strings.Compare(a.Kind, b.Kind) })
	return out
}

func (r *Redactor) total() int {
	n := 0
	for _, c := range r.counts {
		n += c.Total
	}
	return n
}

func (r *Redactor) open() {
	if r.counts != nil {
		return
	}
	r.placeholders = make(map[string]placeholder)
	r.last = make(map[string]int)
	r.counts = make(map[string]Count)
}

// name gives the placeholder of a secret. One that was found by its name is
// remembered, to be found again without it.
func (r *Redactor) name(kind, secret string, remember bool) string {
	p, ok := r.placeholders[secret]
	if !ok {
		r.last[kind]++
		p = placeholder{kind, placeholderHead + kind + "#" + strconv.Itoa(r.last[kind]) + "]"}
		r.placeholders[secret] = p
		if remember {
			r.echoes.add(secret, p)
		}
	}
	c := r.counts[p.kind]
	c.Kind = p.kind
	c.Total++
	if !ok {
		c.Distinct++
	}
	r.counts[p.kind] = c
	return p.text
}

const (
	placeholderHead = "[SECRET:"
	maxDigits       = 7
)

// parsePlaceholder reads the placeholder s begins with; width is 0 when it does
// not begin with one. Only a known kind and a number count, so that nothing can
// hide in something that merely resembles a placeholder.
func parsePlaceholder(s string) (kind string, n, width int) {
	if !strings.HasPrefix(s, placeholderHead) {
		return "", 0, 0
	}
	body, _, ok := strings.Cut(s[len(placeholderHead):min(len(s), 64)], "]")
	kind, digits, numbered := strings.Cut(body, "#")
	if !ok || !numbered || !allDigits(digits) || len(digits) > maxDigits || !isKind(kind) {
		return "", 0, 0
	}
	n, _ = strconv.Atoi(digits)
	return kind, n, len(placeholderHead) + len(body) + 1
}

// withoutPlaceholders returns s without the placeholders in it.
func withoutPlaceholders(s string) string {
	at := strings.Index(s, placeholderHead)
	if at < 0 {
		return s
	}
	var sb strings.Builder
	for {
		sb.WriteString(s[:at])
		s = s[at:]
		if _, _, width := parsePlaceholder(s); width > 0 {
			s = s[width:]
		} else {
			sb.WriteString(placeholderHead)
			s = s[len(placeholderHead):]
		}
		if at = strings.Index(s, placeholderHead); at < 0 {
			sb.WriteString(s)
			return sb.String()
		}
	}
}
