package conformance

import (
	"encoding/json"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"github.com/elbowroom/elbowroom/internal/testdata"
	"github.com/elbowroom/elbowroom/internal/wiredouble"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/extractive"
)

// caseOptions are the placeholder options of a field case. They are mapped to the
// API like this:
//
//	keep_last              policy.protect_last_n, with policy.protect_first_n 0
//	budget_tokens          policy.target_tokens, and force when the input counts more
//	window_tokens          context_window
//	reserve_tokens         max_output_tokens
//	fallback "none"        FAILURE_POLICY_ABORT; "extractive": FAILURE_POLICY_FALLBACK
//	prune_tool_args        policy.prune_tool_arguments
//	max_tool_result_chars  policy.prune_over_chars
//	deadline_ms            the deadline of the call
//	fake_summarizer        the first rung of the server's ladder
//	repair                 nothing: Compress always repairs what it changes
//	must_keep              nothing: no option keeps single words
//	idempotency_key        nothing: equal requests get equal answers
//
// Messages are sent as a bare array, so the system prompt stays as it is; with
// tools, or with an Anthropic system prompt, as a body.
type caseOptions struct {
	Model              string          `json:"model"`
	System             json.RawMessage `json:"system"`
	KeepLast           *int32          `json:"keep_last"`
	BudgetTokens       int32           `json:"budget_tokens"`
	WindowTokens       int32           `json:"window_tokens"`
	ReserveTokens      int32           `json:"reserve_tokens"`
	Fallback           string          `json:"fallback"`
	PruneToolArgs      *bool           `json:"prune_tool_args"`
	MaxToolResultChars int32           `json:"max_tool_result_chars"`
	Fake               struct {
		Reply  json.RawMessage `json:"reply"`
		Status int             `json:"http_status"`
		HangMS int             `json:"hang_ms"`
	} `json:"fake_summarizer"`
}

// trial is one case against one server.
type trial struct {
	*wire
	t       *testing.T
	c       testdata.Case
	options caseOptions
	dialect Dialect
	fake    *scripted
	double  *wiredouble.Double
	main    string // the model of the conversation
}

// newTrial starts a server with the case's own summarizer, or with the embedded one.
func newTrial(t *testing.T, c testdata.Case, script bool) *trial {
	t.Helper()
	tr := &trial{t: t, c: c, dialect: dialectOf(c.Format), main: "gpt-4o"}
	if err := json.Unmarshal(c.Options, &tr.options); err != nil {
		t.Fatal(err)
	}
	if tr.dialect == Anthropic {
		tr.main = "claude-sonnet-4-5"
	}
	ladder := []summarizer.Summarizer{extractive.New()}
	if script {
		tr.fake = &scripted{hang: tr.options.Fake.HangMS > 0, ended: make(chan struct{})}
		tr.fake.reply, _ = decodeString(tr.options.Fake.Reply)
		if tr.options.Fake.Status != 0 {
			tr.fake.err = errOverloaded
		}
		ladder = append([]summarizer.Summarizer{tr.fake}, ladder...)
	}
	tr.wire = dial(t, ladder...)
	return tr
}

// conversation is the case's input as it is sent.
func (tr *trial) conversation(messages string) *pb.Conversation {
	body := messages
	if tr.c.Tools != nil {
		body = `{"tools":` + string(tr.c.Tools) + `,"messages":` + messages + `}`
	}
	return native(formatOf(tr.dialect), body)
}

// request maps the options.
func (tr *trial) request(conv *pb.Conversation) *pb.CompressRequest {
	o := tr.options
	req := &pb.CompressRequest{
		Conversation: conv, Model: tr.main, ContextWindow: o.WindowTokens, MaxOutputTokens: o.ReserveTokens,
		Policy: &pb.CompressionPolicy{PruneToolArguments: o.PruneToolArgs},
	}
	if o.KeepLast != nil {
		req.Policy.ProtectLastN, req.Policy.ProtectFirstN = o.KeepLast, proto.Int32(0)
	}
	if o.BudgetTokens > 0 {
		req.Policy.TargetTokens = proto.Int32(o.BudgetTokens)
		req.Force = tr.count(tr.t, &pb.CountTokensRequest{Conversation: conv, Model: tr.main}).GetTokens() > o.BudgetTokens
	}
	if o.MaxToolResultChars > 0 {
		req.Policy.PruneOverChars = proto.Int32(o.MaxToolResultChars)
	}
	if o.Fallback == "none" {
		req.Policy.FailurePolicy = pb.FailurePolicy_FAILURE_POLICY_ABORT
	}
	return req
}

// answer is a checked response.
type answer struct {
	*pb.CompressResponse
	in, out *Transcript
	text    string
}

// ask sends the case as it stands, judges the answer by every rule, and returns it.
func (tr *trial) ask() answer { return tr.askWith(string(tr.c.Messages)) }

func (tr *trial) askWith(messages string) answer {
	tr.t.Helper()
	conv := tr.conversation(messages)
	return tr.judged(conv, tr.compress(tr.t, tr.request(conv)))
}

func (tr *trial) judged(conv *pb.Conversation, resp *pb.CompressResponse) answer {
	tr.t.Helper()
	in := read(tr.t, tr.dialect, conv, nil)
	out := read(tr.t, tr.dialect, resp.GetConversation(), in)
	c := Compression{
		Input: in, Output: out, Outcome: resp.GetOutcome(), Report: resp.GetReport(), Summary: resp.GetSummary(),
		TokensOnly: true, KeepThinking: true, Handoffs: in.Handoffs(),
	}
	report(tr.t, c.Check())
	tr.t.Logf("%v: %d messages became %d, %d tokens %d (%s)", resp.GetOutcome(), in.Len(), out.Len(), resp.GetReport().GetTokensBefore(), resp.GetReport().GetTokensAfter(), resp.GetReport().GetReason())
	return answer{resp, in, out, resp.GetConversation().GetNative().GetJson()}
}

func (tr *trial) want(ok bool, format string, args ...any) {
	tr.t.Helper()
	if !ok {
		tr.t.Errorf("expect: "+format, args...)
	}
}

// pairsWhole is the expectation of every other case: each call has its result
// right after it, each result its call. The checker says so too; here it stands in
// the words of the case, on the output alone.
func (tr *trial) pairsWhole(a answer) {
	tr.t.Helper()
	for _, f := range a.out.judge().faults {
		tr.want(false, "pairs whole, have %s at message %d", f.fault, f.index)
	}
}

func (a answer) same(out, in int) bool {
	if out < 0 {
		out += a.out.Len()
	}
	if in < 0 {
		in += a.in.Len()
	}
	return out >= 0 && out < a.out.Len() && string(a.out.messages[out].raw) == string(a.in.messages[in].raw)
}

func (a answer) unchanged() bool {
	return string(a.in.raw) == string(a.out.raw) && a.GetOutcome() != pb.Outcome_OUTCOME_COMPRESSED
}

// has reports whether a message of the input is in the output byte for byte.
func (a answer) has(in int) bool {
	for _, m := range a.out.messages {
		if string(m.raw) == string(a.in.messages[in].raw) {
			return true
		}
	}
	return false
}
