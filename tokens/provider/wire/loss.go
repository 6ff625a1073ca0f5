package wire

import (
	"strconv"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens/provider"
)

// Losses collects what a rendering leaves out or changes: each sort once, however often it comes. The zero value is ready.
type Losses struct{ list []loss }

type loss struct {
	what    string
	message int // the first one concerned, -1 for none
	times   int
}

// Add notes one loss. The text says what happens to what, in plural: "audio is left out".
func (l *Losses) Add(message int, what string) {
	for i := range l.list {
		if l.list[i].what == what {
			l.list[i].times++
			return
		}
	}
	l.list = append(l.list, loss{what, message, 1})
}

// Warnings lists the losses in the order in which they were met.
func (l *Losses) Warnings() []conversation.Warning {
	var out []conversation.Warning
	for _, one := range l.list {
		detail := one.what
		if one.times > 1 {
			detail += " (" + strconv.Itoa(one.times) + " times)"
		}
		out = append(out, conversation.Warning{Code: provider.WarnLossy, Message: one.message, Detail: detail})
	}
	return out
}
