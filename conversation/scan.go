package conversation

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// scanner walks JSON text once, left to right. It validates every byte it
// passes and never builds values: callers get spans and decode what they need.
type scanner struct {
	src       string
	pos       int
	depth     int
	maxDepth  int
	escaped   bool   // whether the last string has an escape
	uncommon  bool   // whether it has one that isCommonEscape does not know
	surrogate int    // offset of a lone surrogate escape, -1 when none was met
	decoded   []byte // room for text: what is decoded here stays here
}

func newScanner(src string, maxDepth int) *scanner {
	return &scanner{src: src, maxDepth: maxDepth, surrogate: -1}
}

func (s *scanner) fail(at int, reason string) *Error {
	return &Error{Offset: at, Message: -1, Reason: reason}
}

func (s *scanner) space() {
	for s.pos < len(s.src) {
		switch s.src[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the first byte of the next value, 0 at the end of input.
func (s *scanner) peek() byte {
	if s.pos < len(s.src) && s.src[s.pos] > ' ' {
		return s.src[s.pos]
	}
	return s.peekFar()
}

// peekFar is peek where there may be white space.
func (s *scanner) peekFar() byte {
	s.space()
	if s.pos >= len(s.src) {
		return 0
	}
	return s.src[s.pos]
}

// unexpected describes the byte at the cursor where something else was needed.
func (s *scanner) unexpected(want string) *Error {
	if s.pos >= len(s.src) {
		return s.fail(len(s.src), "JSON ends where "+want+" was expected")
	}
	r, _ := utf8.DecodeRuneInString(s.src[s.pos:])
	return s.fail(s.pos, "unexpected "+quoteRune(r)+" where "+want+" was expected")
}

// quoteRune names a character so that it can be seen, whatever it is.
func quoteRune(r rune) string {
	if !unicode.IsGraphic(r) {
		return fmt.Sprintf("U+%04X", r)
	}
	return "'" + string(r) + "'"
}

// skip passes over one value of any kind and returns its span.
func (s *scanner) skip() (Span, *Error) {
	c := s.peek()
	start := s.pos
	var err *Error
	switch {
	case c == '{':
		err = s.skipObject()
	case c == '[':
		err = s.skipArray()
	case c == '"':
		_, err = s.str()
	case c == '-' || c >= '0' && c <= '9':
		err = s.number()
	case c == 't':
		err = s.word("true")
	case c == 'f':
		err = s.word("false")
	case c == 'n':
		err = s.word("null")
	default:
		err = s.unexpected("a value")
	}
	return Span{start, s.pos}, err
}

func (s *scanner) word(w string) *Error {
	if strings.HasPrefix(s.src[s.pos:], w) {
		s.pos += len(w)
		return nil
	}
	for i := 0; i < len(w) && s.pos < len(s.src) && s.src[s.pos] == w[i]; i++ {
		s.pos++
	}
	return s.unexpected(w)
}

// number checks JSON's number grammar; the digits themselves are never
// interpreted, so no size is too large.
func (s *scanner) number() *Error {
	if s.src[s.pos] == '-' {
		s.pos++
	}
	switch {
	case s.pos < len(s.src) && s.src[s.pos] == '0':
		s.pos++
	case s.digits() == 0:
		return s.unexpected("a digit")
	}
	if s.pos < len(s.src) && s.src[s.pos] == '.' {
		s.pos++
		if s.digits() == 0 {
			return s.unexpected("a digit")
		}
	}
	if s.pos < len(s.src) && (s.src[s.pos] == 'e' || s.src[s.pos] == 'E') {
		s.pos++
		if s.pos < len(s.src) && (s.src[s.pos] == '+' || s.src[s.pos] == '-') {
			s.pos++
		}
		if s.digits() == 0 {
			return s.unexpected("a digit")
		}
	}
	return nil
}

func (s *scanner) digits() int {
	start := s.pos
	for s.pos < len(s.src) && s.src[s.pos] >= '0' && s.src[s.pos] <= '9' {
		s.pos++
	}
	return s.pos - start
}

// object calls visit for each member with its decoded key and the offset of the
// key's quote, the cursor standing at the value. visit must consume the value.
func (s *scanner) object(visit func(key string, at int) *Error) *Error {
	err := s.begin('{', "an object")
	for first := true; err == nil; first = false {
		var key Span
		if key, err = s.member(first); err != nil || key == (Span{}) {
			return err
		}
		err = visit(s.name(key), key.Start)
	}
	return err
}

// array calls visit for each element, the cursor standing at it. visit must
// consume the element.
func (s *scanner) array(visit func(i int) *Error) *Error {
	err := s.begin('[', "an array")
	for i := 0; err == nil; i++ {
		var more bool
		if more, err = s.element(i == 0); err != nil || !more {
			return err
		}
		err = visit(i)
	}
	return err
}

// skipObject is object for values of no interest.
func (s *scanner) skipObject() *Error {
	err := s.begin('{', "an object")
	for first := true; err == nil; first = false {
		var key Span
		if key, err = s.member(first); err != nil || key == (Span{}) {
			return err
		}
		_, err = s.skip()
	}
	return err
}

// skipArray is array for values of no interest.
func (s *scanner) skipArray() *Error {
	err := s.begin('[', "an array")
	for first := true; err == nil; first = false {
		var more bool
		if more, err = s.element(first); err != nil || !more {
			return err
		}
		_, err = s.skip()
	}
	return err
}

// begin enters an object or an array.
func (s *scanner) begin(open byte, what string) *Error {
	if s.peek() != open {
		return s.unexpected(what)
	}
	return s.enter()
}

// member moves on to the value of an object's next member and returns where its key
// stands, the zero Span behind the last member.
func (s *scanner) member(first bool) (Span, *Error) {
	switch c := s.peek(); {
	case c == '}':
		s.leave()
		return Span{}, nil
	case first:
	case c == ',':
		s.pos++
	default:
		return Span{}, s.unexpected("',' or '}'")
	}
	key, err := s.str()
	if err != nil {
		return Span{}, err
	}
	if s.pos < len(s.src) && s.src[s.pos] == ':' { // as nearly everybody writes it
		s.pos++
		s.peek()
		return key, nil
	}
	if s.peek() != ':' {
		return Span{}, s.unexpected("':'")
	}
	s.pos++
	s.space()
	return key, nil
}

// name decodes the key that was read last.
func (s *scanner) name(key Span) string {
	name := s.src[key.Start+1 : key.End-1]
	if s.escaped {
		name = unescape(name)
	}
	return name
}

// element moves on to an array's next element and reports whether there is one.
func (s *scanner) element(first bool) (bool, *Error) {
	switch c := s.peek(); {
	case c == ']':
		s.leave()
		return false, nil
	case first:
	case c == ',':
		s.pos++
	default:
		return false, s.unexpected("',' or ']'")
	}
	s.space()
	return true, nil
}

func (s *scanner) enter() *Error {
	s.depth++
	if s.depth > s.maxDepth {
		return s.fail(s.pos, "nested deeper than "+itoa(s.maxDepth)+" levels")
	}
	s.pos++
	return nil
}

func (s *scanner) leave() {
	s.depth--
	s.pos++
}

// end checks that nothing but white space follows.
func (s *scanner) end() *Error {
	if s.peek(); s.pos < len(s.src) {
		return s.unexpected("the end of the JSON")
	}
	return nil
}
