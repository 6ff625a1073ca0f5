package extractive

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"

	"github.com/elbowroom/elbowroom/internal/memo"
	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// Sizes of a unit, in bytes. Short units let a summary hold many facts, each
// with words around it that say what it is.
const (
	maxLine     = 150 // longer lines of tools are cut
	maxSentence = 300 // longer sentences are cut
	minSentence = 24  // shorter ones of the assistant are joined with the next
	minSaid     = 10  // shorter ones of the user are joined with the next
)

// What is known of a unit besides its words.
const (
	flagProse   = 1 << iota // a sentence or a line of prose
	flagItem                // an item of a list
	flagCode                // inside a code fence
	flagAlarm               // tells of an error
	flagChecked             // - [x] item
	flagOpen                // - [ ] item
	flagBuilt               // not a verbatim line: a record of JSON
	flagMore                // goes on in the next unit
)

// unit is the smallest piece that a summary may quote: a line, a sentence, a
// record.
type unit struct {
	text        string
	passage     int32
	first, last int32 // its terms in cutter.refs
	flags       uint8
}

// cutter cuts passages into units and notes every term. What the terms say of the
// units is noted when the chunks are joined (chunks.go).
type cutter struct {
	script *script
	lex    *lexicon
	units  []unit
	refs   []int32

	at    int32 // the passage being cut
	turn  int32
	voice voice
	tape  *tape // noted where a text is to be remembered, else nil
	noted tape
	terms []cutTerm // room for note
	ids   []int32   // room for paste
}

// run cuts passages[from:to].
func (c *cutter) run(from, to int, known *memo.Memo) {
	for i := from; i < to; i++ {
		p := &c.script.passages[i]
		c.at, c.turn, c.voice = int32(i), int32(p.turn), p.voice
		p.first = len(c.units)
		if p.call < 0 || !isTodo(&c.script.calls[p.call]) { // else it is told by the todo list
			c.cut(p, known)
		} else if p.voice == voiceTool {
			p.ending = endingOf(p.text)
		}
		p.last = len(c.units)
	}
}

// split cuts one passage.
func (c *cutter) split(p *passage) {
	if p.voice == voiceTool {
		p.ending = endingOf(p.text)
	}
	switch {
	case c.records(p.text):
	case p.voice == voiceUser || p.voice == voiceAssistant:
		c.prose(p.text)
	default:
		c.lines(p.text)
	}
}

// unit adds one unit. Text without a letter or digit is no unit.
func (c *cutter) unit(text string, flags uint8) {
	text = strings.TrimSpace(text)
	if len(text) < 2 {
		return
	}
	n := int32(len(c.units))
	first := int32(len(c.refs))
	facts.Terms(text, func(start, end int, cl facts.Class) {
		id := c.lex.id(text[start:end], cl)
		c.lex.terms[id].seen(n, c.turn, c.voice)
		c.refs = append(c.refs, id)
		if t := c.tape; t != nil {
			t.met = append(t.met, meeting{id: id, unit: n, start: uint32(start), class: cl})
		}
	})
	if first == int32(len(c.refs)) && c.voice != voiceUser && c.voice != voiceAssistant {
		return
	}
	c.units = append(c.units, unit{text: text, passage: c.at, first: first, last: int32(len(c.refs)), flags: flags})
}

// lines cuts tool output.
func (c *cutter) lines(text string) {
	for len(text) > 0 {
		line, rest, _ := strings.Cut(text, "\n")
		text = rest
		c.line(line)
	}
}

func (c *cutter) line(line string) {
	line = withoutLineNumber(line)
	for line != "" && (line[len(line)-1] == '\r' || line[len(line)-1] == ' ') { // TrimRight takes longer than the line does
		line = line[:len(line)-1]
	}
	if strings.IndexByte(line, '\r') >= 0 {
		// Progress bars overwrite themselves: the last state is the line.
		line = line[strings.LastIndexByte(line, '\r')+1:]
	}
	if strings.IndexByte(line, 0x1b) >= 0 {
		line = tidy(line)
	}
	if len(line) <= maxLine {
		c.unit(line, 0)
		return
	}
	if c.records(line) {
		return
	}
	c.pieces(line, maxLine, 0)
}

// withoutLineNumber strips the numbers that file viewers put before each line
// ("   12→code", "12<tab>code"): as terms they would drown real numbers.
func withoutLineNumber(line string) string {
	i := 0
	for i < len(line) && line[i] == ' ' {
		i++
	}
	digits := i
	for i < len(line) && line[i] >= '0' && line[i] <= '9' {
		i++
	}
	if i == digits || i-digits > 6 {
		return line
	}
	if rest, ok := strings.CutPrefix(line[i:], "→"); ok {
		return rest
	}
	if rest, ok := strings.CutPrefix(line[i:], "\t"); ok {
		return rest
	}
	return line
}

// pieces cuts a long line where it hurts least: after a sign that ends a clause,
// else between words, else between characters. Encoded data is left out.
func (c *cutter) pieces(line string, most int, flags uint8) {
	for len(line) > most {
		if n := dataRun(line); n > 0 {
			line = line[n:]
			continue
		}
		end := breakBefore(line, most)
		if run := strings.LastIndexAny(line[:end], " \t") + 1; run > 0 && dataRun(line[run:]) > 0 {
			end = run
		}
		c.unit(line[:end], flags|flagMore)
		line = line[end:]
	}
	c.unit(line, flags)
}

// breakBefore finds the best place for a cut in the second half of s[:most].
func breakBefore(s string, most int) int {
	half := most / 2
	word := 0
	for i := most; i > half; i-- {
		switch s[i-1] {
		case ' ', '\t':
			if word == 0 {
				word = i
			}
			switch s[i-2] {
			case ',', ';', '.', ':', '|', '!', '?':
				return i
			}
		case ',', ';':
			if word == 0 {
				word = i
			}
		}
		if s[i-1] >= utf8.RuneSelf && strings.HasSuffix(s[:i], "。") || s[i-1] >= utf8.RuneSelf && strings.HasSuffix(s[:i], "，") ||
			s[i-1] >= utf8.RuneSelf && strings.HasSuffix(s[:i], "、") || s[i-1] >= utf8.RuneSelf && strings.HasSuffix(s[:i], "；") {
			return i
		}
	}
	if word > 0 {
		return word
	}
	// A name that is cut in two reads like two other names: cut beside a sign.
	for i := most; i > half; i-- {
		if c := s[i-1]; c < utf8.RuneSelf && !facts.Letter(c) && !facts.Digit(c) && c != '_' {
			return i
		}
	}
	if at := border(s, most); at > 0 {
		return at
	}
	return most
}

// prose cuts what a person or the assistant wrote: sentences, list items, and
// the lines of fenced code.
func (c *cutter) prose(text string) {
	fence := ""
	for len(text) > 0 {
		line, rest, _ := strings.Cut(text, "\n")
		text = rest
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
				continue
			}
			c.codeLine(line)
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:3]
		case trimmed == "":
		default:
			c.proseLine(trimmed)
		}
	}
}

func (c *cutter) codeLine(line string) {
	if len(line) <= maxLine {
		c.unit(line, flagCode)
		return
	}
	c.pieces(line, maxLine, flagCode)
}

func (c *cutter) proseLine(line string) {
	flags := uint8(flagProse)
	switch marker, body := listMarker(line); {
	case marker == 0:
		line = strings.TrimLeft(line, "#> ")
	case strings.HasPrefix(body, "[ ]"):
		flags |= flagItem | flagOpen
	case strings.HasPrefix(body, "[x]"), strings.HasPrefix(body, "[X]"):
		flags |= flagItem | flagChecked
	default:
		flags |= flagItem
	}
	limit := maxLine
	if c.voice == voiceUser && flags&flagItem == 0 {
		limit = minSaid
	}
	if len(line) <= limit {
		c.unit(line, flags)
		return
	}
	if flags&flagItem != 0 && len(line) <= maxSentence {
		c.unit(line, flags)
		return
	}
	shortest := minSentence
	if c.voice == voiceUser {
		shortest = minSaid
	}
	eachSentence(line, shortest, func(s string) {
		if len(s) > maxSentence {
			c.pieces(s, maxSentence, flags)
		} else {
			c.unit(s, flags)
		}
	})
}

// eachSentence parts a line into sentences by the rules of Unicode; very short
// ones stay with the next.
func eachSentence(line string, shortest int, yield func(string)) {
	it := sentences.FromString(line)
	start := 0
	for it.Next() {
		if end := it.End(); end-start >= shortest || end == len(line) {
			yield(line[start:end])
			start = end
		}
	}
	if start < len(line) {
		yield(line[start:])
	}
}

// listMarker is the length of the list marker a line begins with ("- ", "12. ",
// "a) ", "①"), 0 for none, and the text after it.
func listMarker(line string) (int, string) {
	if len(line) < 3 {
		return 0, line
	}
	switch line[0] {
	case '-', '*', '+':
		if line[1] == ' ' {
			return 2, strings.TrimLeft(line[2:], " ")
		}
		return 0, line
	}
	i := 0
	for i < len(line) && i < 4 && line[i] >= '0' && line[i] <= '9' {
		i++
	}
	if i == 0 && (line[0] >= 'a' && line[0] <= 'z' || line[0] >= 'A' && line[0] <= 'Z') && line[1] == ')' {
		i = 1
	}
	if i > 0 && i < len(line) {
		if (line[i] == '.' || line[i] == ')') && i+1 < len(line) && line[i+1] == ' ' {
			return i + 2, strings.TrimLeft(line[i+2:], " ")
		}
		for _, sign := range [...]string{"、", "．", "）"} {
			if rest, ok := strings.CutPrefix(line[i:], sign); ok {
				return i + len(sign), strings.TrimLeft(rest, " ")
			}
		}
	}
	for _, bullet := range [...]string{"• ", "・", "– ", "●"} {
		if rest, ok := strings.CutPrefix(line, bullet); ok {
			return len(bullet), strings.TrimLeft(rest, " ")
		}
	}
	return 0, line
}
