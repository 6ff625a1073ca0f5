package wire

import (
	"encoding/json"
	"strings"

	"github.com/elbowroom/elbowroom/conversation"
)

// JSON writes a JSON text piece by piece. The zero value is ready.
type JSON struct {
	buf []byte
	// comma is set when the next element of the open list or object follows another.
	comma bool
}

// Bytes returns what was written.
func (j *JSON) Bytes() []byte { return j.buf }

// separate puts the comma before an element.
func (j *JSON) separate() {
	if j.comma {
		j.buf = append(j.buf, ',')
	}
	j.comma = true
}

// Object writes an object whose members write adds. As an element of a list; see [JSON.Key] for members.
func (j *JSON) Object(write func()) { j.group('{', '}', write) }

// List writes a list whose elements write adds.
func (j *JSON) List(write func()) { j.group('[', ']', write) }

func (j *JSON) group(open, end byte, write func()) {
	j.separate()
	j.buf = append(j.buf, open)
	j.comma = false
	write()
	j.buf = append(j.buf, end)
	j.comma = true
}

// Detached writes a list apart from what is open and returns it, or false when it has no element.
func (j *JSON) Detached(write func()) (list string, ok bool) {
	outer := *j
	*j = JSON{}
	j.List(write)
	list = string(j.buf)
	*j = outer
	return list, list != "[]"
}

// Key begins a member: the next call writes its value.
func (j *JSON) Key(name string) *JSON {
	j.separate()
	j.buf = append(append(j.buf, conversation.Quote(name)...), ':')
	j.comma = false
	return j
}

// String writes a string.
func (j *JSON) String(s string) {
	j.separate()
	j.buf = append(j.buf, conversation.Quote(s)...)
}

// Raw writes a value that is JSON already.
func (j *JSON) Raw(value string) {
	j.separate()
	j.buf = append(j.buf, value...)
}

// Field writes a member whose value is a string.
func (j *JSON) Field(name, value string) { j.Key(name).String(value) }

// IsObject reports whether a text is one valid JSON object.
func IsObject(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") && json.Valid([]byte(text))
}
