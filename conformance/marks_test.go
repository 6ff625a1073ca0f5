package conformance

import (
	"testing"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

const (
	hourMark  = `"cache_control":{"type":"ephemeral","ttl":"1h"}`
	shortMark = `"cache_control":{"type":"ephemeral"}`
)

func TestMarksAreFoundWhereverTheyStand(t *testing.T) {
	const short, hour = false, true
	tests := []struct {
		name    string
		dialect Dialect
		message string
		want    []bool // by whether they ask for an hour
	}{
		{"on a block", Anthropic, `{"role":"user","content":[{"type":"text","text":"a",` + hourMark + `}]}`, []bool{hour}},
		{"that are no objects", Anthropic, `{"role":"user","content":[{"type":"text","text":"a","cache_control":7}]}`, []bool{short}},
		{"that are null: none", Anthropic, `{"role":"user","content":[{"type":"text","text":"a","cache_control":null},{"type":"x","content":[{"cache_control":null}]}]}`, nil},
		{"on a part of a result, which ends before the result", Anthropic, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t",` + shortMark + `,"content":[{"type":"text","text":"r",` + hourMark + `}]}]}`, []bool{hour, short}},
		{"in a server tool's result", Anthropic, `{"role":"assistant","content":[{"type":"web_search_tool_result","content":[{"cache_control":7,"type":"web_search_result"}]}]}`, []bool{short}},
		{"in a part of a part", Anthropic, `{"role":"user","content":[{"type":"tool_result","content":[{"type":"search_result","content":[{"type":"text",` + hourMark + `}]}]}]}`, []bool{hour}},
		{"in a result within a result", Anthropic, `{"role":"user","content":[{"type":"tool_result","content":[{"type":"tool_result","content":[{"type":"text",` + hourMark + `}],` + shortMark + `}]}]}`, []bool{short, hour}},
		{"in a document's source", Anthropic, `{"role":"user","content":[{"type":"document","source":{"type":"content","content":[{"type":"text",` + hourMark + `}]}}]}`, []bool{hour}},
		{"in citations", Anthropic, `{"role":"assistant","content":[{"type":"text","text":"a","citations":[null,[1],{"type":"x",` + shortMark + `}]}]}`, []bool{short}},
		{"deep inside, behind those on blocks", Anthropic, `{"role":"user","content":[{"type":"x","content":[{` + hourMark + `}]},{"type":"text","text":"a",` + shortMark + `}]}`, []bool{short, hour}},
		{"in a call's input: none", Anthropic, `{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{` + shortMark + `,"content":[{` + shortMark + `}]}}]}`, nil},
		{"in contents that are no lists: none", Anthropic, `{"role":"user","content":[{"type":"x","content":{` + shortMark + `},"source":[{` + shortMark + `}],"citations":{` + shortMark + `}}]}`, nil},
		{"on a call and its function", OpenAI, `{"role":"assistant","tool_calls":[{"id":"c",` + hourMark + `,"function":{"name":"f","arguments":"{}",` + shortMark + `}}]}`, []bool{hour, short}},
		{"in OpenAI's spelling, inside a part", OpenAI, `{"role":"user","content":[{"type":"x","content":[{"type":"text","prompt_cache_breakpoint":{"mode":"explicit"}}]}]}`, []bool{short}},
		{"on the message", Anthropic, `{"role":"user",` + hourMark + `,"content":[{"type":"x","content":[{` + shortMark + `}]}]}`, []bool{short, hour}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in := mustRead(t, test.dialect, `[`+test.message+`]`)
			var reported []*pb.Breakpoint
			for _, hour := range test.want {
				ttl := fiveMin
				if hour {
					ttl = pb.CacheTtl_CACHE_TTL_1H
				}
				reported = append(reported, mark(inMessages, 0, ttl))
			}
			if got := (&Marking{Input: in, Output: in, Breakpoints: reported, Kept: true}).Check(); len(got) > 0 {
				t.Error(got)
			}
		})
	}
}

func TestMarksDeepInsideMayBeTakenAway(t *testing.T) {
	tests := []struct {
		name    string
		dialect Dialect
		in, out string
	}{
		{"of a source", Anthropic, `{"role":"user","content":[{"type":"document","source":{"type":"content","content":[{"type":"text","text":"a",` + shortMark + `}]}}]}`,
			`{"role":"user","content":[{"type":"document","source":{"type":"content","content":[{"type":"text","text":"a"}]}}]}`},
		{"of citations", Anthropic, `{"role":"assistant","content":[{"type":"text","text":"a","citations":[{` + shortMark + `,"type":"x"}]}]}`,
			`{"role":"assistant","content":[{"type":"text","text":"a","citations":[{"type":"x"}]}]}`},
		{"of calls", OpenAI, `{"role":"assistant","tool_calls":[{"id":"c",` + shortMark + `,"function":{"name":"f","arguments":"{}",` + shortMark + `}}]}`,
			`{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := checkMarking(t, test.dialect, `[`+test.in+`]`, `[`+test.out+`]`, nil); len(got) > 0 {
				t.Error(got)
			}
			if got := checkMarking(t, test.dialect, `[`+test.out+`]`, `[`+test.in+`]`, nil); len(got) == 0 {
				t.Error("nothing is said of marks that nobody may set")
			}
		})
	}
}
