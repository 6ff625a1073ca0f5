package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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

// head is the conversation up to a turn, counted from 0, with the tag before every
// text: to the service, a conversation that it has never seen.
func (r *recording) head(tag string, turn int) string {
	var b strings.Builder
	end, at := r.turns[turn], 0
	b.Grow(end + len(r.places)*tagLength)
	for _, place := range r.places {
		if place > end {
			break
		}
		b.WriteString(r.text[at:place])
		b.WriteString(tag)
		at = place
	}
	b.WriteString(r.text[at:end])
	return b.String()
}

// tail is what stands behind the messages, the same in every turn.
func (r *recording) tail(tag string) string {
	last := len(r.turns) - 1
	end := r.turns[last]
	whole := r.text[end:]
	for i := len(r.places) - 1; i >= 0 && r.places[i] > end; i-- {
		at := r.places[i] - end
		whole = whole[:at] + tag + whole[at:]
	}
	return whole
}

// body is what the agent sends in a turn.
func (r *recording) body(tag string, turn int) string { return r.head(tag, turn) + r.tail(tag) }

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
