package extractive

import (
	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// saidNotes picks what the assistant decided, what it reported as finished, and
// what it meant to do next.
func (d *draft) saidNotes() {
	last := -1
	for i := range d.script.passages {
		p := &d.script.passages[i]
		if p.voice != voiceAssistant {
			continue
		}
		last = i
		for u := p.first; u < p.last; u++ {
			un := &d.units[u]
			if un.flags&flagProse == 0 || un.flags&(flagChecked|flagOpen) != 0 || len(un.text) < 16 || facts.CodeLike(un.text) {
				continue
			}
			found := d.cues.Scan(un.text)
			n := note{index: p.index, turn: p.turn, voice: voiceAssistant}
			switch {
			case found&facts.CueDecision != 0 && !facts.Question(un.text):
				n.section = sectionDecisions
			case found&facts.CueDone != 0 && found&facts.CueNext == 0 && !facts.Question(un.text):
				n.section = sectionDone
			default:
				continue
			}
			n.score = d.worth(d.refs[un.first:un.last]) * d.recency(i)
			n.text = quoted("assistant", clip(tidy(un.text), maxSentence))
			d.add(n)
		}
	}
	if last >= 0 {
		d.nextNotes(last)
	}
	byScore(d.notes[sectionDecisions])
}

// nextNotes reads the last assistant turn: announced steps and open questions.
// Where it announces nothing its last sentence stands for where things are.
func (d *draft) nextNotes(last int) {
	turn := d.script.passages[last].turn
	found := false
	for i := range d.script.passages {
		p := &d.script.passages[i]
		if p.voice != voiceAssistant || p.turn != turn {
			continue
		}
		for u := p.first; u < p.last; u++ {
			un := &d.units[u]
			if un.flags&flagProse == 0 {
				continue
			}
			eachSentence(un.text, minSentence, func(s string) {
				n := note{section: sectionNext, index: p.index, turn: p.turn, voice: voiceAssistant, score: 1}
				text := clip(tidy(s), maxSentence)
				switch {
				case facts.Question(s):
					n.text, n.score = quoted("assistant asked", text), 2
				case d.cues.Has(s, facts.CueNext):
					n.text = quoted("assistant", text)
				default:
					return
				}
				found = true
				d.add(n)
			})
		}
	}
	if found {
		return
	}
	p := &d.script.passages[last]
	for u := p.last - 1; u >= p.first; u-- {
		if un := &d.units[u]; un.flags&flagProse != 0 {
			d.add(note{section: sectionNext, index: p.index, turn: p.turn, voice: voiceAssistant, text: quoted("assistant", clip(tidy(un.text), maxSentence)), score: 1})
			return
		}
	}
}
