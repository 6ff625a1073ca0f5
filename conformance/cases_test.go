package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"github.com/elbowroom/elbowroom/internal/testdata"
)

// compressCases are the cases whose expectations do not depend on what the
// summarizer writes. Each runs with the case's scripted summarizer and with the
// embedded one.
func compressCases() map[string]func(*trial) {
	return map[string]func(*trial){
		"Cc001": func(tr *trial) {
			a := tr.ask()
			tr.pairsWhole(a)
			tr.want(a.same(0, 0), "output[0] equals input[0]")
			tr.want(a.out.messages[1].role == "user", "the first message after the system prompt is the user's, have %s", a.out.messages[1].role)
		},
		"Cc002": func(tr *trial) {
			a := tr.ask()
			tr.pairsWhole(a)
			for i := 1; i <= 8; i++ {
				id := fmt.Sprintf("p%d", i)
				call, result := strings.Contains(a.text, `"id":"`+id+`"`) || strings.Contains(a.text, `"id": "`+id+`"`),
					strings.Contains(a.text, `"tool_call_id":"`+id+`"`) || strings.Contains(a.text, `"tool_call_id": "`+id+`"`)
				tr.want(call == result, "%s: call %v, result %v", id, call, result)
			}
			tr.want(a.same(-1, -1), "the last message is the input's")
		},
		"Cc004": func(tr *trial) {
			a := tr.ask()
			tr.pairsWhole(a)
			if strings.Contains(a.text, `"srv1"`) {
				tr.want(a.has(1), "the message of srv1 is kept as it was")
			}
		},
		"Cc006": func(tr *trial) {
			a := tr.ask()
			tr.want(a.same(-1, -1), "the call in flight is the last message")
			tr.want(a.has(1), "the request is there verbatim, whatever the target")
		},
		"Cc007": func(tr *trial) {
			forced := tr.request(tr.conversation(string(tr.c.Messages)))
			forced.Force, forced.Policy.TargetTokens = true, nil
			for _, a := range []answer{tr.ask(), tr.judged(forced.Conversation, tr.compress(tr.t, forced))} {
				tr.pairsWhole(a)
				first, second := strings.Index(a.text, "11 kg\""), strings.Index(a.text, "29 kg\"")
				tr.want(first < second, "11 kg stands before 29 kg")
				for _, m := range a.out.messages {
					tr.want(m.role != "assistant" || !m.content.empty() || len(m.calls) > 0, "no assistant message says nothing")
				}
			}
		},
		"Cc010": func(tr *trial) {
			a := tr.ask()
			tr.pairsWhole(a)
			tr.want(a.has(1), "the request is there verbatim")
		},
		"Cc012": func(tr *trial) {
			a := tr.ask()
			tr.want(a.same(a.out.Len()-2, 3), "the last assistant message is the input's")
			for _, m := range a.out.messages {
				for _, b := range m.content.blocks {
					tr.want(!b.isThinking() || strings.Contains(string(a.in.raw), string(b.raw)), "thinking as in the input")
				}
			}
		},
		"Cc013": func(tr *trial) {
			a := tr.ask()
			tr.want(a.has(3) && a.has(5), "messages with reasoning_content are kept as they are")
		},
		"Cc014": func(tr *trial) { a := tr.ask(); tr.want(a.has(3), "the call g1 is kept with its extra_content") },
		"Cc015": func(tr *trial) {
			a := tr.ask()
			for _, m := range a.out.messages {
				for _, c := range m.calls {
					arguments, _ := decodeString(c.arguments)
					tr.want(json.Valid([]byte(arguments)), "arguments are JSON: %.60s", arguments)
					if c.ids[0] == "s1" && string(c.arguments) != string(a.in.messages[1].calls[0].arguments) {
						tr.want(strings.HasPrefix(arguments, `{"path":"log/a.md"`), "the path stays: %.60s", arguments)
						tr.want(len(a.GetReport().GetPruned()) > 0, "the change is reported")
					}
				}
			}
		},
		"Cc017": func(tr *trial) {
			a := tr.ask()
			if tr.fake != nil {
				tr.want(tr.fake.calls.Load() == 0, "the summarizer is not called")
			}
			r := a.GetReport()
			tr.want(a.GetOutcome() == pb.Outcome_OUTCOME_TARGET_UNREACHABLE && strings.Contains(r.GetReason(), "50") && r.GetTokensAfter() > 50,
				"the target is reported as out of reach, have %v with %d tokens (%s)", a.GetOutcome(), r.GetTokensAfter(), r.GetReason())
			tr.want(a.same(0, 0) && a.same(-1, -1), "system prompt and request are the input's")
		},
		"Cc020": func(tr *trial) {
			a := tr.ask()
			tr.want(a.unchanged(), "the output is the input, have %v", a.GetOutcome())
			tr.want(a.GetReport().GetTokensAfter() <= a.GetReport().GetTokensBefore(), "no more tokens than before")
			if tr.fake == nil {
				return
			}
			// The case is too short for a summary to be asked for. In a longer one the
			// reply is larger than its budget, and the next rung takes over.
			tr.fake.reply = strings.Repeat(tr.fake.reply, 10)
			b := tr.askWith(tr.filled(1_500, `[{"role":"user","content":"a"}`))
			tr.want(tr.fake.calls.Load() == 1 && len(b.GetReport().GetFailedRungs()) == 1, "the verbose reply is refused: %v", b.GetReport().GetFailedRungs())
			tr.want(b.GetReport().GetTokensAfter() < b.GetReport().GetTokensBefore(), "no more tokens than before")
		},
		"Cc023": func(tr *trial) {
			a := tr.askWith(tr.filled(12_950, `[{"role":"system","content":"Clerk."}`))
			tr.want(a.GetReport().GetTokensBefore() >= 12_900 && a.GetReport().GetTokensBefore() <= 13_100, "the input has 12,900 to 13,100 tokens, have %d", a.GetReport().GetTokensBefore())
			tr.want(a.GetReport().GetTokensAfter()+2048 <= 15_000, "the answer fits, have %d tokens", a.GetReport().GetTokensAfter())
		},
		"Cc034": func(tr *trial) {
			a := tr.ask()
			tr.want(a.GetOutcome() == pb.Outcome_OUTCOME_COMPRESSED || a.GetOutcome() == pb.Outcome_OUTCOME_TARGET_UNREACHABLE, "something was done, have %v (%s)", a.GetOutcome(), a.GetReport().GetReason())
			again := tr.request(tr.conversation(string(tr.c.Messages)))
			again.Conversation = a.GetConversation()
			b := tr.judged(again.Conversation, tr.compress(tr.t, again))
			tr.want(b.text == a.text, "the second pass changes nothing, have %v", b.GetOutcome())
			if tr.fake != nil {
				tr.want(tr.fake.calls.Load() <= 1, "one call in both passes, have %d", tr.fake.calls.Load())
			}
		},
		"Cc035": func(tr *trial) { a := tr.ask(); tr.want(a.unchanged(), "untouched bytes, have %v", a.GetOutcome()) },
		"Cc039": func(tr *trial) {
			a := tr.ask()
			tr.want(a.same(-1, -1) && a.out.messages[a.out.Len()-1].role == "assistant", "the last message is the assistant's own")
		},
		"Cc041": func(tr *trial) { a := tr.ask(); tr.pairsWhole(a); tr.want(a.has(3), "the request is there verbatim") },
		"Cc042": func(tr *trial) {
			a := tr.ask()
			tr.want(a.same(0, 0) && a.same(1, 1), "both system prompts stay first")
			for _, text := range []string{"You are a pirate.", "Answer in one line."} {
				tr.want(strings.Count(a.text, text) == 1, "%q stands once, have %d", text, strings.Count(a.text, text))
			}
		},
		"Cc044": func(tr *trial) {
			if tr.fake != nil {
				return // it would answer with a first sentence only, which is the summarizer's doing
			}
			messages := `[{"role":"user","content":"The relay port is 48213, keep it."},{"role":"assistant","content":"Noted."}]`
			for range 5 {
				a := tr.askWith(tr.more(messages))
				messages = a.text
			}
			tr.want(strings.Contains(messages, "48213"), "the port is still there: %s", messages)
		},
		"Cc046": func(tr *trial) {
			for _, x := range []int{1998, 1999, 2000} {
				for _, emoji := range []string{"📥", "👩\u200d👩\u200d👧"} {
					content := strings.Repeat("x", x) + emoji + strings.Repeat(" tail ", 400)
					a := tr.askWith(`[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"u1","type":"function","function":{"name":"look","arguments":"{}"}}]},` +
						`{"role":"tool","tool_call_id":"u1","content":` + string(quote(content)) + `},{"role":"user","content":"ok"}]`)
					tr.want(utf8.ValidString(a.text) && loneSurrogates([]byte(a.text)) == 0 && json.Valid([]byte(a.text)), "valid UTF-8 and JSON after a cut at %d", x)
				}
			}
		},
		"Cc047": func(tr *trial) {
			a := tr.ask() // below the budget: untouched, blank blocks included
			tr.want(a.unchanged(), "below the budget nothing is touched, have %v", a.GetOutcome())
			long := strings.Repeat("the log line ", 200)
			messages := strings.TrimSuffix(string(tr.c.Messages), "]") + `,{"role":"assistant","content":[{"type":"text","text":"` + long + `"}]},{"role":"user","content":[{"type":"text","text":"and now?"}]}]`
			req := tr.request(tr.conversation(messages))
			req.Force, req.Policy.ProtectLastN, req.Policy.ProtectFirstN = true, proto.Int32(1), proto.Int32(0)
			req.Policy.TargetTokens, req.Pinned = nil, []int32{1}
			b := tr.judged(req.Conversation, tr.compress(tr.t, req))
			tr.want(b.GetOutcome() == pb.Outcome_OUTCOME_COMPRESSED, "compressed, have %v (%s)", b.GetOutcome(), b.GetReport().GetReason())
			tr.pairsWhole(b)
			tr.want(!strings.Contains(b.text, `"text":"\n\n"`) && !strings.Contains(b.text, `"text":""`), "no blank text block")
			tr.want(strings.Count(b.text, `"b1"`)%2 == 0, "b1 and its result are both there or both not")
		},
		"Cc050": func(tr *trial) {
			a := tr.ask()
			tr.want(a.text == "[]" && a.GetOutcome() == pb.Outcome_OUTCOME_TOO_SHORT, "an empty list, have %v %s", a.GetOutcome(), a.text)
			tr.want(a.GetReport().GetTokensBefore() == a.GetReport().GetTokensAfter() && a.GetReport().GetTokensAfter() < 10, "no tokens but the frame's")
		},
	}
}

// filled appends alternating messages of sixty words until the list counts so
// many tokens; the last one is the user's.
func (tr *trial) filled(tokens int32, head string) string {
	tr.t.Helper()
	words := strings.TrimSpace(strings.Repeat("the tide table of the harbour ", 10))
	list := head
	per := func(n int) int32 {
		text := head
		for i := range n {
			text += turn(i, words)
		}
		return tr.count(tr.t, &pb.CountTokensRequest{Conversation: tr.conversation(text + "]"), Model: tr.main}).GetTokens()
	}
	n := int((tokens - per(0)) / (per(2) - per(0)) * 2)
	for i := range n + 1 {
		list += turn(i, words)
	}
	return list + "]"
}

// more appends six turns of sixty words, the last one the user's.
func (tr *trial) more(list string) string {
	words := strings.TrimSpace(strings.Repeat("the tide table of the harbour ", 10))
	list = strings.TrimSuffix(list, "]")
	for i := range 7 {
		list += turn(i, words)
	}
	return list + "]"
}

func turn(i int, words string) string {
	return fmt.Sprintf(`,{"role":%q,"content":"%d %s"}`, []string{"user", "assistant"}[i%2], i, words)
}

// enlarged returns the case with twelve times the filler and the budget: the
// frame around a summary, small beside a real conversation, is larger than some of
// the cases. Without filler there is none.
func enlarged(c testdata.Case) testdata.Case {
	const filler, times = " the log line", 12
	if !bytes.Contains(c.Messages, []byte(filler)) {
		return testdata.Case{}
	}
	var options map[string]any
	if err := json.Unmarshal(c.Options, &options); err != nil {
		return testdata.Case{}
	}
	budget, ok := options["budget_tokens"].(float64)
	if !ok {
		return testdata.Case{}
	}
	options["budget_tokens"] = budget * times
	c.Options, _ = json.Marshal(options)
	c.Messages = bytes.ReplaceAll(c.Messages, []byte(filler), bytes.Repeat([]byte(filler), times))
	return c
}

// leftOut are the cases that cannot be asserted, each with the reason.
var leftOut = map[string]string{
	"Cc009": "decided otherwise: adjacent user messages are legal for Anthropic, which reads them as one turn; nothing is merged, and below the threshold nothing is repaired",
}

func TestFieldCasesOfCompress(t *testing.T) {
	independent, failing, wired := compressCases(), scriptedCases(), wireCases()
	met := 0
	for _, c := range testdata.Cases(t) {
		if c.Op != "compress" {
			continue
		}
		met++
		if run, ok := independent[c.ID]; ok {
			t.Run(c.ID+"/scripted", func(t *testing.T) { run(newTrial(t, c, true)) })
			t.Run(c.ID+"/extractive", func(t *testing.T) { run(newTrial(t, c, false)) })
			if large := enlarged(c); large.Messages != nil {
				t.Run(c.ID+"/enlarged", func(t *testing.T) { run(newTrial(t, large, false)) })
			}
			continue
		}
		if run, ok := failing[c.ID]; ok {
			t.Run(c.ID, func(t *testing.T) { run(newTrial(t, c, true)) })
			continue
		}
		if run, ok := wired[c.ID]; ok {
			t.Run(c.ID, func(t *testing.T) { run(newTrial(t, enlarged(c), false)) })
			continue
		}
		if leftOut[c.ID] == "" {
			t.Errorf("%s (%s) is neither tested nor left out with a reason", c.ID, c.Why)
		}
	}
	if want := len(independent) + len(failing) + len(wired) + len(leftOut); met != want {
		t.Errorf("%d cases in the file, %d known", met, want)
	}
}
