package breakpoints

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/conversation"
)

func TestRespectLeavesAMarkedConversationAsItIs(t *testing.T) {
	tests := []struct {
		name     string
		format   conversation.Format
		in       string
		opts     Options
		want     []string
		warnings []string
	}{
		{
			name:     "one mark is enough",
			format:   anthropic,
			in:       `{"system":"S","messages":[{"role":"user","content":[{"type":"text","text":"a",` + mark + `}]},{"role":"assistant","content":"b"}]}`,
			want:     []string{"messages[0].content[0] 5m"},
			warnings: []string{WarnMarksRespected},
		},
		{
			name:     "tools, system and messages count, 1h first",
			format:   anthropic,
			in:       `{"messages":[{"role":"user","content":[{"type":"text","text":"a",` + mark + `}]}],"system":[{"type":"text","text":"S",` + mark1h + `}],"tools":[{"name":"t","input_schema":{},` + mark1h + `}],"cache_control":{"type":"ephemeral"}}`,
			want:     []string{"tools[0] 1h", "system[0] 1h", "messages[0].content[0] 5m", "the request (automatic caching) 5m"},
			warnings: []string{WarnMarksRespected},
		},
		{
			name:     "fewer free than reserved",
			format:   anthropic,
			in:       `{"messages":[{"role":"user","content":[{"type":"text","text":"a",` + mark + `}]}]}`,
			opts:     Options{Reserved: 4},
			want:     []string{"messages[0].content[0] 5m"},
			warnings: []string{WarnMarksRespected, WarnReservedTaken},
		},
		{
			name:   "marks that are refused where they stand are reported, not touched",
			format: anthropic,
			in:     `{"tools":[{"name":"t","input_schema":{},"defer_loading":true,` + mark + `}],"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"t",` + mark + `},{"type":"text","text":" ",` + mark + `}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"x",` + mark + `}]}]}]}`,
			want:   []string{"tools[0] 5m", "messages[0].content[0] 5m", "messages[0].content[1] 5m", "messages[1].content[0] 5m"},
			warnings: []string{
				WarnIllegalMark, WarnIllegalMark, WarnIllegalMark, WarnIllegalMark, WarnMarksRespected,
			},
		},
		{
			name:     "strays and marks on the message are reported",
			format:   anthropic,
			in:       `{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"content","content":[{"type":"text","text":"d",` + mark + `}]}}],` + mark + `}]}`,
			want:     []string{"messages[0] 5m", "messages[0] 5m"},
			warnings: []string{WarnIllegalMark, WarnIllegalMark, WarnMarksRespected},
		},
		{
			name:     "a part of a tool message is a legal place on OpenAI chat",
			format:   openAI,
			opts:     Options{Claude: true},
			in:       `[{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"x"},{"type":"text","text":"y",` + mark + `}]}]`,
			want:     []string{"messages[0].content[1] 5m"},
			warnings: []string{WarnMarksRespected},
		},
		{
			name:     "an unknown ttl is taken for five minutes",
			format:   anthropic,
			in:       `{"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1d"}}]}]}`,
			want:     []string{"messages[0].content[0] 5m"},
			warnings: []string{WarnUnknownTTL, WarnMarksRespected},
		},
		{
			name:     "automatic caching beside another life on the last block",
			format:   anthropic,
			in:       `{"cache_control":{"type":"ephemeral"},"messages":[{"role":"user","content":[{"type":"text","text":"a",` + mark1h + `}]}]}`,
			want:     []string{"messages[0].content[0] 1h", "the request (automatic caching) 5m"},
			warnings: []string{WarnAutomaticConflict, WarnMarksRespected},
		},
		{
			name:     "automatic caching where there is none",
			format:   anthropic,
			opts:     Options{Layout: LayoutBedrockInvoke},
			in:       `{"cache_control":{"type":"ephemeral"},"messages":[{"role":"user","content":"a"}]}`,
			want:     []string{"the request (automatic caching) 5m"},
			warnings: []string{WarnIllegalMark, WarnMarksRespected},
		},
		{
			name:     "another provider's member",
			format:   openAI,
			opts:     Options{Layout: LayoutOpenAI},
			in:       `[{"role":"user","content":[{"type":"text","text":"a",` + mark + `},{"type":"text","text":"b","prompt_cache_breakpoint":{"mode":"explicit"}}]}]`,
			want:     []string{"messages[0].content[0] 5m", "messages[0].content[1] 5m"},
			warnings: []string{WarnIllegalMark, WarnMarksRespected},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.opts.Existing = ExistingRespect
			res, out := place(t, tt.format, tt.in, tt.opts)
			if out != tt.in || !res.Rewrite.Empty() {
				t.Errorf("changed: %s", out)
			}
			var got []string
			for _, b := range res.Breakpoints {
				got = append(got, b.String()+" "+b.TTL.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("breakpoints (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.warnings, warnings(res)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRespectPlacesAsUsualWhereThereIsNoMark(t *testing.T) {
	in := `{"system":"S","messages":[{"role":"user","content":"a"}]}`
	_, got := place(t, anthropic, in, Options{Existing: ExistingRespect})
	_, want := place(t, anthropic, in, Options{})
	if got != want || got == in {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestRespectRefusesIllegalMarks(t *testing.T) {
	const five = `{"type":"text","text":"a",` + mark + `}`
	tests := []struct {
		name, in string
		want     error
		at       string
		count    int
	}{
		{
			name: "five of them", want: ErrTooManyMarks, at: "messages[1].content[1]", count: 5,
			in: `{"tools":[{"name":"t","input_schema":{},` + mark + `}],"system":[` + five + `],"messages":[{"role":"user","content":[` + five + `]},{"role":"user","content":[` + five + `,` + five + `]}]}`,
		},
		{
			name: "four and the automatic one", want: ErrTooManyMarks, at: "the request (automatic caching)", count: 5,
			in: `{"cache_control":{"type":"ephemeral"},"messages":[{"role":"user","content":[` + five + `,` + five + `,` + five + `,` + five + `]}]}`,
		},
		{
			name: "1h in the messages after 5m on a tool", want: ErrTTLOrder, at: "messages[0].content[0]", count: 2,
			in: `{"messages":[{"role":"user","content":[{"type":"text","text":"a",` + mark1h + `}]}],"tools":[{"name":"t","input_schema":{},` + mark + `}]}`,
		},
		{
			name: "1h on the system prompt after 5m on a tool", want: ErrTTLOrder, at: "system[0]", count: 2,
			in: `{"tools":[{"name":"t","input_schema":{},` + mark + `}],"system":[{"type":"text","text":"a",` + mark1h + `}],"messages":[]}`,
		},
		{
			name: "1h automatic after 5m", want: ErrTTLOrder, at: "the request (automatic caching)", count: 2,
			in: `{"cache_control":{"type":"ephemeral","ttl":"1h"},"messages":[{"role":"user","content":[` + five + `]}]}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Place(parse(t, anthropic, tt.in), Options{Existing: ExistingRespect})
			var mark *MarkError
			if !errors.Is(err, tt.want) || !errors.As(err, &mark) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			if mark.At.String() != tt.at || mark.Count != tt.count {
				t.Errorf("at %v, count %d, want %s, %d", mark.At, mark.Count, tt.at, tt.count)
			}
			// Replacing them is no error: they go.
			checkInvariants(t, anthropic, tt.in, Options{})
		})
	}
}
