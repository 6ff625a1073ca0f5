package conversation

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"
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
	s.space()
	start := s.pos
	var err *Error
	switch c := s.peek(); {
	case c == '{':
		err = s.object(func(string, int) *Error { _, err := s.skip(); return err })
	case c == '[':
		err = s.array(func(int) *Error { _, err := s.skip(); return err })
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

// str passes over a string literal and returns its span, quotes included. It notes
// whether there is an escape in it.
func (s *scanner) str() (Span, *Error) {
	s.space()
	start, src := s.pos, s.src
	if start >= len(src) || src[start] != '"' {
		return Span{}, s.unexpected("a string")
	}
	s.escaped, s.uncommon = false, false
	at := start + 1
	for {
		at = s.common(at)
		if at < len(src) && src[at] == '"' {
			s.pos = at + 1
			return Span{start, s.pos}, nil
		}
		at = plainEnd(src, at)
		s.pos = at
		switch {
		case at >= len(src):
			return Span{}, s.fail(len(src), "JSON ends inside a string that began at byte "+itoa(start))
		case src[at] == '"':
			s.pos++
			return Span{start, s.pos}, nil
		case src[at] == '\\':
			if err := s.escape(); err != nil {
				return Span{}, err
			}
			at, s.escaped = s.pos, true
		default:
			return Span{}, s.fail(at, "control character in a string")
		}
	}
}

// common passes over what nearly all of a string is, plain text and the escapes of one
// letter, and returns an offset at or before the first byte that is neither. Short
// strings go word by word. In a long one that holds code an escape comes every few
// words, at distances that a processor cannot learn: there it is faster to look at 64
// bytes at once, without a branch for each escape.
func (s *scanner) common(at int) int {
	const short = 32
	src := s.src
	for limit := at + short; at < limit; {
		if at+8 > len(src) {
			return at
		}
		found := special(eightBytes(src, at))
		if found == 0 {
			at += 8
			continue
		}
		at += bits.TrailingZeros64(found) / 8
		if src[at] != '\\' || at+1 >= len(src) || !isCommonEscape(src[at+1]) {
			return at
		}
		at += 2
		s.escaped = true
	}
	carry := uint64(0)
	for at+64 <= len(src) {
		slashes, stops, legal := classify((*[64]byte)(unsafe.Pointer(unsafe.StringData(src[at:])))) //nolint:gosec // there are 64 bytes, and they are only read
		escaped, next := escapedBy(slashes, carry)
		if stop := stops&^escaped | escaped&^legal; stop != 0 {
			first := stop & -stop
			s.escaped = s.escaped || slashes&(first-1) != 0
			at += bits.TrailingZeros64(stop)
			if escaped&first != 0 {
				at-- // to the backslash
			}
			return at
		}
		s.escaped = s.escaped || slashes != 0
		at, carry = at+64, next
	}
	return at - int(carry) //nolint:gosec // 0 or 1
}

// text passes over a string literal as str does, and decodes it as unquote does,
// in one go: strings are most of a conversation, and code has an escape in every
// line.
func (s *scanner) text() (Span, string, *Error) {
	s.space()
	start := s.pos
	if s.pos >= len(s.src) || s.src[s.pos] != '"' {
		return Span{}, "", s.unexpected("a string")
	}
	s.pos = plainEnd(s.src, s.pos+1)
	if s.pos < len(s.src) && s.src[s.pos] == '"' {
		s.pos++
		return Span{start, s.pos}, s.src[start+1 : s.pos-1], nil
	}
	n := s.pos - start - 1
	s.roomFor(n)
	copy(s.decoded, s.src[start+1:s.pos])
	for s.pos+1 < len(s.src) && s.src[s.pos] == '\\' {
		s.roomFor(n + utf8.UTFMax)
		if c := simpleEscape(s.src[s.pos+1]); c != 0 {
			s.decoded[n] = c
			n, s.pos = n+1, s.pos+2
		} else {
			at := s.pos
			if err := s.escape(); err != nil {
				return Span{}, "", err
			}
			r, _ := escapedRune(s.src[at:])
			n += utf8.EncodeRune(s.decoded[n:], r)
		}
		n = s.copyPlain(n)
	}
	if s.pos >= len(s.src) || s.src[s.pos] != '"' {
		s.pos = start
		_, err := s.str() // says what is wrong
		return Span{}, "", err
	}
	s.pos++
	// A copy would cost as much as the decoding. Nothing is written to these bytes any more: the room begins behind them.
	text := unsafe.String(unsafe.SliceData(s.decoded), n) //nolint:gosec // see above
	s.decoded = s.decoded[n:]
	return Span{start, s.pos}, text, nil
}

// decodedRoom is how much room for decoded text is made at a time, in bytes. A text
// that is kept keeps the others of its room.
const decodedRoom = 64 << 10

// simpleEscape is the character that a backslash and c stand for, 0 for \u and for
// what is no escape.
func simpleEscape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case '"', '\\', '/':
		return c
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	default:
		return 0
	}
}

// isCommonEscape reports whether c commonly follows a backslash: nearly everybody
// writes these escapes, and writes them alike. It has no branch that depends on which
// one it is: in code they come in no order that a processor could learn.
func isCommonEscape(c byte) bool {
	const low = 1 << '"'
	const high = 1<<('\\'-64) | 1<<('n'-64) | 1<<('r'-64) | 1<<('t'-64)
	bits := uint64(low)
	if c >= 64 {
		bits = high
	}
	return c < 128 && bits>>(c&63)&1 != 0
}

// roomFor makes room for n decoded bytes and one word more. What was decoded of the
// text at hand moves along.
func (s *scanner) roomFor(n int) {
	if n+8 > len(s.decoded) {
		room := make([]byte, max(2*n, min(decodedRoom, len(s.src)-s.pos))+8)
		copy(room, s.decoded)
		s.decoded = room
	}
}

// copyPlain copies what plainEnd would pass over to s.decoded[n:], moves the
// cursor behind it and returns the new n. Runs are short where there are escapes,
// so it looks and copies in one step.
func (s *scanner) copyPlain(n int) int {
	for s.pos+8 <= len(s.src) {
		s.roomFor(n)
		w := eightBytes(s.src, s.pos)
		binary.LittleEndian.PutUint64(s.decoded[n:], w)
		if found := special(w); found != 0 {
			k := bits.TrailingZeros64(found) / 8
			s.pos += k
			return n + k
		}
		n, s.pos = n+8, s.pos+8
	}
	end := plainEnd(s.src, s.pos)
	s.roomFor(n + end - s.pos)
	n += copy(s.decoded[n:], s.src[s.pos:end])
	s.pos = end
	return n
}

// plainEnd returns the offset of the first byte from at on that a string literal
// cannot hold as it is: a quote, a backslash or a control character.
func plainEnd(src string, at int) int {
	for ; at+8 <= len(src); at += 8 {
		if found := special(eightBytes(src, at)); found != 0 {
			return at + bits.TrailingZeros64(found)/8
		}
	}
	for at < len(src) && src[at] != '"' && src[at] != '\\' && src[at] >= ' ' {
		at++
	}
	return at
}

// eightBytes reads a word, which compiles to one load.
func eightBytes(src string, at int) uint64 {
	b := src[at : at+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// special sets the high bit of the first byte of a word that is a quote, a
// backslash or a control character, and maybe of later ones: a byte is found when
// subtracting borrows into its high bit.
func special(w uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	quote, backslash := w^'"'*ones, w^'\\'*ones
	return ((quote-ones)&^quote | (backslash-ones)&^backslash | (w-' '*ones)&^w) & highs
}

func (s *scanner) escape() *Error {
	at := s.pos
	if at+1 >= len(s.src) {
		return s.fail(len(s.src), "JSON ends inside an escape")
	}
	s.uncommon = s.uncommon || !isCommonEscape(s.src[at+1])
	switch s.src[at+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos += 2
		return nil
	case 'u':
		hi, ok := hex4(s.src, at+2)
		if !ok {
			if isHex(s.src[at+2:]) && len(s.src) < at+6 {
				return s.fail(len(s.src), "JSON ends inside an escape")
			}
			return s.fail(at, `\u without four hexadecimal digits`)
		}
		s.pos += 6
		if hi < 0xD800 || hi > 0xDFFF {
			return nil
		}
		if hi < 0xDC00 && strings.HasPrefix(s.src[s.pos:], `\u`) {
			if lo, ok := hex4(s.src, s.pos+2); ok && lo >= 0xDC00 && lo <= 0xDFFF {
				s.pos += 6
				return nil
			}
		}
		if s.surrogate < 0 {
			s.surrogate = at
		}
		return nil
	default:
		return s.fail(at, "unknown escape in a string")
	}
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdefABCDEF") == "" }

func hex4(src string, at int) (rune, bool) {
	if at+4 > len(src) {
		return 0, false
	}
	var r rune
	for _, c := range []byte(src[at : at+4]) {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// object calls visit for each member with its decoded key and the offset of the
// key's quote, the cursor standing at the value. visit must consume the value.
func (s *scanner) object(visit func(key string, at int) *Error) *Error {
	if s.peek() != '{' {
		return s.unexpected("an object")
	}
	if err := s.enter(); err != nil {
		return err
	}
	if s.peek() == '}' {
		return s.leave()
	}
	for {
		key, err := s.str()
		if err != nil {
			return err
		}
		if s.peek() != ':' {
			return s.unexpected("':'")
		}
		s.pos++
		s.space()
		name := s.src[key.Start+1 : key.End-1]
		if s.escaped {
			name = unescape(name)
		}
		if err := visit(name, key.Start); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.pos++
		case '}':
			return s.leave()
		default:
			return s.unexpected("',' or '}'")
		}
	}
}

// array calls visit for each element, the cursor standing at it. visit must
// consume the element.
func (s *scanner) array(visit func(i int) *Error) *Error {
	if s.peek() != '[' {
		return s.unexpected("an array")
	}
	if err := s.enter(); err != nil {
		return err
	}
	if s.peek() == ']' {
		return s.leave()
	}
	for i := 0; ; i++ {
		s.space()
		if err := visit(i); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.pos++
		case ']':
			return s.leave()
		default:
			return s.unexpected("',' or ']'")
		}
	}
}

func (s *scanner) enter() *Error {
	s.depth++
	if s.depth > s.maxDepth {
		return s.fail(s.pos, "nested deeper than "+itoa(s.maxDepth)+" levels")
	}
	s.pos++
	return nil
}

func (s *scanner) leave() *Error {
	s.depth--
	s.pos++
	return nil
}

// end checks that nothing but white space follows.
func (s *scanner) end() *Error {
	if s.peek(); s.pos < len(s.src) {
		return s.unexpected("the end of the JSON")
	}
	return nil
}

// invalidUTF8 returns the offset of the first byte that is not part of valid
// UTF-8, -1 when there is none.
func invalidUTF8(src string) int {
	if utf8.ValidString(src) {
		return -1
	}
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRuneInString(src[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return -1
}
