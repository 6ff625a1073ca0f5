package conformance

import (
	"slices"
	"testing"
)

func TestResultsAnswerTheCallsBeforeThem(t *testing.T) {
	const (
		function = `{"role":"assistant","function_call":{"name":"f","arguments":"{}"}},`
		tool     = `{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},`
		nameless = `{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]},`
		end      = `{"role":"assistant","content":"ok"}`
	)
	tests := []struct {
		name, messages string
		want           []fault
	}{
		{"a call and its result", tool + `{"role":"tool","tool_call_id":"a","content":"r"},`, nil},
		{"a function_call and its result", function + `{"role":"function","name":"f","content":"r"},`, nil},
		{"a call without its result", tool, []fault{faultMissingResult}},
		{"a function_call without its result", function, []fault{faultMissingResult}},
		{"a result without a call", `{"role":"tool","tool_call_id":"a","content":"r"},`, []fault{faultOrphanResult}},
		{"a function's result without a call", `{"role":"function","name":"f","content":"r"},`, []fault{faultOrphanResult}},
		{"a result twice", tool + `{"role":"tool","tool_call_id":"a","content":"r"},{"role":"tool","tool_call_id":"a","content":"r"},`, []fault{faultDuplicateResult}},
		{"a function's result twice", function + `{"role":"function","content":"r"},{"role":"function","content":"r"},`, []fault{faultDuplicateResult}},
		{"a tool's result of a function_call", function + `{"role":"tool","name":"f","content":"r"},`, []fault{faultOtherForm}},
		{"a function's result of a call without an id", nameless + `{"role":"function","name":"f","content":"r"},`, []fault{faultOtherForm}},
		{"a tool's result of a call without an id", nameless + `{"role":"tool","content":"r"},`, nil},
		{"a result with an id that its function_call has not", function + `{"role":"tool","tool_call_id":"a","content":"r"},`, []fault{faultOrphanResult, faultMissingResult}},
		{"a function's result of a call with an id", tool + `{"role":"function","content":"r"},`, []fault{faultOrphanResult, faultMissingResult}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []fault
			for _, f := range mustRead(t, OpenAI, `[`+test.messages+end+`]`).judge().faults {
				got = append(got, f.fault)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
