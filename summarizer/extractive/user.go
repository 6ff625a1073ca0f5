package extractive

import (
	"strings"

	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// Sizes of lines that quote a user, in bytes.
const (
	maxGoalLine    = 480
	maxRequestLine = 280
	maxItemLine    = 200
	// minList is the number of items from which a list is kept item by item.
	minList = 3
)

// userNotes quotes what the user asked for: the first request in full, later
// ones a line each, lists item by item, and every sentence that sets a rule.
func (d *draft) userNotes() {
	first := len(d.carried[sectionGoal]) == 0
	for i := range d.script.passages {
		p := &d.script.passages[i]
		if p.voice != voiceUser {
			continue
		}
		d.requestNotes(i, p, first)
		d.ruleNotes(i, p)
		first = false
	}
}

// requestNotes adds the paragraphs and items of one message.
func (d *draft) requestNotes(at int, p *passage, goal bool) {
	size := maxRequestLine
	if goal {
		size = maxGoalLine
	}
	paragraphs, items := d.paragraphs(p)
	if !goal {
		// One line says what the message asked; the rest competes by its facts.
		paragraphs = d.opening(p)
		if len(items) == 0 && (len(paragraphs) == 0 || trivial(paragraphs[0])) {
			return
		}
	}
	rank := 1.0
	if goal {
		rank = 3
	}
	for k, text := range paragraphs {
		d.add(note{section: sectionGoal, index: p.index, turn: p.turn, voice: voiceUser, text: quoted("user", clipMiddle(text, size)), score: rank * d.recency(at) / float64(k+1)})
	}
	if len(items) < minList && !goal {
		return
	}
	for _, text := range items {
		d.add(note{section: sectionGoal, index: p.index, turn: p.turn, voice: voiceUser, text: clip(text, maxItemLine), key: "item", score: 0.8 * d.recency(at)})
	}
}

// paragraphs parts a message into running text and list items. Fenced code and
// pasted logs are neither: they compete as facts.
func (d *draft) paragraphs(p *passage) (text, items []string) {
	var sb strings.Builder
	flush := func() {
		if sb.Len() > 0 {
			text = append(text, sb.String())
			sb.Reset()
		}
	}
	fence := false
	for rest := p.text; rest != "" && len(text)+len(items) < 400; {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		line = tidy(strings.TrimSpace(line))
		switch {
		case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
			fence = !fence
			flush()
		case fence:
		case line == "":
			flush()
		default:
			if n, _ := listMarker(line); n > 0 {
				flush()
				items = append(items, line)
				continue
			}
			line = strings.TrimLeft(line, "#> ")
			if sb.Len() > 0 && sb.Len()+len(line) > maxGoalLine {
				flush()
			}
			if sb.Len() > 0 {
				sb.WriteByte(' ')
			}
			sb.WriteString(line)
		}
	}
	flush()
	return text, items
}

// opening is the beginning of a message without the sentences that are told as
// rules.
func (d *draft) opening(p *passage) []string {
	var sb strings.Builder
	for u := p.first; u < p.last; u++ {
		un := &d.units[u]
		if un.flags&flagProse == 0 || un.flags&flagItem != 0 || d.isRule(un) {
			continue
		}
		if sb.Len() > 0 {
			if sb.Len()+len(un.text) > maxRequestLine {
				break
			}
			sb.WriteByte(' ')
		}
		sb.WriteString(tidy(un.text))
	}
	if sb.Len() == 0 {
		return nil
	}
	return []string{sb.String()}
}

// isRule reports whether the user's sentence sets a rule or states a preference.
func (d *draft) isRule(un *unit) bool {
	return un.flags&flagProse != 0 && len(un.text) >= 8 && !facts.Question(un.text) && !facts.CodeLike(un.text) && d.cues.Has(un.text, facts.CueRule)
}

// trivial is true of "ok", "go on" and the like: short, and naming nothing.
func trivial(s string) bool {
	if len(s) > 14 {
		return false
	}
	named := false
	facts.Terms(s, func(_, _ int, c facts.Class) { named = named || c.Fact() || c == facts.Gram })
	return !named
}

// ruleNotes adds the user's sentences with must, never, only, don't, prefer.
func (d *draft) ruleNotes(at int, p *passage) {
	for u := p.first; u < p.last; u++ {
		un := &d.units[u]
		if !d.isRule(un) {
			continue
		}
		text := tidy(un.text)
		d.add(note{section: sectionConstraints, index: p.index, turn: p.turn, voice: voiceUser, text: quoted("user", clip(text, maxSentence)), score: d.recency(at)})
	}
}
