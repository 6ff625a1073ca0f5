package chaos

import (
	"bytes"
	"context"
	"errors"
	"io"

	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	client "github.com/elbowroom/elbowroom/clients/go"
	"github.com/elbowroom/elbowroom/conformance"
	"github.com/elbowroom/elbowroom/internal/agentdouble"
)

// kinds are the ways to use the service.
var kinds = []kind{
	{"full history", fullHistory},
	{"agent loop with deltas", agentLoop},
	{"kept answers", keptAnswers},
	{"stream", streamed},
	{"marks and counts", marksAndCounts},
	{"abort", abort},
}

// keepLast keeps tails short, so that most turns compress.
const keepLast = 4

func policy() *elbowroomv1.CompressionPolicy {
	return &elbowroomv1.CompressionPolicy{ProtectLastN: proto.Int32(keepLast)}
}

func (k *talk) native(body []byte) *elbowroomv1.Conversation {
	return &elbowroomv1.Conversation{Native: &elbowroomv1.NativeRequest{Format: k.format, Body: &elbowroomv1.NativeRequest_JsonBytes{JsonBytes: body}}}
}

func (k *talk) request(body []byte) *elbowroomv1.CompressRequest {
	return &elbowroomv1.CompressRequest{Conversation: k.native(body), Model: k.model, ContextWindow: contextWindow, Policy: policy()}
}

// textOf is the JSON of a native answer.
func textOf(c *elbowroomv1.Conversation) []byte {
	if n := c.GetNative(); n.GetJson() != "" {
		return []byte(n.GetJson())
	}
	return c.GetNative().GetJsonBytes()
}

// answer is what Compress, StreamCompress and Prepare have in common.
type answer interface {
	GetOutcome() elbowroomv1.Outcome
	GetConversation() *elbowroomv1.Conversation
	GetReport() *elbowroomv1.CompressionReport
	GetSummary() string
}

// judge holds an answer against the request by every rule.
func (c *caller) judge(what string, k *talk, body []byte, a answer) {
	in, err := conformance.Read(k.dialect, body)
	if err != nil {
		c.report("%s, %s: the request: %v", what, k.name, err)
		return
	}
	out, err := conformance.ReadLike(k.dialect, textOf(a.GetConversation()), in)
	if err != nil {
		c.report("%s, %s: the answer: %v", what, k.name, err)
		return
	}
	for _, v := range (&conformance.Compression{
		Input: in, Output: out, Outcome: a.GetOutcome(), Report: a.GetReport(), Summary: a.GetSummary(),
		Handoffs: in.Handoffs(), KeepThinking: true,
	}).Check() {
		c.report("%s, %s: %v (%v, rung %v)", what, k.name, v, a.GetOutcome(), a.GetReport().GetRung())
	}
}

// follow holds an answer against the one before it: what was sent to the provider stays
// as it is until the next compression.
func (c *caller) follow(what string, k *talk, before *agentdouble.Judge, body []byte) {
	before.Dialect = k.dialect
	_, problems := before.Look(body)
	for _, p := range problems {
		c.report("%s, %s: %s", what, k.name, p)
	}
}

// fullHistory sends all messages every turn.
func fullHistory(c *caller, conn *client.Client, k *talk, session int64) {
	var before agentdouble.Judge
	for turn := range k.turns {
		body := k.body(turn, session)
		var resp *elbowroomv1.CompressResponse
		if !c.try("Compress", func(ctx context.Context) (err error) {
			resp, err = conn.Service().Compress(ctx, k.request(body))
			return err
		}) {
			return
		}
		c.judge("Compress", k, body, resp)
		c.follow("Compress", k, &before, textOf(resp.GetConversation()))
	}
}

// streamed does the same with progress. A stream that has given its result has ended.
func streamed(c *caller, conn *client.Client, k *talk, session int64) {
	var before agentdouble.Judge
	for turn := range k.turns {
		body := k.body(turn, session)
		var result *elbowroomv1.CompressResponse
		if !c.try("StreamCompress", func(ctx context.Context) error {
			result = nil
			stream, err := conn.Service().StreamCompress(ctx, &elbowroomv1.StreamCompressRequest{Request: k.request(body)})
			if err != nil {
				return err
			}
			for {
				event, err := stream.Recv()
				switch {
				case errors.Is(err, io.EOF):
					if result == nil {
						c.report("StreamCompress, %s: the stream ended without a result", k.name)
						return nil
					}
					return nil
				case err != nil:
					if result != nil {
						c.report("StreamCompress, %s: %v after the result", k.name, err)
						return nil
					}
					return err
				case result != nil:
					c.report("StreamCompress, %s: an event after the result", k.name)
				}
				result = event.GetResult()
			}
		}) || result == nil {
			return
		}
		c.judge("StreamCompress", k, body, result)
		c.follow("StreamCompress", k, &before, textOf(result.GetConversation()))
	}
}

// keptAnswers goes on with what came back and passes the state on.
func keptAnswers(c *caller, conn *client.Client, k *talk, session int64) {
	var body, state []byte
	for turn := range k.turns {
		if turn == 0 {
			body = k.body(0, session)
		} else {
			var next bytes.Buffer
			next.Write(bytes.TrimSuffix(body, []byte("]}")))
			k.turn(&next, turn, session)
			next.WriteString("]}")
			body = next.Bytes()
		}
		var resp *elbowroomv1.PrepareResponse
		if !c.try("Prepare", func(ctx context.Context) (err error) {
			resp, err = conn.Service().Prepare(ctx, &elbowroomv1.PrepareRequest{
				Conversation: k.native(body), Model: k.model, ContextWindow: contextWindow, Policy: policy(),
				Strategy: elbowroomv1.Strategy_STRATEGY_NONE, CompressionState: state,
			})
			return err
		}) {
			return
		}
		c.judge("Prepare", k, body, resp)
		body, state = textOf(resp.GetConversation()), resp.GetCompressionState()
	}
}

// agentLoop is what the client of this repository does: Prepare with deltas and states.
func agentLoop(c *caller, conn *client.Client, k *talk, session int64) {
	loop := conn.NewConversation(&elbowroomv1.PrepareRequest{
		Model: k.model, ContextWindow: contextWindow, Policy: policy(),
	}, client.WithConversationFormat(k.format))
	var before agentdouble.Judge
	for turn := range k.turns {
		var body []byte
		if !c.try("Prepare with deltas", func(ctx context.Context) (err error) {
			body, err = loop.BeforeRequest(ctx, k.body(turn, session))
			return err
		}) {
			return
		}
		c.follow("Prepare with deltas", k, &before, body)
	}
}

// marksAndCounts changes no message: it marks the conversation and counts it.
func marksAndCounts(c *caller, conn *client.Client, k *talk, session int64) {
	for turn := range k.turns {
		body := k.body(turn, session)
		var marked *elbowroomv1.ApplyCacheControlResponse
		var count *elbowroomv1.CountTokensResponse
		if !c.try("ApplyCacheControl", func(ctx context.Context) (err error) {
			marked, err = conn.Service().ApplyCacheControl(ctx, &elbowroomv1.ApplyCacheControlRequest{Conversation: k.native(body), Model: "claude-sonnet-4-5"})
			return err
		}) || !c.try("CountTokens", func(ctx context.Context) (err error) {
			count, err = conn.Service().CountTokens(ctx, &elbowroomv1.CountTokensRequest{Conversation: k.native(body), Model: k.model})
			return err
		}) {
			return
		}
		c.judgeMarks(k, body, marked)
		p := count.GetParts()
		sum := p.GetSystem() + p.GetTools() + p.GetText() + p.GetToolCalls() + p.GetToolResults() + p.GetMedia() + p.GetFraming() + p.GetReasoning()
		if sum != count.GetTokens() || sum <= 0 || count.GetLowerBound() > sum || count.GetUpperBound() < sum {
			c.report("CountTokens, %s: %d tokens, parts of %d, between %d and %d", k.name, count.GetTokens(), sum, count.GetLowerBound(), count.GetUpperBound())
		}
	}
}

func (c *caller) judgeMarks(k *talk, body []byte, marked *elbowroomv1.ApplyCacheControlResponse) {
	in, err := conformance.Read(k.dialect, body)
	if err != nil {
		c.report("ApplyCacheControl, %s: the request: %v", k.name, err)
		return
	}
	out, err := conformance.ReadLike(k.dialect, textOf(marked.GetConversation()), in)
	if err != nil {
		c.report("ApplyCacheControl, %s: the answer: %v", k.name, err)
		return
	}
	for _, v := range (&conformance.Marking{Input: in, Output: out, Breakpoints: marked.GetBreakpoints()}).Check() {
		c.report("ApplyCacheControl, %s: %v", k.name, v)
	}
	if len(marked.GetBreakpoints()) == 0 {
		c.report("ApplyCacheControl, %s: no breakpoint was placed", k.name)
	}
}

// abort would rather have no answer than one without a model: it asks once a session, with
// the whole conversation.
func abort(c *caller, conn *client.Client, k *talk, session int64) {
	body := k.body(len(k.turns)-1, session)
	req := k.request(body)
	req.Policy.FailurePolicy = elbowroomv1.FailurePolicy_FAILURE_POLICY_ABORT
	var resp *elbowroomv1.CompressResponse
	var began int
	if c.try("Compress or abort", func(ctx context.Context) (err error) {
		began = c.now()
		resp, err = conn.Service().Compress(ctx, req)
		if f, _ := failureOf(err); f == summarizerFailed {
			c.refused("Compress or abort", f, err)
			return nil // an answer: the caller goes on with what it has
		}
		return err
	}) && resp != nil {
		c.judge("Compress or abort", k, body, resp)
		switch rung := resp.GetReport().GetRung(); {
		case resp.GetOutcome() != elbowroomv1.Outcome_OUTCOME_COMPRESSED:
		case rung != elbowroomv1.Rung_RUNG_LLM:
			c.report("Compress or abort, %s: rung %v", k.name, rung)
		default: // nobody has had this session before
			c.wrote(began)
		}
	}
}
