package breakpoints

import (
	"bytes"
	"strings"
)

// volatileLine finds the start of the first line of a system prompt that looks as if
// it changed from one request to the next: a moment, a working directory, the state
// of a repository, an id, a counter in per cent. It is -1 for none.
func volatileLine(text string) int {
	var lower []byte // room for one line
	for at := 0; at < len(text); {
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			end = len(text) - at
		}
		lower = append(lower[:0], text[at:at+end]...)
		for i, c := range lower {
			if 'A' <= c && c <= 'Z' {
				lower[i] = c + 'a' - 'A'
			}
		}
		if line(lower).changes() {
			return at
		}
		at += end + 1
	}
	return -1
}

// line is one line in small letters.
type line []byte

func (l line) changes() bool {
	return l.has("today is") || l.has("working directory") || l.has("current directory") || l.has("current branch") ||
		l.assigns("cwd") || l.assigns("git status") || l.assigns("git branch") ||
		l.names("today") || l.names("current") || l.names("local") || l.stamped()
}

// has reports whether words stand in the line.
func (l line) has(words string) bool { return l.word(words, 0) >= 0 }

// word finds words that are not part of longer ones, from a place on.
func (l line) word(words string, from int) int {
	for from <= len(l)-len(words) {
		at := bytes.Index(l[from:], []byte(words))
		if at < 0 {
			return -1
		}
		at += from
		if end := at + len(words); (at == 0 || !letter(l[at-1])) && (end == len(l) || !letter(l[end])) {
			return at
		}
		from = at + 1
	}
	return -1
}

func letter(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' }

// assigns reports whether words are followed by a colon or an equals sign.
func (l line) assigns(words string) bool {
	at := l.word(words, 0)
	if at < 0 {
		return false
	}
	rest := bytes.TrimLeft(l[at+len(words):], " \t")
	return len(rest) > 0 && (rest[0] == ':' || rest[0] == '=')
}

// names reports whether a date, a time or a day is named shortly behind a word.
func (l line) names(word string) bool {
	const near = 30 // bytes
	for at := l.word(word, 0); at >= 0; at = l.word(word, at+1) {
		behind := at + len(word)
		window := l[behind:min(len(l), behind+near)]
		if window.has("date") || window.has("time") || window.has("day") {
			return true
		}
	}
	return false
}

// stamped reports whether the line holds a date with a time, a UUID, or a counter in
// per cent in brackets.
func (l line) stamped() bool {
	for i, c := range l {
		switch {
		case c == '-' && (l.shaped(i-4, "0000-00-00_00:00") || l.shaped(i-8, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")):
			return true
		case c == '[' && (l.shaped(i, "[0% ") || l.shaped(i, "[00% ") || l.shaped(i, "[000% ")):
			return true
		}
	}
	return false
}

// shaped compares the bytes from a place on with a shape: 0 is a digit, x one of
// hexadecimal, _ a T or a space, all else itself.
func (l line) shaped(at int, shape string) bool {
	if at < 0 || at+len(shape) > len(l) {
		return false
	}
	for i := range len(shape) {
		c, digit := l[at+i], '0' <= l[at+i] && l[at+i] <= '9'
		switch shape[i] {
		case '0':
			if !digit {
				return false
			}
		case 'x':
			if !digit && (c < 'a' || c > 'f') {
				return false
			}
		case '_':
			if c != 't' && c != ' ' {
				return false
			}
		default:
			if c != shape[i] {
				return false
			}
		}
	}
	return true
}
