package redact

import (
	"slices"
	"strings"
)

// echoes are the secrets of the request that were found under a name and are to
// be found without it too. They are indexed by their first eight bytes, and a
// table of their first two keeps the search fast.
type echoes struct {
	starts *[1 << 16]bool
	byHead map[[echoHead]byte][]echo
}

type echo struct {
	secret string
	shown  placeholder
}

const (
	echoHead = 8
	// maxEchoes bounds the secrets with the same beginning, maxEcho their length, in
	// bytes: what is compared at one place stays bounded.
	maxEchoes = 16
	maxEcho   = 512
)

// add remembers a secret if it cannot be an ordinary word: POSTGRES_PASSWORD=postgres
// must not take every mention of postgres with it.
func (e *echoes) add(secret string, p placeholder) {
	if len(secret) < echoHead || len(secret) > maxEcho || !random(secret) && !hasSign(secret) {
		return
	}
	if e.starts == nil {
		e.starts = new([1 << 16]bool)
		e.byHead = make(map[[echoHead]byte][]echo)
	}
	head := [echoHead]byte([]byte(secret))
	if same := e.byHead[head]; len(same) < maxEchoes {
		same = append(same, echo{secret, p})
		slices.SortStableFunc(same, func(a, b echo) int { return len(b.secret) - len(a.secret) })
		e.byHead[head] = same
		e.starts[int(secret[0])<<8|int(secret[1])] = true
	}
}

// echo replaces the remembered secrets that a view shows.
func (r *Redactor) echo(v *view) string {
	e := newEdit(v)
	if r.echoes.starts == nil {
		return e.text
	}
	for _, part := range v.stretches() {
		for i := max(part[0], e.copied); i < part[1] && i+echoHead <= len(v.src); {
			i += max(1, r.echoAt(&e, i))
		}
	}
	return e.finish()
}

// echoAt replaces the remembered secret at i and returns the width of what is to be
// passed over, 0 for nothing.
func (r *Redactor) echoAt(e *edit, i int) int {
	s := e.src
	if s[i] == '[' {
		if _, _, width := parsePlaceholder(s[i:]); width > 0 {
			return width
		}
	}
	known, ok := r.known(s, i)
	if !ok {
		return 0
	}
	end := i + len(known.secret)
	e.put(i, end, r.name(known.shown.kind, known.secret, false))
	return end - i
}

// known finds the remembered secret that stands in s at i.
func (r *Redactor) known(s string, i int) (echo, bool) {
	if !r.echoes.starts[int(s[i])<<8|int(s[i+1])] {
		return echo{}, false
	}
	for _, known := range r.echoes.byHead[[echoHead]byte([]byte(s[i:i+echoHead]))] {
		r.work += len(known.secret)
		if strings.HasPrefix(s[i:], known.secret) && standsAlone(s, i, i+len(known.secret)) {
			return known, true
		}
	}
	return echo{}, false
}

// echoed reports whether a text shows a remembered secret.
func (r *Redactor) echoed(s string) bool {
	if r.echoes.starts == nil {
		return false
	}
	v := &view{src: s}
	for level := 0; level <= maxUndone && v != nil; level++ {
		for _, part := range v.stretches() {
			for i := part[0]; i < part[1] && i+echoHead <= len(v.src); i++ {
				if _, found := r.known(v.src, i); found {
					return true
				}
			}
		}
		r.work += len(v.src)
		v = v.undone()
	}
	return false
}

// standsAlone reports whether s[start:end] is not part of a longer word. A long
// secret is one wherever it stands.
func standsAlone(s string, start, end int) bool {
	if end-start >= 16 {
		return true
	}
	return (start == 0 || !isAlnum(s[start-1]) || !isAlnum(s[start]) || afterEscape(s, start)) &&
		(end == len(s) || !isAlnum(s[end]) || !isAlnum(s[end-1]))
}

// afterEscape reports whether the letter before i belongs to an escape such as \n.
func afterEscape(s string, i int) bool {
	return i >= 2 && s[i-2] == '\\' && strings.IndexByte("nrt", s[i-1]) >= 0
}
