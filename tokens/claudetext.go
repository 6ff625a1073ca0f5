package tokens

import (
	"context"
	"strings"
	"unicode/utf8"
)

// claudeWorker counts normalized texts one after the other and remembers the costs of short units.
type claudeWorker struct {
	tiler
	glyphs *glyphTable
	lines  *lines // of the counter at work
	stream []byte
	seen   [1 << unitBits]seenUnit
}

// seenUnit is a unit of up to unitLength bytes and its cost: the bytes themselves, then the cost in the second byte from
// the top and in the top byte the length with the marks. A zero entry is empty.
type seenUnit struct{ low, high uint64 }

const (
	unitBits   = 16
	unitLength = 14
	unitCost   = 48
	unitKey    = ^uint64(0xff << unitCost)
	// longestStream is how much room for a long unit is kept, in bytes.
	longestStream = 1 << 20
)

// unit says which marks stand around a run in ctok's stream.
type unit uint8

const (
	markBefore unit = 1 << (iota + 4) // ⟨bow⟩: a word begins, or there was a space
	markAfter                         // ⟨eow⟩: a word ends, or there will be a space
	markCases                         // a word whose capitals may become a mark
)

// The marks as bytes that no text contains; what they stand for is in internal/tools/claudepieces.
const (
	byteBefore = 0xf8
	byteAfter  = 0xf9
	byteShift  = 0xfa
	byteCaps   = 0xfb
)

// scan is where a count stands.
type scan struct {
	text  string
	start int // where the text begins behind the space the frame takes over
	frame bool
	total int
	ended bool // the last run wrote ⟨eow⟩
	seam  bool // a single space came after that: free if ⟨bow⟩ comes next
	// fused: the last run was stray marks, which opened the word that comes now.
	fused bool
	// quote: the last run was an apostrophe by itself. closed and closedBefore: the last run and the one before that are of the
	// kind that writes ⟨eow⟩ before a space, other than words.
	quote, closed, closedBefore bool
}

// count returns the cost of a text as the only content of a message, without the frame. text is normalized. frameBow:
// the frame ends in ⟨bow⟩, which stands for a space. headSpace: the text began with a space before it was normalized.
func (w *claudeWorker) count(ctx context.Context, text string, frameBow, headSpace bool) (int, error) {
	content := strings.TrimRight(text, "\n")
	s := scan{text: content, frame: frameBow}
	if n := len(text) - len(content); n > 0 {
		// The frame appends two newlines of its own and pays for one token.
		s.total = w.pieces.newlines.of(n+2) - 1
	}
	if frameBow && headSpace && strings.HasPrefix(content, " ") && !strings.HasPrefix(content, "  ") {
		s.start = 1
	}
	if frameBow && (s.start == len(content) || content[s.start] == '\t' || content[s.start] == '\n' || strings.HasPrefix(content[s.start:], wideSpace)) {
		s.total++ // nothing takes up the frame's ⟨bow⟩
	}
	check := ctxInterval
	for at := s.start; at < len(content); {
		if at >= check {
			if err := pause(ctx); err != nil {
				return 0, err
			}
			check = at + ctxInterval
		}
		start := at
		var err error
		if at, err = w.step(ctx, &s, at); err != nil {
			return 0, err
		}
		if w.lines != nil && at < len(content) && content[at] > ' ' && strings.IndexByte(content[start:at], '\n') >= 0 {
			if at, err = w.line(ctx, &s, at); err != nil {
				return 0, err
			}
		}
	}
	if s.seam {
		s.total++
	}
	return s.total, nil
}

// step takes the run at a place and returns its end.
func (w *claudeWorker) step(ctx context.Context, s *scan, at int) (int, error) {
	first, _ := w.glyph(s.text, at)
	switch first & runKind {
	case runSpace:
		return w.blank(s, at), nil
	case runWord:
		return w.word(ctx, s, at, first)
	case runPunct:
		return w.punct(ctx, s, at)
	default:
		return w.hard(ctx, s, at, first)
	}
}

func (w *claudeWorker) glyph(text string, at int) (g glyph, size int) {
	if c := text[at]; c < utf8.RuneSelf {
		return w.glyphs[c], 1
	}
	c, size := utf8.DecodeRuneInString(text[at:])
	if c >= 1<<16 {
		return runLetter, size
	}
	return w.glyphs[c], size
}

// spaceBefore reports whether a space stands before a run, or the frame's ⟨bow⟩.
func (s *scan) spaceBefore(at int) bool {
	if at == s.start {
		return s.frame
	}
	return s.text[at-1] == ' '
}

// spaceAfter reports whether a single space stands at a place.
func (s *scan) spaceAfter(at int) bool {
	return at < len(s.text) && s.text[at] == ' ' && (at+1 == len(s.text) || s.text[at+1] != ' ')
}

// add takes the cost of a run that was written with the marks of u.
func (s *scan) add(cost int, u unit) {
	if s.seam && u&markBefore == 0 {
		s.total++
	}
	s.total += cost
	s.seam, s.ended = false, u&markAfter != 0
	s.fused, s.quote, s.closedBefore, s.closed = false, false, s.closed, false
}

// blank takes a run of white space: it costs by its parts of one kind.
func (w *claudeWorker) blank(s *scan, at int) int {
	start := at
	for from := -1; from < at; {
		from = at
		if at = skip(s.text, at, ' '); at > from {
			s.total += w.pieces.spaces.of(at - from)
		} else if at = skip(s.text, at, '\n'); at > from {
			s.total += w.pieces.newlines.of(at - from)
		} else if at = skip(s.text, at, '\t'); at > from {
			s.total += w.pieces.tabs.of(at - from)
		} else if strings.HasPrefix(s.text[at:], wideSpace) {
			at += len(wideSpace)
			s.total++
		}
	}
	if at-start == 1 && s.text[start] == ' ' && s.ended {
		s.total--
		s.seam = true
	}
	s.ended, s.fused, s.quote, s.closedBefore, s.closed = false, false, false, s.closed, false
	return at
}

// wideSpace is the space of ideographs, the only one besides the ASCII ones that normalized text has.
const wideSpace = "\u3000"

func skip(text string, at int, c byte) int {
	for at < len(text) && text[at] == c {
		at++
	}
	return at
}

// word takes letters, or marks that have no letter before them.
func (w *claudeWorker) word(ctx context.Context, s *scan, at int, first glyph) (int, error) {
	start := at
	if first&glyphStray != 0 {
		at = w.run(s.text, at, glyphStray, glyphStray)
		u := markBefore | markAfter
		fused := at < len(s.text) && w.isWord(s.text, at)
		if fused {
			u = markBefore
		}
		cost, err := w.cost(ctx, s.text, start, at, u)
		s.add(cost, u)
		s.fused = fused
		return at, err
	}
	at = w.run(s.text, at, runKind, runWord)
	body := s.text[start:at]
	if s.quote && !s.closedBefore && isContraction(body) {
		// The apostrophe takes the place of ⟨bow⟩ and may be one piece with the suffix. It was counted as 1 already.
		cost, err := w.cost(ctx, s.text, start-1, at, markAfter)
		s.add(cost-1, markAfter)
		return at, err
	}
	u := markBefore | markAfter | markCases
	if s.fused {
		u = markAfter
	}
	cost, err := w.cost(ctx, s.text, start, at, u)
	s.add(cost, u)
	if body[len(body)-1] >= utf8.RuneSelf {
		last, _ := utf8.DecodeLastRuneInString(body)
		s.closed = last < 1<<16 && w.glyphs[last]&glyphSign != 0
	}
	return at, err
}

func isContraction(word string) bool {
	switch word {
	case "s", "t", "d", "m", "ll", "re", "ve":
		return true
	default:
		return false
	}
}

func (w *claudeWorker) isWord(text string, at int) bool {
	g, _ := w.glyph(text, at)
	return g&runKind == runWord
}

// run returns the end of the characters from at on that have the given bits.
func (w *claudeWorker) run(text string, at int, mask, bits glyph) int {
	for at < len(text) {
		if c := text[at]; c < utf8.RuneSelf {
			if w.glyphs[c]&mask != bits {
				return at
			}
			at++
			continue
		}
		g, size := w.glyph(text, at)
		if g&mask != bits {
			return at
		}
		at += size
	}
	return at
}

// punct takes signs. They are marked where they border a space, but for an apostrophe that opens a word.
func (w *claudeWorker) punct(ctx context.Context, s *scan, at int) (int, error) {
	start := at
	at = w.run(s.text, at, runKind, runPunct)
	quote := at-start == 1 && s.text[start] == '\''
	var u unit
	if s.spaceBefore(start) {
		u |= markBefore
		if quote && at < len(s.text) && w.isWord(s.text, at) {
			u = 0
			if start == s.start {
				s.total++ // what the frame's ⟨bow⟩ stands for is written as a space
			}
		}
	}
	if s.spaceAfter(at) {
		u |= markAfter
	}
	cost, err := w.cost(ctx, s.text, start, at, u)
	s.add(cost, u)
	s.quote, s.closed = quote, true
	return at, err
}

// hard takes a run of digits, ideographs or other signs. Signs and numbers other than ASCII digits are marked as
// punctuation is. The last character may be one that forms pieces with the punctuation after it.
func (w *claudeWorker) hard(ctx context.Context, s *scan, at int, first glyph) (int, error) {
	start := at
	kind := first & runKind
	var some, last glyph
	all := ^glyph(0)
	lastAt := at
	for at < len(s.text) {
		g, size := w.glyph(s.text, at)
		if g&runKind != kind && g&glyphSelector == 0 || kind == runDigit && g&glyphSelector != 0 {
			break
		}
		some, all, last, lastAt = some|g, all&g, g, at
		at += size
	}
	var before, after bool // whether the run is of the kind that is marked there
	switch kind {
	case runDigit:
		before, after = s.text[start] >= utf8.RuneSelf, s.text[at-1] >= utf8.RuneSelf
	case runNumber:
		uniform := some&glyphSelector == 0 && (some&glyphOther == 0 || all&glyphOther != 0)
		before, after = uniform, uniform || last&glyphSelector != 0
	case runSign:
		before, after = true, true
	default:
		before, after = first&glyphSelector != 0, last&glyphSelector != 0
	}
	var u unit
	if before && s.spaceBefore(start) || start == s.start && s.frame {
		u |= markBefore
	}
	if after && s.spaceAfter(at) {
		u |= markAfter
	}
	if at < len(s.text) && joinsPunctuation(s.text[lastAt:at]) {
		if to := w.run(s.text, at, runKind, runPunct); to > at {
			quote := to-at == 1 && s.text[at] == '\''
			if s.spaceAfter(to) {
				u |= markAfter
			}
			cost, err := w.cost(ctx, s.text, start, to, u)
			s.add(cost, u)
			s.quote, s.closedBefore, s.closed = quote, after, true
			return to, err
		}
	}
	cost, err := w.cost(ctx, s.text, start, at, u)
	s.add(cost, u)
	s.closed = after
	return at, err
}

// joinsPunctuation reports whether there are pieces that begin with this character and go on with punctuation.
func joinsPunctuation(character string) bool {
	switch character {
	case "²", "\u0BCD", "：": // the second is the Tamil virama
		return true
	default:
		return false
	}
}

// cost returns the cost of text[at:end] as a run with its marks. Runs of up to unitLength bytes are remembered.
func (w *claudeWorker) cost(ctx context.Context, text string, at, end int, u unit) (int, error) {
	if end-at > unitLength {
		return w.tile(ctx, text[at:end], u)
	}
	low, high := pieceKey(text, at, end-at)
	high |= uint64(u) << 56
	entry := &w.seen[(low^high*0x9e3779b97f4a7c15)*0xd6e8feb86659fd93>>(64-unitBits)]
	if entry.low != low || entry.high&unitKey != high {
		n, err := w.tile(ctx, text[at:end], u)
		if err != nil {
			return 0, err
		}
		*entry = seenUnit{low: low, high: high | uint64(n)<<unitCost} //nolint:gosec // at most unitLength and three marks
	}
	return int(entry.high >> unitCost & 0xff), nil //nolint:gosec // one byte
}

// tile writes a run into the stream with its marks and counts the pieces.
func (w *claudeWorker) tile(ctx context.Context, body string, u unit) (int, error) {
	stream := w.stream[:0]
	lower := false
	if u&markCases != 0 {
		mark := w.caseMark(body)
		if lower = mark != 0; lower {
			stream = append(stream, mark)
		}
	}
	if u&markBefore != 0 {
		stream = append(stream, byteBefore)
	}
	if lower {
		stream = appendLower(stream, body)
	} else {
		stream = append(stream, body...)
	}
	if u&markAfter != 0 {
		stream = append(stream, byteAfter)
	}
	if cap(stream) <= longestStream {
		w.stream = stream
	}
	return w.tiler.cost(ctx, stream)
}
