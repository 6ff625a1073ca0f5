package extractive

import (
	"strings"

	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// maxRecord is the size of a record in bytes; larger objects become several.
const maxRecord = 150

// maxNesting bounds the recursion into JSON; deeper values stay as they are.
const maxNesting = 48

// records cuts a text that is one JSON object or array into records, "key: value,
// key: value", with the name of the object they belong to. It reports false, and
// adds nothing, when the text is not JSON.
func (c *cutter) records(text string) bool {
	text = strings.TrimSpace(text)
	if len(text) < 2 || text[0] != '{' && text[0] != '[' || text[len(text)-1] != '}' && text[len(text)-1] != ']' {
		return false
	}
	units, refs, met := len(c.units), len(c.refs), c.tape.here()
	j := recordReader{src: text, c: c}
	if !j.index() {
		return false
	}
	var rec record
	if j.value("", &rec, 0) && j.end() {
		j.flush(&rec)
		return true
	}
	// The terms stay counted: they are in the text. Only the units go.
	c.tape.takeBack(met)
	c.units, c.refs = c.units[:units], c.refs[:refs]
	return false
}

// recordReader walks JSON once. It checks no more than it needs to stay on its feet.
type recordReader struct {
	src string
	pos int
	c   *cutter
	// ends[k] is where the k-th bracket closes; opened counts brackets passed.
	ends   []int32
	inside []int32 // brackets inside the k-th one
	opened int
}

// record is a line being put together.
type record struct {
	label string
	sb    strings.Builder
}

// index finds the end of every bracket in one pass, so that the walk knows which
// values are small enough to stand on one line.
func (j *recordReader) index() bool {
	var stack []int32
	for i := 0; i < len(j.src); i++ {
		switch j.src[i] {
		case '"':
			end := stringEnd(j.src, i)
			if end < 0 {
				return false
			}
			i = end - 1
		case '{', '[':
			stack = append(stack, int32(len(j.ends)))
			j.ends = append(j.ends, 0)
			j.inside = append(j.inside, 0)
		case '}', ']':
			if len(stack) == 0 {
				return false
			}
			k := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			j.ends[k] = int32(i + 1)
			j.inside[k] = int32(len(j.ends)) - k - 1
		}
	}
	return len(stack) == 0
}

// stringEnd is the offset after the string literal at i, -1 for an open one.
func stringEnd(s string, i int) int {
	for i++; i < len(s); i++ {
		switch s[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		case '\n':
			return -1
		}
	}
	return -1
}

func (j *recordReader) space() {
	for j.pos < len(j.src) {
		switch j.src[j.pos] {
		case ' ', '\t', '\n', '\r':
			j.pos++
		default:
			return
		}
	}
}

func (j *recordReader) end() bool {
	j.space()
	return j.pos == len(j.src)
}

func (j *recordReader) next(c byte) bool {
	j.space()
	if j.pos < len(j.src) && j.src[j.pos] == c {
		j.pos++
		return true
	}
	return false
}

// value reads one value into the record under a key.
func (j *recordReader) value(key string, rec *record, depth int) bool {
	j.space()
	if j.pos >= len(j.src) {
		return false
	}
	switch j.src[j.pos] {
	case '{', '[':
		return j.container(key, rec, depth)
	case '"':
		start := j.pos
		end := stringEnd(j.src, start)
		if end < 0 {
			return false
		}
		j.pos = end
		j.text(key, facts.Unescape(j.src[start+1:end-1]), rec)
		return true
	}
	start := j.pos
	for j.pos < len(j.src) && (facts.Letter(j.src[j.pos]) || facts.Digit(j.src[j.pos]) || strings.IndexByte("+-.", j.src[j.pos]) >= 0) {
		j.pos++
	}
	if word := j.src[start:j.pos]; word != "null" && word != "" {
		j.scalar(key, word, rec)
	}
	return j.pos > start
}

// container reads an object or array: in place when it is small, else as
// records of its own.
func (j *recordReader) container(key string, rec *record, depth int) bool {
	open := j.src[j.pos]
	k := j.opened
	if depth > maxNesting {
		return j.skip(key, rec)
	}
	own := rec
	var fresh record
	switch {
	case depth > 0 && int(j.ends[k])-j.pos <= maxRecord/2 && rec.sb.Len() > 0:
		// A small value stays with its siblings.
	case depth > 0 || rec.label != "":
		fresh.label = key
		if key == "" {
			fresh.label = rec.label
		}
		own = &fresh
		j.flush(rec)
	}
	j.opened++
	j.pos++
	shut := byte('}')
	if open == '[' {
		shut = ']'
	}
	if own == rec && depth > 0 && key != "" {
		j.scalar(key, "", rec)
	}
	for first := true; ; first = false {
		if j.next(shut) {
			break
		}
		if !first && !j.next(',') {
			return false
		}
		member := ""
		if open == '{' {
			j.space()
			if j.pos >= len(j.src) || j.src[j.pos] != '"' {
				return false
			}
			end := stringEnd(j.src, j.pos)
			if end < 0 {
				return false
			}
			member = facts.Unescape(j.src[j.pos+1 : end-1])
			j.pos = end
			if !j.next(':') {
				return false
			}
		}
		if !j.value(member, own, depth+1) {
			return false
		}
	}
	if own == &fresh {
		j.flush(own)
	}
	return true
}

// skip takes a value nested too deeply as it stands.
func (j *recordReader) skip(key string, rec *record) bool {
	k := j.opened
	raw := j.src[j.pos:j.ends[k]]
	j.opened += 1 + int(j.inside[k])
	j.pos = int(j.ends[k])
	j.flush(rec)
	if key != "" {
		raw = key + ": " + raw
	}
	j.c.pieces(raw, maxLine, flagBuilt)
	return true
}

// text adds a string value. Long ones are texts of their own.
func (j *recordReader) text(key, s string, rec *record) {
	if len(s) <= maxRecord && strings.IndexByte(s, '\n') < 0 {
		j.scalar(key, s, rec)
		return
	}
	j.flush(rec)
	if dataRun(s) > 0 {
		return
	}
	if strings.IndexByte(s, '\n') >= 0 {
		j.c.lines(s)
		return
	}
	if key != "" {
		s = key + ": " + s
	}
	j.c.pieces(s, maxLine, flagBuilt)
}

// scalar adds "key: value" to the record and begins a new one when it is full.
func (j *recordReader) scalar(key, v string, rec *record) {
	if rec.sb.Len()+len(key)+len(v)+4 > maxRecord {
		j.flush(rec)
	}
	if rec.sb.Len() == 0 {
		rec.sb.Grow(maxRecord)
	}
	switch {
	case rec.sb.Len() == 0 && rec.label != "":
		rec.sb.WriteString(rec.label)
		rec.sb.WriteString(": ")
	case rec.sb.Len() > 0 && !strings.HasSuffix(rec.sb.String(), ": "):
		rec.sb.WriteString(", ")
	}
	if key != "" {
		rec.sb.WriteString(key)
		rec.sb.WriteString(": ")
	}
	rec.sb.WriteString(v)
}

func (j *recordReader) flush(rec *record) {
	if rec.sb.Len() == 0 {
		return
	}
	j.c.unit(strings.TrimSuffix(rec.sb.String(), ": "), flagBuilt)
	rec.sb.Reset()
}
