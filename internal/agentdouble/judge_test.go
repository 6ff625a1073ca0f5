package agentdouble

import (
	"fmt"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/conformance"
)

func TestTheJudgeSeesWhatAProviderWould(t *testing.T) {
	body := func(messages ...string) string {
		return `{"model":"m","max_tokens":1,"messages":[` + strings.Join(messages, ",") + `]}`
	}
	summary := func(trace string) string {
		return fmt.Sprintf(`{"role":"user","content":"[ELBOWROOM CONTEXT SUMMARY, round 1, trace %s] notes"}`, trace)
	}
	const (
		hi     = `{"role":"user","content":"hi"}`
		marked = `{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}`
		yes    = `{"role":"assistant","content":"yes"}`
		call   = `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]}`
		more   = `{"role":"user","content":"more"}`
	)
	cases := []struct {
		name          string
		before, after string
		changed       bool
		problem       string
	}{
		{"a conversation that grows", body(hi), body(marked, yes, more), false, ""},
		{"a mark that moves away", body(marked), body(hi, yes, more), false, ""},
		{"a message that changed", body(hi), body(more, yes, more), true, "prefix changed"},
		{"a compression", body(hi, yes, more, yes, more), body(summary("0a"), yes, more), true, ""},
		{"another compression", body(summary("0a"), yes, more), body(summary("0b"), yes, more), true, ""},
		{"a message lost under the same summary", body(summary("0a"), yes, more), body(summary("0a"), more), true, "prefix changed"},
		{"a call without its result", body(hi), body(hi, call, more, yes, more), false, "MISSING_RESULT"},
		{"another field beside the messages", body(hi), strings.Replace(body(hi, yes, more), `"m"`, `"n"`, 1), true, "prefix changed"},
	}
	for _, c := range cases {
		j := Judge{Dialect: conformance.Anthropic}
		if _, problems := j.Look([]byte(c.before)); len(problems) > 0 {
			t.Errorf("%s: before: %v", c.name, problems)
		}
		changed, problems := j.Look([]byte(c.after))
		if got := strings.Join(problems, "; "); changed != c.changed || (got == "") != (c.problem == "") || !strings.Contains(got, c.problem) {
			t.Errorf("%s: changed %t, %q", c.name, changed, got)
		}
	}
	if _, problems := (&Judge{Dialect: conformance.Anthropic}).Look([]byte(body(marked, yes, marked, yes, marked, yes, marked, yes, marked))); len(problems) != 1 {
		t.Errorf("five marks: %v", problems)
	}
}
