package elbowroom

import (
	"bytes"
	"encoding/json"
	"strings"
)

// span is a range of bytes.
type span struct{ start, end int }

// layout is a body taken apart: where its messages and its system prompt stand.
type layout struct {
	text []byte
	// bare is set for a list of messages without a body around it.
	bare     bool
	messages []span
	// system is the value of a top-level system prompt, empty if there is none.
	system span
}

// takeApart finds the messages of a body. It reports false for what is no body, and
// for one that names its messages or its system prompt twice or in escapes.
func takeApart(text []byte) (layout, bool) {
	l := layout{text: text}
	if !json.Valid(text) {
		return l, false
	}
	s := scanner{text: text}
	s.space()
	switch text[s.at] {
	case '[':
		l.bare = true
		l.messages = s.elements()
		return l, true
	case '{':
	default:
		return l, false
	}
	found := false
	s.at++
	for s.space(); text[s.at] != '}'; s.space() {
		if text[s.at] == ',' {
			s.at++
			s.space()
		}
		key := s.value()
		s.space()
		s.at++ // the colon
		s.space()
		name := text[key.start:key.end]
		switch {
		case bytes.IndexByte(name, '\\') >= 0:
			return l, false
		case string(name) == `"messages"` && text[s.at] == '[':
			if found {
				return l, false
			}
			found = true
			l.messages = s.elements()
		case string(name) == `"system"`:
			if l.system.end > 0 {
				return l, false
			}
			l.system = s.value()
		default:
			s.value()
		}
	}
	return l, found
}

func (l *layout) of(s span) []byte { return l.text[s.start:s.end] }

// run is the text of the first n messages with what stands between them.
func (l *layout) run(n int) span {
	return span{l.messages[0].start, l.messages[n-1].end}
}

// startsWith reports whether the messages begin with others, byte for byte.
func (l *layout) startsWith(other *layout) bool {
	if len(other.messages) == 0 || len(other.messages) > len(l.messages) || l.bare != other.bare {
		return false
	}
	for i, m := range other.messages {
		if !bytes.Equal(l.of(l.messages[i]), other.of(m)) {
			return false
		}
	}
	return true
}

// scanner walks over valid JSON.
type scanner struct {
	text []byte
	at   int
}

func (s *scanner) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

// value skips one value and returns where it stood.
func (s *scanner) value() span {
	start, depth := s.at, 0
	for {
		switch s.text[s.at] {
		case '"':
			s.quoted()
		case '[', '{':
			depth++
			s.at++
		case ']', '}':
			depth--
			s.at++
		case ',', ':', ' ', '\t', '\r', '\n':
			s.at++ // depth is above 0
		default:
			for s.at < len(s.text) && strings.IndexByte(",:]} \t\r\n", s.text[s.at]) < 0 {
				s.at++ // a number or a word
			}
		}
		if depth == 0 {
			return span{start, s.at}
		}
	}
}

// quoted skips a string.
func (s *scanner) quoted() {
	s.at++
	for s.text[s.at] != '"' {
		if s.text[s.at] == '\\' {
			s.at++
		}
		s.at++
	}
	s.at++
}

// elements skips an array and returns where its elements stood.
func (s *scanner) elements() []span {
	var out []span
	s.at++
	for s.space(); s.text[s.at] != ']'; s.space() {
		if s.text[s.at] == ',' {
			s.at++
			s.space()
		}
		out = append(out, s.value())
	}
	s.at++
	return out
}
