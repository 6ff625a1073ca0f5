package simulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/elbowroom/elbowroom/conversation"
)

// Patterns of what changes by itself, from the most telling to the least. Each is masked together with those before it.
var (
	uuidPattern = regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	datePattern = regexp.MustCompile(`(?i)\b\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\b\d{1,2}[/.]\d{1,2}[/.]\d{2,4}\b|` +
		`\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b,?|` +
		`\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.? \d{1,2}(?:st|nd|rd|th)?,?(?: \d{4})?\b|` +
		`\b\d{1,2} (?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?(?: \d{4})?\b`)
	timePattern   = regexp.MustCompile(`(?i)T?\b\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[ap]m\b)?(?: ?(?:z|utc|gmt|[+-]\d{2}:?\d{2})\b)?|T\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?`)
	hexPattern    = regexp.MustCompile(`(?i)\b[0-9a-f]*(?:\d[a-f]|[a-f]\d)[0-9a-f]*\b`)
	pathPattern   = regexp.MustCompile(`(?:[A-Za-z]:\\|~?/)[^\s"'<>|,;)]*`)
	numberPattern = regexp.MustCompile(`[+-]?\d[\d_,.]*`)
	branchPattern = regexp.MustCompile(`(?im)^(.*\b(?:branch|git status|head|commit)\b[^:\n]*:).*$`)
	spacePattern  = regexp.MustCompile(`\s+`)
)

// volatile says in what two texts differ when they differ in nothing else: uuid, date, time, git state, hash, path or
// counter; empty when they differ otherwise.
func volatile(a, b string) string {
	for _, mask := range []struct {
		class   string
		pattern *regexp.Regexp
	}{
		{"uuid", uuidPattern},
		{"date", datePattern},
		{"time", timePattern},
		{"git state", branchPattern},
		{"hash", hexPattern},
		{"path", pathPattern},
		{"counter", numberPattern},
		{"white space", spacePattern},
	} {
		with := "\x00"
		if mask.class == "git state" {
			with = "$1\x00"
		}
		a, b = mask.pattern.ReplaceAllString(a, with), mask.pattern.ReplaceAllString(b, with)
		if a == b {
			return mask.class
		}
	}
	return ""
}

// spelling returns the code for two blocks that say the same in different bytes, empty when they do not.
func spelling(p *Prompt, i int, q *Prompt, k int) string {
	x, y := p.Blocks[i].source.block, q.Blocks[k].source.block
	if x.Kind != y.Kind || x.Kind == conversation.KindText {
		return ""
	}
	one, _ := p.literal(i)
	two, _ := q.literal(k)
	if x.InputShape == conversation.ShapeString && y.InputShape == conversation.ShapeString && x.Name == y.Name && x.ID == y.ID {
		one, two = x.Input, y.Input // JSON inside a string
	}
	switch {
	case one == "" || two == "" || one == two || !json.Valid([]byte(one)) || !json.Valid([]byte(two)):
		return ""
	case compacted(one) == compacted(two):
		return CodeMessagesWhitespace
	case normal(one, false) == normal(two, false):
		return CodeMessagesUnicode
	case normal(one, true) == normal(two, true):
		return CodeMessagesNumberFormat
	case sameJSON(one, two):
		return CodeMessagesKeyOrder
	default:
		return ""
	}
}

func compacted(s string) string {
	var out bytes.Buffer
	if json.Compact(&out, []byte(s)) != nil {
		return s
	}
	return out.String()
}

// normal writes a JSON text with strings in one spelling, and with numbers by their value where asked.
func normal(s string, numbers bool) string {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var sb strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return sb.String()
		}
		if err != nil {
			return s
		}
		switch v := token.(type) {
		case json.Delim:
			sb.WriteByte(byte(v))
		case string:
			sb.WriteString(strconv.Quote(v))
		case json.Number:
			sb.WriteString(number(v, numbers))
		case bool:
			sb.WriteString(strconv.FormatBool(v))
		default:
			sb.WriteString("null")
		}
		sb.WriteByte(' ')
	}
}

func number(n json.Number, byValue bool) string {
	if f, err := n.Float64(); byValue && err == nil {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return n.String()
}

// sameJSON reports whether two JSON texts have the same value, whatever the order of keys.
func sameJSON(a, b string) bool {
	one, ok := sorted(a)
	if !ok {
		return false
	}
	two, ok := sorted(b)
	return ok && one == two
}

func sorted(s string) (string, bool) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return "", false
	}
	out, err := json.Marshal(v)
	return string(out), err == nil
}
