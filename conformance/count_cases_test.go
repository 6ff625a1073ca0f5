package conformance

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"github.com/elbowroom/elbowroom/internal/testdata"
)

// counting is one count case against one server.
type counting struct {
	*wire
	t       *testing.T
	c       testdata.Case
	options caseOptions
}

// of counts a body made of the given parts; empty ones are left out.
func (k *counting) of(messages, tools, system string) *pb.CountTokensResponse {
	k.t.Helper()
	body := `{`
	if tools != "" {
		body += `"tools":` + tools + `,`
	}
	if system != "" {
		body += `"system":` + system + `,`
	}
	body += `"messages":` + messages + `}`
	resp := k.count(k.t, &pb.CountTokensRequest{Conversation: native(formatOf(dialectOf(k.c.Format)), body), Model: k.options.Model})
	checkCount(k.t, resp, mustRead(k.t, dialectOf(k.c.Format), body).Len())
	return resp
}

func (k *counting) asIs() *pb.CountTokensResponse {
	k.t.Helper()
	return k.of(string(k.c.Messages), string(k.c.Tools), string(k.options.System))
}

func (k *counting) want(ok bool, format string, args ...any) {
	k.t.Helper()
	if !ok {
		k.t.Errorf("expect: "+format, args...)
	}
}

// user is a list of one user message.
func user(text string) string { return `[{"role":"user","content":` + string(quote(text)) + `}]` }

func countCases() map[string]func(*counting) {
	return map[string]func(*counting){
		"Nc076": func(k *counting) {
			part := `{"type":"image_url","image_url":{"url":"data:image/png;base64,` + strings.Repeat("QUJD", 50_000) + `"}}`
			for _, messages := range []string{
				`[{"role":"user","content":[{"type":"text","text":"see"},` + part + `]}]`,
				`[{"role":"user","content":"see"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"shot","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"see"},` + part + `]}]`,
			} {
				got := k.of(messages, "", "")
				k.want(got.GetTokens() <= 4000, "at most 4000 tokens, have %d", got.GetTokens())
				k.want(got.GetParts().GetMedia() > 0, "images are listed separately: %v", got.GetParts())
			}
		},
		"Nc077": func(k *counting) {
			messages, tools, system := string(k.c.Messages), string(k.c.Tools), string(k.options.System)
			all := k.asIs().GetTokens()
			k.want(all > 100, "more than 100 tokens, have %d", all)
			k.want(k.of(messages, "", system).GetTokens() < all, "fewer tokens without tools")
			k.want(k.of(messages, tools, "").GetTokens() < all, "fewer tokens without the system prompt")
		},
		"Nc079": func(k *counting) {
			list := mustRead(k.t, OpenAI, string(k.c.Messages)).elements()
			last := k.of("[]", "", "").GetTokens()
			for n := range list {
				messages := make([]string, 0, n+1)
				for _, m := range list[:n+1] {
					messages = append(messages, string(m))
				}
				is := k.of("["+strings.Join(messages, ",")+"]", "", "").GetTokens()
				k.want(is > last, "%d messages count more than %d: %d, %d", n+1, n, is, last)
				last = is
			}
			unnamed := strings.Replace(string(k.c.Messages), `"name":"anna",`, "", 1)
			if unnamed == string(k.c.Messages) {
				unnamed = strings.Replace(string(k.c.Messages), `"name": "anna", `, "", 1)
			}
			k.want(unnamed != string(k.c.Messages) && k.of(unnamed, "", "").GetTokens() <= last, "not more tokens without the name")
		},
		"Nc080": func(k *counting) {
			got := k.asIs()
			k.want(got.GetTokens() > 20, "more than 20 tokens, have %d", got.GetTokens())
			named := false
			for _, w := range got.GetWarnings() {
				named = named || w.MessageIndex != nil && w.GetMessageIndex() == 1
			}
			k.want(named, "a warning names message 1: %v", got.GetWarnings())
		},
		"Nc082": func(k *counting) {
			for _, unit := range []string{"a", "^", " ", "\n", "ab", "0"} {
				k.inTime(strings.Repeat(unit, 1_000_000/len(unit)), 1)
			}
		},
		"Nc083": func(k *counting) {
			for _, text := range []string{strings.Repeat("漢", 200_000), strings.Repeat("漢字仮名交じり文", 25_000)} {
				k.inTime(text, 60_000)
				ctx, cancel := context.WithTimeout(k.ctx, 50*time.Millisecond)
				_, err := k.CountTokens(ctx, &pb.CountTokensRequest{Text: proto.String(text), Model: k.options.Model})
				cancel()
				k.want(err == nil || status.Code(err) == codes.DeadlineExceeded, "DEADLINE_EXCEEDED or a result, have %v", err)
			}
		},
		"Nc085": func(k *counting) {
			// 3 for the message, 1 for its role, 2 for the text, 3 for the reply: the figure
			// is in the code, and the code has no way to the network.
			got := k.asIs()
			k.want(got.GetTokens() == 9 && got.GetMethod() == pb.Method_METHOD_LOCAL, "9 tokens counted locally, have %d by %v", got.GetTokens(), got.GetMethod())
			deps, err := exec.Command("go", "list", "-deps", "../tokens").Output()
			if err != nil {
				k.t.Fatalf("go list: %v", err)
			}
			for dep := range strings.SplitSeq(string(deps), "\n") {
				k.want(dep != "net" && dep != "net/http", "the counter imports %s", dep)
			}
		},
		"Nc086": func(k *counting) {
			got := k.asIs()
			k.want(got.GetMethod() == pb.Method_METHOD_ESTIMATE && got.GetEncoding() != "", "an estimate by name, have %v %q", got.GetMethod(), got.GetEncoding())
		},
		"Nc087": func(k *counting) {
			with, without := k.asIs().GetTokens(), k.of(string(k.c.Messages), "", "").GetTokens()
			k.want(with-without >= 150, "ten tools count 150 tokens at least, have %d", with-without)
		},
		"Nc088": func(k *counting) {
			blocks := mustRead(k.t, Anthropic, `{"system":`+string(k.options.System)+`,"messages":[]}`).system.content.blocks
			alone := k.count(k.t, &pb.CountTokensRequest{Text: proto.String(blocks[0].text), Model: k.options.Model}).GetTokens()
			got := float64(k.asIs().GetTokens())
			k.want(got >= float64(alone) && got <= 1.3*float64(alone)+20, "the system prompt of %d tokens counts once, have %v", alone, got)
		},
	}
}

// inTime counts a long text. The case's limit is a second or two; the deadline
// here only keeps a count that never ends from hanging the tests.
func (k *counting) inTime(text string, least int32) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.ctx, time.Minute)
	defer cancel()
	resp, err := k.CountTokens(ctx, &pb.CountTokensRequest{
		Conversation: native(pb.Format_FORMAT_OPENAI_CHAT, user(text)), Model: k.options.Model,
	})
	k.want(err == nil && resp.GetTokens() >= least, "%.8q...: at least %d tokens, have %d, error %v", text, least, resp.GetTokens(), err)
}

func TestFieldCasesOfCount(t *testing.T) {
	w := dial(t)
	cases := countCases()
	met := 0
	for _, c := range testdata.Cases(t) {
		if c.Op != "count" {
			continue
		}
		met++
		t.Run(c.ID, func(t *testing.T) {
			run := cases[c.ID]
			if run == nil {
				t.Fatal("not tested: " + c.Why)
			}
			k := &counting{wire: w, t: t, c: c}
			if err := json.Unmarshal(c.Options, &k.options); err != nil {
				t.Fatal(err)
			}
			run(k)
		})
	}
	if met != len(cases) {
		t.Errorf("%d cases in the file, %d known", met, len(cases))
	}
}
