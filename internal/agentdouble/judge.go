package agentdouble

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/elbowroom/elbowroom/conformance"
)

// Judge looks at the request bodies of one conversation, one after the other.
type Judge struct {
	// Dialect is the wire format of the bodies.
	Dialect conformance.Dialect
	// Faulty is set for conversations that break the provider's rules from the start:
	// their faults are not looked for, and a change may be their repair.
	Faulty bool

	last     []byte
	messages []json.RawMessage
}

// summaryPattern finds the frame of a summary that the service wrote.
var summaryPattern = regexp.MustCompile(`\[ELBOWROOM CONTEXT SUMMARY, round \d+, trace [0-9a-f]+\]`)

// Look returns what a provider would refuse in a body, and whether its messages no
// longer begin with those of the body before, breakpoints apart. Without another
// summary such a change is a problem too.
func (j *Judge) Look(body []byte) (changed bool, problems []string) {
	now, err := conformance.Read(j.Dialect, body)
	if err != nil {
		return false, []string{err.Error()}
	}
	if !j.Faulty {
		for _, v := range now.Faults() {
			problems = append(problems, v.String())
		}
	}
	messages, err := messagesOf(body)
	if err != nil {
		return false, append(problems, err.Error())
	}
	if j.last != nil {
		if why := j.differs(body, messages); why != "" {
			changed = true
			if before, after := summaryPattern.Find(j.last), summaryPattern.Find(body); !j.Faulty && (after == nil || bytes.Equal(before, after)) {
				problems = append(problems, "the prefix changed without a compression: "+why)
			}
		}
	}
	j.last, j.messages = bytes.Clone(body), messages
	return changed, problems
}

// differs says how a body does not begin with the one before it.
func (j *Judge) differs(body []byte, messages []json.RawMessage) string {
	if len(messages) < len(j.messages) {
		return fmt.Sprintf("%d messages after %d", len(messages), len(j.messages))
	}
	before, err := conformance.Read(j.Dialect, j.last)
	if err != nil {
		return err.Error()
	}
	// The same body without what is new, so that what stands beside the messages is
	// compared too.
	at, end := 0, 0
	for i, m := range messages {
		at += bytes.Index(body[at:], m) + len(m)
		if i == len(j.messages)-1 {
			end = at
		}
	}
	prefix, err := conformance.Read(j.Dialect, append(bytes.Clone(body[:end]), body[at:]...))
	if err != nil {
		return err.Error()
	}
	return conformance.SameUnmarked(before, prefix)
}

func messagesOf(body []byte) ([]json.RawMessage, error) {
	var sent struct {
		Messages []json.RawMessage `json:"messages"`
	}
	err := json.Unmarshal(body, &sent)
	return sent.Messages, err
}
