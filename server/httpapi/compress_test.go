package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conformance"
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/testdata"
)

// answer is what POST /v1/compress says.
type answer struct {
	Messages         json.RawMessage `json:"messages"`
	TokensBefore     int             `json:"tokens_before"`
	TokensAfter      int             `json:"tokens_after"`
	CompressionRatio float64         `json:"compression_ratio"`
	Outcome          string          `json:"outcome"`
	Report           json.RawMessage `json:"report"`
}

func (a answer) report(t *testing.T) *elbowroomv1.CompressionReport {
	t.Helper()
	out := &elbowroomv1.CompressionReport{}
	if err := protojson.Unmarshal(a.Report, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// shorten calls POST /v1/compress.
func (f *fixture) shorten(body string, header ...string) answer {
	f.t.Helper()
	r := f.post("/v1/compress", jsonType, body, header...)
	var out answer
	if err := json.Unmarshal([]byte(r.body), &out); r.status != http.StatusOK || err != nil {
		f.t.Fatalf("%d %s: %v", r.status, r.body, err)
	}
	return out
}

// The list comes back with every byte, and with what gateways read beside it.
func TestCompressReturnsTheListAsItCame(t *testing.T) {
	f := start(t, nil)
	for _, body := range []string{
		`{"messages":` + odd + `,"model":"gpt-4o"}`,
		"\n{ \"model\" : \"gpt-4o\",\"unknown\":{\"messages\":[1]},\t\"messages\" : " + odd + " \n, \"stream\":true }\n",
		`{"messages":[],"model":null}`,
		`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"y"}]}]}`,
	} {
		start := strings.Index(body, `"messages"`)
		if strings.Contains(body, "unknown") {
			start = strings.LastIndex(body, `"messages"`)
		}
		start += strings.Index(body[start:], "[")
		end := strings.LastIndex(body, "]") + 1
		r := f.post("/v1/compress", jsonType, body, "X-Agw-Compression-Version", "1")
		if want := `{"messages":` + body[start:end] + `,`; r.status != http.StatusOK || !strings.HasPrefix(r.body, want) {
			t.Errorf("%d %s\nwant %s", r.status, r.body, want)
		}
	}
	got := f.shorten(`{"messages":` + odd + `,"model":"gpt-4o"}`)
	if got.TokensBefore == 0 || got.TokensAfter != got.TokensBefore || got.CompressionRatio != 1 || got.Outcome != "OUTCOME_BELOW_THRESHOLD" {
		t.Errorf("%+v", got)
	}
}

// A gateway's threshold is 0.85 of the window, unless the request says otherwise.
func TestCompressTakesOptions(t *testing.T) {
	f := start(t, nil)
	list := talk(30, 60)
	size := f.shorten(`{"messages":` + list + `,"model":"gpt-4o"}`).TokensBefore
	for _, c := range []struct {
		name, fields string
		compressed   bool
	}{
		{"the model's window", ``, false},
		{"nulls", `,"context_window":null,"session_id":null,"elbowroom":null`, false},
		{"a window whose half it fills", fmt.Sprintf(`,"context_window":%d`, size*10/7), false},
		{"the same for an agent", fmt.Sprintf(`,"context_window":%d,"elbowroom":{"layer":"LAYER_AGENT"}`, size*10/7), true},
		{"a window that it fills", fmt.Sprintf(`,"context_window":%d`, size), true},
		{"forced", `,"elbowroom":{"force":true}`, true},
		{"a threshold", `,"elbowroom":{"policy":{"threshold_tokens":500}}`, true},
		{"disabled", `,"session_id":"s","elbowroom":{"force":true,"policy":{"enabled":false}}`, false},
	} {
		got := f.shorten(`{"model":"gpt-4o","messages":` + list + c.fields + `}`)
		if compressed := got.Outcome == "OUTCOME_COMPRESSED"; compressed != c.compressed {
			t.Errorf("%s: %s, %s", c.name, got.Outcome, got.report(t).GetReason())
		} else if compressed && (got.TokensAfter >= got.TokensBefore || got.CompressionRatio >= 1) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestCompressRefusesWhatItCannotRead(t *testing.T) {
	f := start(t, nil)
	user := `[{"role":"user","content":"x"}]`
	for _, c := range []struct {
		name, body, field, offset, index string
	}{
		{"nothing", ``, "", "0", ""},
		{"a list", `[]`, "", "0", ""},
		{"cut off", `{"messages":[{"role":"user"`, "", "27", ""},
		{"invalid UTF-8", "{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}", "", "39", ""},
		{"invalid UTF-8 elsewhere", "{\"messages\":[],\"x\":\"\xff\"}", "", "20", ""},
		{"no messages", `{"model":"gpt-4o"}`, "messages", "", ""},
		{"messages that are no list", `{"messages": {"role":"user"}}`, "messages", "13", ""},
		{"messages twice", `{"messages":[],"messages":[]}`, "messages", "26", ""},
		{"a message that is none", `{"model":"gpt-4o","messages":[{"role":"user","content":"x"},5]}`, "messages", "60", "1"},
		{"a message without a role", `{"messages":[{"content":"x"}]}`, "messages", "13", "0"},
		{"a model that is no text", `{"model":4,"messages":` + user + `}`, "model", "9", ""},
		{"a window that is no number", `{"context_window":"4k","messages":` + user + `}`, "context_window", "18", ""},
		{"a window below zero", `{"context_window":-1,"messages":` + user + `}`, "context_window", "", ""},
		{"an unknown option", `{"elbowroom": {"forse":true},"messages":` + user + `}`, "elbowroom", "15", ""},
		{"a conversation among the options", `{"elbowroom":{"conversation":{}},"messages":` + user + `}`, "elbowroom", "13", ""},
		{"a pin out of range", `{"elbowroom":{"pinned":[7]},"messages":` + user + `}`, "pinned", "", ""},
	} {
		r := f.post("/v1/compress", jsonType, c.body)
		e := r.failure(t)
		if r.status != http.StatusBadRequest || e.Code != "invalid_argument" || !strings.HasPrefix(e.field(), c.field) ||
			e.fact("byte_offset") != c.offset || e.fact("message_index") != c.index {
			t.Errorf("%s: %d %s; field %q, byte %q, message %q; want %q, %q, %q",
				c.name, r.status, e.Message, e.field(), e.fact("byte_offset"), e.fact("message_index"), c.field, c.offset, c.index)
		}
		if c.offset != "" && !strings.HasSuffix(e.Message, "at byte "+c.offset) {
			t.Errorf("%s: %q does not end with the byte", c.name, e.Message)
		}
		if strings.Contains(r.body, "native") {
			t.Errorf("%s: the error names what the body does not have: %s", c.name, r.body)
		}
	}
	good := `{"messages":` + user + `}`
	for _, c := range []struct {
		name   string
		reply  reply
		status int
	}{
		{"GET", f.send(http.MethodGet, "/v1/compress", http.NoBody), 405},
		{"plain text", f.post("/v1/compress", "text/plain", good), 415},
		{"another version", f.post("/v1/compress", jsonType, good, "X-Agw-Compression-Version", "2"), 400},
	} {
		if e := c.reply.failure(t); c.reply.status != c.status || e.Message == "" {
			t.Errorf("%s: %d %+v", c.name, c.reply.status, e)
		}
	}
}

// The gateways' call passes the same interceptors as every other.
func TestCompressIsACallLikeAnyOther(t *testing.T) {
	f := start(t, nil)
	f.shorten(`{"messages":[{"role":"user","content":"x"}]}`)
	if log := f.log.String(); !strings.Contains(log, `"grpc.method":"Compress"`) || !strings.Contains(log, `"peer.address":"127.0.0.1:`) {
		t.Errorf("the log has no line of the call:\n%s", log)
	}
	f.server.Drain()
	r := f.post("/v1/compress", jsonType, `{"messages":[{"role":"user","content":"x"}]}`)
	if e := r.failure(t); r.status != http.StatusServiceUnavailable || e.Code != "unavailable" || r.header.Get("Retry-After") != "1" {
		t.Errorf("draining: %d %+v %v", r.status, e, r.header)
	}
	_, err := f.client.Compress(t.Context(), &elbowroomv1.CompressRequest{Conversation: openai(`[]`)})
	if status.Code(err) != codes.Unavailable {
		t.Errorf("over gRPC: %v", err)
	}
}

// A gateway sends the whole history every turn, and the provider's cache must be
// able to use what came of the turn before.
func TestRecordedConversationsKeepAStablePrefix(t *testing.T) {
	const most = 24 // turns of one conversation
	compressions, hits := 0, 0
	for _, file := range testdata.Conversations(t) {
		t.Run(file.Name, func(t *testing.T) {
			f := start(t, nil)
			format, wire, dialect := conversation.FormatOpenAIChat, elbowroomv1.Format_FORMAT_OPENAI_CHAT, conformance.OpenAI
			if file.Format == testdata.Anthropic {
				format, wire, dialect = conversation.FormatAnthropicMessages, elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES, conformance.Anthropic
			}
			c, err := conversation.Parse(format, file.JSON, conversation.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			turns := turnsOf(c, most)
			if len(turns) == 0 {
				t.Skip("no turns")
			}
			// upTo is the list after n messages, as it stands in the file.
			upTo := func(n int) string {
				return "[" + file.JSON[c.Messages[0].Span.Start:c.Messages[n-1].Span.End] + "]"
			}
			ask := func(list string, window int) answer {
				return f.shorten(fmt.Sprintf(`{"model":%q,"messages":%s,"context_window":%d}`, c.Model, list, window))
			}
			window := max(ask(upTo(len(c.Messages)), 1<<30).TokensBefore/2, 4000)
			var before []conversation.Member
			at := 0
			for _, n := range turns {
				list := upTo(n)
				got := ask(list, window)
				after, ok := conversation.Elements(string(got.Messages))
				if !ok {
					t.Fatalf("after %d messages: no list: %s", n, got.Messages)
				}
				hit := got.report(t).GetContinuity().GetResult() == elbowroomv1.ContinuityResult_CONTINUITY_RESULT_HIT
				if at > 0 && got.Outcome != "OUTCOME_COMPRESSED" && !extends(before, after, c, at, n) {
					t.Errorf("after %d messages: nothing was compressed and the prefix is another one", n)
				}
				if newest := after[len(after)-1].Value; newest != c.Raw(c.Messages[n-1].Span) {
					t.Errorf("after %d messages: the newest one is another: %s", n, newest)
				}
				same, err := f.client.Compress(t.Context(), &elbowroomv1.CompressRequest{
					Conversation: native(wire, list), Model: c.Model, ContextWindow: int32(window), Layer: elbowroomv1.Layer_LAYER_GATEWAY,
				})
				if err != nil {
					t.Fatal(err)
				}
				if text := same.GetConversation().GetNative().GetJson(); text != string(got.Messages) {
					t.Errorf("after %d messages: over gRPC the list is another", n)
				}
				if got.Outcome == "OUTCOME_COMPRESSED" && !hit {
					compressions++
					judge(t, dialect, list, got)
				}
				if hit {
					hits++
				}
				before, at = after, n
			}
		})
	}
	if !t.Failed() && (compressions < 5 || hits < 50) {
		t.Errorf("%d compressions and %d turns that went on from one: too few to show anything", compressions, hits)
	}
}

// turnsOf are at most n numbers of messages after which the agent asks its model,
// the last one included.
func turnsOf(c *conversation.Conversation, n int) []int {
	var all []int
	for i := range c.Messages {
		if last := i == len(c.Messages)-1; last ||
			c.Messages[i+1].Role == conversation.RoleAssistant && c.Messages[i].Role != conversation.RoleAssistant {
			all = append(all, i+1)
		}
	}
	if len(all) <= n {
		return all
	}
	var out []int
	for k := range n {
		out = append(out, all[(k+1)*len(all)/n-1])
	}
	return out
}

// extends reports whether an answer is the one before and then the new messages,
// byte for byte.
func extends(before, after []conversation.Member, c *conversation.Conversation, from, to int) bool {
	if len(after) != len(before)+to-from {
		return false
	}
	for i, m := range before {
		if after[i].Value != m.Value {
			return false
		}
	}
	for i := from; i < to; i++ {
		if after[len(before)+i-from].Value != c.Raw(c.Messages[i].Span) {
			return false
		}
	}
	return true
}

// judge holds an answer against what the service promises: kept messages byte for
// byte, legal for the provider, nothing lost that is not reported.
func judge(t *testing.T, dialect conformance.Dialect, list string, got answer) {
	t.Helper()
	in, err := conformance.Read(dialect, []byte(list))
	if err != nil {
		t.Fatal(err)
	}
	out, err := conformance.ReadLike(dialect, got.Messages, in)
	if err != nil {
		t.Fatal(err)
	}
	check := &conformance.Compression{
		Input: in, Output: out, Outcome: elbowroomv1.Outcome_OUTCOME_COMPRESSED, Report: got.report(t),
	}
	for _, v := range check.Check() {
		if !strings.Contains(v.String(), "summary") { // its body is not part of this answer
			t.Error(v)
		}
	}
}
