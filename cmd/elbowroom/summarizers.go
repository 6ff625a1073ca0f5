package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/elbowroom/elbowroom/internal/config"
	"github.com/elbowroom/elbowroom/internal/telemetry"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/anthropic"
	"github.com/elbowroom/elbowroom/summarizer/extractive"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
	"github.com/elbowroom/elbowroom/summarizer/llm"
	"github.com/elbowroom/elbowroom/summarizer/openai"
	"github.com/elbowroom/elbowroom/summarizer/plugin"
	"github.com/elbowroom/elbowroom/tokens"
)

// rungs are the summarizers of a configuration, best first, and what has to be closed
// after them.
type rungs struct {
	list    []summarizer.Summarizer
	closers []io.Closer
}

// closeableBackend is a backend with connections.
type closeableBackend interface {
	summarizer.Backend
	io.Closer
}

// newRungs builds the summarizers. The configuration has checked their names; keys and addresses come from the variables that
// the providers' own SDKs read.
func newRungs(ctx context.Context, c *config.Config, registry *tokens.Registry, log *slog.Logger, getenv func(string) string, recorder *telemetry.Recorder) (*rungs, error) {
	template, err := promptTemplate(c.Summarizer.PromptFile)
	if err != nil {
		return nil, &usageError{fmt.Errorf("summarizer.prompt_file: %w", err)}
	}
	r := &rungs{}
	for _, name := range c.Summarizers {
		if name == summarizer.Extractive {
			r.list = append(r.list, extractive.New())
			continue
		}
		kind, rest, _ := strings.Cut(name, ":")
		if variable := missingKey(kind, getenv); variable != "" {
			log.WarnContext(ctx, "no key for a summarizer: its calls will fail and the next one takes over", "summarizer", name, "variable", variable)
		}
		backend, err := newBackend(kind, rest, c.Summarizer, getenv)
		if err != nil {
			return nil, errors.Join(&usageError{fmt.Errorf("summarizers: %s: %w", name, err)}, r.Close())
		}
		r.closers = append(r.closers, backend)
		rung, err := llm.New(llm.Options{
			Backend:   ladder.Guard(recorder.Backend(backend), guardOptions(c.Summarizer)),
			Window:    windowOf(c.Summarizer, registry, rest),
			MaxOutput: c.Summarizer.MaxOutputTokens,
			Template:  template,
		})
		if err != nil {
			return nil, errors.Join(&usageError{fmt.Errorf("summarizers: %s: %w", name, err)}, r.Close())
		}
		r.list = append(r.list, rung)
	}
	return r, nil
}

// Close ends the backends' connections.
func (r *rungs) Close() error {
	var errs []error
	for _, c := range r.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

func newBackend(kind, rest string, c config.Summarizer, getenv func(string) string) (closeableBackend, error) {
	switch kind {
	case "openai":
		return openai.New(openai.Options{
			Model: rest, BaseURL: getenv("OPENAI_BASE_URL"), APIKey: getenv("OPENAI_API_KEY"), HeaderTimeout: c.AttemptTimeout,
		})
	case "anthropic":
		return anthropic.New(anthropic.Options{
			Model: rest, BaseURL: getenv("ANTHROPIC_BASE_URL"), APIKey: getenv("ANTHROPIC_API_KEY"), HeaderTimeout: c.AttemptTimeout,
		})
	default:
		o := plugin.Options{Target: rest, Token: getenv("ELBOWROOM_PLUGIN_TOKEN")}
		if c.PluginTLS {
			o.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		return plugin.New(o)
	}
}

// missingKey names the variable without which a provider's own endpoint refuses every call, "" when nothing is missing. Servers
// at an address of the operator's may want no key.
func missingKey(kind string, getenv func(string) string) string {
	prefix := strings.ToUpper(kind)
	if kind == "plugin" || getenv(prefix+"_BASE_URL") != "" || getenv(prefix+"_API_KEY") != "" {
		return ""
	}
	return prefix + "_API_KEY"
}

func guardOptions(c config.Summarizer) ladder.GuardOptions {
	o := ladder.GuardOptions{AttemptTimeout: c.AttemptTimeout, Retries: c.Retries, BreakerDelay: c.BreakerDelay}
	if c.Retries == 0 {
		o.Retries = -1 // the zero value is the default
	}
	return o
}

// windowOf is the context window of a summarizing model.
func windowOf(c config.Summarizer, registry *tokens.Registry, model string) int {
	if c.ContextWindow > 0 {
		return c.ContextWindow
	}
	if m := registry.Lookup(model); m.Known {
		return cmp.Or(m.ContextWindow, llm.DefaultWindow)
	}
	return llm.DefaultWindow
}

// promptTemplate reads the prompt in place of the built-in one, nil for none.
func promptTemplate(file string) (*llm.Template, error) {
	if file == "" {
		return nil, nil //nolint:nilnil // no file is the built-in prompt
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return llm.ParseTemplate(string(text))
}
