package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conformance"
	"github.com/elbowroom/elbowroom/conversation"
)

// recording is a conversation that agents replay, each with words of its own in it.
type recording struct {
	name    string
	format  elbowroomv1.Format
	dialect conformance.Dialect
	model   string
	// window is a context window that a quarter of the conversation brings to the
	// threshold, in tokens.
	window int32

	text string
	// turns are the byte offsets behind the messages after which the agent asks its
	// model; the last is that of the whole conversation.
	turns []int
	// places are the offsets at which a text begins that a tag may stand before.
	places []int
}

// mostTurns is how many turns of a conversation are sent. Long ones are sent in larger
// steps.
const mostTurns = 24

// textStart finds the beginning of texts that are not empty. Inside of strings the
// quotes are escaped, so it finds no others.
var textStart = regexp.MustCompile(`"(?:content|text)"\s*:\s*"`)

// newRecording reads a request body.
func newRecording(name string, format elbowroomv1.Format, text string) (*recording, error) {
	r := &recording{
		name: name, format: format, text: text,
		dialect: conformance.OpenAI, model: "gpt-4o", window: int32(max(len(text)/8, 4_000)), //nolint:gosec // a file is smaller
	}
	reads := conversation.FormatOpenAIChat
	if format == elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES {
		r.dialect, r.model, reads = conformance.Anthropic, "claude-sonnet-4-5", conversation.FormatAnthropicMessages
	}
	c, err := conversation.Parse(reads, text, conversation.Limits{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(c.Messages) == 0 {
		return nil, fmt.Errorf("%s: no messages", name)
	}
	for i, m := range c.Messages {
		next := conversation.RoleAssistant
		if i+1 < len(c.Messages) {
			next = c.Messages[i+1].Role
		}
		if next == conversation.RoleAssistant && m.Role != conversation.RoleAssistant || i == len(c.Messages)-1 {
			r.turns = append(r.turns, m.Span.End)
		}
	}
	if all := r.turns; len(all) > mostTurns {
		r.turns = nil
		for k := range mostTurns {
			r.turns = append(r.turns, all[(k+1)*len(all)/mostTurns-1])
		}
	}
	for _, at := range textStart.FindAllStringIndex(text, -1) {
		if text[at[1]] != '"' {
			r.places = append(r.places, at[1])
		}
	}
	return r, nil
}

// tagLength is the length of every tag in bytes.
const tagLength = 8

// tagged appends a piece of the text to dst, with the tag before every text in it.
func (r *recording) tagged(dst []byte, tag string, from, to int) []byte {
	first, last := r.placesIn(from, to)
	for _, place := range r.places[first:last] {
		dst = append(append(dst, r.text[from:place]...), tag...)
		from = place
	}
	return append(dst, r.text[from:to]...)
}

// taggedLength is how much [recording.tagged] appends, in bytes.
func (r *recording) taggedLength(from, to int) int {
	first, last := r.placesIn(from, to)
	return to - from + (last-first)*tagLength
}

func (r *recording) placesIn(from, to int) (first, last int) {
	first, _ = slices.BinarySearch(r.places, from)
	last, _ = slices.BinarySearch(r.places, to)
	return first, last
}

// end is where the messages end.
func (r *recording) end() int { return r.turns[len(r.turns)-1] }

// head is the conversation up to a turn, counted from 0, with the tag before every
// text: to the service, a conversation that it has never seen.
func (r *recording) head(tag string, turn int) string {
	return string(r.tagged(nil, tag, 0, r.turns[turn]))
}

// tail is what stands behind the messages, the same in every turn.
func (r *recording) tail(tag string) string { return string(r.tagged(nil, tag, r.end(), len(r.text))) }

// appendBody appends what the agent sends in a turn.
func (r *recording) appendBody(dst []byte, tag string, turn int) []byte {
	return r.tagged(r.tagged(dst, tag, 0, r.turns[turn]), tag, r.end(), len(r.text))
}

// bodyLength is its length in bytes.
func (r *recording) bodyLength(turn int) int {
	return r.taggedLength(0, r.turns[turn]) + r.taggedLength(r.end(), len(r.text))
}

// body is the same as a text.
func (r *recording) body(tag string, turn int) string {
	return string(r.appendBody(make([]byte, 0, r.bodyLength(turn)), tag, turn))
}

// native wraps a body.
func (r *recording) native(body string) *elbowroomv1.Conversation {
	return &elbowroomv1.Conversation{Native: &elbowroomv1.NativeRequest{Format: r.format, Body: &elbowroomv1.NativeRequest_Json{Json: body}}}
}

// loadRecordings reads the recorded conversations in dir.
func loadRecordings(dir string) ([]*recording, error) {
	files, err := filepath.Glob(filepath.Join(dir, "conversations", "*.json"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("%s: no conversations/*.json: %w", dir, err)
	}
	var out []*recording
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // the caller's folder
		if err != nil {
			return nil, err
		}
		var head struct {
			Format string `json:"format"`
		}
		if err := json.Unmarshal(text, &head); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		format := elbowroomv1.Format_FORMAT_OPENAI_CHAT
		if head.Format == "anthropic" {
			format = elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES
		}
		r, err := newRecording(strings.TrimSuffix(filepath.Base(file), ".json"), format, string(text))
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
