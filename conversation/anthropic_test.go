package conversation

import (
	"fmt"
	"strings"
	"testing"
)

func toolUse(id, name, input string) Block {
	return Block{Kind: KindToolUse, Type: "tool_use", ID: id, Name: name, Input: input, InputShape: ShapeOther}
}

func toolResult(id string, shape Shape, parts ...Block) Block {
	return Block{Kind: KindToolResult, Type: "tool_result", ID: id, Result: parts, ResultShape: shape}
}

func marked(b Block, ttl string) Block {
	b.Mark = &Mark{TTL: ttl}
	return b
}

func TestAnthropicTextIsReadInEveryShape(t *testing.T) {
	thinking := Block{Kind: KindThinking, Type: "thinking", Text: "hm", Signed: true}
	unsigned := Block{Kind: KindThinking, Type: "thinking", Text: "hm"}
	checkReadings(t, FormatAnthropicMessages, []reading{
		{"string content", `{"role":"user","content":"hi"}`, user(ShapeString, says("hi"))},
		{"text blocks", `{"role":"user","content":[{"type":"text","text":"a"},{"citations":[{"cited_text":"x"}],"text":"b","type":"text"}]}`, user(ShapeList, block("a"), block("b"))},
		{"null content", `{"role":"user","content":null}`, user(ShapeNull)},
		{"no content", `{"role":"user"}`, user(ShapeAbsent)},
		{"a system message in the list", `{"role":"system","content":"note"}`, message(RoleSystem, "system", ShapeString, says("note"))},
		{"signed thinking", `{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"}]}`, assistant(ShapeList, thinking)},
		{"thinking with an empty signature", `{"role":"assistant","content":[{"signature":"","type":"thinking","thinking":"hm"}]}`, assistant(ShapeList, unsigned)},
		{"redacted thinking", `{"role":"assistant","content":[{"type":"redacted_thinking","data":"ZW5j"}]}`, assistant(ShapeList, Block{Kind: KindRedactedThinking, Type: "redacted_thinking", Signed: true})},
		{"a compaction block", `{"role":"assistant","content":[{"type":"compaction","content":"so far"}]}`, assistant(ShapeList, Block{Kind: KindCompaction, Type: "compaction", Text: "so far"})},
		{"an empty compaction block", `{"role":"assistant","content":[{"type":"compaction","content":null}]}`, assistant(ShapeList, Block{Kind: KindCompaction, Type: "compaction"})},
		{"an unknown block", `{"role":"assistant","content":[{"type":"later","content":[1]}]}`, assistant(ShapeList, opaque("later", `{"type":"later","content":[1]}`))},
		{"a search result is carried whole", `{"role":"user","content":[{"type":"search_result","source":"https://example.com","title":"t","content":[{"type":"text","text":"x"}]}]}`, user(ShapeList, opaque("search_result", `{"type":"search_result","source":"https://example.com","title":"t","content":[{"type":"text","text":"x"}]}`))},
		{"fields of the other API are not read", `{"role":"assistant","content":"x","tool_calls":[{"id":"c1"}],"reasoning_content":"hm","name":"n"}`, assistant(ShapeString, says("x"))},
	})
}

func TestAnthropicCallsAndResultsAreReadInEveryShape(t *testing.T) {
	null := toolUse("t1", "f", "null")
	absent := toolUse("t1", "f", "")
	absent.InputShape = ShapeAbsent
	programmatic := toolUse("t1", "f", "{}")
	programmatic.Programmatic = true
	failed := toolResult("t1", ShapeString, says("no"))
	failed.IsError = true
	image := Block{Kind: KindMedia, Type: "image", Media: &Media{Kind: MediaImage, MIMEType: "image/png", Data: "AAAA"}}
	part := opaque("tool_reference", `{"type":"tool_reference","tool_name":"f"}`)
	server := Block{Kind: KindServerToolUse, Type: "server_tool_use", ID: "s1", Name: "web_search", Input: `{"query":"q"}`, InputShape: ShapeOther, Raw: `{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"q"}}`}
	found := Block{Kind: KindServerToolResult, Type: "web_search_tool_result", ID: "s1", Raw: `{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result","encrypted_content":"e"}]}`}
	mcp := Block{Kind: KindServerToolUse, Type: "mcp_tool_use", ID: "m1", Name: "n", Input: "{}", InputShape: ShapeOther, Raw: `{"type":"mcp_tool_use","id":"m1","name":"n","server_name":"s","input":{}}`}
	mcpFound := Block{Kind: KindServerToolResult, Type: "mcp_tool_result", ID: "m1", Raw: `{"type":"mcp_tool_result","tool_use_id":"m1","content":"x"}`}
	checkReadings(t, FormatAnthropicMessages, []reading{
		{"a call", `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{"a": 1.50}}]}`, assistant(ShapeList, toolUse("t1", "f", `{"a": 1.50}`))},
		{"parallel calls after text", `{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"t1","name":"f","input":{}},{"input":[],"name":"g","id":"t2","type":"tool_use"}]}`, assistant(ShapeList, block("x"), toolUse("t1", "f", "{}"), toolUse("t2", "g", "[]"))},
		{"a call with null input", `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":null}]}`, assistant(ShapeList, null)},
		{"a call without input", `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f"}]}`, assistant(ShapeList, absent)},
		{"a call made by code execution", `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{},"caller":{"type":"code_execution_20250825","tool_id":"s1"}}]}`, assistant(ShapeList, programmatic)},
		{"a call made directly", `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{},"caller":{"type":"direct"}}]}`, assistant(ShapeList, toolUse("t1", "f", "{}"))},
		{"a result with string content", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"3"}]}`, user(ShapeList, toolResult("t1", ShapeString, says("3")))},
		{"a result with blocks", `{"role":"user","content":[{"content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"tool_reference","tool_name":"f"},"b"],"tool_use_id":"t1","type":"tool_result"}]}`, user(ShapeList, toolResult("t1", ShapeList, block("a"), image, part, says("b")))},
		{"a result with null content", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":null}]}`, user(ShapeList, toolResult("t1", ShapeNull))},
		{"a result without content", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"}]}`, user(ShapeList, toolResult("t1", ShapeAbsent))},
		{"a result whose content is an object", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":{"a":1}}]}`, user(ShapeList, toolResult("t1", ShapeOther, opaque("", `{"a":1}`)))},
		{"an error", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"no"}]}`, user(ShapeList, failed)},
		{"no error", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":false,"content":"no"},{"type":"tool_result","tool_use_id":"t2","is_error":null,"content":"no"}]}`, user(ShapeList, toolResult("t1", ShapeString, says("no")), toolResult("t2", ShapeString, says("no")))},
		{"server tools", `{"role":"assistant","content":[` + server.Raw + "," + found.Raw + `]}`, assistant(ShapeList, server, found)},
		{"MCP tools", `{"role":"assistant","content":[` + mcp.Raw + "," + mcpFound.Raw + `]}`, assistant(ShapeList, mcp, mcpFound)},
	})
}

func TestAnthropicMediaIsDescribed(t *testing.T) {
	media := func(word, text string, m Media) Message {
		return user(ShapeList, Block{Kind: KindMedia, Type: word, Text: text, Media: &m})
	}
	part := func(p string) string { return `{"role":"user","content":[` + p + `]}` }
	checkReadings(t, FormatAnthropicMessages, []reading{
		{"an image", part(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}`), media("image", "", Media{Kind: MediaImage, MIMEType: "image/png", Data: "AAAA"})},
		{"an image address", part(`{"type":"image","source":{"type":"url","url":"https://example.com/i.png"}}`), media("image", "", Media{Kind: MediaImage, URI: "https://example.com/i.png"})},
		{"a document as data", part(`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBE"},"title":"t"}`), media("document", "", Media{Kind: MediaDocument, MIMEType: "application/pdf", Data: "JVBE"})},
		{"a document as text", part(`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"data:a,b"}}`), media("document", "data:a,b", Media{Kind: MediaDocument, MIMEType: "text/plain"})},
		{"a document as blocks", part(`{"type":"document","source":{"type":"content","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"url","url":"u"}},{"type":"text","text":"b"}]}}`), media("document", "a\nb", Media{Kind: MediaDocument})},
		{"a document as a content string", part(`{"type":"document","source":{"type":"content","content":"a"}}`), media("document", "a", Media{Kind: MediaDocument})},
		{"a document address", part(`{"type":"document","source":{"type":"url","url":"https://example.com/a.pdf"}}`), media("document", "", Media{Kind: MediaDocument, URI: "https://example.com/a.pdf"})},
		{"a document by file id", part(`{"type":"document","source":{"type":"file","file_id":"file_1"}}`), media("document", "", Media{Kind: MediaDocument, URI: "file_1"})},
		{"a null source", part(`{"type":"image","source":null}`), media("image", "", Media{Kind: MediaImage})},
	})
}

func TestAnthropicSystemPromptsAreReadInEveryShape(t *testing.T) {
	system := func(shape Shape, blocks ...Block) []Message {
		return []Message{message(RoleSystem, "system", shape, blocks...)}
	}
	for _, c := range []struct {
		name, json string
		want       []Message
	}{
		{"a string", `"Clerk."`, system(ShapeString, says("Clerk."))},
		{"blocks", `[{"type":"text","text":"a"},{"type":"text","text":"b","cache_control":{"type":"ephemeral"}},"c"]`, system(ShapeList, block("a"), marked(block("b"), ""), says("c"))},
		{"no blocks", `[]`, system(ShapeList)},
		{"null", `null`, nil},
		{"an object", `{"a":1}`, system(ShapeOther, opaque("", `{"a":1}`))},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := mustParse(t, FormatAnthropicMessages, `{"messages":[],"system":`+c.json+`}`)
			checkSpans(t, got)
			have, _, _ := saidRequest(got)
			checkSame(t, "system", c.want, have)
		})
	}
}

func TestAnthropicBodiesAreReadBesideTheirMessages(t *testing.T) {
	body := `{"model":"claude","cache_control":{"type":"ephemeral","ttl":"1h"},"thinking":{"budget_tokens":1024,"type":%q},"tools":[
		{"name":"f","description":"d","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}},
		{"type":"web_search_20250305","name":"web_search"},{"defer_loading":true,"name":"g"}],"messages":[],"functions":[{"name":"not a member of this API"}]}`
	for mode, on := range map[string]bool{"enabled": true, "adaptive": true, "disabled": false} {
		c := mustParse(t, FormatAnthropicMessages, fmt.Sprintf(body, mode))
		checkSpans(t, c)
		if c.Model != "claude" || c.ThinkingOn != on || c.AutoMark == nil || c.AutoMark.TTL != "1h" {
			t.Errorf("%s: got %+v", mode, c)
		}
		_, tools, _ := saidRequest(c)
		for i := range tools {
			tools[i].Raw = ""
		}
		checkSame(t, "tools", []Tool{
			{Name: "f", Description: "d", Schema: `{"type":"object"}`, Mark: &Mark{}},
			{Name: "web_search", Type: "web_search_20250305"},
			{Name: "g", Deferred: true},
		}, tools)
	}
	c := mustParse(t, FormatAnthropicMessages, `{"thinking":null,"cache_control":null,"tools":null,"model":null,"messages":[]}`)
	if c.ThinkingOn || c.AutoMark != nil || c.Tools != nil || c.Model != "" {
		t.Errorf("got %+v", c)
	}
}

func TestMarksAreFoundWhereverTheMemberStands(t *testing.T) {
	for _, c := range []struct {
		name, block string
		want        string // the block without its mark
	}{
		{"last", `{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}`, `{"type":"text","text":"a"}`},
		{"first", `{"cache_control":{"type":"ephemeral"},"type":"text","text":"a"}`, `{"type":"text","text":"a"}`},
		{"in the middle", `{"type":"text","cache_control":{"type":"ephemeral"},"text":"a"}`, `{"type":"text","text":"a"}`},
		{"alone", `{"cache_control":{"type":"ephemeral"}}`, `{}`},
		{"last, with space", "{ \"type\" : \"text\" ,\n \"text\":\"a\"\t, \"cache_control\" : {\"type\":\"ephemeral\"} }", "{ \"type\" : \"text\" ,\n \"text\":\"a\" }"},
		{"first, with space", "{ \"cache_control\" : {\"type\":\"ephemeral\"} ,\n \"type\":\"text\",\"text\":\"a\" }", "{ \"type\":\"text\",\"text\":\"a\" }"},
		{"alone, with space", "{ \"cache_control\" : { } }", "{  }"},
		{"a word instead of an object", `{"type":"text","cache_control":"ephemeral","text":"a"}`, `{"type":"text","text":"a"}`},
		{"a key with escapes", `{"type":"text","\u0063ache_control":{},"text":"a"}`, `{"type":"text","text":"a"}`},
		{"null", `{"type":"text","cache_control":null,"text":"a"}`, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			const head, tail = `[{"role":"user","content":[`, `]}]`
			got := mustParse(t, FormatAnthropicMessages, head+c.block+tail)
			r := NewRewrite(got)
			r.UnmarkBlock(Ref{0, 0})
			checkRewrite(t, r)
			if c.want == "" {
				if got.Messages[0].Blocks[0].Mark != nil || r.Render() != got.Source {
					t.Errorf("null was taken for a mark")
				}
				return
			}
			if got.Messages[0].Blocks[0].Mark == nil {
				t.Fatal("no mark was found")
			}
			if out := r.Render(); out != head+c.want+tail {
				t.Errorf("got  %s\nwant %s", out, head+c.want+tail)
			}
		})
	}
}

func TestMarksOnTheMembersOfAToolsetAreStrays(t *testing.T) {
	const mark = `"cache_control":{"type":"ephemeral"}`
	got := mustParse(t, FormatAnthropicMessages, `{"tools":[{"type":"mcp_toolset","configs":{"a":{`+mark+`},"b":{"enabled":true,`+mark+`},"c":null},"default_config":{`+mark+`,"defer_loading":true},`+mark+`},{"name":"t","input_schema":{`+mark+`},"configs":[]}],"messages":[]}`)
	if tools := got.Tools; len(tools[0].Strays) != 3 || tools[0].Mark == nil || tools[0].Deferred || len(tools[1].Strays) != 0 {
		t.Fatalf("%d and %d strays, want 3 and 0: %+v", len(tools[0].Strays), len(tools[1].Strays), tools)
	}
	r := NewRewrite(got)
	r.MarkTool(0, "1h")
	checkRewrite(t, r)
	want := `{"tools":[{"type":"mcp_toolset","configs":{"a":{},"b":{"enabled":true},"c":null},"default_config":{"defer_loading":true},"cache_control":{"type":"ephemeral","ttl":"1h"}},{"name":"t","input_schema":{` + mark + `},"configs":[]}],"messages":[]}`
	if got := r.Render(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestMarksDeepInsideTheContentAreStrays(t *testing.T) {
	mark := `"cache_control":{"type":"ephemeral"}`
	for _, c := range []struct {
		name, block string
		strays      int
	}{
		{"in a server tool's result", `{"type":"web_search_tool_result","content":[{"type":"web_search_result",` + mark + `}]}`, 1},
		{"in a document's source", `{"type":"document","source":{"type":"content","content":[{"type":"text","text":"a",` + mark + `},{"type":"text","text":"b",` + mark + `}]}}`, 2},
		{"in a part of a part of a result", `{"type":"tool_result","tool_use_id":"a","content":[{"type":"search_result","content":[{"type":"text","text":"a",` + mark + `}]}]}`, 1},
		{"in a citation", `{"type":"text","text":"a","citations":[{"type":"char_location",` + mark + `},null,{` + mark + `,"type":"x"}]}`, 2},
		{"in a citation within a result", `{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"a","citations":[{` + mark + `}]}]}`, 1},
		{"in a part of a result within a result", `{"type":"tool_result","tool_use_id":"a","content":[{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"a",` + mark + `}]}]}`, 1},
		{"in a part of a result within another block", `{"type":"later","content":[{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"a",` + mark + `}],` + mark + `}]}`, 2},
		{"in a part of a result within a source", `{"type":"document","source":{"type":"content","content":[{"type":"tool_result","content":[{"type":"text","text":"a",` + mark + `}]}]}}`, 1},
		{"on a part of a result: not one", `{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"a",` + mark + `}]}`, 0},
		{"in a call's input: not one", `{"type":"tool_use","id":"a","input":{` + mark + `}}`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := mustParse(t, FormatAnthropicMessages, `[{"role":"user","content":[`+c.block+`]}]`)
			if n := len(got.Messages[0].Strays); n != c.strays {
				t.Errorf("%d strays, want %d", n, c.strays)
			}
			r := NewRewrite(got)
			r.UnmarkMessage(0)
			checkRewrite(t, r)
			if left := strings.Count(r.Render(), "cache_control"); left != strings.Count(c.block, "cache_control")-c.strays {
				t.Errorf("%d marks are left in %s", left, r.Render())
			}
		})
	}
}
