package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/elbowroom/elbowroom/compressor"
	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"github.com/elbowroom/elbowroom/internal/wiredouble"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/anthropic"
	"github.com/elbowroom/elbowroom/summarizer/extractive"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
	"github.com/elbowroom/elbowroom/summarizer/llm"
	"github.com/elbowroom/elbowroom/summarizer/openai"
	"github.com/elbowroom/elbowroom/summarizer/plugin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// provider is a wire that summarizing models speak, with the conversation that is
// sent beside it.
type provider struct {
	name    string
	dialect Dialect
	model   string // of the conversation
	rung    string // what reports call the summarizer
	http    bool
	double  func(tb testing.TB, steps ...wiredouble.Step) *wiredouble.Double
	backend func(d *wiredouble.Double) (summarizer.Backend, error)
}

func overOpenAI() provider {
	return provider{
		name: "OpenAI", dialect: OpenAI, model: "gpt-4o", rung: "openai:notes", http: true, double: wiredouble.OpenAI,
		backend: func(d *wiredouble.Double) (summarizer.Backend, error) {
			return openai.New(openai.Options{Model: "notes", BaseURL: d.URL, APIKey: d.Key})
		},
	}
}

func overAnthropic() provider {
	return provider{
		name: "Anthropic", dialect: Anthropic, model: "claude-sonnet-4-5", rung: "anthropic:notes", http: true, double: wiredouble.Anthropic,
		backend: func(d *wiredouble.Double) (summarizer.Backend, error) {
			return anthropic.New(anthropic.Options{Model: "notes", BaseURL: d.URL, APIKey: d.Key})
		},
	}
}

func overPlugin() provider {
	return provider{
		name: "Plugin", dialect: OpenAI, model: "gpt-4o", rung: "plugin:notes", double: wiredouble.Plugin,
		backend: func(d *wiredouble.Double) (summarizer.Backend, error) {
			return plugin.New(plugin.Options{Name: "plugin:notes", Target: d.URL, Token: d.Key})
		},
	}
}

// standOptions are what differs between stands.
type standOptions struct {
	// attempt bounds one call of the model; 0 is long.
	attempt time.Duration
	// breaker is how many failures in a row stop the calls; 0: none do.
	breaker uint
	// continuity is the engine's.
	continuity bool
	// template is the prompt, nil the built-in one.
	template *llm.Template
	// after are rungs between the model's and the embedded one.
	after []summarizer.Summarizer
}

// stand is a real server whose summarizing model is a double on a loopback port.
type stand struct {
	*wire
	provider
	model *wiredouble.Double
}

func newStand(t testing.TB, p provider, o standOptions, steps ...wiredouble.Step) *stand {
	t.Helper()
	double := p.double(t, steps...)
	rungs := slices.Concat([]summarizer.Summarizer{modelRung(t, p, double, o)}, o.after, []summarizer.Summarizer{extractive.New()})
	return &stand{serveRungs(t, o.continuity, rungs...), p, double}
}

// serveRungs starts a server with the ladder, which ends with the test.
func serveRungs(t testing.TB, continuity bool, rungs ...summarizer.Summarizer) *wire {
	t.Helper()
	var steps *ladder.Ladder
	b := newBenchWith(t, func(c *compressor.Options) {
		var err error
		if steps, err = ladder.New(ladder.Options{Rungs: rungs, Store: c.Store, CallLimit: time.Minute}); err != nil {
			t.Fatal(err)
		}
		c.Ladder, c.Continuity = steps, continuity
	})
	t.Cleanup(steps.Close)
	return serve(t, b)
}

// modelRung is the double as a rung of the ladder, the way the binary builds it.
func modelRung(t testing.TB, p provider, double *wiredouble.Double, o standOptions) summarizer.Summarizer {
	t.Helper()
	backend, err := p.backend(double)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c, ok := backend.(io.Closer); ok {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	guard := ladder.GuardOptions{
		AttemptTimeout: o.attempt, Backoff: time.Millisecond, MaxBackoff: 5 * time.Millisecond, BreakerFailures: o.breaker,
	}
	if guard.BreakerFailures == 0 {
		guard.BreakerFailures = 1 << 20
	}
	rung, err := llm.New(llm.Options{Backend: ladder.Guard(backend, guard), Template: o.template})
	if err != nil {
		t.Fatal(err)
	}
	return rung
}

// goodSummary is a summary that every check accepts. What it names occurs in every
// [talk].
const goodSummary = `## Goal
The user wants the tide tables of the harbour checked pier by pier.

## Progress
### Done
- The assistant read the tables with the tool look and reported what differs.

## Key decisions
- Heights are written in metres, because the charts are.`

// clerk is the system prompt of every talk. It is never sent to a summarizer.
const clerk = "You are the clerk of the harbourmaster's office."

// talk is a conversation of so many rounds about a topic, some 250 tokens each: a
// request, a call, its result and an answer.
func talk(d Dialect, topic string, rounds int) string {
	var list []string
	for i := range rounds {
		user := fmt.Sprintf("Round %d about %s: please check the tide table of pier %d and write heights in metres.", i, topic, i)
		words := fmt.Sprintf("The table of pier %d says that high water stands at %d.%d metres. ", i, i%7, i%10)
		result := strings.Repeat(words, 6) + strings.Repeat("The harbour log has nothing else to report for this hour. ", 5)
		answer := fmt.Sprintf("Pier %d differs from the chart by %d centimetres; the next tables follow. ", i, 3+i) +
			strings.Repeat("The wind came from the west and the sea was calm. ", 4)
		list = append(list, exchange(d, fmt.Sprintf("c%d", i), user, result, answer)...)
	}
	list = append(list, said("user", fmt.Sprintf("And what about the last pier, for %s?", topic)))
	return body(d, list)
}

// exchange is the four messages of a round.
func exchange(d Dialect, id, user, result, answer string) []string {
	if d == Anthropic {
		return []string{
			said("user", user),
			`{"role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"look","input":{"path":"tables/pier.md"}}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":` + string(quote(result)) + `}]}`,
			said("assistant", answer),
		}
	}
	return []string{
		said("user", user),
		`{"role":"assistant","content":null,"tool_calls":[{"id":"` + id + `","type":"function","function":{"name":"look","arguments":"{\"path\":\"tables/pier.md\"}"}}]}`,
		`{"role":"tool","tool_call_id":"` + id + `","content":` + string(quote(result)) + `}`,
		said("assistant", answer),
	}
}

func said(role, text string) string {
	return `{"role":"` + role + `","content":` + string(quote(text)) + `}`
}

// body puts messages into a request body with the clerk's system prompt.
func body(d Dialect, list []string) string {
	if d == Anthropic {
		return `{"model":"claude-sonnet-4-5","max_tokens":1024,"system":` + string(quote(clerk)) + `,"messages":[` + strings.Join(list, ",") + `]}`
	}
	return `{"model":"gpt-4o","messages":[` + strings.Join(append([]string{said("system", clerk)}, list...), ",") + `]}`
}

// request asks for a compression of a body that is above the threshold.
func (s *stand) request(text string) *pb.CompressRequest {
	return &pb.CompressRequest{Conversation: native(formatOf(s.dialect), text), Model: s.provider.model, ContextWindow: 6_000}
}

// within returns the wire's context with a deadline of the call's own.
func (w *wire) within(t testing.TB, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, limit)
	t.Cleanup(cancel)
	return ctx
}

// whole judges an answer by every rule.
func (s *stand) whole(t *testing.T, req *pb.CompressRequest, resp *pb.CompressResponse) (in, out *Transcript) {
	t.Helper()
	in = read(t, s.dialect, req.GetConversation(), nil)
	out = read(t, s.dialect, resp.GetConversation(), in)
	report(t, (&Compression{
		Input: in, Output: out, Outcome: resp.GetOutcome(), Report: resp.GetReport(), Summary: resp.GetSummary(),
		Pinned: req.GetPinned(), Handoffs: in.Handoffs(), KeepThinking: true,
	}).Check())
	return in, out
}

// streamed are the events of a StreamCompress.
type streamed struct {
	phases []pb.CompressPhase
	pieces []*pb.SummaryPiece
	result *pb.CompressResponse
}

// stream reads a StreamCompress to its end.
func (w *wire) stream(ctx context.Context, req *pb.CompressRequest) (*streamed, error) {
	return w.streamTo(ctx, req, func(pb.CompressPhase) {})
}

// streamTo does so and tells of every phase as it begins.
func (w *wire) streamTo(ctx context.Context, req *pb.CompressRequest, began func(pb.CompressPhase)) (*streamed, error) {
	events, err := w.StreamCompress(ctx, &pb.StreamCompressRequest{Request: req})
	if err != nil {
		return nil, err
	}
	out := &streamed{}
	for {
		event, err := events.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return out, err
		case out.result != nil:
			return out, errors.New("an event after the result")
		}
		switch e := event.GetEvent().(type) {
		case *pb.StreamCompressResponse_Progress:
			out.phases = append(out.phases, e.Progress.GetPhase())
			began(e.Progress.GetPhase())
		case *pb.StreamCompressResponse_SummaryPiece:
			out.pieces = append(out.pieces, e.SummaryPiece)
		case *pb.StreamCompressResponse_Result:
			out.result = e.Result
		}
	}
}
