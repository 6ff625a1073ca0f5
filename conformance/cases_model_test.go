package conformance

import (
	"context"
	"net/http"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"github.com/elbowroom/elbowroom/internal/wiredouble"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/llm"
)

// scriptedCases are the cases about a summarizer that fails. They need the
// scripted one.
func scriptedCases() map[string]func(*trial) {
	return map[string]func(*trial){
		"Cc024": func(tr *trial) {
			req := tr.request(tr.conversation(string(tr.c.Messages)))
			_, err := tr.Compress(tr.ctx, req)
			tr.want(status.Code(err) == codes.Unavailable, "UNAVAILABLE, have %v", err)
			tr.want(tr.fake.calls.Load() <= 3, "at most three calls, have %d", tr.fake.calls.Load())
			req.Policy.FailurePolicy = pb.FailurePolicy_FAILURE_POLICY_FALLBACK
			a := tr.judged(req.Conversation, tr.compress(tr.t, req))
			tr.want(len(a.GetReport().GetFailedRungs()) == 1 && a.GetReport().GetRung() != pb.Rung_RUNG_LLM, "with a fallback the next rung answers and the failure is named: %v", a.GetReport())
		},
		"Cc032": func(tr *trial) {
			req := tr.request(tr.conversation(string(tr.c.Messages)))
			ctx, cancel := context.WithTimeout(tr.ctx, 2*time.Second) // the case says one; the runner may be busy
			defer cancel()
			resp, err := tr.Compress(ctx, req)
			tr.want(status.Code(err) == codes.DeadlineExceeded || err == nil && len(resp.GetReport().GetFailedRungs()) == 1, "DEADLINE_EXCEEDED or a fallback, have %v", err)
			if tr.fake.calls.Load() == 0 {
				tr.t.Fatalf("the summarizer was not called: %v, %v", resp, err)
			}
			<-tr.fake.ended // the summarizer's call has ended with it
		},
	}
}

// wireCases are the cases about what a language model answers. They run with a
// double of its wire, enlarged: the originals are too short for a summary.
func wireCases() map[string]func(*trial) {
	return map[string]func(*trial){
		"Cc027": func(tr *trial) {
			tr.model(wiredouble.Length(tr.reply()))
			a := tr.ask()
			for _, m := range a.out.messages {
				tr.want(!strings.HasSuffix(strings.TrimSuffix(m.content.text(), "\n\n[END OF CONTEXT SUMMARY]"), "open items: che"), "no message ends where the reply was cut")
			}
			tr.want(len(tr.double.Requests()) >= 2, "the model is asked once more, have %d calls", len(tr.double.Requests()))
			tr.failed(a, summarizer.RejectCutOff)
		},
		"Cc028": func(tr *trial) {
			tr.model(wiredouble.ToolCallOnly())
			a := tr.ask()
			tr.want(len(tr.double.Requests()) == 1, "one request, which the double has checked for tools, have %d", len(tr.double.Requests()))
			tr.failed(a, summarizer.RejectToolCalls)
		},
		"Cc030": func(tr *trial) {
			reply := wiredouble.Raw(http.StatusOK, "application/json", `{"id":"x","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop",`+
				`"message":{"role":"assistant","content":`+string(tr.options.Fake.Reply)+`}}]}`)
			// The case's own reply is no summary for the built-in prompt, which asks for
			// sections. A prompt without sections takes it.
			tr.model(reply)
			tr.failed(tr.ask(), summarizer.RejectNoSections)

			template, err := llm.ParseTemplate(`{{define "system"}}Notes. Data stands between lines with {{.Boundary}}.{{end}}{{define "user"}}{{.Previous}}{{.Conversation}}{{.Latest}}{{.Focus}}{{end}}`)
			if err != nil {
				tr.t.Fatal(err)
			}
			tr.modelWith(template, reply)
			a := tr.ask()
			at := a.GetReport().GetSummaryIndex()
			tr.want(a.GetReport().GetRung() == pb.Rung_RUNG_LLM && a.GetReport().SummaryIndex != nil && strings.Contains(a.out.messages[at].content.text(), "Tides noted."),
				"the parts are the summary, have %v: %s", a.GetReport().GetFailedRungs(), a.GetSummary())
		},
		"Cc033": func(tr *trial) {
			gate := make(chan struct{})
			tr.model(wiredouble.Text("## Goal\n" + tr.reply()).Until(gate))
			// The key of the case is no field here: equal requests are found by their content.
			req := tr.request(tr.conversation(string(tr.c.Messages)))
			answers := make(chan *pb.CompressResponse, 2)
			for range 2 {
				go func() {
					resp, err := tr.Compress(tr.ctx, req)
					if err != nil {
						tr.t.Error(err)
					}
					answers <- resp
				}()
			}
			// Whether the second comes before the answer or after it, the calls are one.
			tr.await(tr.t, func() bool { return tr.double.Active() > 0 })
			close(gate)
			one, other := <-answers, <-answers
			tr.want(proto.Equal(one.GetConversation(), other.GetConversation()) && one.GetSummary() == other.GetSummary(), "both answers are the same")
			tr.want(len(tr.double.Requests()) == 1, "one call, have %d", len(tr.double.Requests()))
			tr.want(strings.Contains(tr.judged(req.GetConversation(), one).GetSummary(), "tides were checked for Port Lark"), "the reply is the summary: %s", one.GetSummary())
		},
		"Cc043": func(tr *trial) {
			tr.model(wiredouble.Text("## Goal\n" + tr.reply()))
			tr.ask()
			requests := tr.double.Requests()
			tr.want(len(requests) == 1 && strings.Contains(requests[0].User, "Portuguese (pt)"), "the prompt names the language, have %d requests", len(requests))
		},
	}
}

// reply is the text that the case's summarizer answers with.
func (tr *trial) reply() string {
	tr.t.Helper()
	text, ok := decodeString(tr.options.Fake.Reply)
	if !ok {
		tr.t.Fatalf("the reply is no text: %s", tr.options.Fake.Reply)
	}
	return text
}

// model moves the trial to a server whose summarizing model plays the steps.
func (tr *trial) model(steps ...wiredouble.Step) {
	tr.t.Helper()
	tr.modelWith(nil, steps...)
}

func (tr *trial) modelWith(template *llm.Template, steps ...wiredouble.Step) {
	tr.t.Helper()
	s := newStand(tr.t, overOpenAI(), standOptions{template: template}, steps...)
	tr.wire, tr.double = s.wire, s.model
}

// failed expects that the model's answer was refused and that another rung's stands
// in the conversation.
func (tr *trial) failed(a answer, code string) {
	tr.t.Helper()
	r := a.GetReport()
	tr.want(len(r.GetFailedRungs()) == 1 && r.GetFailedRungs()[0].GetCode() == code, "%s is reported, have %v", code, r.GetFailedRungs())
	tr.want(r.GetRung() == pb.Rung_RUNG_EXTRACTIVE, "the embedded summarizer takes over, have %v", r.GetRung())
}
