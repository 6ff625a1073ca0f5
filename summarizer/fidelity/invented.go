package fidelity

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// suspect is a name in the summary that the index does not know.
type suspect struct {
	start, end int
	class      facts.Class
	// forms are the ways in which the source may say it: one of them must occur with
	// all of its pieces.
	forms    [][]string
	invented bool
}

// wanted are the pieces that are looked for, in small letters, and whether they
// were found.
type wanted struct {
	found map[string]bool
	sizes sizes
	left  int // pieces not found yet
}

// withoutInventions takes names out of the summary that occur nowhere in its
// source, and lists them.
func (x *index) withoutInventions(text string) (string, []string) {
	suspects := x.suspects(text)
	if len(suspects) == 0 {
		return text, nil
	}
	w := &wanted{found: make(map[string]bool)}
	for i := range suspects {
		s := &suspects[i]
		s.forms = formsOf(text[s.start:s.end], s.class)
		for _, form := range s.forms {
			for _, piece := range form {
				if len(piece) <= facts.MaxName {
					w.found[piece] = false
					w.sizes[len(piece)] = true
				}
			}
		}
	}
	w.left = len(w.found)
	x.eachSource(w.search)
	x.wholeAddresses(text, suspects, w)
	var out []suspect
	for _, s := range suspects {
		if s.invented = !w.any(s.forms); s.invented {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return text, nil
	}
	return removeSpans(text, out)
}

// any reports whether all pieces of one of the forms were found.
func (w *wanted) any(forms [][]string) bool {
	for _, form := range forms {
		all := len(form) > 0
		for _, piece := range form {
			all = all && w.found[piece]
		}
		if all {
			return true
		}
	}
	return false
}

// search looks for the pieces in one text, as it stands and without its escapes.
func (w *wanted) search(text string) {
	w.look(text)
	if strings.IndexByte(text, '\\') < 0 {
		return
	}
	w.look(withoutEscapes(text))
	for range 2 { // JSON inside of JSON
		if plain := facts.Unescape(text); plain != text {
			w.look(plain)
			text = plain
		}
	}
}

func (w *wanted) look(text string) {
	if w.left == 0 {
		return
	}
	text = strings.ToLower(plainSigns(text))
	mark := func(s string) {
		if found, ok := w.found[s]; ok && !found {
			w.found[s] = true
			w.left--
		}
	}
	eachName(text, &w.sizes, mark)
	for at := strings.IndexByte(text, ','); at >= 0; {
		if at+4 <= len(text) && digits(text[at+1:at+4]) == 3 {
			if _, _, joined, _ := grouped(text, at+1, at+4); joined != "" {
				mark(joined)
			}
		}
		next := strings.IndexByte(text[at+1:], ',')
		if next < 0 {
			break
		}
		at += 1 + next
	}
}

// maxAddresses is how many addresses are looked for sign by sign.
const maxAddresses = 16

// wholeAddresses looks for addresses with signs that no other name has.
func (x *index) wholeAddresses(text string, suspects []suspect, w *wanted) {
	n := 0
	for i := range suspects {
		s := &suspects[i]
		if s.class != facts.Address || w.any(s.forms) || n == maxAddresses {
			continue
		}
		n++
		address := text[s.start:s.end]
		x.eachSource(func(source string) {
			if strings.Contains(source, address) {
				w.found[s.forms[0][0]] = true
			}
		})
	}
}

// eachSource yields every text that a name may come from.
func (x *index) eachSource(yield func(string)) {
	give := func(s string) {
		if s != "" {
			yield(s)
		}
	}
	block := func(b *conversation.Block) {
		give(b.Text)
		give(b.Input)
		give(b.ID)
		give(b.AltID)
		give(b.Name)
		give(b.Raw)
		if m := b.Media; m != nil {
			give(m.Filename + " " + m.MIMEType + " " + strconv.Itoa(m.Width) + "x" + strconv.Itoa(m.Height) + " " + strconv.Itoa((len(m.Bytes)+len(m.Data)/4*3+1023)/1024))
			if len(m.URI) < 4096 {
				give(m.URI)
			}
		}
		if b.Kind == conversation.KindOpaque {
			give(strconv.Itoa(len(b.Raw)))
		}
	}
	for _, list := range [][]summarizer.Turn{x.req.Turns, x.req.Kept, x.req.Shortened} {
		for _, t := range list {
			if t.Message == nil {
				continue
			}
			for b := range t.Message.Blocks {
				block(&t.Message.Blocks[b])
				for i := range t.Message.Blocks[b].Result {
					block(&t.Message.Blocks[b].Result[i])
				}
			}
		}
	}
	for _, s := range x.req.Known {
		give(s)
	}
	give(x.req.Previous)
	give(x.req.Carried)
}

// suspects lists the names of the summary that must come from the source and are
// not known to. Of names inside each other the outer ones count.
func (x *index) suspects(text string) []suspect {
	var out []suspect
	facts.Terms(text, func(start, end int, c facts.Class) {
		if c == facts.Number {
			from, to, joined, later := grouped(text, start, end)
			if later {
				return
			}
			if joined != "" {
				start, end = from, to
			}
		}
		end = nameEnd(text, start, end)
		if !judged(text, start, end, c) {
			return
		}
		if _, known := x.ids[text[start:end]]; known {
			return
		}
		if n := len(out); n > 0 && start < out[n-1].end {
			if end-start <= out[n-1].end-out[n-1].start {
				return
			}
			out = out[:n-1]
		}
		out = append(out, suspect{start: start, end: end, class: c})
	})
	return out
}

// nameEnd is the end of a name without the signs of other scripts after it.
func nameEnd(text string, start, end int) int {
	for end > start {
		r, n := utf8.DecodeLastRuneInString(text[start:end])
		if r < utf8.RuneSelf || unicode.IsLetter(r) && !facts.Unspaced(r) || unicode.Is(unicode.Mn, r) {
			break
		}
		end -= n
	}
	return end
}

// judged reports whether a name is one that must not be invented: an address, a
// path, an identifier, a number of three digits or more, an error class; other
// symbols where they are marked as code.
func judged(text string, start, end int, c facts.Class) bool {
	s := text[start:end]
	before, after := strings.TrimSuffix(text[:start], " "), strings.TrimPrefix(text[end:], " ")
	if strings.HasPrefix(after, "…") || strings.HasPrefix(text[end:], "...") || strings.HasSuffix(before, "…") || strings.Contains(s, "...") {
		return false // a part of a name that was cut
	}
	if start > 0 && text[start-1] == '\\' {
		return false // a part of a name with escapes in it
	}
	code := start > 0 && (text[start-1] == '`' || text[start-1] == '/' && start > 1 && text[start-2] == '`') || end < len(text) && text[end] == '`'
	switch c {
	case facts.Address:
		return true
	case facts.Path:
		last := s[strings.LastIndexByte(s, '/')+1:]
		return code || s[0] == '/' || s[0] == '.' || s[0] == '~' || strings.IndexByte(last, '.') > 0 || strings.IndexByte(s, '_') >= 0
	case facts.Mixed:
		return digits(s) >= 3 || len(s) >= 8 && digits(s) >= 2 || code && len(s) >= 6
	case facts.Number:
		return digits(s) >= 3 && !reference(text, start, end)
	case facts.Symbol:
		return code || fileName(s) || len(s) >= 6 && (facts.Alarming(s, c) || strings.ToUpper(s) == s)
	case facts.Caps:
		return len(s) >= 5 && s[0] == 'E' && kindOf(s, c) == kindError
	}
	return false
}

// reference reports whether a number names a message: [123], [r2:123], message 123.
func reference(text string, start, end int) bool {
	open := start
	for open > 0 && start-open < 24 && (facts.Digit(text[open-1]) || strings.IndexByte("r:,- ", text[open-1]) >= 0) {
		open--
	}
	shut := end
	for shut < len(text) && shut-end < 24 && (facts.Digit(text[shut]) || strings.IndexByte("r:,- ", text[shut]) >= 0) {
		shut++
	}
	if open > 0 && text[open-1] == '[' && shut < len(text) && text[shut] == ']' {
		return true
	}
	return strings.HasSuffix(text[:start], "message ") || strings.HasSuffix(text[:start], "messages ") || strings.HasSuffix(text[:start], "#")
}

// formsOf lists the ways in which the source may say a name.
func formsOf(s string, c facts.Class) [][]string {
	s = strings.ToLower(s)
	forms := [][]string{{s}}
	// Signs that no name is looked for with part it.
	parts := strings.FieldsFunc(s, func(r rune) bool {
		return r < utf8.RuneSelf && !facts.Letter(byte(r)) && !facts.Digit(byte(r)) && r != '_' && !joins(byte(r))
	})
	if len(parts) > 1 {
		forms = append(forms, parts)
	}
	switch c {
	case facts.Address:
		if _, rest, ok := strings.Cut(s, "://"); ok {
			forms = append(forms, []string{strings.TrimRight(rest, "/")})
		}
	case facts.Path:
		bare := strings.TrimLeft(s, "./~")
		forms = append(forms, []string{bare})
		// A directory and a file in it, each known, make a path.
		for at, cuts := strings.IndexByte(bare, '/'), 0; at > 0 && cuts < 16; cuts++ {
			forms = append(forms, []string{bare[:at], bare[at+1:]})
			next := strings.IndexByte(bare[at+1:], '/')
			if next < 0 {
				break
			}
			at += 1 + next
		}
	case facts.Number:
		forms = append(forms, []string{strings.ReplaceAll(s, ",", "")}, piecesOf(s, func(a, b byte) bool { return false }))
	case facts.Mixed:
		forms = append(forms, piecesOf(s, func(a, b byte) bool { return facts.Digit(a) != facts.Digit(b) && a != '.' && b != '.' }))
	case facts.Symbol:
		if dot := strings.LastIndexByte(s, '.'); dot >= 3 && fileName(s) {
			forms = append(forms, []string{s[:dot]})
		}
	}
	return forms
}

// piecesOf parts a name at '-', '_' and ':' and where parted says so. It returns
// nothing when the pieces worth looking for are not most of the name.
func piecesOf(s string, parted func(a, b byte) bool) []string {
	var out []string
	size, start := 0, 0
	take := func(end int) {
		piece := strings.Trim(s[start:end], ".")
		switch n := digits(piece); {
		case len(piece) >= 3, n == 2:
			out = append(out, piece)
			size += len(piece)
		case n == 0: // a unit, the v of a version
			size += len(piece)
		}
	}
	for i := 1; i <= len(s); i++ {
		switch {
		case i == len(s):
			take(i)
		case s[i] == '-' || s[i] == '_' || s[i] == ':':
			take(i)
			start = i + 1
			size++
		case i > start && parted(s[i-1], s[i]):
			take(i)
			start = i
		}
	}
	if size*10 < len(s)*8 {
		return nil
	}
	return out
}
