package llm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/redact"
	"github.com/elbowroom/elbowroom/summarizer"
)

// The defaults and bounds of [Options].
const (
	// DefaultWindow is a window that every current hosted model has.
	DefaultWindow = 128_000
	// MinWindow is the smallest window that leaves room for the prompt, the
	// conversation and an answer.
	MinWindow = 4_096
	// DefaultMaxOutput is what the models of the last years write at most where they
	// limit it lowest; a larger max_tokens is an error to some of them.
	DefaultMaxOutput = 16_384
)

// Options are what a [Summarizer] works with.
type Options struct {
	// Backend is the model. Required.
	Backend summarizer.Backend
	// Window is the model's context window in its own tokens, prompt and answer
	// together. It decides how many parts a long middle is read in and never limits
	// the conversation that is compressed. Default 128,000, at least 4,096.
	Window int
	// MaxOutput is the most tokens that one answer of the model may have, its
	// reasoning included. Default 16,384; models that think at length need more.
	MaxOutput int
	// Template is the prompt; nil is the built-in one.
	Template *Template
}

// Summarizer writes summaries by a language model. It is safe for concurrent use.
type Summarizer struct {
	backend   summarizer.Backend
	window    int
	maxOutput int
	template  *Template
}

var _ summarizer.Summarizer = (*Summarizer)(nil)

// New returns the rung of a backend, or an error that says what is wrong with the
// options.
func New(o Options) (*Summarizer, error) {
	if o.Backend == nil {
		return nil, errors.New("llm: no backend")
	}
	if o.Window == 0 {
		o.Window = DefaultWindow
	}
	if o.Window < MinWindow {
		return nil, fmt.Errorf("llm: a window of %d tokens is too small, at least %d are needed", o.Window, MinWindow)
	}
	if o.MaxOutput < 0 {
		return nil, fmt.Errorf("llm: an answer of at most %d tokens", o.MaxOutput)
	}
	if o.MaxOutput == 0 {
		o.MaxOutput = DefaultMaxOutput
	}
	if o.Template == nil {
		builtin, err := ParseTemplate(BuiltinTemplate)
		if err != nil {
			return nil, err
		}
		o.Template = builtin
	}
	return &Summarizer{backend: o.Backend, window: o.Window, maxOutput: o.MaxOutput, template: o.Template}, nil
}

// Name is the backend's.
func (s *Summarizer) Name() string { return s.backend.Name() }

// Version names what an answer depends on besides the request: summaries written
// under another version are not found again.
func (s *Summarizer) Version() string {
	sum := sha256.Sum256([]byte(s.template.text))
	return fmt.Sprintf("%s/%s/%d/%d", TemplateVersion, hex.EncodeToString(sum[:6]), s.window, s.maxOutput)
}

// Summarize writes the summary. Errors are [*summarizer.RejectedError] for an
// answer that is none, [*summarizer.BackendError], [summarizer.ErrNothingToSay],
// and those of the request's counter and context. What was billed stands in the
// response with an error too.
func (s *Summarizer) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Response, error) {
	if err := ctx.Err(); err != nil {
		return summarizer.Response{}, err
	}
	secrets := redact.New()
	from := gather(&req, secrets)
	if len(from.entries) == 0 && conversation.Blank(from.previous) {
		return summarizer.Response{}, fmt.Errorf("llm: %w", summarizer.ErrNothingToSay)
	}
	r := &run{s: s, ctx: ctx, req: &req, from: from, secrets: secrets}
	text, tokens, err := r.write()
	for _, c := range secrets.Counts() {
		r.bill.Redactions = append(r.bill.Redactions, summarizer.Redaction{Kind: c.Kind, Count: c.Distinct})
	}
	if err == nil {
		r.bill.Text, r.bill.Tokens = text, tokens
	}
	return r.bill, err
}
