package redact

import (
	"strings"

	"github.com/elbowroom/elbowroom/internal/memo"
	"github.com/elbowroom/elbowroom/internal/parallel"
)

// Ahead looks at texts that Text will be called with, on as many processors as there
// are. Text returns the same as without it, sooner: what a text holds of its own does
// not depend on the texts before it, so of those without secrets nothing is left to be
// looked for but secrets that other texts made known. That is remembered in known, which
// may be nil. The texts are held on to.
func (r *Redactor) Ahead(texts []string, known *memo.Memo) {
	if r == nil {
		return
	}
	clean := make([]bool, len(texts))
	parallel.Each(len(texts), func(i int) { clean[i] = wasClean(texts[i], known) })
	if r.clean == nil {
		r.clean = make(map[string]struct{}, len(texts))
	}
	for i, text := range texts {
		if clean[i] {
			r.clean[text] = struct{}{}
		}
	}
}

// wasClean is isClean for a text that may be remembered.
func wasClean(s string, known *memo.Memo) bool {
	if known == nil || len(s) < memo.Least {
		return isClean(s)
	}
	key := known.Key(memo.Clean, s)
	if clean, found := known.Get(key); found {
		return clean.(bool) //nolint:forcetypeassert // entries of a kind are of one type
	}
	clean := isClean(s)
	known.Put(key, clean, 0)
	return clean
}

// isClean reports whether a text holds neither a secret nor a placeholder.
func isClean(s string) bool {
	return !strings.Contains(s, placeholderHead) && New().Text(s) == s
}
