package breakpoints

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/internal/testdata"
)

// fieldCase maps one field case to this package. The option names of the cases
// are placeholders of their authors:
//
//	tail_breakpoints n      Reserved: MaxMarks - n, less one where a system prompt
//	                        takes a slot of its own
//	mode respect_existing   Existing: ExistingRespect
//	mode recompute          Existing: ExistingReplace
//	mode strip              Strategy: StrategyNone
//	mark_tool_messages      MarkToolMessages (LiteLLM); OpenRouter marks them anyway
//	min_cacheable_tokens n  MinPrefix: n, with counts
//	ttl, tail_ttl           TTL; system_ttl has no counterpart: all marks share one life
//	platform bedrock        nothing: 5m is written without a ttl key everywhere
//	system                  part of the body
//	strategy system_only    Strategy: StrategySystemOnly
type fieldCase struct {
	opts []Options
	// input replaces the case's own body where that is a generator.
	input string
	want  []string // the marks of the output, for every one of opts
	check func(t *testing.T, in, out string, res *Result)
}

func fieldCases() map[string]fieldCase {
	claude := func(o Options) Options { o.Claude = true; return o }
	return map[string]fieldCase{
		"Kc052": {opts: []Options{{Reserved: 3}}, want: []string{"messages[0].content[0]"}},
		"Kc053": {
			opts: []Options{{Reserved: 2}}, want: []string{"messages[0].content[0]"},
			check: func(t *testing.T, in, out string, _ *Result) {
				if got, want := unmarked(out), unmarked(in); got != want {
					t.Errorf("apart from the marks: got %s, want %s", got, want)
				}
			},
		},
		"Kc055": {
			opts: []Options{{Existing: ExistingRespect}}, want: []string{"tools[0]", "tools[1]", "system[0]"},
			check: unchanged,
		},
		// The tool's mark goes, so nothing is left before the system prompt that could be
		// shorter; both lives are tried.
		"Kc056": {
			opts: []Options{{TTL: TTL1h, Reserved: 2}, {TTL: TTL5m, Reserved: 2}},
			check: func(t *testing.T, _, out string, res *Result) {
				marks := marksIn(t, anthropic, out)
				if len(marks) != 2 || strings.HasSuffix(marks[0], "@1h") != strings.HasSuffix(marks[1], "@1h") {
					t.Errorf("marks: %v", marks)
				}
			},
		},
		"Kc057": {
			opts: []Options{{Reserved: 3, TTL: TTL5m}}, want: []string{"messages[0].content[0]"},
			check: func(t *testing.T, _, out string, _ *Result) {
				if !strings.Contains(out, `"cache_control":{"type":"ephemeral"}`) {
					t.Errorf("output: %s", out)
				}
			},
		},
		"Kc059": {opts: []Options{{Reserved: 2}}, input: slidingMarks(), want: []string{"messages[78].content[0]", "messages[79].content[0]"}},
		"Kc060": {
			opts: []Options{{Layout: LayoutLiteLLM, MarkToolMessages: true, Reserved: 3}, {Layout: LayoutOpenRouter, Reserved: 3}},
			want: []string{"messages[2].content[0]"},
			check: func(t *testing.T, _, out string, _ *Result) {
				if want := `"tool_call_id":"c1","content":[{"type":"text","text":"42 boats","cache_control":{"type":"ephemeral"}}]`; !strings.Contains(strings.ReplaceAll(out, `": `, `":`), want) {
					t.Errorf("output: %s", out)
				}
			},
		},
		"Kc063": {
			opts: []Options{claude(Options{})},
			want: []string{"messages[0].content[0]", "messages[1].content[0]", "messages[3].content[0]", "messages[5].content[0]"},
			check: func(t *testing.T, in, out string, _ *Result) {
				was, is := parse(t, openAI, in), parse(t, openAI, out)
				for _, i := range []int{2, 4} {
					if was.Raw(was.Messages[i].Span) != is.Raw(is.Messages[i].Span) {
						t.Errorf("message %d changed", i)
					}
				}
			},
		},
		"Kc067": {opts: []Options{{Reserved: 2}}, want: []string{"messages[0].content[0]", "messages[1].content[0]"}},
		"Kc068": {
			opts: []Options{claude(Options{Reserved: 3})}, want: []string{"messages[2].content[0]"},
			check: func(t *testing.T, in, out string, _ *Result) {
				if got, want := unmarked(out), unmarked(in); got != want {
					t.Errorf("apart from the marks: got %s, want %s", got, want)
				}
			},
		},
		"Kc069": {
			opts: []Options{claude(Options{Reserved: 3})}, want: []string{"messages[0].content[0]"},
			check: func(t *testing.T, _, out string, _ *Result) {
				var names []string
				for _, tool := range parse(t, openAI, out).Tools {
					names = append(names, tool.Name)
				}
				if diff := cmp.Diff([]string{"zeta", "alpha", "mike"}, names); diff != "" {
					t.Errorf("tools (-want +got):\n%s", diff)
				}
			},
		},
		"Kc070": {
			opts: []Options{claude(Options{Strategy: StrategySystemOnly})},
			check: func(t *testing.T, in, out string, res *Result) {
				unchanged(t, in, out, res)
				if len(res.Breakpoints) != 0 || !slices.Contains(warnings(res), WarnNoSystem) {
					t.Errorf("breakpoints %v, warnings %v", res.Breakpoints, warnings(res))
				}
			},
		},
		"Kc071": {opts: []Options{{Strategy: StrategyNone}}},
		"Kc073": {
			opts: []Options{{Reserved: 3, MinPrefix: 1024, Tokens: &TokenCounts{Messages: []int{9}}}}, want: []string{"messages[0].content[0]"},
			check: func(t *testing.T, _, _ string, res *Result) {
				if !slices.Contains(warnings(res), WarnBelowMinimum) || !res.Breakpoints[0].Inert {
					t.Errorf("warnings %v, breakpoints %v", warnings(res), res.Breakpoints)
				}
			},
		},
	}
}

func unchanged(t *testing.T, in, out string, _ *Result) {
	if in != out {
		t.Errorf("the output differs from the input: %s", out)
	}
}

// slidingMarks builds the input that case Kc059 describes: 40 turns of text,
// messages 0, 10, 20 and 30 marked.
func slidingMarks() string {
	var messages []string
	for i := range 80 {
		block := fmt.Sprintf(`{"type":"text","text":"message %d"`, i)
		if i%10 == 0 && i <= 30 {
			block += "," + mark
		}
		messages = append(messages, fmt.Sprintf(`{"role":%q,"content":[%s}]}`, []string{"user", "assistant"}[i%2], block))
	}
	return `{"messages":[` + strings.Join(messages, ",") + `]}`
}

func TestFieldCases(t *testing.T) {
	known := fieldCases()
	for _, c := range testdata.Cases(t) {
		if c.Op != "cache" {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			fc, ok := known[c.ID]
			if !ok {
				t.Fatalf("no test for this case (%s)", c.Why)
			}
			format, in := anthropic, c.JSON
			if c.Format == testdata.OpenAI {
				format = openAI
			}
			if in == "" {
				in = fc.input
			}
			for _, opts := range fc.opts {
				res, out := place(t, format, in, opts)
				if fc.want != nil || opts.Strategy == StrategyNone {
					if diff := cmp.Diff(fc.want, marksIn(t, format, out)); diff != "" {
						t.Errorf("marks (-want +got):\n%s", diff)
					}
				}
				if len(res.Breakpoints) != len(marksIn(t, format, out)) {
					t.Errorf("%d breakpoints reported, %d in the output", len(res.Breakpoints), len(marksIn(t, format, out)))
				}
				for range 50 {
					if _, again := place(t, format, in, opts); again != out {
						t.Fatal("the same call gave other bytes")
					}
				}
				if fc.check != nil {
					fc.check(t, in, out, res)
				}
				if opts.Existing == ExistingReplace && opts.Strategy == StrategySystemAnd3 {
					checkInvariants(t, format, in, opts)
				}
			}
		})
	}
}

// K026: with no target the bytes do not change.
func TestNoTargetLeavesTheBytesAlone(t *testing.T) {
	in := `{ "messages" : [ {"role":"assistant", "content": null, "tool_calls": []} , {"role":"user","content":[]} ], "x": 1.0e+2 }`
	res, out := place(t, openAI, in, Options{Claude: true})
	unchanged(t, in, out, res)
	if len(res.Breakpoints) != 0 || !slices.Contains(warnings(res), WarnNoTarget) {
		t.Errorf("breakpoints %v, warnings %v", res.Breakpoints, warnings(res))
	}
}
