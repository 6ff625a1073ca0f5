package tokens

import (
	"context"
	"math/bits"
)

// worker counts texts one after the other and remembers the counts of the pieces it met: most pieces of a text are
// words it has seen before.
type worker struct {
	merger
	split *splitter
	wordCache
	long longCache
	// unpaused is how many bytes were counted since others had the processor.
	unpaused int
}

// newWorker returns a worker that has seen no text. It knows the common tokens of the vocabulary.
func newWorker(words *vocabulary, split *splitter) *worker {
	w := &worker{merger: merger{words: words}, split: split}
	w.wordCache = *words.common
	return w
}

// readAhead is how far behind the start of a piece the fast path looks.
const readAhead = 24

// running is Classes while counting; eight places spare a bounds check.
type running struct {
	tokens [8]int
	digits int
}

func (t *running) classes() Classes {
	c := Classes{Digits: t.digits}
	copy(c.Tokens[:], t.tokens[:])
	return c
}

// count returns the tokens of text by class; text is valid UTF-8.
func (w *worker) count(ctx context.Context, text string) (Classes, error) {
	var t running
	for at := 0; at < len(text); {
		until := min(at+ctxInterval, len(text))
		if err := w.pauseAfter(ctx, until-at); err != nil {
			return Classes{}, err
		}
		for at < until {
			at = w.fast(text, at, min(until, len(text)-readAhead), &t)
			if at >= until {
				break
			}
			end, class := w.split.next(text, at)
			n, err := w.piece(ctx, text, at, end, class)
			if err != nil {
				return Classes{}, err
			}
			t.tokens[class&7] += n
			if class == ClassDigits {
				t.digits += end - at
			}
			at = end
		}
	}
	return t.classes(), nil
}

// pauseAfter pauses when so many more bytes make ctxInterval of them. A summary counts line after line: who gives the
// processor away for each of them waits for all the others each time.
func (w *worker) pauseAfter(ctx context.Context, bytes int) error {
	if w.unpaused += bytes; w.unpaused < ctxInterval {
		return ended(ctx)
	}
	w.unpaused = 0
	return pause(ctx)
}

// fast counts pieces of ASCII text from text[at] on until a piece starts at or after until, or one comes that is long or not
// plain ASCII. It returns where that piece starts. until+readAhead is within the text.
func (w *worker) fast(text string, at, until int, t *running) int {
	fold, tables := w.split.fold, w.split.tables
	for at < until {
		s := text[at : at+readAhead]
		first := eightBytes(s)
		n, class := 0, ClassLatin
		switch step := tables.steps[tables.kinds[s[0]]&kindMask][tables.kinds[s[1]]&kindMask]; step {
		case 0, 1:
			// The bytes in front of the first one that is not upper case need not be lower case; nor need one that comes
			// before the first letter.
			x := first | fold
			notUpper := outside(x, 'A', 'Z') &^ (uint64(step) << 7)
			notWord := outside(x, 'a', 'z') &^ (notUpper&-notUpper - 1)
			n = bits.TrailingZeros64(notWord) >> 3
			if notWord == 0 {
				end, ok := asciiWord(text, at+int(step), fold)
				if !ok {
					return at
				}
				n = end - at
			}
			if next := text[at+n]; next >= 0x80 {
				return at
			} else if next == '\'' && fold == 0 {
				n += contraction(text[at+n:])
			}
			if n > shortLength {
				if n > longLength {
					return at
				}
				t.tokens[ClassLatin] += w.longPiece(text[at : at+n])
				at += n
				continue
			}
		case stepDigits:
			n = 1
			if tables.kinds[s[1]] == kindDigit {
				n = 2
				if tables.kinds[s[2]] == kindDigit {
					n = 3
				}
			}
			if n < 3 && s[n] >= 0x80 {
				return at
			}
			t.digits += n
			class = ClassDigits
		case stepSigns:
			for n = 1; tables.kinds[s[n]]&inSigns != 0; {
				if n++; n > shortLength {
					return at
				}
			}
			if s[n] >= 0x80 {
				return at
			}
			for tables.kinds[s[n]]&signTail != 0 {
				if n++; n > shortLength {
					return at
				}
			}
			class = ClassPunctuation
		case stepSpace:
			afterNewline := 0
			for tables.kinds[s[n]]&inSpace != 0 {
				newline := tables.kinds[s[n]]&kindMask == kindNewline
				if n++; n > shortLength {
					return at
				}
				if newline {
					afterNewline = n
				}
			}
			if s[n] >= 0x80 {
				return at
			}
			if afterNewline > 0 {
				n = afterNewline
			} else if n > 1 {
				n--
			}
			class = ClassSpace
		default:
			return at
		}
		if n <= tinyLength {
			key := first&tables.masks[n&15][0] | uint64(n)<<56 //nolint:gosec // at most 7
			set := w.tiny.set(key)
			if e := set[0]; (e^key)<<(64-countShift) == 0 {
				t.tokens[class&7] += int(e >> countShift) //nolint:gosec // 1 to 7
			} else {
				t.tokens[class&7] += w.tinySearch(set, key, text[at:at+n])
			}
		} else {
			low, high := tables.shortKey(s, n)
			count := w.short.get(low, high)
			if count == 0 {
				count = w.shortMiss(text[at:at+n], low, high)
			}
			t.tokens[class&7] += count
		}
		at += n
	}
	return at
}

// piece returns the number of tokens of the piece text[at:end].
func (w *worker) piece(ctx context.Context, text string, at, end int, class Class) (int, error) {
	if class != ClassCJK {
		return w.segment(ctx, text, at, end)
	}
	total := 0
	for at < end {
		next := w.words.seams.next(text, at, end)
		n, err := w.segment(ctx, text, at, next)
		if err != nil {
			return 0, err
		}
		total += n
		at = next
	}
	return total, nil
}

// segment returns the number of tokens of text[at:end], a piece or a part of one that no token leaves.
func (w *worker) segment(ctx context.Context, text string, at, end int) (int, error) {
	piece := text[at:end]
	switch {
	case len(piece) <= tinyLength:
		key := tinyKeyOf(piece)
		return w.tinySearch(w.tiny.set(key), key, piece), nil
	case len(piece) <= shortLength:
		low, high := pieceKey(text, at, len(piece))
		if n := w.short.get(low, high); n > 0 {
			return n, nil
		}
		return w.shortMiss(piece, low, high), nil
	case len(piece) <= longLength:
		return w.longPiece(piece), nil
	}
	return w.bytePairs(ctx, piece)
}

// tinySearch counts a piece that is not in the first place of its set, and puts it there.
func (w *worker) tinySearch(set *tinySet, key uint64, piece string) int {
	for i, e := range set {
		if (e^key)<<(64-countShift) == 0 {
			set[0], set[i] = e, set[0]
			return int(e >> countShift) //nolint:gosec // 1 to 7
		}
	}
	n := w.merged(piece)
	set.put(key, n)
	return n
}

// shortMiss counts a piece that is not in the short cache and puts it there.
func (w *worker) shortMiss(piece string, low, high uint64) int {
	n := w.merged(piece)
	w.short.put(low, high, n)
	return n
}

// merged counts a piece of at most registerLength bytes.
func (w *worker) merged(piece string) int {
	first, length := w.words.trie.longest(piece)
	if length == len(piece) {
		return 1
	}
	return w.merger.countShort(piece, first, length)
}

// longPiece counts a piece that fits the long cache.
func (w *worker) longPiece(piece string) int {
	entry := w.long.entry(piece)
	if entry.holds(piece) {
		return int(entry.count)
	}
	n := w.merged(piece)
	entry.set(piece, n)
	return n
}

// bytePairs returns the number of tokens of one piece. The context is looked at in pieces longer than ctxInterval only.
func (w *worker) bytePairs(ctx context.Context, piece string) (int, error) {
	first, length := w.words.trie.longest(piece)
	if length == len(piece) {
		return 1, nil
	}
	return w.merger.count(ctx, piece, first)
}
