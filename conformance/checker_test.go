package conformance

import (
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// example is a legal compression, written by hand.
type example struct {
	dialect Dialect
	in, out string
	report  *pb.CompressionReport
	summary string
	pinned  []int32
	strict  bool
	outcome pb.Outcome
}

// breaches are examples of what the checker must see: an example, what is done to it, and
// the rule that this breaks.
type breaches []struct {
	name string
	of   func() example
	with func(*testing.T, *example)
	want Rule
}

func (tests breaches) run(t *testing.T) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := test.of()
			test.with(t, &e)
			got := e.check(t)
			for _, v := range got {
				if v.Rule == test.want {
					return
				}
			}
			t.Errorf("want a violation of %s, got %v", test.want, got)
		})
	}
}

func (e example) check(t *testing.T) []Violation {
	t.Helper()
	in, err := Read(e.dialect, []byte(e.in))
	if err != nil {
		t.Fatal(err)
	}
	out, err := ReadLike(e.dialect, []byte(e.out), in)
	if err != nil {
		return []Violation{{Rule: RuleExact, Index: -1, Detail: err.Error()}}
	}
	c := Compression{
		Input: in, Output: out, Outcome: e.outcome, Report: e.report,
		Summary: e.summary, Pinned: e.pinned, Strict: e.strict,
	}
	return c.Check()
}

func region(kind pb.RegionKind, start, end int32) *pb.Region {
	return &pb.Region{Kind: kind, Start: start, End: end}
}

var long = strings.Repeat("a line of the log, and then some 📦 ", 20)

// openAIExample has a note, a summary, a cut argument and a stubbed result.
func openAIExample() example {
	in := `{"model":"gpt-4o", "temperature":1.0, "messages":[{"role":"system","content":"You help."},` +
		`{"role":"user","content":"Begin \ud83d\udce6"},{"content":"Begun.","role":"assistant","score":1.50},` +
		`{"role":"user","content":"` + long + `"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"look","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"c1","content":"one"},{"role":"tool","tool_call_id":"c2","content":"two"},` +
		`{"role":"assistant","content":"Looked."},` +
		`{"role":"assistant","content":"","reasoning_content":"hm","tool_calls":[{"id":"c3","type":"function","function":{"name":"write","arguments":"{\"path\": \"a.md\", \"n\": 1.0, \"text\": \"` + long + `\"}"}}]},` +
		`{"role":"tool","tool_call_id":"c3","content":"` + long + `"},` +
		`{"role":"assistant","content":"Written."},{"role":"user","content":"Go on\u0021"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"run","arguments":"{ }"}}]}]}`
	out := in
	out = strings.Replace(out, `You help."`, `You help.\n\nEarlier turns were compressed."`, 1)
	start, end := strings.Index(out, `{"role":"user","content":"a line`), strings.Index(out, `{"role":"assistant","content":"","reasoning_content"`)
	out = out[:start] + `{"role":"user","content":"[SUMMARY]\nLooked twice.\n[END]"},` + out[end:]
	out = strings.Replace(out, `\"text\": \"`+long, `\"text\": \"`+long[:20]+`...`, 1)
	out = strings.Replace(out, `"content":"`+long, `"content":"[write] (700 chars)`, 1)
	return example{
		dialect: OpenAI, in: in, out: out, outcome: pb.Outcome_OUTCOME_COMPRESSED, summary: "Looked twice.",
		report: &pb.CompressionReport{
			TokensBefore: 900, TokensAfter: 200, MessagesBefore: 13, MessagesAfter: 9,
			SummaryIndex: proto.Int32(3), FirstChangedIndex: proto.Int32(0), Rung: pb.Rung_RUNG_EXTRACTIVE,
			Regions: []*pb.Region{
				region(pb.RegionKind_REGION_KIND_HEAD, 0, 3), region(pb.RegionKind_REGION_KIND_MIDDLE, 3, 8), region(pb.RegionKind_REGION_KIND_TAIL, 8, 13),
			},
			Pruned: []*pb.PrunedItem{
				{MessageIndex: 8, BlockIndex: 2, Kind: pb.PruneKind_PRUNE_KIND_ARGUMENTS},
				{MessageIndex: 9, Kind: pb.PruneKind_PRUNE_KIND_STUB},
			},
		},
	}
}

// anthropicExample has thinking that goes, a missing result, a blank text and
// server tools.
func anthropicExample() example {
	in := `{"model":"claude","system":[{"type":"text","text":"You help."}],"messages":[` +
		`{"role":"user","content":"Begin"},` +
		`{"role":"assistant","content":[{"type":"thinking","thinking":"plan","signature":"c2ln"},{"type":"text","text":"Begun."}]},` +
		`{"role":"user","content":"` + long + `"},` +
		`{"role":"assistant","content":[{"type":"text","text":"` + long + `"}]},` +
		`{"role":"user","content":[{"type":"text","text":"Look it up"}]},` +
		`{"role":"assistant","content":[{"type":"server_tool_use","id":"s1","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s1","content":[]},{"type":"thinking","thinking":"found","signature":"c2ln"},{"type":"text","text":"\n"},{"type":"tool_use","id":"t1","name":"write","input":{"path":"a.md","text":"` + long + `"}},{"type":"tool_use","id":"t2","name":"look","input":{"n":1.0}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"` + long + `"}]},{"type":"text","text":"and then?"}]},` +
		`{"role":"assistant","content":[{"type":"redacted_thinking","data":"eHh4"},{"type":"tool_use","id":"t3","name":"look","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t3","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]}]}]}`
	out := in
	out = strings.Replace(out, `"You help."}]`, `"You help."},{"type":"text","text":"Compressed."}]`, 1)
	start, end := strings.Index(out, `{"role":"user","content":"a line`), strings.Index(out, `{"role":"user","content":[{"type":"text","text":"Look`)
	out = out[:start] + `{"role":"user","content":"[SUMMARY] Talked."},` + out[end:]
	out = strings.Replace(out, `{"type":"thinking","thinking":"found","signature":"c2ln"},{"type":"text","text":"\n"},`, ``, 1)
	out = strings.Replace(out, `"text":"`+long+`"}},{"type":"tool_use"`, `"text":"cut"}},{"type":"tool_use"`, 1)
	out = strings.Replace(out, `[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"`+long+`"}]}`,
		`[{"type":"tool_result","tool_use_id":"t2","content":"No result was recorded."},{"type":"tool_result","tool_use_id":"t1","content":"[write] stub"}`, 1)
	out = strings.Replace(out, `{"type":"redacted_thinking","data":"eHh4"},`, ``, 1)
	return example{
		dialect: Anthropic, in: in, out: out, outcome: pb.Outcome_OUTCOME_COMPRESSED, summary: "Talked.",
		report: &pb.CompressionReport{
			TokensBefore: 900, TokensAfter: 200, MessagesBefore: 9, MessagesAfter: 8, ThinkingRemoved: 2,
			SummaryIndex: proto.Int32(2), FirstChangedIndex: proto.Int32(-1), Rung: pb.Rung_RUNG_LLM,
			Regions: []*pb.Region{
				region(pb.RegionKind_REGION_KIND_HEAD, 0, 2), region(pb.RegionKind_REGION_KIND_MIDDLE, 2, 4), region(pb.RegionKind_REGION_KIND_TAIL, 4, 9),
			},
			Pruned: []*pb.PrunedItem{
				{MessageIndex: 5, BlockIndex: 4, Kind: pb.PruneKind_PRUNE_KIND_ARGUMENTS},
				{MessageIndex: 6, Kind: pb.PruneKind_PRUNE_KIND_STUB},
			},
			Repairs: []*pb.Repair{
				{Kind: pb.RepairKind_REPAIR_KIND_MISSING_RESULT, MessageIndex: 5, ToolUseId: "t2"},
				{Kind: pb.RepairKind_REPAIR_KIND_BLANK_TEXT, MessageIndex: 5},
			},
		},
	}
}

// orphanExample drops a result without a call and one that comes twice.
func orphanExample() example {
	in := `[{"role":"user","content":"` + long + `"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"a","content":"again"},{"role":"tool","tool_call_id":"zz","content":"whose?"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
		`{"role":"user","content":"` + long + `"},{"role":"assistant","content":"ok"},{"role":"user","content":"next"}]`
	out := `[{"role":"user","content":"[SUMMARY] s"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"a","content":"1"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"b","content":"No result."},` +
		`{"role":"user","content":"` + long + `"},{"role":"assistant","content":"ok"},{"role":"user","content":"next"}]`
	return example{
		dialect: OpenAI, in: in, out: out, outcome: pb.Outcome_OUTCOME_TARGET_UNREACHABLE, summary: "s",
		report: &pb.CompressionReport{
			TokensBefore: 900, TokensAfter: 700, MessagesBefore: 9, MessagesAfter: 8, Reason: "target",
			SummaryIndex: proto.Int32(0), FirstChangedIndex: proto.Int32(0), Rung: pb.Rung_RUNG_EXTRACTIVE,
			Regions: []*pb.Region{region(pb.RegionKind_REGION_KIND_MIDDLE, 0, 1), region(pb.RegionKind_REGION_KIND_TAIL, 1, 9)},
			Repairs: []*pb.Repair{
				{Kind: pb.RepairKind_REPAIR_KIND_DUPLICATE_RESULT, MessageIndex: 3, ToolUseId: "a"},
				{Kind: pb.RepairKind_REPAIR_KIND_ORPHAN_RESULT, MessageIndex: 4, ToolUseId: "zz"},
				{Kind: pb.RepairKind_REPAIR_KIND_MISSING_RESULT, MessageIndex: 5, ToolUseId: "b"},
			},
		},
	}
}

// strictExample is for a template that wants alternating roles.
func strictExample() example {
	in := `[{"role":"user","content":"hi"},{"role":"assistant","content":"` + long + `"},{"role":"user","content":"next"},{"role":"assistant","content":"ok"},{"role":"user","content":"go"}]`
	out := `[{"role":"user","content":"hi"},{"role":"assistant","content":"[SUMMARY] s"},{"role":"user","content":"next"},{"role":"assistant","content":"ok"},{"role":"user","content":"go"}]`
	return example{
		dialect: OpenAI, in: in, out: out, outcome: pb.Outcome_OUTCOME_COMPRESSED, summary: "s", strict: true,
		report: &pb.CompressionReport{
			TokensBefore: 900, TokensAfter: 700, MessagesBefore: 5, MessagesAfter: 5,
			SummaryIndex: proto.Int32(1), FirstChangedIndex: proto.Int32(1), Rung: pb.Rung_RUNG_EXTRACTIVE,
			Regions: []*pb.Region{
				region(pb.RegionKind_REGION_KIND_HEAD, 0, 1), region(pb.RegionKind_REGION_KIND_MIDDLE, 1, 2), region(pb.RegionKind_REGION_KIND_TAIL, 2, 5),
			},
		},
	}
}

func TestCheckAcceptsLegalCompressions(t *testing.T) {
	for name, e := range map[string]example{
		"openai": openAIExample(), "anthropic": anthropicExample(), "repairs in a bare array": orphanExample(), "alternating": strictExample(),
	} {
		t.Run(name, func(t *testing.T) {
			for _, v := range e.check(t) {
				t.Error(v)
			}
		})
	}
}

// replace breaks the output at one place, and fails when the place is not there.
func replace(old, with string) func(*testing.T, *example) {
	return func(t *testing.T, e *example) {
		t.Helper()
		if strings.Count(e.out, old) < 1 {
			t.Fatalf("%q is not in the output %s", old, e.out)
		}
		e.out = strings.Replace(e.out, old, with, 1)
	}
}

func TestCheckFindsEveryBrokenPromise(t *testing.T) {
	tests := breaches{
		{"keys of a kept message re-ordered", openAIExample, replace(`{"content":"Begun.","role":"assistant","score":1.50}`, `{"role":"assistant","content":"Begun.","score":1.50}`), RuleExact},
		{"a number spelled anew", openAIExample, replace(`"score":1.50`, `"score":1.5`), RuleExact},
		{"a number of the body spelled anew", openAIExample, replace(`"temperature":1.0`, `"temperature":1`), RuleExact},
		{"white space of the body lost", openAIExample, replace(`"gpt-4o", "temp`, `"gpt-4o","temp`), RuleExact},
		{"a key of the body lost", openAIExample, replace(` "temperature":1.0,`, ``), RuleExact},
		{"an escape spelled anew", openAIExample, replace(`Begin \ud83d\udce6`, `Begin 📦`), RuleExact},
		{"an escape in the request spelled anew", openAIExample, replace(`Go on\u0021`, `Go on!`), RuleExact},
		{"an unknown field lost", openAIExample, replace(`,"score":1.50`, ``), RuleExact},
		{"reasoning lost", openAIExample, replace(`"reasoning_content":"hm",`, ``), RuleExact},
		{"reasoning changed", openAIExample, replace(`"reasoning_content":"hm"`, `"reasoning_content":"h"`), RuleExact},
		{"null content became empty", openAIExample, replace(`"content":null`, `"content":""`), RuleExact},
		{"an assistant's text cut", openAIExample, replace(`"content":"Written."`, `"content":"W"`), RuleExact},
		{"a number in arguments spelled anew", openAIExample, replace(`\"n\": 1.0`, `\"n\": 1`), RuleExact},
		{"a key in arguments lost", openAIExample, replace(`\"n\": 1.0, `, ``), RuleExact},
		{"a key in arguments renamed", openAIExample, replace(`\"path\"`, `\"p\"`), RuleExact},
		{"arguments that are no JSON", openAIExample, replace(`...\"}`, `...`), RuleExact},
		{"arguments of a call in flight changed", openAIExample, replace(`"arguments":"{ }"`, `"arguments":"{}"`), RuleLegal},
		{"a result emptied", openAIExample, replace(`[write] (700 chars)`, ``), RuleExact},
		{"a character cut in a stub", openAIExample, replace(`[write] (700 chars)`, "[write] \uFFFD"), RuleExact},
		{"half a surrogate pair in a stub", openAIExample, replace(`[write] (700 chars)`, `[write] \ud83d`), RuleExact},
		{"half a surrogate pair in the summary", openAIExample, replace(`Looked twice.\n`, `Looked twice.\udce6\n`), RuleSummary},
		{"bytes that are no UTF-8", openAIExample, replace(`[write] (700`, "[write] \xf0\x9f"), RuleExact},
		{"a result longer than before", openAIExample, replace(`[write] (700 chars)`, long+long), RuleExact},
		{"a result under another id", openAIExample, replace(`"tool_call_id":"c3"`, `"tool_call_id":"c9"`), RuleExact},
		{"a result dropped", openAIExample, replace(`{"role":"tool","tool_call_id":"c3","content":"[write] (700 chars)"},`, ``), RuleLegal},
		{"a call dropped", openAIExample, func(t *testing.T, e *example) {
			start := strings.Index(e.out, `{"role":"assistant","content":"","reasoning`)
			end := strings.Index(e.out, `{"role":"tool"`)
			e.out = e.out[:start] + e.out[end:]
		}, RuleLegal},
		{"two messages swapped", openAIExample, func(t *testing.T, e *example) {
			replace(`{"role":"assistant","content":"Written."},{"role":"user","content":"Go on\u0021"}`, `{"role":"user","content":"Go on\u0021"},{"role":"assistant","content":"Written."}`)(t, e)
		}, RuleExact},
		{"the newest request dropped", openAIExample, replace(`{"role":"user","content":"Go on\u0021"},`, ``), RuleRequest},
		{"a message of the head dropped", openAIExample, replace(`{"content":"Begun.","role":"assistant","score":1.50},`, ``), RuleLost},
		{"the call in flight dropped", openAIExample, func(t *testing.T, e *example) {
			e.out = e.out[:strings.LastIndex(e.out, `,{"role":"assistant"`)] + "]}"
			e.report.MessagesAfter--
		}, RuleLegal},
		{"the call in flight answered", openAIExample, replace(`"arguments":"{ }"}}]}]}`, `"arguments":"{ }"}}]},{"role":"tool","tool_call_id":"c1","content":"stub"}]}`), RuleLegal},
		{"the summary merged into a kept message", openAIExample, func(t *testing.T, e *example) {
			replace(`{"role":"user","content":"[SUMMARY]\nLooked twice.\n[END]"},`, ``)(t, e)
			replace(`"content":"Written."`, `"content":"[SUMMARY] Looked twice. Written."`)(t, e)
		}, RuleExact},
		{"the summary without its text", openAIExample, replace(`Looked twice.`, `Looked.`), RuleSummary},
		{"the summary in the tail", openAIExample, func(t *testing.T, e *example) {
			replace(`{"role":"user","content":"[SUMMARY]\nLooked twice.\n[END]"},`, ``)(t, e)
			replace(`{"role":"assistant","content":"Written."},`, `{"role":"assistant","content":"Written."},{"role":"user","content":"[SUMMARY]\nLooked twice.\n[END]"},`)(t, e)
			e.report.SummaryIndex = proto.Int32(6)
		}, RuleSummary},
		{"the summary last", openAIExample, func(t *testing.T, e *example) {
			replace(`{"role":"user","content":"[SUMMARY]\nLooked twice.\n[END]"},`, ``)(t, e)
			e.out = strings.TrimSuffix(e.out, `]}`) + `,{"role":"user","content":"[SUMMARY]\nLooked twice.\n[END]"}]}`
			e.report.SummaryIndex = proto.Int32(8)
		}, RuleSummary},
		{"a second new message", openAIExample, replace(`{"role":"assistant","content":"Written."},`, `{"role":"assistant","content":"Written."},{"role":"user","content":"hello"},`), RuleExact},
		{"the system prompt rewritten", openAIExample, replace(`You help.\n\n`, `You helped.\n\n`), RuleExact},
		{"the system prompt replaced", openAIExample, replace(`You help.\n\nEarlier turns were compressed.`, `No.`), RuleExact},
		{"no summary and a middle gone", openAIExample, func(t *testing.T, e *example) {
			replace(`{"role":"user","content":"[SUMMARY]\nLooked twice.\n[END]"},`, ``)(t, e)
			e.report.SummaryIndex, e.report.MessagesAfter = nil, 8
		}, RuleLost},
		{"more tokens than before", openAIExample, func(_ *testing.T, e *example) { e.report.TokensAfter = 900 }, RuleGain},
		{"more bytes than before", openAIExample, replace(`Looked twice.\n`, `Looked twice.`+strings.Repeat(long, 4)), RuleGain},
		{"unchanged and other bytes", openAIExample, func(_ *testing.T, e *example) {
			e.outcome, e.report.TokensAfter = pb.Outcome_OUTCOME_NO_GAIN, 900
		}, RuleGain},
		{"unchanged and other tokens", openAIExample, func(_ *testing.T, e *example) { e.outcome, e.out = pb.Outcome_OUTCOME_TOO_SHORT, e.in }, RuleGain},
		{"a shortened result not reported", openAIExample, func(_ *testing.T, e *example) { e.report.Pruned = e.report.Pruned[:1] }, RuleReport},
		{"a pointer to a later copy that is not there", openAIExample, func(_ *testing.T, e *example) {
			e.report.Pruned[1].Kind = pb.PruneKind_PRUNE_KIND_DUPLICATE
		}, RuleLost},
		{"a shortened result that is whole", openAIExample, func(_ *testing.T, e *example) {
			e.report.Pruned = append(e.report.Pruned, &pb.PrunedItem{MessageIndex: 9, BlockIndex: 4, Kind: pb.PruneKind_PRUNE_KIND_STUB})
		}, RuleReport},
		{"regions with a hole", openAIExample, func(_ *testing.T, e *example) { e.report.Regions[1].Start++ }, RuleReport},
		{"the first change reported too late", openAIExample, func(_ *testing.T, e *example) { e.report.FirstChangedIndex = proto.Int32(3) }, RuleReport},
		{"another number of messages reported", openAIExample, func(_ *testing.T, e *example) { e.report.MessagesAfter++ }, RuleReport},
		{"a pinned message gone", openAIExample, func(_ *testing.T, e *example) { e.pinned = []int32{3} }, RuleExact},
		{"a pinned message shortened", openAIExample, func(_ *testing.T, e *example) { e.pinned = []int32{9} }, RuleExact},

		{"thinking changed", anthropicExample, replace(`"thinking":"plan"`, `"thinking":"pla"`), RuleExact},
		{"a signature changed", anthropicExample, replace(`"signature":"c2ln"`, `"signature":"c2lnLQ=="`), RuleExact},
		{"thinking moved behind the text", anthropicExample, replace(`{"type":"thinking","thinking":"plan","signature":"c2ln"},{"type":"text","text":"Begun."}`, `{"type":"text","text":"Begun."},{"type":"thinking","thinking":"plan","signature":"c2ln"}`), RuleExact},
		{"thinking moved to another message", anthropicExample, func(t *testing.T, e *example) {
			replace(`{"type":"thinking","thinking":"plan","signature":"c2ln"},`, ``)(t, e)
			replace(`[{"type":"server_tool_use"`, `[{"type":"thinking","thinking":"plan","signature":"c2ln"},{"type":"server_tool_use"`)(t, e)
		}, RuleExact},
		{"thinking removed and not reported", anthropicExample, func(t *testing.T, e *example) {
			replace(`{"type":"thinking","thinking":"plan","signature":"c2ln"},`, ``)(t, e)
		}, RuleReport},
		{"a new blank block", anthropicExample, replace(`{"type":"text","text":"Begun."}`, `{"type":"text","text":"Begun."},{"type":"text","text":" "}`), RuleExact},
		{"the blank block left", anthropicExample, replace(`"content":[]},{"type":"tool_use"`, `"content":[]},{"type":"text","text":"\n"},{"type":"tool_use"`), RuleLegal},
		{"a server result dropped", anthropicExample, replace(`{"type":"web_search_tool_result","tool_use_id":"s1","content":[]},`, ``), RuleExact},
		{"the stand-in result left out", anthropicExample, replace(`{"type":"tool_result","tool_use_id":"t2","content":"No result was recorded."},`, ``), RuleLegal},
		{"the stand-in result after the text", anthropicExample, func(t *testing.T, e *example) {
			replace(`{"type":"tool_result","tool_use_id":"t2","content":"No result was recorded."},`, ``)(t, e)
			replace(`{"type":"text","text":"and then?"}`, `{"type":"text","text":"and then?"},{"type":"tool_result","tool_use_id":"t2","content":"No result was recorded."}`)(t, e)
		}, RuleLegal},
		{"an unreported stand-in result", anthropicExample, func(_ *testing.T, e *example) { e.report.Repairs = e.report.Repairs[1:] }, RuleReport},
		{"an unreported blank block", anthropicExample, func(_ *testing.T, e *example) { e.report.Repairs = e.report.Repairs[:1] }, RuleReport},
		{"a picture replaced by text", anthropicExample, func(t *testing.T, e *example) {
			at := strings.Index(e.out, `[{"type":"image"`)
			e.out = e.out[:at] + `"[image removed]"` + strings.TrimPrefix(e.out[at:], `[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]`)
			e.report.Pruned = append(e.report.Pruned, &pb.PrunedItem{MessageIndex: 8, Kind: pb.PruneKind_PRUNE_KIND_STUB})
		}, RuleExact},
		{"the user's words beside a result cut", anthropicExample, replace(`"and then?"`, `"and"`), RuleExact},
		{"the request's block dropped", anthropicExample, replace(`,{"type":"text","text":"and then?"}`, ``), RuleExact},
		{"the summary between a call and its result", anthropicExample, func(t *testing.T, e *example) {
			replace(`{"role":"user","content":"[SUMMARY] Talked."},`, ``)(t, e)
			replace(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2"`, `{"role":"user","content":"[SUMMARY] Talked."},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2"`)(t, e)
			e.report.SummaryIndex = proto.Int32(4)
		}, RuleLegal},
		{"an assistant summary at the start", anthropicExample, func(t *testing.T, e *example) {
			e.out = strings.Replace(e.out, `{"role":"user","content":"Begin"},{"role":"assistant","content":[{"type":"thinking","thinking":"plan","signature":"c2ln"},{"type":"text","text":"Begun."}]},{"role":"user","content":"[SUMMARY]`, `{"role":"assistant","content":"[SUMMARY]`, 1)
			e.report.SummaryIndex, e.report.MessagesAfter = proto.Int32(0), 6
			e.report.Regions = []*pb.Region{region(pb.RegionKind_REGION_KIND_MIDDLE, 0, 4), region(pb.RegionKind_REGION_KIND_TAIL, 4, 9)}
		}, RuleSummary},
		{"the note in front of the system prompt", anthropicExample, replace(`[{"type":"text","text":"You help."},{"type":"text","text":"Compressed."}]`, `[{"type":"text","text":"Compressed."},{"type":"text","text":"You help."}]`), RuleExact},
		{"a blank note", anthropicExample, replace(`"Compressed."`, `" "`), RuleExact},

		{"the second result kept", orphanExample, replace(`"content":"1"},`, `"content":"1"},{"role":"tool","tool_call_id":"a","content":"again"},`), RuleLegal},
		{"the orphan kept", orphanExample, replace(`"content":"1"},`, `"content":"1"},{"role":"tool","tool_call_id":"zz","content":"whose?"},`), RuleLegal},
		{"a dropped orphan not reported", orphanExample, func(_ *testing.T, e *example) { e.report.Repairs = e.report.Repairs[:1] }, RuleLost},
		{"a stand-in for a call that is not there", orphanExample, replace(`"tool_call_id":"b"`, `"tool_call_id":"q"`), RuleExact},
		{"roles that no longer alternate", strictExample, replace(`{"role":"assistant","content":"[SUMMARY] s"}`, `{"role":"user","content":"[SUMMARY] s"}`), RuleLegal},
	}
	tests.run(t)
}

// TestCheckerStandsAlone keeps the judge apart from the judged.
func TestCheckerStandsAlone(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imported := range file.Imports {
			path := strings.Trim(imported.Path.Value, `"`)
			if strings.HasPrefix(path, "github.com/elbowroom/") && path != "github.com/elbowroom/elbowroom/gen/elbowroom/v1" {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}

func TestCheckAllocatesInProportion(t *testing.T) {
	big := func(n int) example {
		turn := `,{"role":"user","content":"go"},{"role":"assistant","content":"gone"}`
		e := example{
			dialect: OpenAI, outcome: pb.Outcome_OUTCOME_COMPRESSED, summary: "s",
			in:  `[{"role":"user","content":"` + long + `"}` + strings.Repeat(turn, n) + `]`,
			out: `[{"role":"user","content":"[SUMMARY] s"}` + strings.Repeat(turn, n) + `]`,
		}
		total := int32(2*n + 1)
		e.report = &pb.CompressionReport{
			TokensBefore: 9, TokensAfter: 8, MessagesBefore: total, MessagesAfter: total, SummaryIndex: proto.Int32(0), FirstChangedIndex: proto.Int32(0), Rung: pb.Rung_RUNG_LLM,
			Regions: []*pb.Region{region(pb.RegionKind_REGION_KIND_MIDDLE, 0, 1), region(pb.RegionKind_REGION_KIND_TAIL, 1, total)},
		}
		if got := e.check(t); len(got) > 0 {
			t.Fatal(got)
		}
		return e
	}
	small, large := big(200), big(2000)
	was := testing.AllocsPerRun(1, func() { small.check(t) })
	is := testing.AllocsPerRun(1, func() { large.check(t) })
	if is > 12*was {
		t.Errorf("ten times the messages take %.0f allocations, %.0f before", is, was)
	}
}
