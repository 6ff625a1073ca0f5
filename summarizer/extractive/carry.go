package extractive

import (
	"math"
	"slices"
	"strings"
)

// carry brings the lines of the previous summary up to date with this middle:
// what is told again is told once, what was in progress and is finished moves to
// what is done, obstacles that were overcome go.
func (d *draft) carry() {
	d.finishCarried()
	d.mergeFiles()
	for s := range d.carried {
		lines := d.carried[s]
		if len(lines) == 0 {
			continue
		}
		fresh := make(map[string]bool)
		for i := range d.notes[s] {
			fresh[sameText(d.notes[s][i].text)] = true
		}
		kept := lines[:0]
		for _, n := range lines {
			if s != int(sectionGoal) && s != int(sectionConstraints) && fresh[sameText(n.text)] {
				continue // the new line is the same and newer
			}
			n.refs = d.refsOf(n.text)
			n.score = d.carriedScore(n)
			kept = append(kept, n)
		}
		d.carried[s] = kept
	}
	// A rule or request the user repeats keeps its first line: it stays stable.
	for _, s := range []section{sectionGoal, sectionConstraints} {
		if len(d.carried[s]) == 0 {
			continue
		}
		old := make(map[string]bool)
		for i := range d.carried[s] {
			old[sameText(d.carried[s][i].text)] = true
		}
		d.notes[s] = slices.DeleteFunc(d.notes[s], func(n *note) bool { return old[sameText(n.text)] })
	}
}

// ageing is what a carried line keeps of its worth with each round.
const ageing = 0.9

// carriedScore is how much a carried line tells, less with age, more when this
// middle works with the same names.
func (d *draft) carriedScore(n *note) float64 {
	sum := 0.0
	for i, id := range n.refs {
		dup := false
		for _, have := range n.refs[max(0, i-8):i] {
			dup = dup || have == id
		}
		if dup {
			continue
		}
		w := shapeWeight(d.lex.terms[id].class)
		if d.lex.terms[id].units > 0 {
			w *= 2
		}
		sum += w
	}
	return sum * n.voice.weight() * math.Pow(ageing, float64(n.age)) / bulk(n.text)
}

// maxCompared bounds the lines that are compared pair by pair.
const maxCompared = 200

// finishCarried moves carried work that this middle finished to Done and drops
// obstacles whose call has succeeded since.
func (d *draft) finishCarried() {
	plan := false
	var finished []string // texts of finished tasks
	open := make(map[string]bool)
	for _, s := range []section{sectionDone, sectionInProgress, sectionBlocked, sectionNext} {
		for i := range d.notes[s] {
			n := d.notes[s][i]
			if strings.HasPrefix(n.text, "todo: ") {
				plan = true
				if s == sectionDone {
					finished = append(finished, n.key)
				} else {
					open[n.key] = true
				}
			}
		}
	}
	done := make(map[string]bool)
	for i := range d.notes[sectionDone] {
		n := d.notes[sectionDone][i]
		done[n.key] = n.key != ""
		if n.voice == voiceAssistant && !strings.HasPrefix(n.text, "todo: ") {
			finished = append(finished, sameText(n.text))
		}
	}
	finished = finished[max(0, len(finished)-maxCompared):]
	lines := d.carried[sectionInProgress]
	lines = lines[:min(len(lines), maxCompared)]
	d.carried[sectionInProgress] = lines[:0:0]
	for _, n := range lines {
		task, isTask := strings.CutPrefix(n.text, "todo: ")
		key := sameText(task)
		switch {
		case tells(finished, key):
			n.section = sectionDone
			d.carried[sectionDone] = append([]*note{n}, d.carried[sectionDone]...)
		case isTask && plan && !open[key]:
			// The list was written anew without it.
		case isTask && open[key]:
			// Told by the new list.
		case done[callKey(n.text)]:
			// The call that was running has its result.
		default:
			d.carried[sectionInProgress] = append(d.carried[sectionInProgress], n)
		}
	}
	d.carried[sectionBlocked] = slices.DeleteFunc(d.carried[sectionBlocked], func(n *note) bool { return done[callKey(n.text)] })
}

// callKey is the key of an action line: name and arguments.
func callKey(text string) string {
	head, _, _ := strings.Cut(text, " → ")
	name, what, _ := strings.Cut(head, ": ")
	return name + " " + what
}

// tells reports whether one of the texts tells of all but a few words of key.
func tells(texts []string, key string) bool {
	words := strings.Fields(key)
	if len(words) == 0 {
		return false
	}
	for _, text := range texts {
		if text == key {
			return true
		}
		if len(words) < 3 {
			continue
		}
		have := strings.Fields(text)
		hits := 0
		for _, w := range words {
			if slices.Contains(have[:min(len(have), 64)], w) {
				hits++
			}
		}
		if hits*4 >= len(words)*3 {
			return true
		}
	}
	return false
}

// mergeFiles joins carried entries with the new ones of the same path: the new
// line tells everything that was ever done to the file.
func (d *draft) mergeFiles() {
	fresh := make(map[string]int)
	for i := range d.notes[sectionFiles] {
		fresh[d.notes[sectionFiles][i].key] = i
	}
	d.carried[sectionFiles] = slices.DeleteFunc(d.carried[sectionFiles], func(n *note) bool {
		at := strings.LastIndex(n.text, ": ")
		if at < 0 {
			return false
		}
		i, ok := fresh[n.text[:at]]
		if !ok {
			return false
		}
		m := d.notes[sectionFiles][i]
		m.text = m.key + ": " + (parseTouch(n.text[at:]) | parseTouch(m.text[len(m.key):])).String()
		return true
	})
}
