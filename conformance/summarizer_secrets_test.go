package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"github.com/elbowroom/elbowroom/internal/testutil/planted"
	"github.com/elbowroom/elbowroom/internal/wiredouble"
	"github.com/elbowroom/elbowroom/summarizer/extractive"
)

// leak is one way to write secrets, with another secret of it in every position of
// a request. No secret stands in two positions: each has to be found where it is.
type leak struct {
	planted.Secret
	dialect Dialect
	secrets map[string]string // by position
}

// The positions. Those of the second list hold no text that the kind of the secret
// could be told by, or are not sent at all.
var (
	told = []string{
		"user", "assistant", "arguments", "result", "JSON result", "part of a result", "previous summary", "summary in the conversation", "focus", "newest request",
	}
	untold = []string{"system prompt", "reasoning", "tool name", "address of an image", "file name"}
)

func newLeak(p planted.Secret, number int) *leak {
	l := &leak{Secret: p, dialect: []Dialect{OpenAI, Anthropic}[number%2], secrets: make(map[string]string)}
	for i, position := range slices.Concat(told, untold) {
		l.secrets[position] = p.Make(planted.NewMaker(uint64(1_000*number + i)))
	}
	return l
}

// in is a text with the secret of a position.
func (l *leak) in(position string) string {
	return "We used this for the " + position + ":\n" + l.In(l.secrets[position]) + "\nand it worked."
}

// bare is the secret of a position without a line break, for names.
func (l *leak) bare(position string) string {
	if l.Text != "" || strings.ContainsAny(l.secrets[position], "\n ") {
		return "plain"
	}
	return l.secrets[position]
}

// request is a conversation with every position filled, most of it to be
// summarized.
func (l *leak) request() *pb.CompressRequest {
	text := func(position string) string { return string(quote(l.in(position))) }
	summary := "[ELBOWROOM CONTEXT SUMMARY, round 1, trace 00000000] Notes on earlier messages.\n\n## Critical context\n- It was " +
		l.In(l.secrets["summary in the conversation"]) + "\n\n[END OF CONTEXT SUMMARY]"
	image := "https://img.example/a.png?sig=" + l.bare("address of an image")
	arguments := `{"path":"a.md","content":` + text("arguments") + `}`
	object := `{"ok":true,"log":` + text("JSON result") + `}`

	var list []string
	if l.dialect == OpenAI {
		list = []string{
			said("system", l.in("system prompt")),
			said("user", summary),
			said("user", l.in("user")),
			`{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":` + string(quote(image)) + `}},` +
				`{"type":"file","file":{"filename":` + string(quote(l.bare("file name"))) + `,"file_data":"data:text/plain;base64,eA=="}}]}`,
			`{"role":"assistant","content":` + text("assistant") + `,"reasoning_content":` + text("reasoning") + `}`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"write_file","arguments":` + string(quote(arguments)) + `}},` +
				`{"id":"b","type":"function","function":{"name":` + string(quote(l.bare("tool name"))) + `,"arguments":"{}"}},{"id":"c","type":"function","function":{"name":"look","arguments":"{}"}}]}`,
			`{"role":"tool","tool_call_id":"a","content":` + text("result") + `}`,
			`{"role":"tool","tool_call_id":"b","content":` + string(quote(object)) + `}`,
			`{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"first"},{"type":"text","text":` + text("part of a result") + `}]}`,
		}
	} else {
		list = []string{
			said("user", summary),
			said("user", l.in("user")),
			`{"role":"user","content":[{"type":"text","text":"see"},{"type":"image","source":{"type":"url","url":` + string(quote(image)) + `}},` +
				`{"type":"document","title":` + string(quote(l.bare("file name"))) + `,"source":{"type":"text","media_type":"text/plain","data":"x"}}]}`,
			`{"role":"assistant","content":[{"type":"text","text":` + text("assistant") + `},` +
				`{"type":"tool_use","id":"a","name":"write_file","input":` + arguments + `},{"type":"tool_use","id":"b","name":` + string(quote(l.bare("tool name"))) + `,"input":{}},{"type":"tool_use","id":"c","name":"look","input":{}}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":` + text("result") + `,"is_error":true},` +
				`{"type":"tool_result","tool_use_id":"b","content":` + string(quote(object)) + `},` +
				`{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"first"},{"type":"text","text":` + text("part of a result") + `}]}]}`,
		}
	}
	for i := range 5 {
		words := strings.Repeat("The tide tables have nothing else to report. ", 8)
		list = append(list, exchange(l.dialect, fmt.Sprintf("f%d", i), fmt.Sprintf("Check pier %d.", i), words, words)...)
	}
	list = append(list, said("user", l.in("newest request")))
	conv := `{"messages":[` + strings.Join(list, ",") + `]}`
	model := "gpt-4o"
	if l.dialect == Anthropic {
		conv = `{"system":` + text("system prompt") + `,"messages":[` + strings.Join(list, ",") + `]}`
		model = "claude-sonnet-4-5"
	}
	return &pb.CompressRequest{
		Conversation: native(formatOf(l.dialect), conv), Model: model, ContextWindow: 3_000, Force: true,
		Policy:          &pb.CompressionPolicy{ProtectFirstN: proto.Int32(1), ProtectLastN: proto.Int32(1)},
		PreviousSummary: "## Critical context\n- It was " + l.In(l.secrets["previous summary"]),
		Focus:           "above all " + l.In(l.secrets["focus"]),
	}
}

// echo is a summary that gives away what a redacted prompt did not hold, as a model
// would that has seen the secret elsewhere.
func (l *leak) echo() string {
	return "## Goal\nThe user wants the tide tables checked.\n\n## Critical context\n- Used: " + l.In(l.secrets["user"]) + "\n- Found: " + l.In(l.secrets["result"])
}

// TestNoSecretReachesAModel plants every kind in every position and reads what came
// over the wire.
func TestNoSecretReachesAModel(t *testing.T) {
	list := append(planted.ByForm(), planted.ByName()...)
	kinds := make(map[string]bool)
	stands := map[Dialect]*stand{
		OpenAI: newStand(t, overOpenAI(), standOptions{}, wiredouble.Empty()), Anthropic: newStand(t, overAnthropic(), standOptions{}, wiredouble.Empty()),
	}
	plain := serveRungs(t, false, extractive.New())
	refused := 0
	for number, p := range list {
		l := newLeak(p, number)
		s := stands[l.dialect]
		s.model.Script(wiredouble.Text(l.echo()))
		seen := len(s.model.Requests())
		req := l.request()
		resp := s.compress(t, req)
		requests := s.model.Requests()[seen:]
		if len(requests) == 0 {
			t.Fatalf("%s: no call: %v", p.Name, resp.GetReport())
		}
		for position, secret := range l.secrets {
			for _, r := range requests {
				for _, text := range []string{r.User, r.System, string(r.Body)} {
					if left := planted.Survivor(secret, text); left != "" {
						t.Errorf("%s, %s: %q of the secret was sent", p.Name, position, left)
					}
				}
			}
		}
		l.clean(t, s, req, resp)
		if resp.GetReport().GetRung() != pb.Rung_RUNG_LLM {
			refused++
			t.Logf("%s: %v", p.Name, resp.GetReport().GetFailedRungs())
		}
		count := int32(0)
		for _, r := range resp.GetReport().GetRedactions() {
			if r.GetKind() == p.Kind {
				count = r.GetCount()
			}
		}
		if count < int32(len(told)) {
			t.Errorf("%s: %d of kind %s are reported, want %d: %v", p.Name, count, p.Kind, len(told), resp.GetReport().GetRedactions())
		}
		kinds[p.Kind] = true

		// The embedded summarizer sends nothing, and writes no secret into the summary.
		embedded := plain.compress(t, req)
		l.clean(t, s, req, embedded)
	}
	if len(kinds) < 60 {
		t.Errorf("%d kinds, want 60 or more", len(kinds))
	}
	if refused > len(list)/20 {
		t.Errorf("%d of %d summaries were refused, so nothing is known of what they give away", refused, len(list))
	}
	t.Logf("%d ways to write secrets, %d kinds, %d positions", len(list), len(kinds), len(told)+len(untold))
}

// clean checks that neither the summary nor the report gives anything away. What is kept of the
// conversation is the caller's own and stays as it was.
func (l *leak) clean(t *testing.T, s *stand, req *pb.CompressRequest, resp *pb.CompressResponse) {
	t.Helper()
	_, out := s.whole(t, req, resp)
	if resp.GetReport().SummaryIndex == nil {
		t.Fatalf("%s: no summary: %v", l.Name, resp.GetReport())
	}
	written := []string{resp.GetSummary(), out.messages[resp.GetReport().GetSummaryIndex()].content.text(), string(resp.GetCompressionState())}
	for _, item := range resp.GetReport().GetFidelity().GetItems() {
		written = append(written, item.GetText())
	}
	for position, secret := range l.secrets {
		for _, text := range written {
			if left := planted.Survivor(secret, text); left != "" {
				t.Errorf("%s, %s: %q of the secret is in what was written by %v:\n%s", l.Name, position, left, resp.GetReport().GetRung(), text)
			}
		}
	}
}

// TestASecretKnownByItsNameIsReplacedEverywhere has a password that is named once
// and quoted bare everywhere else.
func TestASecretKnownByItsNameIsReplacedEverywhere(t *testing.T) {
	secret := planted.NewMaker(7).Of(planted.AnyChar, 20)
	s := newStand(t, overOpenAI(), standOptions{}, wiredouble.Text("## Goal\nThe user tried "+secret+" twice."))
	list := []string{said("system", clerk), said("user", "I typed "+secret+" and nothing happened.")}
	for i := range 5 {
		words := strings.Repeat("The tide tables have nothing else to report. ", 8)
		list = append(list, exchange(OpenAI, fmt.Sprintf("f%d", i), fmt.Sprintf("Check %s of pier %d.", secret, i), "echo "+secret+"\n"+words, words)...)
		if i == 1 {
			list = append(list, said("user", "DB_PASSWORD="+secret))
		}
	}
	list = append(list, said("user", "Go on."))
	req := &pb.CompressRequest{
		Conversation: native(pb.Format_FORMAT_OPENAI_CHAT, `{"messages":[`+strings.Join(list, ",")+`]}`), Model: "gpt-4o", ContextWindow: 3_000, Force: true,
		Policy: &pb.CompressionPolicy{ProtectFirstN: proto.Int32(1), ProtectLastN: proto.Int32(1)},
	}
	resp := s.compress(t, req)
	s.whole(t, req, resp)
	if len(s.model.Requests()) != 1 || strings.Contains(string(s.model.Requests()[0].Body), secret) {
		t.Errorf("%d requests, one of them with the secret", len(s.model.Requests()))
	}
	if resp.GetReport().GetRung() != pb.Rung_RUNG_LLM || strings.Contains(resp.GetSummary(), secret) || !strings.Contains(resp.GetSummary(), "[SECRET:password#1]") {
		t.Errorf("%v: %s", resp.GetReport().GetRung(), resp.GetSummary())
	}
	// Where the policy keeps secrets, a model still sees none.
	req.Policy.Redact = proto.Bool(false)
	req.Focus = "the tables"
	s.compress(t, req)
	for _, r := range s.model.Requests() {
		if strings.Contains(string(r.Body), secret) {
			t.Error("policy.redact false sends a secret to a model")
		}
	}
}
