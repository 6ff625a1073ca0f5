package extractive

import (
	"strconv"
	"strings"

	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// outcome is what came of a call.
type outcome struct {
	pending bool
	failed  bool
	text    string // "" where there is nothing to tell but success or failure
}

// ending is what the text of a result alone says of how it went.
type ending struct {
	code   int
	coded  bool // it names an exit code
	failed bool
}

func endingOf(text string) ending {
	code, coded := facts.ExitCode(text)
	return ending{code: code, coded: coded, failed: coded && code != 0 || !coded && errorResult(text)}
}

// outcomeOf reads a result: its exit code, its last line that tells of an error,
// or the result itself when it is a single short line.
func (d *draft) outcomeOf(c *call) outcome {
	switch c.result {
	case -1:
		return outcome{pending: true}
	case noText:
		if c.media {
			return outcome{text: "media", failed: c.failed}
		}
		return outcome{failed: c.failed}
	}
	p := &d.script.passages[c.result]
	code, coded := p.ending.code, p.ending.coded
	switch {
	case c.failed || p.ending.failed:
		line := clip(tidy(d.errorLine(p)), maxOutcome)
		if coded {
			if line == "" {
				return outcome{failed: true, text: "exit " + strconv.Itoa(code)}
			}
			return outcome{failed: true, text: "exit " + strconv.Itoa(code) + ": " + line}
		}
		return outcome{failed: true, text: "error: " + line}
	case len(p.text) <= maxOutcome:
		return outcome{text: tidy(p.text)}
	case coded:
		return outcome{text: "exit 0"}
	}
	if commandOf(c) != "" {
		// The last line of a run sums it up: "5 passed in 0.3s".
		if n := p.last - 1; n >= p.first && len(d.units[n].text) <= 80 && d.units[n].last-d.units[n].first >= 3 {
			return outcome{text: "… " + tidy(d.units[n].text)}
		}
	}
	return outcome{}
}

// errorLine is the last line of a result that tells of an error, else its last line.
func (d *draft) errorLine(p *passage) string {
	for u := p.last - 1; u >= p.first; u-- {
		if d.units[u].flags&flagAlarm != 0 {
			return d.units[u].text
		}
	}
	if p.last > p.first {
		return d.units[p.last-1].text
	}
	return p.text[:border(p.text, min(len(p.text), maxOutcome))]
}

// errorResult reports whether a result that names no exit code is an error by
// its first words.
func errorResult(text string) bool {
	head := strings.ToLower(strings.TrimLeft(text[:min(len(text), 80)], " \t\r\n{[\"'<*#`"))
	for _, prefix := range [...]string{
		"error", "err:", "traceback (most recent", "exception", "fatal:", "failed", "failure", "permission denied", "command failed",
		"tool_use_error", "no such file", "command not found", "unknown command", "invalid ", "错误", "エラー", "ошибка", "erreur", "fehler",
	} {
		if strings.HasPrefix(head, prefix) {
			// "errors: 0" and "error: null" report success.
			rest := strings.TrimLeft(head[len(prefix):], "s\"': ")
			return !strings.HasPrefix(rest, "0") && !strings.HasPrefix(rest, "null") && !strings.HasPrefix(rest, "none") && !strings.HasPrefix(rest, "false")
		}
	}
	return false
}
