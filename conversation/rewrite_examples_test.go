package conversation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// example is one rewrite with the bytes it must give.
type example struct {
	name     string
	in, want string
	decide   func(r *Rewrite)
}

func checkExamples(t *testing.T, format Format, examples []example) {
	t.Helper()
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			r := NewRewrite(mustParse(t, format, e.in))
			e.decide(r)
			if diff := cmp.Diff(e.want, r.Render()); diff != "" {
				t.Errorf("rendered (-want +got):\n%s", diff)
			}
			checkRewrite(t, r)
		})
	}
}

func TestSplicesAreSettled(t *testing.T) {
	c := &Conversation{Source: "0123456789"}
	for _, s := range []struct {
		name     string
		in, want []Splice
	}{
		{"none", nil, nil},
		{"in order of place", []Splice{{7, 1, "b"}, {2, 1, "a"}}, []Splice{{2, 1, "a"}, {7, 1, "b"}}},
		{"insertions at one place keep their order", []Splice{{2, 0, "a"}, {2, 0, "b"}}, []Splice{{2, 0, "ab"}}},
		{"an insertion comes before what it touches", []Splice{{2, 3, "x"}, {2, 0, "a"}, {5, 0, "b"}}, []Splice{{2, 3, "axb"}}},
		{"neighbours are joined", []Splice{{2, 2, ""}, {4, 1, "x"}}, []Splice{{2, 3, "x"}}},
		{"what is inside goes", []Splice{{4, 0, "a"}, {2, 4, "x"}, {5, 1, "b"}}, []Splice{{2, 4, "x"}}},
		{"what is inside goes, at the same start too", []Splice{{2, 1, "a"}, {2, 4, "x"}}, []Splice{{2, 4, "x"}}},
		{"what changes nothing goes", []Splice{{2, 2, "23"}, {6, 0, ""}, {8, 1, "9"}}, []Splice{{8, 1, "9"}}},
	} {
		if diff := cmp.Diff(s.want, c.settle(s.in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.name, diff)
		}
	}
}

func TestDroppedAndInsertedMessagesKeepTheRestAsItIs(t *testing.T) {
	const list = "[\n  {\"role\":\"a\"},\n  {\"role\":\"b\"} ,\n  {\"role\":\"c\"}\n]"
	summary := NewMessage{Role: RoleUser, Text: "so \"far\"\n"}
	const written = `{"role":"user","content":"so \"far\"\n"}`
	drop := func(messages ...int) func(*Rewrite) {
		return func(r *Rewrite) {
			for _, i := range messages {
				r.Drop(i)
			}
		}
	}
	checkExamples(t, FormatOpenAIChat, []example{
		{"drop the first", list, "[\n  {\"role\":\"b\"} ,\n  {\"role\":\"c\"}\n]", drop(0)},
		{"drop the middle", list, "[\n  {\"role\":\"a\"} ,\n  {\"role\":\"c\"}\n]", drop(1)},
		{"drop the last", list, "[\n  {\"role\":\"a\"},\n  {\"role\":\"b\"}\n]", drop(2)},
		{"drop the first two", list, "[\n  {\"role\":\"c\"}\n]", drop(1, 0)},
		{"drop the last two", list, "[\n  {\"role\":\"a\"}\n]", drop(1, 2)},
		{"drop both ends", list, "[\n  {\"role\":\"b\"}\n]", drop(0, 2)},
		{"drop all", list, "[\n  \n]", drop(0, 1, 2)},
		{"drop the only one", `[{"role":"a"}]`, `[]`, drop(0)},
		{"insert first", list, "[\n  " + written + ",{\"role\":\"a\"},\n  {\"role\":\"b\"} ,\n  {\"role\":\"c\"}\n]", func(r *Rewrite) { r.Insert(0, summary) }},
		{"insert in the middle", list, "[\n  {\"role\":\"a\"}," + written + ",\n  {\"role\":\"b\"} ,\n  {\"role\":\"c\"}\n]", func(r *Rewrite) { r.Insert(1, summary) }},
		{"insert last", list, "[\n  {\"role\":\"a\"},\n  {\"role\":\"b\"} ,\n  {\"role\":\"c\"}," + written + "\n]", func(r *Rewrite) { r.Insert(3, summary) }},
		{"insert far behind the end", `[{"role":"a"}]`, `[{"role":"a"},` + written + `]`, func(r *Rewrite) { r.Insert(99, summary) }},
		{"insert into an empty list", "{\"messages\":[ ],\"x\":1}", "{\"messages\":[" + written + " ],\"x\":1}", func(r *Rewrite) { r.Insert(0, summary) }},
		{"insert two at one place, in order", `[{"role":"a"}]`, `[` + written + `,{"role":"assistant","content":"2"},{"role":"a"}]`, func(r *Rewrite) {
			r.Insert(0, summary)
			r.Insert(0, NewMessage{Role: RoleAssistant, Text: "2"})
		}},
		{"replace all by one", list, "[\n  " + written + "\n]", func(r *Rewrite) { drop(0, 1, 2)(r); r.Insert(1, summary) }},
		{"replace the middle", list, "[\n  {\"role\":\"a\"}," + written + " ,\n  {\"role\":\"c\"}\n]", func(r *Rewrite) { r.Drop(1); r.Insert(2, summary) }},
		{"a dropped message stays dropped, whatever else was decided", list, "[\n  {\"role\":\"a\"} ,\n  {\"role\":\"c\"}\n]", func(r *Rewrite) { r.AppendText(1, "x"); r.Drop(1); r.UnmarkMessage(1) }},
	})
}

func TestTextIsReplacedAndAppendedInPlace(t *testing.T) {
	wrap := func(content string) string {
		return `[{"role":"user","x":1e400,"content":` + content + `,"y":"\u00e9"}]`
	}
	first := Ref{0, 0}
	set := func(text string) func(*Rewrite) { return func(r *Rewrite) { r.SetText(first, text) } }
	add := func(text string) func(*Rewrite) { return func(r *Rewrite) { r.AppendText(0, text) } }
	checkExamples(t, FormatOpenAIChat, []example{
		{"string content", wrap(`"a"`), wrap(`"b \"c\"\n"`), set("b \"c\"\n")},
		{"the same text keeps its spelling", wrap(`"\u0061\/"`), wrap(`"\u0061\/"`), set("a/")},
		{"a text block", wrap(`[{"text":"a","type":"text","z":[ 1 ]}]`), wrap(`[{"text":"b","type":"text","z":[ 1 ]}]`), set("b")},
		{"a bare string in a list", wrap(`["a", "b"]`), wrap(`["c", "b"]`), set("c")},
		{"append to a string", wrap(`"a\u0041"`), wrap(`"a\u0041\n[note]"`), add("\n[note]")},
		{"append to an empty string", wrap(`""`), wrap(`"note"`), add("note")},
		{"append to a list", wrap(`[ {"type":"text","text":"a"} ]`), wrap(`[ {"type":"text","text":"a"},{"type":"text","text":"note"} ]`), add("note")},
		{"append to an empty list", wrap(`[]`), wrap(`[{"type":"text","text":"note"}]`), add("note")},
		{"append to null", wrap(`null`), wrap(`"note"`), add("note")},
		{"append where there is no content", `[{"role":"user" }]`, `[{"role":"user","content":"note" }]`, add("note")},
		{"nothing is appended to content of another kind", wrap(`{"a":1}`), wrap(`{"a":1}`), add("note")},
		{"replace and append", wrap(`"a"`), wrap(`"bc"`), func(r *Rewrite) { r.AppendText(0, "c"); r.SetText(first, "b") }},
		{"no text is set on blocks of other kinds", wrap(`[{"type":"image_url","image_url":{"url":"u"}},7]`), wrap(`[{"type":"image_url","image_url":{"url":"u"}},7]`), set("b")},
		{"text with half a surrogate pair, set to what it reads as", wrap(`"\ud83d"`), wrap(`"\ud83d"`), set("\ufffd")},
	})
	checkExamples(t, FormatOpenAIChat, []example{
		{"a tool message", `[{"role":"tool","content":"long","tool_call_id":"a"}]`, `[{"role":"tool","content":"short","tool_call_id":"a"}]`, set("short")},
		{"a tool message with parts", `[{"role":"tool","content":[{"type":"text","text":"a"},7],"tool_call_id":"a"}]`, `[{"role":"tool","content":"short","tool_call_id":"a"}]`, set("short")},
		{"a tool message with null", `[{"role":"tool","content":null,"tool_call_id":"a"}]`, `[{"role":"tool","content":"short","tool_call_id":"a"}]`, set("short")},
		{"a tool message without content", `[{"role":"tool","tool_call_id":"a"}]`, `[{"role":"tool","tool_call_id":"a","content":"short"}]`, set("short")},
		{"append to a tool message", `[{"role":"tool","content":"a","tool_call_id":"a"}]`, `[{"role":"tool","content":"ab","tool_call_id":"a"}]`, add("b")},
		{"append to a tool message with parts", `[{"role":"tool","content":[{"type":"text","text":"a"}],"tool_call_id":"a"}]`, `[{"role":"tool","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"tool_call_id":"a"}]`, add("b")},
		{"append beside reasoning", `[{"role":"assistant","reasoning":"hm","content":"a","refusal":"no"}]`, `[{"role":"assistant","reasoning":"hm","content":"ab","refusal":"no"}]`, add("b")},
		{"reasoning is not replaced", `[{"role":"assistant","reasoning":"hm","content":"a"}]`, `[{"role":"assistant","reasoning":"hm","content":"a"}]`, set("b")},
	})
	result := func(b string) string { return `[{"role":"user","content":[` + b + `]}]` }
	checkExamples(t, FormatAnthropicMessages, []example{
		{"a result", result(`{"type":"tool_result","content":"long","tool_use_id":"a"}`), result(`{"type":"tool_result","content":"short","tool_use_id":"a"}`), set("short")},
		{"a result with blocks", result(`{"type":"tool_result","content":[ ],"tool_use_id":"a"}`), result(`{"type":"tool_result","content":"short","tool_use_id":"a"}`), set("short")},
		{"a result with null", result(`{"type":"tool_result","content":null,"tool_use_id":"a"}`), result(`{"type":"tool_result","content":"short","tool_use_id":"a"}`), set("short")},
		{"a result without content", result(`{"type":"tool_result","tool_use_id":"a"}`), result(`{"type":"tool_result","tool_use_id":"a","content":"short"}`), set("short")},
		{"a result keeps its mark and flags", result(`{"type":"tool_result","is_error":true,"content":[{"type":"text","text":"a"}],"cache_control":{"type":"ephemeral"}}`), result(`{"type":"tool_result","is_error":true,"content":"short","cache_control":{"type":"ephemeral"}}`), set("short")},
		{"thinking is not replaced", result(`{"type":"thinking","thinking":"hm","signature":"c2ln"}`), result(`{"type":"thinking","thinking":"hm","signature":"c2ln"}`), set("b")},
	})
}

func TestArgumentsAreReplacedInTheirOwnForm(t *testing.T) {
	set := func(r *Rewrite) { r.SetInput(Ref{0, 0}, `{"a":"b"}`) }
	call := func(args string) string {
		return `[{"role":"assistant","tool_calls":[{"id":"c1","function":{"name":"f"` + args + `},"extra":1}]}]`
	}
	checkExamples(t, FormatOpenAIChat, []example{
		{"a string", call(`,"arguments":"{\"long\":1}"`), call(`,"arguments":"{\"a\":\"b\"}"`), set},
		{"an object", call(`,"arguments":{"long":1}`), call(`,"arguments":{"a":"b"}`), set},
		{"null becomes a string", call(`,"arguments":null`), call(`,"arguments":"{\"a\":\"b\"}"`), set},
		{"none stays none", call(``), call(``), set},
		{"the same arguments keep their spelling", call(`,"arguments":"{\u0022a\":\"b\"}"`), call(`,"arguments":"{\u0022a\":\"b\"}"`), set},
		{"a legacy call", `[{"role":"assistant","function_call":{"arguments":"{}","name":"f"}}]`, `[{"role":"assistant","function_call":{"arguments":"{\"a\":\"b\"}","name":"f"}}]`, set},
	})
	checkExamples(t, FormatAnthropicMessages, []example{
		{"Anthropic", `[{"role":"assistant","content":[{"type":"tool_use","input":{"long": 1},"id":"a"}]}]`, `[{"role":"assistant","content":[{"type":"tool_use","input":{"a":"b"},"id":"a"}]}]`, set},
	})
}

func TestBlocksAreDroppedFromLists(t *testing.T) {
	content := func(blocks string) string { return `[{"role":"assistant","content":[ ` + blocks + ` ]}]` }
	drop := func(blocks ...int) func(*Rewrite) {
		return func(r *Rewrite) {
			for _, b := range blocks {
				r.DropBlock(Ref{0, b})
			}
		}
	}
	const three = `{"type":"thinking","thinking":"a","signature":"s"} , {"type":"text","text":"b"},{"type":"tool_use","id":"c","input":{}}`
	checkExamples(t, FormatAnthropicMessages, []example{
		{"the first", content(three), content(`{"type":"text","text":"b"},{"type":"tool_use","id":"c","input":{}}`), drop(0)},
		{"the middle", content(three), content(`{"type":"thinking","thinking":"a","signature":"s"},{"type":"tool_use","id":"c","input":{}}`), drop(1)},
		{"all but the last", content(three), content(`{"type":"tool_use","id":"c","input":{}}`), drop(0, 1)},
		{"all but the first", content(three), content(`{"type":"thinking","thinking":"a","signature":"s"}`), drop(1, 2)},
		{"string content does not go", `[{"role":"user","content":"a"}]`, `[{"role":"user","content":"a"}]`, drop(0)},
	})
	checkExamples(t, FormatOpenAIChat, []example{
		{"calls and reasoning do not go", `[{"role":"assistant","reasoning":"hm","content":null,"tool_calls":[{"id":"a"}]}]`, `[{"role":"assistant","reasoning":"hm","content":null,"tool_calls":[{"id":"a"}]}]`, drop(0, 1)},
		{"a tool message does not go", `[{"role":"tool","content":[{"type":"text","text":"a"}]}]`, `[{"role":"tool","content":[{"type":"text","text":"a"}]}]`, drop(0)},
		{"content blocks beside reasoning go", `[{"role":"assistant","reasoning":"hm","content":["a","b"]}]`, `[{"role":"assistant","reasoning":"hm","content":["b"]}]`, drop(1)},
	})
}

func TestMarksAreWrittenWhereTheyBelong(t *testing.T) {
	wrap := func(content string) string { return `[{"role":"user","content":` + content + `}]` }
	mark := func(ttl string) func(*Rewrite) { return func(r *Rewrite) { r.MarkBlock(Ref{0, 0}, ttl) } }
	unmark := func(r *Rewrite) { r.UnmarkBlock(Ref{0, 0}) }
	checkExamples(t, FormatAnthropicMessages, []example{
		{"string content becomes a list", wrap(`"a\u0041"`), wrap(`[{"type":"text","text":"a\u0041","cache_control":{"type":"ephemeral"}}]`), mark("")},
		{"a block", wrap(`[{"type":"text","text":"a" }]`), wrap(`[{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"} }]`), mark("1h")},
		{"a bare string in a list", wrap(`["a",{"type":"text","text":"b"}]`), wrap(`[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"b"}]`), mark("")},
		{"over null", wrap(`[{"cache_control":null,"type":"text","text":"a"}]`), wrap(`[{"cache_control":{"type":"ephemeral"},"type":"text","text":"a"}]`), mark("")},
		{"over another ttl", wrap(`[{"cache_control":{"type":"ephemeral"},"type":"text","text":"a"}]`), wrap(`[{"cache_control":{"type":"ephemeral","ttl":"1h"},"type":"text","text":"a"}]`), mark("1h")},
		{"the same mark keeps its spelling", wrap(`[{"cache_control":{"type": "ephemeral"},"type":"text","text":"a"}]`), wrap(`[{"cache_control":{"type": "ephemeral"},"type":"text","text":"a"}]`), mark("")},
		{"the same mark, ttl first", wrap(`[{"cache_control":{"ttl":"1h","type":"ephemeral"},"type":"text","text":"a"}]`), wrap(`[{"cache_control":{"ttl":"1h","type":"ephemeral"},"type":"text","text":"a"}]`), mark("1h")},
		{"over a mark with more to it", wrap(`[{"cache_control":{"type":"ephemeral","scope":"global"},"type":"text","text":"a"}]`), wrap(`[{"cache_control":{"type":"ephemeral"},"type":"text","text":"a"}]`), mark("")},
		{"over a ttl that is empty", wrap(`[{"cache_control":{"type":"ephemeral","ttl":""},"type":"text","text":"a"}]`), wrap(`[{"cache_control":{"type":"ephemeral"},"type":"text","text":"a"}]`), mark("")},
		{"over a ttl that is no word", wrap(`[{"cache_control":{"type":"ephemeral","ttl":300},"type":"text","text":"a"}]`), wrap(`[{"cache_control":{"type":"ephemeral"},"type":"text","text":"a"}]`), mark("")},
		{"over a mark that is no object", wrap(`[{"cache_control":"yes","type":"text","text":"a"}]`), wrap(`[{"cache_control":{"type":"ephemeral"},"type":"text","text":"a"}]`), mark("")},
		{"an empty object", wrap(`[{ }]`), wrap(`[{"cache_control":{"type":"ephemeral"} }]`), mark("")},
		{"a number takes none", wrap(`[7]`), wrap(`[7]`), mark("")},
		{"content that is an object takes none", wrap(`{"a":1}`), wrap(`{"a":1}`), mark("")},
		{"a result", wrap(`[{"type":"tool_result","tool_use_id":"a","content":"x"}]`), wrap(`[{"type":"tool_result","tool_use_id":"a","content":"x","cache_control":{"type":"ephemeral"}}]`), mark("")},
		{"a result with new text", wrap(`[{"type":"tool_result","tool_use_id":"a"}]`), wrap(`[{"type":"tool_result","tool_use_id":"a","content":"x","cache_control":{"type":"ephemeral"}}]`), func(r *Rewrite) {
			r.MarkBlock(Ref{0, 0}, "")
			r.SetText(Ref{0, 0}, "x")
		}},
		{"new text, appended text and a mark on string content", wrap(`"a"`), wrap(`[{"type":"text","text":"bc","cache_control":{"type":"ephemeral"}}]`), func(r *Rewrite) {
			r.SetText(Ref{0, 0}, "b")
			r.MarkBlock(Ref{0, 0}, "")
			r.AppendText(0, "c")
		}},
		{"marked, then unmarked", wrap(`"a"`), wrap(`"a"`), func(r *Rewrite) { r.MarkBlock(Ref{0, 0}, ""); r.UnmarkBlock(Ref{0, 0}) }},
		{"unmarked, then marked", wrap(`[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]`), wrap(`[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]`), func(r *Rewrite) { r.UnmarkBlock(Ref{0, 0}); r.MarkBlock(Ref{0, 0}, "") }},
		{"nothing to unmark", wrap(`[{"type":"text","text":"a","cache_control":null}]`), wrap(`[{"type":"text","text":"a","cache_control":null}]`), unmark},
	})
	checkExamples(t, FormatAnthropicMessages, []example{
		{"a system string", `{"system":"a","messages":[]}`, `{"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}],"messages":[]}`, func(r *Rewrite) { r.MarkSystem(0, "") }},
		{"a system string with a note", `{"system":"a","messages":[]}`, `{"system":[{"type":"text","text":"a note","cache_control":{"type":"ephemeral"}}],"messages":[]}`, func(r *Rewrite) { r.MarkSystem(0, ""); r.AppendSystemText(" note") }},
		{"a note alone", `{"system":"a","messages":[]}`, `{"system":"a note","messages":[]}`, func(r *Rewrite) { r.AppendSystemText(" note") }},
		{"system blocks", `{"system":["a",{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}],"messages":[]}`, `{"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"b"},{"type":"text","text":"note"}],"messages":[]}`, func(r *Rewrite) { r.MarkSystem(0, ""); r.UnmarkSystem(1); r.AppendSystemText("note") }},
		{"no system prompt", `{"messages":[]}`, `{"messages":[]}`, func(r *Rewrite) { r.MarkSystem(0, ""); r.AppendSystemText("note") }},
		{"tools", `{"tools":[{"name":"a"},{"cache_control":{"type":"ephemeral"},"name":"b"},{"name":"c","cache_control":null}],"messages":[]}`, `{"tools":[{"name":"a","cache_control":{"type":"ephemeral","ttl":"1h"}},{"name":"b"},{"name":"c","cache_control":{"type":"ephemeral"}}],"messages":[]}`, func(r *Rewrite) { r.MarkTool(0, "1h"); r.UnmarkTool(1); r.MarkTool(2, "") }},
		{"automatic caching goes", `{"cache_control":{"type":"ephemeral"},"messages":[]}`, `{"messages":[]}`, func(r *Rewrite) { r.UnmarkAuto() }},
		{"automatic caching goes from the end", `{"messages":[] , "cache_control":{"type":"ephemeral"} }`, `{"messages":[] }`, func(r *Rewrite) { r.UnmarkAuto() }},
	})
	checkExamples(t, FormatOpenAIChat, []example{
		{"a part of a tool message", `[{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"x"},"y"]}]`, `[{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"x"},{"type":"text","text":"y","cache_control":{"type":"ephemeral"}}]}]`, func(r *Rewrite) { r.MarkPart(Ref{0, 0}, 1, "") }},
		{"the string of a tool message", `[{"role":"tool","tool_call_id":"a","content":"x"}]`, `[{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}]`, func(r *Rewrite) { r.MarkPart(Ref{0, 0}, 0, "") }},
		{"new text of a tool message", `[{"role":"tool","tool_call_id":"a","content":["x","y"]}]`, `[{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"z","cache_control":{"type":"ephemeral"}}]}]`, func(r *Rewrite) { r.MarkPart(Ref{0, 0}, 0, ""); r.SetText(Ref{0, 0}, "z") }},
		{"a tool message as a whole", `[{"role":"tool","tool_call_id":"a","content":"x"}]`, `[{"role":"tool","tool_call_id":"a","content":"x","cache_control":{"type":"ephemeral"}}]`, mark("")},
		{"a tool message as a whole, unmarked", `[{"role":"tool","cache_control":{"type":"ephemeral"},"content":"x"}]`, `[{"role":"tool","content":"x"}]`, unmark},
		{"the message object", `[{"cache_control":{"type":"ephemeral"},"role":"user","content":"x"}]`, `[{"role":"user","content":"x"}]`, func(r *Rewrite) { r.UnmarkMessage(0) }},
		{"a call marked twice", `[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","cache_control":{"type":"ephemeral"}},"cache_control":{"type":"ephemeral"}}]}]`, `[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f"}}]}]`, unmark},
		{"reasoning takes none", `[{"role":"assistant","reasoning":"hm","content":"x"}]`, `[{"role":"assistant","reasoning":"hm","content":"x"}]`, mark("")},
	})
}

func TestMissingResultsAreAddedInTheProvidersForm(t *testing.T) {
	add := func(call Ref, unitEnd int) func(*Rewrite) {
		return func(r *Rewrite) { r.AddResult(call, unitEnd, "[none]") }
	}
	const block = `{"type":"tool_result","tool_use_id":"a","content":"[none]"}`
	const calls = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}`
	checkExamples(t, FormatAnthropicMessages, []example{
		{"in front of string content", `[` + calls + `,{"role":"user","content":"so?"}]`, `[` + calls + `,{"role":"user","content":[` + block + `,{"type":"text","text":"so?"}]}]`, add(Ref{0, 0}, 1)},
		{"in front of a list", `[` + calls + `,{"role":"user","content":[{"type":"text","text":"so?"}]}]`, `[` + calls + `,{"role":"user","content":[` + block + `,{"type":"text","text":"so?"}]}]`, add(Ref{0, 0}, 1)},
		{"blank content makes no blank block", `[` + calls + `,{"role":"user","content":" "}]`, `[` + calls + `,{"role":"user","content":[` + block + `]}]`, add(Ref{0, 0}, 1)},
		{"null content", `[` + calls + `,{"role":"user","content":null}]`, `[` + calls + `,{"role":"user","content":[` + block + `]}]`, add(Ref{0, 0}, 1)},
		{"no content", `[` + calls + `,{"role":"user"}]`, `[` + calls + `,{"role":"user","content":[` + block + `]}]`, add(Ref{0, 0}, 1)},
		{"before content of another kind", `[` + calls + `,{"role":"user","content":7}]`, `[` + calls + `,{"role":"user","content":[` + block + `]},{"role":"user","content":7}]`, add(Ref{0, 0}, 1)},
		{"before an assistant message", `[` + calls + `,{"role":"assistant","content":"x"}]`, `[` + calls + `,{"role":"user","content":[` + block + `]},{"role":"assistant","content":"x"}]`, add(Ref{0, 0}, 1)},
		{"after an adjacent assistant message", `[` + calls + `,{"role":"assistant","content":"x"},{"role":"user","content":"y"}]`, `[` + calls + `,{"role":"assistant","content":"x"},{"role":"user","content":[` + block + `,{"type":"text","text":"y"}]}]`, add(Ref{0, 0}, 2)},
		{"at the end", `[` + calls + `]`, `[` + calls + `,{"role":"user","content":[` + block + `]}]`, add(Ref{0, 0}, 1)},
		{"a user message that is dropped does not take it", `[` + calls + `,{"role":"user","content":"x"}]`, `[` + calls + `,{"role":"user","content":[` + block + `]}]`, func(r *Rewrite) { r.Drop(1); add(Ref{0, 0}, 1)(r) }},
		{"together with a mark on the string", `[` + calls + `,{"role":"user","content":"so?"}]`, `[` + calls + `,{"role":"user","content":[` + block + `,{"type":"text","text":"so?","cache_control":{"type":"ephemeral"}}]}]`, func(r *Rewrite) { add(Ref{0, 0}, 1)(r); r.MarkBlock(Ref{1, 0}, "") }},
		{"together with a mark on a bare string", `[` + calls + `,{"role":"user","content":["so?"]}]`, `[` + calls + `,{"role":"user","content":[` + block + `,{"type":"text","text":"so?","cache_control":{"type":"ephemeral"}}]}]`, func(r *Rewrite) { add(Ref{0, 0}, 1)(r); r.MarkBlock(Ref{1, 0}, "") }},
	})
	const openAI = `{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f"}},{"id":"b","function":{"name":"f"}}]}`
	const done = `{"role":"tool","tool_call_id":"a","content":"x"}`
	checkExamples(t, FormatOpenAIChat, []example{
		{"after the turn's results", `[` + openAI + `,` + done + `,{"role":"user","content":"y"}]`, `[` + openAI + `,` + done + `,{"role":"tool","tool_call_id":"b","content":"[none]"},{"role":"user","content":"y"}]`, add(Ref{0, 1}, 2)},
		{"two, in the order of the calls, before a summary", `[` + openAI + `,{"role":"user","content":"y"}]`, `[` + openAI + `,{"role":"tool","tool_call_id":"a","content":"[none]"},{"role":"tool","tool_call_id":"b","content":"[none]"},{"role":"user","content":"so far"},{"role":"user","content":"y"}]`, func(r *Rewrite) {
			r.Insert(1, NewMessage{Role: RoleUser, Text: "so far"})
			add(Ref{0, 0}, 1)(r)
			add(Ref{0, 1}, 1)(r)
		}},
		{"a legacy call", `[{"role":"assistant","function_call":{"name":"f"}}]`, `[{"role":"assistant","function_call":{"name":"f"}},{"role":"function","name":"f","content":"[none]"}]`, add(Ref{0, 0}, 1)},
		{"a call with its second id only", `[{"role":"assistant","tool_calls":[{"call_id":"z"}]}]`, `[{"role":"assistant","tool_calls":[{"call_id":"z"}]},{"role":"tool","tool_call_id":"z","content":"[none]"}]`, add(Ref{0, 0}, 1)},
	})
}

func TestAddedResultsMakeThePairingWhole(t *testing.T) {
	for _, c := range []struct {
		format Format
		lines  string
	}{
		{FormatOpenAIChat, "u\na c1 c2\nt c2\na\nu\na (f)\na\na fc/call\nu\na"},
		{FormatAnthropicMessages, "u text\na f1 f2\nu =f2 text\na text\nu text\na f3\na f4\nu text\na f5\na text\nu =f5\na text"},
	} {
		in := pairingInput(t, c.format, c.lines)
		p := Pair(in)
		if len(p.Missing) == 0 {
			t.Fatalf("%s: nothing is missing", c.format)
		}
		r := NewRewrite(in)
		for _, call := range p.Missing {
			end := call.Message + 1
			for end < len(p.Unit) && p.Unit[end] == p.Unit[call.Message] {
				end++
			}
			r.AddResult(call, end, "[none]")
		}
		checkRewrite(t, r)
		if p = Pair(mustParse(t, c.format, r.Render())); len(p.Missing)+len(p.Orphans)+len(p.Duplicates) > 0 {
			t.Errorf("%s: %+v\n%s", c.format, p, r.Render())
		}
	}
}

func TestMarkingTwiceChangesNothingTheSecondTime(t *testing.T) {
	for _, s := range forms(t) {
		c := mustParse(t, s.format, s.json)
		mark := func(c *Conversation) *Rewrite {
			r := NewRewrite(c)
			for i := range c.Messages {
				for b := range c.Messages[i].Blocks {
					r.MarkBlock(Ref{i, b}, "1h")
				}
			}
			for i := range c.Tools {
				r.MarkTool(i, "")
			}
			return r
		}
		once := mark(c).Render()
		if twice := mark(mustParse(t, s.format, once)).Render(); twice != once {
			t.Errorf("%s: %s", s.name, cmp.Diff(once, twice))
		}
	}
}

func TestUnmarkingAfterMarkingGivesTheInputBack(t *testing.T) {
	for _, s := range forms(t) {
		c := mustParse(t, s.format, s.json)
		mark, unmark := NewRewrite(c), func(*Rewrite) {}
		for i := range c.Messages {
			for b := range c.Messages[i].Blocks {
				ref := Ref{i, b}
				// A string stays a list of one block, and null is written over.
				if c.At(ref).Mark != nil || !strings.HasPrefix(c.Raw(c.At(ref).Span), "{") || strings.Contains(c.Raw(c.At(ref).Span), "cache_control") {
					continue
				}
				if c.Messages[i].isResult() {
					continue
				}
				mark.MarkBlock(ref, "")
				before := unmark
				unmark = func(r *Rewrite) { before(r); r.UnmarkBlock(ref) }
			}
		}
		back := NewRewrite(mustParse(t, s.format, mark.Render()))
		unmark(back)
		if diff := cmp.Diff(s.json, back.Render()); diff != "" {
			t.Errorf("%s (-input +marked and unmarked):\n%s", s.name, diff)
		}
	}
}

func TestARewriteTellsWhatWasDecided(t *testing.T) {
	c := mustParse(t, FormatAnthropicMessages, `{"system":"s","tools":[{"name":"f"}],"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"tool_result","content":["b","c"]}]},{"role":"assistant","content":"d"},{"role":"user","content":"e"}]}`)
	r := NewRewrite(c)
	if !r.Empty() || r.System() != nil || r.Message(0) != nil {
		t.Error("a new rewrite has decisions")
	}
	r.DropBlock(Ref{0, 0})
	r.MarkPart(Ref{0, 1}, 1, "1h")
	r.Drop(1)
	r.SetText(Ref{2, 0}, "e")
	r.MarkTool(0, "")
	r.AppendSystemText("note")
	summary := NewMessage{Role: RoleUser, Text: "so far"}
	r.Insert(1, summary)
	checkSame(t, "dropped messages", []bool{false, true, false}, []bool{r.Dropped(0), r.Dropped(1), r.Dropped(2)})
	checkSame(t, "dropped blocks", []bool{true, false, true, false}, []bool{r.DroppedBlock(Ref{0, 0}), r.DroppedBlock(Ref{0, 1}), r.DroppedBlock(Ref{1, 0}), r.DroppedBlock(Ref{2, 0})})
	checkSame(t, "changed messages", []bool{true, true, false}, []bool{r.Changed(0), r.Changed(1), r.Changed(2)})
	checkSame(t, "inserted messages", [][]NewMessage{nil, {summary}}, [][]NewMessage{r.Inserted(0), r.Inserted(1)})
	e := r.Message(0)
	checkSame(t, "edited blocks", []int{0, 1}, e.EditedBlocks())
	checkSame(t, "edited parts", []int{1}, e.Block(1).EditedParts())
	checkSame(t, "the mark of a part", MarkEdit{Kind: MarkSet, TTL: "1h"}, e.Block(1).Part(1))
	checkSame(t, "the mark of a tool", MarkEdit{Kind: MarkSet}, r.Tool(0))
	if r.Empty() || r.System() == nil || r.System().Append != "note" || !e.Block(0).Drop || e.Block(7) != nil {
		t.Error("a decision is missing")
	}
	checkRewrite(t, r)
}

func TestRewritesOfTheTypedFormHaveNoBytes(t *testing.T) {
	c := &Conversation{Format: FormatTyped, System: &Message{Role: RoleSystem, Blocks: []Block{{Kind: KindText, Text: "sys"}}}, Tools: []Tool{{Name: "f"}}, Messages: []Message{
		{Role: RoleUser, RawRole: "user", Blocks: []Block{{Kind: KindText, Text: "a"}, {Kind: KindText, Text: "b"}}},
		{Role: RoleAssistant, RawRole: "assistant", Blocks: []Block{{Kind: KindToolUse, ID: "t", Name: "f", Input: "{}"}}},
		{Role: RoleTool, RawRole: "tool", Blocks: []Block{{Kind: KindToolResult, ID: "t", Result: []Block{{Kind: KindText, Text: "x"}, {Kind: KindText, Text: "y"}}}}},
		{Role: RoleUser, RawRole: "user", Blocks: []Block{{Kind: KindText, Text: "z"}}},
	}}
	r := NewRewrite(c)
	r.MarkBlock(Ref{0, 0}, "1h")
	r.DropBlock(Ref{0, 1})
	r.AppendText(0, "c")
	r.SetInput(Ref{1, 0}, `{"a":1}`)
	r.MarkPart(Ref{2, 0}, 1, "")
	r.Insert(3, NewMessage{Role: RoleUser, Text: "so far"})
	r.Drop(3)
	r.MarkTool(0, "")
	r.MarkSystem(0, "")
	if len(r.Splices()) != 0 || r.Render() != "" || r.MessageJSON(0) != "" {
		t.Errorf("splices %v, JSON %q %q", r.Splices(), r.Render(), r.MessageJSON(0))
	}
	want := []Message{
		{Role: RoleUser, RawRole: "user", Blocks: []Block{{Kind: KindText, Text: "a", Mark: &Mark{TTL: "1h"}}, {Kind: KindText, Type: "text", Text: "c"}}},
		{Role: RoleAssistant, RawRole: "assistant", Blocks: []Block{{Kind: KindToolUse, ID: "t", Name: "f", Input: `{"a":1}`}}},
		{Role: RoleTool, RawRole: "tool", Blocks: []Block{{Kind: KindToolResult, ID: "t", Result: []Block{{Kind: KindText, Text: "x"}, {Kind: KindText, Text: "y", Mark: &Mark{}}}}}},
		{Role: RoleUser, RawRole: "user", Shape: ShapeString, Blocks: []Block{{Kind: KindText, Text: "so far"}}},
	}
	a := r.Apply()
	checkSame(t, "messages", want, a.Conversation.Messages)
	checkSame(t, "their origin", []int{0, 1, 2, -1}, a.From)
	if a.Conversation.Tools[0].Mark == nil || a.Conversation.System.Blocks[0].Mark == nil || c.Tools[0].Mark != nil || c.System.Blocks[0].Mark != nil {
		t.Error("a mark is missing, or stands in the input")
	}
	var kinds []OpKind
	for _, op := range r.Program() {
		if op.JSON != "" {
			t.Errorf("op with JSON %+v", op)
		}
		if op.Section == SectionMessages {
			kinds = append(kinds, op.Kind)
		}
	}
	checkSame(t, "ops", []OpKind{OpReplace, OpReplace, OpReplace, OpInsert, OpDrop}, kinds)
}
