package conversation

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// str passes over a string literal and returns its span, quotes included. It notes
// whether there is an escape in it.
func (s *scanner) str() (Span, *Error) {
	if s.peek() != '"' {
		return Span{}, s.unexpected("a string")
	}
	start, src := s.pos, s.src
	s.escaped, s.uncommon = false, false
	at := start + 1
	if at+8 <= len(src) { // keys and words of a format are short
		if found := special(eightBytes(src, at)); found != 0 {
			if at += bits.TrailingZeros64(found) / 8; src[at] == '"' {
				s.pos = at + 1
				return Span{start, s.pos}, nil
			}
		} else {
			at += 8
		}
	}
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
	passed, slashed := pass(src[at:])
	s.escaped = s.escaped || slashed
	return at + passed
}

// text passes over a string literal as str does, and decodes it as unquote does,
// in one go: strings are most of a conversation, and code has an escape in every
// line.
func (s *scanner) text() (Span, string, *Error) {
	if s.peek() != '"' {
		return Span{}, "", s.unexpected("a string")
	}
	start := s.pos
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
