package conformance

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// strangeCallerExample has a call of a role that nobody documents, whose result is missing.
// OpenAI has the stand-in result in a message of its own, Anthropic in the user's.
func strangeCallerExample(d Dialect) func() example {
	call := `{"role":"nobody","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},`
	user := `{"role":"user","content":"go on"},`
	mended := `{"role":"tool","tool_call_id":"a","content":"No result."},` + user
	if d == Anthropic {
		call = `{"role":"nobody","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},`
		mended = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"No result."},{"type":"text","text":"go on"}]},`
	}
	rest := `{"role":"assistant","content":"ok"},{"role":"user","content":"next"}]`
	after := int32(5 + strings.Count(mended, `"role"`) - 1)
	return func() example {
		return example{
			dialect: d, outcome: pb.Outcome_OUTCOME_COMPRESSED, summary: "s",
			in:  `[{"role":"user","content":"` + long + `"},` + call + user + rest,
			out: `[{"role":"user","content":"[SUMMARY] s"},` + call + mended + rest,
			report: &pb.CompressionReport{
				TokensBefore: 900, TokensAfter: 700, MessagesBefore: 5, MessagesAfter: after,
				SummaryIndex: proto.Int32(0), FirstChangedIndex: proto.Int32(0), Rung: pb.Rung_RUNG_EXTRACTIVE,
				Regions: []*pb.Region{region(pb.RegionKind_REGION_KIND_MIDDLE, 0, 1), region(pb.RegionKind_REGION_KIND_TAIL, 1, 5)},
				Repairs: []*pb.Repair{{Kind: pb.RepairKind_REPAIR_KIND_MISSING_RESULT, MessageIndex: 1, ToolUseId: "a"}},
			},
		}
	}
}

// blankPromptExample has a system message with a blank text, which no provider takes.
func blankPromptExample() example {
	prompt := `{"role":"system","content":[{"type":"text","text":"\n"},{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"Be brief."}]}`
	rest := `{"role":"assistant","content":"ok"},{"role":"user","content":"next"}]`
	return example{
		dialect: Anthropic, outcome: pb.Outcome_OUTCOME_COMPRESSED, summary: "s",
		in:  `[{"role":"user","content":"` + long + `"},` + prompt + `,` + rest,
		out: `[{"role":"user","content":"[SUMMARY] s"},` + strings.Replace(prompt, `{"type":"text","text":"\n"},`, "", 1) + `,` + rest,
		report: &pb.CompressionReport{
			TokensBefore: 900, TokensAfter: 700, MessagesBefore: 4, MessagesAfter: 4,
			SummaryIndex: proto.Int32(0), FirstChangedIndex: proto.Int32(0), Rung: pb.Rung_RUNG_EXTRACTIVE,
			Regions: []*pb.Region{region(pb.RegionKind_REGION_KIND_MIDDLE, 0, 1), region(pb.RegionKind_REGION_KIND_TAIL, 1, 4)},
			Repairs: []*pb.Repair{{Kind: pb.RepairKind_REPAIR_KIND_BLANK_TEXT, MessageIndex: 1}},
		},
	}
}

// droppedExample drops a message, which a repair tells of, in front of the summary.
func droppedExample(d Dialect, message string) func() example {
	return func() example {
		rest := `{"role":"assistant","content":"ok"},{"role":"user","content":"next"}]`
		return example{
			dialect: d, outcome: pb.Outcome_OUTCOME_COMPRESSED, summary: "s",
			in:  `[` + message + `,{"role":"user","content":"` + long + `"},` + rest,
			out: `[{"role":"user","content":"[SUMMARY] s"},` + rest,
			report: &pb.CompressionReport{
				TokensBefore: 900, TokensAfter: 700, MessagesBefore: 4, MessagesAfter: 3,
				SummaryIndex: proto.Int32(0), FirstChangedIndex: proto.Int32(0), Rung: pb.Rung_RUNG_EXTRACTIVE,
				Regions: []*pb.Region{region(pb.RegionKind_REGION_KIND_HEAD, 0, 1), region(pb.RegionKind_REGION_KIND_MIDDLE, 1, 2), region(pb.RegionKind_REGION_KIND_TAIL, 2, 4)},
				Repairs: []*pb.Repair{{Kind: pb.RepairKind_REPAIR_KIND_ORPHAN_RESULT}},
			},
		}
	}
}

// The messages that are dropped. A part of OpenAI's result that calls itself thinking is a
// part of the result.
var (
	thoughtfulResult = droppedExample(OpenAI, `{"role":"tool","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"}]}`)
	lonelyResult     = droppedExample(Anthropic, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"gone","content":"r"}]}`)
)

func TestCheckAcceptsRepairsOfStrangeMessages(t *testing.T) {
	for name, of := range map[string]func() example{
		"a stand-in result for a role that nobody documents":               strangeCallerExample(OpenAI),
		"a stand-in result for a role that nobody documents, of Anthropic": strangeCallerExample(Anthropic),
		"a blank text taken out of a system message":                       blankPromptExample,
		"an orphaned result with a part that calls itself thinking":        thoughtfulResult,
		"a message of nothing but an orphaned result":                      lonelyResult,
	} {
		t.Run(name, func(t *testing.T) {
			for _, v := range of().check(t) {
				t.Error(v)
			}
		})
	}
}

func TestCheckFindsRepairsOfStrangeMessagesThatAreNone(t *testing.T) {
	unreported := func(_ *testing.T, e *example) { e.report.Repairs = nil }
	tests := breaches{
		{"a stand-in result that is not reported", strangeCallerExample(OpenAI), unreported, RuleExact},
		{"a stand-in result for another call", strangeCallerExample(OpenAI), replace(`"tool_call_id":"a"`, `"tool_call_id":"b"`), RuleExact},
		{"the stand-in result left out", strangeCallerExample(Anthropic), replace(`{"type":"tool_result","tool_use_id":"a","content":"No result."},`, ``), RuleLegal},
		{"a blank text taken out and not reported", blankPromptExample, unreported, RuleReport},
		{"a blank text left", blankPromptExample, func(_ *testing.T, e *example) {
			e.out = strings.Replace(e.out, `[{"type":"thinking"`, `[{"type":"text","text":"\n"},{"type":"thinking"`, 1)
		}, RuleLegal},
		{"thinking of a system message taken out", blankPromptExample, func(t *testing.T, e *example) {
			replace(`{"type":"thinking","thinking":"hm","signature":"c2ln"},`, ``)(t, e)
			e.report.ThinkingRemoved = 1
		}, RuleExact},
		{"a text of a system message taken out", blankPromptExample, replace(`,{"type":"text","text":"Be brief."}`, ``), RuleExact},
		{"an orphaned result that is dropped and not reported", thoughtfulResult, unreported, RuleLost},
		{"an orphaned result of Anthropic that is dropped and not reported", lonelyResult, unreported, RuleLost},
		{"a blank text of the top-level system prompt taken out", anthropicExample, func(t *testing.T, e *example) {
			e.in = strings.Replace(e.in, `"system":[`, `"system":[{"type":"text","text":""},`, 1)
		}, RuleReport},
		{"a blank text put in", blankPromptExample, replace(`{"type":"text","text":"Be brief."}`, `{"type":"text","text":"Be brief."},{"type":"text","text":" "}`), RuleExact},
	}
	tests.run(t)
}
