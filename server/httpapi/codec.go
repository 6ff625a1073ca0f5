package httpapi

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/elbowroom/elbowroom/conversation"
)

// maxJSONDepth bounds the nesting of a message's JSON. Conversations in their native
// form are one string in it.
const maxJSONDepth = 100

// readJSON reads a message from protobuf's JSON. Field names may be written as in
// the proto files or in lowerCamelCase; unknown ones are refused, because a misspelt
// option that is ignored is worse than an error.
func readJSON(text []byte, into proto.Message) *refusal {
	err := protojson.UnmarshalOptions{RecursionLimit: maxJSONDepth}.Unmarshal(text, into)
	if err == nil {
		return nil
	}
	offset, reason := faultOf(text, err)
	return invalid("", "invalid JSON: "+reason, offset)
}

// place is how protojson says where it stopped.
var place = regexp.MustCompile(`\(line (\d+):(\d+)\):?\s*`)

// faultOf finds the byte at which text is not what was wanted, -1 where it is
// unknown, and what is wrong with it.
func faultOf(text []byte, err error) (offset int, reason string) {
	var fault *conversation.Error
	if _, broken := conversation.ReadObject(string(text), maxJSONDepth); errors.As(broken, &fault) {
		return fault.Offset, fault.Reason + " at byte " + strconv.Itoa(fault.Offset)
	}
	if at := conversation.LoneSurrogate(string(text)); at >= 0 {
		return at, "half of a surrogate pair at byte " + strconv.Itoa(at)
	}
	reason = strings.TrimSpace(strings.TrimPrefix(err.Error(), "proto:"))
	reason = strings.Map(func(r rune) rune {
		if r == '\u00a0' { // protojson varies its texts with these
			return ' '
		}
		return r
	}, reason)
	at := place.FindStringSubmatchIndex(reason)
	if at == nil {
		return -1, reason
	}
	line, _ := strconv.Atoi(reason[at[2]:at[3]])
	column, _ := strconv.Atoi(reason[at[4]:at[5]])
	offset = byteAt(text, line, column)
	reason = reason[:at[0]] + reason[at[1]:] + " at byte " + strconv.Itoa(offset)
	return offset, strings.TrimPrefix(reason, "syntax error ")
}

// byteAt is the offset of a line and a column in characters, both from 1.
func byteAt(text []byte, line, column int) int {
	at := 0
	for ; line > 1; line-- {
		next := strings.IndexByte(string(text[at:]), '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	for ; column > 1 && at < len(text); column-- {
		_, n := utf8.DecodeRune(text[at:])
		at += n
	}
	return at
}

// writeJSON appends a message in protobuf's JSON: lowerCamelCase, without fields that
// have their default.
func writeJSON(base []byte, m proto.Message) ([]byte, error) {
	return protojson.MarshalOptions{}.MarshalAppend(base, m)
}
