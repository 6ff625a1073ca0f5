package replicas

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conformance"
	"github.com/elbowroom/elbowroom/conversation"
)

// about is a request above the threshold: a conversation about a matter, of 30 messages,
// and more of them.
func about(matter string, more ...string) *elbowroomv1.CompressRequest {
	var list []string
	for i := range 30 + len(more) {
		text := strings.Repeat(fmt.Sprintf("In the matter of %s the tide turns at noon, note %d. ", matter, i), 20)
		if i >= 30 {
			text = more[i-30]
		}
		list = append(list, `{"role":"`+[]string{"user", "assistant"}[i%2]+`","content":`+conversation.Quote(text)+`}`)
	}
	return request([]byte(`{"model":"gpt-4o","messages":[` + strings.Join(list, ",") + `]}`))
}

// request has a small window and a short tail, so that little text is enough for a
// compression.
func request(body []byte) *elbowroomv1.CompressRequest {
	return &elbowroomv1.CompressRequest{
		Conversation: &elbowroomv1.Conversation{Native: &elbowroomv1.NativeRequest{
			Format: elbowroomv1.Format_FORMAT_OPENAI_CHAT, Body: &elbowroomv1.NativeRequest_JsonBytes{JsonBytes: body},
		}},
		Model: "gpt-4o", ContextWindow: 12_000, Policy: &elbowroomv1.CompressionPolicy{ProtectLastN: proto.Int32(4)},
	}
}

// orNothing makes a request one that would rather have no answer than one without a model.
func orNothing(req *elbowroomv1.CompressRequest) *elbowroomv1.CompressRequest {
	req.Policy.FailurePolicy = elbowroomv1.FailurePolicy_FAILURE_POLICY_ABORT
	return req
}

// in makes a request one of a session.
func in(session string, req *elbowroomv1.CompressRequest) *elbowroomv1.CompressRequest {
	req.SessionId = session
	return req
}

// bodyOf is the JSON of a conversation.
func bodyOf(c *elbowroomv1.Conversation) []byte {
	if text := c.GetNative().GetJson(); text != "" {
		return []byte(text)
	}
	return c.GetNative().GetJsonBytes()
}

func dialectOf(req *elbowroomv1.CompressRequest) conformance.Dialect {
	if req.GetConversation().GetNative().GetFormat() == elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES {
		return conformance.Anthropic
	}
	return conformance.OpenAI
}

// faults are the promises that an answer breaks.
func faults(req *elbowroomv1.CompressRequest, resp *elbowroomv1.CompressResponse) []string {
	dialect := dialectOf(req)
	in, err := conformance.Read(dialect, bodyOf(req.GetConversation()))
	if err != nil {
		return []string{err.Error()}
	}
	out, err := conformance.ReadLike(dialect, bodyOf(resp.GetConversation()), in)
	if err != nil {
		return []string{err.Error()}
	}
	var list []string
	for _, v := range (&conformance.Compression{
		Input: in, Output: out, Outcome: resp.GetOutcome(), Report: resp.GetReport(), Summary: resp.GetSummary(),
		Handoffs: in.Handoffs(), KeepThinking: true,
	}).Check() {
		list = append(list, v.String())
	}
	for _, v := range out.Faults() {
		list = append(list, v.String())
	}
	return list
}

// judge fails the test where an answer breaks a promise, or is no compression.
func judge(t *testing.T, req *elbowroomv1.CompressRequest, resp *elbowroomv1.CompressResponse) {
	t.Helper()
	for _, f := range faults(req, resp) {
		t.Error(f)
	}
	if resp.GetOutcome() != elbowroomv1.Outcome_OUTCOME_COMPRESSED {
		t.Errorf("outcome %v: %s", resp.GetOutcome(), resp.GetReport().GetReason())
	}
}

// compress asks a server for a tenant and judges the answer.
func (n *node) compress(t *testing.T, tenant string, req *elbowroomv1.CompressRequest) *elbowroomv1.CompressResponse {
	t.Helper()
	ctx, cancel := bounded(t)
	defer cancel()
	resp, err := n.service(tenant).Compress(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	judge(t, req, resp)
	return resp
}

// written fails the test unless the model wrote the summary.
func written(t *testing.T, resp *elbowroomv1.CompressResponse) {
	t.Helper()
	if r := resp.GetReport(); r.GetRung() != elbowroomv1.Rung_RUNG_LLM {
		t.Errorf("rung %v after %v", r.GetRung(), r.GetFailedRungs())
	}
}

// instead is the code of the model's failure where the embedded summarizer took over, ""
// where none did.
func instead(resp *elbowroomv1.CompressResponse) string {
	r := resp.GetReport()
	if failed := r.GetFailedRungs(); r.GetRung() == elbowroomv1.Rung_RUNG_EXTRACTIVE && len(failed) == 1 {
		return failed[0].GetCode()
	}
	return ""
}

// hit fails the test unless an earlier compression was taken over.
func hit(t *testing.T, resp *elbowroomv1.CompressResponse) {
	t.Helper()
	if c := resp.GetReport().GetContinuity(); c.GetResult() != elbowroomv1.ContinuityResult_CONTINUITY_RESULT_HIT {
		t.Errorf("continuity %v", c)
	}
}

// refusal is what a caller learns of a call that failed.
type refusal struct {
	reason string // of the ErrorInfo
	quota  string // of the QuotaFailure
	retry  time.Duration
}

func refusalOf(err error) (r refusal) {
	for _, d := range status.Convert(err).Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			r.reason = d.GetReason()
		case *errdetails.RetryInfo:
			r.retry = d.GetRetryDelay().AsDuration()
		case *errdetails.QuotaFailure:
			for _, v := range d.GetViolations() {
				r.quota = v.GetSubject() + " " + v.GetDescription()
			}
		}
	}
	return r
}

// stream is Compress with progress; it tells when the summary is being made.
func (n *node) stream(ctx context.Context, tenant string, req *elbowroomv1.CompressRequest, summarizing func()) (*elbowroomv1.CompressResponse, error) {
	stream, err := n.service(tenant).StreamCompress(ctx, &elbowroomv1.StreamCompressRequest{Request: req})
	for err == nil {
		var event *elbowroomv1.StreamCompressResponse
		event, err = stream.Recv()
		if event.GetProgress().GetPhase() == elbowroomv1.CompressPhase_COMPRESS_PHASE_SUMMARIZING && summarizing != nil {
			summarizing()
		}
		if event.GetResult() != nil {
			return event.GetResult(), nil
		}
	}
	return nil, err
}
