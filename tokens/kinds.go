package tokens

// The kinds of ASCII bytes, for the first look at a piece. Bytes beyond ASCII are kindOther.
const (
	kindLetter = iota
	kindSpace  // white space without CR and LF
	kindSign   // neither letter nor digit nor white space
	kindDigit
	kindNewline
	kindOther
	kindBlank // ' ', the only white space that also leads signs

	kindMask = 7
	inSpace  = 1 << 3 // white space, newlines included
	inSigns  = 1 << 4 // belongs to a run of signs
	signTail = 1 << 5 // may follow signs in their piece: CR, LF and, in o200k, the slash
)

// What a piece is by the kinds of its first two bytes. 0 and 1 are words, with the number of bytes before the first letter.
const (
	stepDigits = iota + 2
	stepSigns
	stepSpace
	stepLeave // not decided here
)

// byteTables are the tables of the fast path. They take half a kilobyte.
type byteTables struct {
	kinds [256]uint8
	steps [8][8]uint8
	masks [16][2]uint64 // masks[n] keeps the first n bytes of 16
}

func newByteTables(runes *runeTable, cl100k bool) *byteTables {
	t := &byteTables{}
	for c := range t.kinds {
		t.kinds[c] = kindOther
		if c < 0x80 {
			t.kinds[c] = byteKind(byte(c), runes.ascii[c], cl100k)
		}
	}
	for first := range uint8(8) {
		for second := range uint8(8) {
			t.steps[first][second] = stepOf(first, second)
		}
	}
	for n := range t.masks {
		t.masks[n] = [2]uint64{1<<(8*min(n, 8)) - 1, 1<<(8*max(n-8, 0)) - 1}
	}
	return t
}

func byteKind(c byte, properties uint8, cl100k bool) uint8 {
	switch {
	case properties&letter != 0:
		return kindLetter
	case properties&number != 0:
		return kindDigit
	case properties&newline != 0:
		return kindNewline | inSpace | signTail
	case c == ' ':
		return kindBlank | inSpace
	case properties&space != 0:
		return kindSpace | inSpace
	case c == '/' && !cl100k:
		return kindSign | inSigns | signTail
	case c == '\'' && cl100k:
		return kindOther | inSigns // a contraction is a piece of its own
	default:
		return kindSign | inSigns
	}
}

func stepOf(first, second uint8) uint8 {
	switch first {
	case kindLetter:
		return 0
	case kindDigit:
		return stepDigits
	case kindNewline:
		return stepSpace
	case kindSpace, kindBlank, kindSign:
		switch {
		case second == kindOther:
			return stepLeave
		case second == kindLetter:
			return 1
		case first == kindSign, first == kindBlank && second == kindSign:
			return stepSigns
		}
		return stepSpace
	}
	return stepLeave
}
