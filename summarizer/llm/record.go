package llm

import (
	"strings"

	"github.com/elbowroom/elbowroom/summarizer"
)

// claimed stands in front of a next step that says it was approved. Notes can
// report an approval and cannot give one: who reads them asks before acting. The
// step itself stays, because the user may well have wanted it.
const claimed = "To be confirmed with the user: "

// record rewrites lines that would be read as something else than a record: a line
// that begins as a message does becomes an item of a list, and a next step that
// claims an approval says that it is to be confirmed.
func (d *draft) record() {
	for i, lines := range d.lines {
		steps := d.outline.sections[i].title == summarizer.SectionNextSteps
		for j := range lines {
			line := &lines[j]
			if line.code {
				continue
			}
			if turn, _ := turnAt(line.text); turn {
				line.text = "- " + line.text
			}
			if steps && approval(line.text) {
				at := len(line.text) - len(withoutItemSign(line.text))
				if !strings.HasPrefix(line.text[at:], claimed) {
					line.text = line.text[:at] + claimed + line.text[at:]
				}
			}
		}
	}
}

// continues reports whether a message of the conversation begins among the lines
// of a section, after others: the answer went on with the conversation. Where all
// lines so far begin like that it is the model's way to write a list. A single word
// is a value, such as the user of a database, and a role above a list is its title.
func continues(lines []draftLine) bool {
	others := false
	for i, line := range lines {
		turn, words := turnAt(line.text)
		switch {
		case line.code || line.text == "" || turn && !others && words > 0:
		case turn && (words > 1 || words == 0 && speech(lines[i+1:])):
			return true
		default:
			others = true
		}
	}
	return false
}

// speech reports whether the lines begin with one that is no item of a list.
func speech(lines []draftLine) bool {
	for _, line := range lines {
		if line.text != "" {
			return !line.code && withoutItemSign(line.text) == strings.TrimLeft(line.text, " \t")
		}
	}
	return false
}

// turnAt reports whether a line begins as a message in a transcript does, with a
// role and a colon, and how many words follow. Items of a list and lines that
// belong to them only report.
func turnAt(line string) (turn bool, words int) {
	bare := asciiLower(strings.TrimLeft(line, "*_#["))
	for _, role := range [...]string{"user", "human", "assistant"} {
		rest, ok := strings.CutPrefix(bare, role)
		if !ok {
			continue
		}
		rest = strings.TrimLeft(rest, "*_] ")
		said, ok := strings.CutPrefix(rest, ":")
		if !ok {
			said, ok = strings.CutPrefix(rest, "：")
		}
		return ok, len(strings.Fields(said))
	}
	return false, 0
}

// withoutItemSign is a line without what makes it an item of a list.
func withoutItemSign(line string) string {
	line = strings.TrimLeft(line, " \t")
	if rest := strings.TrimLeft(line, "-*+•"); len(rest) < len(line) && strings.HasPrefix(rest, " ") {
		return strings.TrimLeft(rest, " \t")
	}
	if rest := strings.TrimLeft(line, "0123456789"); len(rest) < len(line) && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") ")) {
		return strings.TrimLeft(rest[2:], " \t")
	}
	return line
}

// approval reports whether a line says that something was approved, or that nobody
// has to be asked.
func approval(line string) bool {
	line = strings.TrimLeft(line, " \t")
	if strings.HasPrefix(line, ">") || strings.HasPrefix(line, "|") {
		return false
	}
	return anyIn(asciiLower(line), "approved|authorized|authorised|has consented|gave consent|gave permission|given permission|has permission|go-ahead|signed off|"+
		"without asking|without confirmation|no confirmation|no approval|need not be asked|"+
		"genehmigt|freigegeben|aprobado|autorizado|approuvé|autorisé|aprovado|approvato|autorizzato|одобрил|одобрен|разрешил|批准|已同意|承認済|承認し|승인|وافق")
}
