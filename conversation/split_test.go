package conversation

import "testing"

// Splitting a text, OpenAI's spelling of a mark, and the mark of a whole request.
func TestSplitsAndOtherSpellingsOfMarks(t *testing.T) {
	const (
		mark     = `"cache_control":{"type":"ephemeral"}`
		hour     = `"cache_control":{"type":"ephemeral","ttl":"1h"}`
		explicit = `"prompt_cache_breakpoint":{"mode":"explicit"}`
	)
	at := Ref{}
	tests := []struct {
		name   string
		format Format
		in     string
		edit   func(r *Rewrite)
		want   string
	}{
		{
			"a string in two", FormatOpenAIChat, `[{"role":"system","content":"a\u00e9\n\ud83d\ude00b"}]`,
			func(r *Rewrite) { r.SplitText(at, 8); r.MarkRest(at, "") },
			`[{"role":"system","content":[{"type":"text","text":"a\u00e9\n\ud83d\ude00"},{"type":"text","text":"b",` + mark + `}]}]`,
		},
		{
			"a string in two, both marked", FormatAnthropicMessages, `[{"role":"user","content":"ab"}]`,
			func(r *Rewrite) { r.SplitText(at, 1); r.MarkBlock(at, "1h"); r.MarkRest(at, "") },
			`[{"role":"user","content":[{"type":"text","text":"a",` + hour + `},{"type":"text","text":"b",` + mark + `}]}]`,
		},
		{
			"a block in two keeps its mark in front", FormatOpenAIChat, `[{"role":"system","content":[ {"type":"text","text":"a\"b" , "x":1,` + mark + `} , {"type":"text","text":"c"}]}]`,
			func(r *Rewrite) { r.SplitText(at, 2) },
			`[{"role":"system","content":[ {"type":"text","text":"a\"" , "x":1,` + mark + `},{"type":"text","text":"b"} , {"type":"text","text":"c"}]}]`,
		},
		{
			"a lone surrogate is three bytes of text", FormatOpenAIChat, `[{"role":"system","content":"\ud83dx"}]`,
			func(r *Rewrite) { r.SplitText(at, 3) },
			`[{"role":"system","content":[{"type":"text","text":"\ud83d"},{"type":"text","text":"x"}]}]`,
		},
		{
			"neither at the start, nor at the end, nor in a bare string", FormatOpenAIChat, `[{"role":"system","content":"ab"},{"role":"user","content":["ab"]}]`,
			func(r *Rewrite) { r.SplitText(at, 2); r.SplitText(Ref{Message: 1}, 1) },
			`[{"role":"system","content":"ab"},{"role":"user","content":["ab"]}]`,
		},
		{
			"a system prompt in two", FormatAnthropicMessages, `{"system":"ab","messages":[]}`,
			func(r *Rewrite) { r.SplitSystem(0, 1); r.MarkSystemRest(0, "") },
			`{"system":[{"type":"text","text":"a"},{"type":"text","text":"b",` + mark + `}],"messages":[]}`,
		},
		{
			"a system block in two", FormatAnthropicMessages, `{"system":[{"text":"ab","type":"text"},{"text":"c","type":"text"}],"messages":[]}`,
			func(r *Rewrite) { r.SplitSystem(0, 1); r.MarkSystem(0, "") },
			`{"system":[{"text":"a","type":"text",` + mark + `},{"type":"text","text":"b"},{"text":"c","type":"text"}],"messages":[]}`,
		},
		{
			"OpenAI's spelling", FormatOpenAIChat, `[{"role":"user","content":"a"},{"role":"user","content":[{"type":"text","text":"b"}]}]`,
			func(r *Rewrite) { r.MarksAs(WireBreakpoint); r.MarkBlock(at, ""); r.MarkBlock(Ref{Message: 1}, "") },
			`[{"role":"user","content":[{"type":"text","text":"a",` + explicit + `}]},{"role":"user","content":[{"type":"text","text":"b",` + explicit + `}]}]`,
		},
		{
			"one spelling over the other, in front and behind", FormatOpenAIChat,
			`[{"role":"user","content":[{` + hour + ` , "type":"text","text":"a"}]},{"role":"user","content":[{"type":"text","text":"b" , ` + hour + ` }]}]`,
			func(r *Rewrite) { r.MarksAs(WireBreakpoint); r.MarkBlock(at, ""); r.MarkBlock(Ref{Message: 1}, "") },
			`[{"role":"user","content":[{` + explicit + ` , "type":"text","text":"a"}]},{"role":"user","content":[{"type":"text","text":"b",` + explicit + ` }]}]`,
		},
		{
			"both spellings in front go", FormatOpenAIChat, `[{"role":"user","content":[{` + mark + `, ` + explicit + `, "type":"text","text":"a"}]}]`,
			func(r *Rewrite) { r.UnmarkBlock(at); r.UnmarkMessage(0) },
			`[{"role":"user","content":[{"type":"text","text":"a"}]}]`,
		},
		{
			"both spellings behind go", FormatOpenAIChat, `[{"role":"user","content":[{"type":"text","text":"a", ` + explicit + `, ` + mark + `}]}]`,
			func(r *Rewrite) { r.UnmarkBlock(at); r.UnmarkMessage(0) },
			`[{"role":"user","content":[{"type":"text","text":"a"}]}]`,
		},
		{
			"the request as a whole", FormatAnthropicMessages, " {\"messages\":[],\"system\":\"a\" } ",
			func(r *Rewrite) { r.MarkAuto("1h"); r.MarkSystem(0, "1h") },
			" {\"messages\":[],\"system\":[{\"type\":\"text\",\"text\":\"a\"," + hour + "}]," + hour + " } ",
		},
		{
			"the request as a whole, anew", FormatAnthropicMessages, `{"cache_control":{"type":"ephemeral"},"messages":[]}`,
			func(r *Rewrite) { r.MarkAuto("1h") },
			`{` + hour + `,"messages":[]}`,
		},
		{
			"an array of messages has no place for that", FormatAnthropicMessages, `[]`,
			func(r *Rewrite) { r.MarkAuto("") }, `[]`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Parse(tt.format, tt.in, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			r := NewRewrite(c)
			tt.edit(r)
			checkSame(t, "output", tt.want, r.Render())
			checkRewrite(t, r)
		})
	}
}
