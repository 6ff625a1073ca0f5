package conversation

import "testing"

// reading is what one piece of input must be read as.
type reading struct {
	name string
	json string // an element of messages
	want Message
}

func checkReadings(t *testing.T, format Format, readings []reading) {
	t.Helper()
	for _, r := range readings {
		t.Run(r.name, func(t *testing.T) {
			c := mustParse(t, format, "["+r.json+"]")
			checkSpans(t, c)
			checkSame(t, "message", said(r.want), said(c.Messages...))
			if got := c.Raw(c.Messages[0].Span); got != r.json {
				t.Errorf("the message's span holds %s", got)
			}
			if len(c.Warnings) > 0 {
				t.Errorf("warnings %+v", c.Warnings)
			}
		})
	}
}

// says is a text block of string content, block one of a content list.
func says(text string) Block        { return Block{Kind: KindText, Text: text} }
func block(text string) Block       { return Block{Kind: KindText, Type: "text", Text: text} }
func opaque(word, raw string) Block { return Block{Kind: KindOpaque, Type: word, Raw: raw} }

func message(role Role, word string, shape Shape, blocks ...Block) Message {
	return Message{Role: role, RawRole: word, Shape: shape, Blocks: blocks}
}

func user(shape Shape, blocks ...Block) Message { return message(RoleUser, "user", shape, blocks...) }

func assistant(shape Shape, blocks ...Block) Message {
	return message(RoleAssistant, "assistant", shape, blocks...)
}

func toolCall(id, name, input string) Block {
	return Block{
		Kind: KindToolUse, Site: SiteToolCalls, Type: "function", ID: id, Name: name,
		Input: input, InputShape: ShapeString,
	}
}

func toolMessage(id string, shape Shape, parts ...Block) Message {
	return message(RoleTool, "tool", shape, Block{Kind: KindToolResult, Site: SiteMessage, ID: id, Result: parts, ResultShape: shape})
}

func TestOpenAITextIsReadInEveryShape(t *testing.T) {
	named := user(ShapeString, says("hi"))
	named.Name = "ann"
	ephemeral := block("a")
	ephemeral.Mark = &Mark{}
	marked := user(ShapeString, says("hi"))
	marked.Mark = &Mark{TTL: "1h"}
	inputText := block("a")
	inputText.Type = "input_text"
	checkReadings(t, FormatOpenAIChat, []reading{
		{"system", `{"role":"system","content":"Clerk."}`, message(RoleSystem, "system", ShapeString, says("Clerk."))},
		{"developer is a system message that keeps its word", `{"role":"developer","content":"Clerk."}`, message(RoleSystem, "developer", ShapeString, says("Clerk."))},
		{"string content", `{"role":"user","content":"hi"}`, user(ShapeString, says("hi"))},
		{"empty string content", `{"role":"user","content":""}`, user(ShapeString, says(""))},
		{"escapes are decoded", `{"role":"user","content":"\u0048\ud83d\ude00\/\b\f\n\r\t\\\""}`, user(ShapeString, says("H😀/\b\f\n\r\t\\\""))},
		{"null content", `{"role":"assistant","content":null}`, assistant(ShapeNull)},
		{"no content", `{"role":"assistant"}`, assistant(ShapeAbsent)},
		{"an empty list", `{"role":"user","content":[]}`, user(ShapeList)},
		{"text parts", `{"role":"user","content":[{"type":"text","text":"a"},{"text":"b","type":"text"}]}`, user(ShapeList, block("a"), block("b"))},
		{"text parts of another API", `{"role":"user","content":[{"type":"input_text","text":"a"}]}`, user(ShapeList, inputText)},
		{"bare strings in a list are text", `{"role":"user","content":["a",{"type":"text","text":"b"}]}`, user(ShapeList, says("a"), block("b"))},
		{"content that is an object", `{"role":"user","content":{"text":"a"}}`, user(ShapeOther, Block{Raw: `{"text":"a"}`})},
		{"content that is a number", `{"role":"user","content":-1.50e3}`, user(ShapeOther, Block{Raw: `-1.50e3`})},
		{"a text part without text", `{"role":"user","content":[{"type":"text"},{"type":"text","text":null}]}`, user(ShapeList, opaque("text", `{"type":"text"}`), opaque("text", `{"type":"text","text":null}`))},
		{"elements that are no objects", `{"role":"user","content":[7,null,[1],true]}`, user(ShapeList, opaque("", "7"), opaque("", "null"), opaque("", "[1]"), opaque("", "true"))},
		{"a part of an unknown type", `{"role":"user","content":[{"type":"hologram","x":{"y":[1]}}]}`, user(ShapeList, opaque("hologram", `{"type":"hologram","x":{"y":[1]}}`))},
		{"a part without a type", `{"role":"user","content":[{"text":"a"}]}`, user(ShapeList, opaque("", `{"text":"a"}`))},
		{"a name", `{"name":"ann","role":"user","content":"hi"}`, named},
		{"an unknown role", `{"role":"exit","content":"hi"}`, message(RoleOther, "exit", ShapeString, says("hi"))},
		{"unknown members", `{"role":"user","content":"hi","extra":{"a":[1,2,{"b":null}]},"n":1e999}`, user(ShapeString, says("hi"))},
		{"a mark on a part", `{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}`, user(ShapeList, ephemeral)},
		{"a mark on the message", `{"role":"user","content":"hi","cache_control":{"type":"ephemeral","ttl":"1h"}}`, marked},
		{"keys spelled with escapes", `{"r\u006fle":"user","content":"hi"}`, user(ShapeString, says("hi"))},
	})
}

func TestOpenAICallsAreReadInEveryShape(t *testing.T) {
	value := toolCall("c2", "f", `{"a": 1.0}`)
	value.InputShape = ShapeOther
	null := toolCall("c1", "f", "")
	null.InputShape = ShapeNull
	absent := toolCall("c1", "f", "")
	absent.InputShape = ShapeAbsent
	untyped := toolCall("c1", "f", "{}")
	untyped.Type = ""
	custom := toolCall("c1", "grep", "free text")
	custom.Type = "custom"
	responses := toolCall("fc_1", "f", "{}")
	responses.AltID = "call_1"
	legacy := toolCall("", "f", `{"a":1}`)
	legacy.Site, legacy.Type = SiteFunctionCall, "function_call"
	loose := func(raw string) Block { return Block{Kind: KindOpaque, Site: SiteToolCalls, Raw: raw} }
	marked := toolCall("c1", "f", "{}")
	marked.Mark = &Mark{}
	twice := assistant(ShapeAbsent, marked)
	twice.Strays = []*Mark{{TTL: "1h"}}
	checkReadings(t, FormatOpenAIChat, []reading{
		{"parallel calls", `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},{"id":"c2","type":"function","function":{"name":"g","arguments":"{}"}}]}`, assistant(ShapeNull, toolCall("c1", "f", `{"a":1}`), toolCall("c2", "g", "{}"))},
		{"text and a call", `{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}],"content":"wait"}`, assistant(ShapeString, says("wait"), toolCall("c1", "f", "{}"))},
		{"arguments that are an object", `{"role":"assistant","tool_calls":[{"id":"c2","type":"function","function":{"name":"f","arguments":{"a": 1.0}}}]}`, assistant(ShapeAbsent, value)},
		{"arguments that are null", `{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":null}}]}`, assistant(ShapeAbsent, null)},
		{"no arguments", `{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f"}}]}`, assistant(ShapeAbsent, absent)},
		{"arguments that are no JSON", `{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":"}}]}`, assistant(ShapeAbsent, toolCall("c1", "f", `{"a":`))},
		{"no type", `{"role":"assistant","tool_calls":[{"id":"c1","function":{"name":"f","arguments":"{}"}}]}`, assistant(ShapeAbsent, untyped)},
		{"a custom tool", `{"role":"assistant","tool_calls":[{"id":"c1","type":"custom","custom":{"name":"grep","input":"free text"}}]}`, assistant(ShapeAbsent, custom)},
		{"two ids", `{"role":"assistant","tool_calls":[{"id":"fc_1","call_id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]}`, assistant(ShapeAbsent, responses)},
		{"ids and types inside the function do not count", `{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"id":"x","call_id":"y","type":"z","name":"f","arguments":"{}"}}]}`, assistant(ShapeAbsent, toolCall("c1", "f", "{}"))},
		{"the function's name wins over the call's", `{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"},"name":"g","arguments":"[]","id":"c1","type":"function"}]}`, assistant(ShapeAbsent, toolCall("c1", "f", "{}"))},
		{"unknown members of a call", `{"role":"assistant","tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":"{}","thought_signature":"AbC="},"extra_content":{"google":{"thought_signature":"AbC="}}}]}`, assistant(ShapeAbsent, toolCall("c1", "f", "{}"))},
		{"calls that are no objects", `{"role":"assistant","tool_calls":["c1",null,[{"id":"c1"}]]}`, assistant(ShapeAbsent, loose(`"c1"`), loose("null"), loose(`[{"id":"c1"}]`))},
		{"a function that is no object", `{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":"f"}]}`, assistant(ShapeAbsent, Block{Kind: KindToolUse, Site: SiteToolCalls, Type: "function", ID: "c1"})},
		{"no calls", `{"role":"assistant","content":"x","tool_calls":[]}`, assistant(ShapeString, says("x"))},
		{"null calls", `{"role":"assistant","content":"x","tool_calls":null,"function_call":null}`, assistant(ShapeString, says("x"))},
		{"a legacy call", `{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{\"a\":1}"}}`, assistant(ShapeNull, legacy)},
		{"a marked call", `{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"},"cache_control":{"type":"ephemeral"}}]}`, assistant(ShapeAbsent, marked)},
		{"a call marked twice: the first counts", `{"role":"assistant","tool_calls":[{"id":"c1","type":"function","cache_control":{"type":"ephemeral"},"function":{"name":"f","arguments":"{}","cache_control":{"type":"ephemeral","ttl":"1h"}}}]}`, twice},
	})
}

func TestOpenAIToolMessagesAreResults(t *testing.T) {
	legacy := message(RoleTool, "function", ShapeString, Block{Kind: KindToolResult, Site: SiteMessage, Name: "f", Result: []Block{says("3")}, ResultShape: ShapeString})
	legacy.Name = "f"
	markedPart := block("a")
	markedPart.Mark = &Mark{}
	markedMessage := toolMessage("c1", ShapeString, says("3"))
	markedMessage.Mark = &Mark{}
	checkReadings(t, FormatOpenAIChat, []reading{
		{"string content", `{"role":"tool","tool_call_id":"c1","content":"3"}`, toolMessage("c1", ShapeString, says("3"))},
		{"a list", `{"role":"tool","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},"b"],"tool_call_id":"c1"}`, toolMessage("c1", ShapeList, markedPart, says("b"))},
		{"null", `{"role":"tool","tool_call_id":"c1","content":null}`, toolMessage("c1", ShapeNull)},
		{"nothing", `{"role":"tool","tool_call_id":"c1"}`, toolMessage("c1", ShapeAbsent)},
		{"an object", `{"role":"tool","tool_call_id":"c1","content":{"a":1}}`, toolMessage("c1", ShapeOther, opaque("", `{"a":1}`))},
		{"no id", `{"role":"tool","content":"3"}`, toolMessage("", ShapeString, says("3"))},
		{"a legacy result", `{"role":"function","name":"f","content":"3"}`, legacy},
		{"a mark on the message", `{"role":"tool","tool_call_id":"c1","content":"3","cache_control":{"type":"ephemeral"}}`, markedMessage},
	})
}

func TestOpenAIFieldsBesideTheContentAreBlocks(t *testing.T) {
	reasoning := Block{Kind: KindThinking, Site: SiteReasoning, Text: "hm"}
	refusal := Block{Kind: KindRefusal, Site: SiteRefusal, Text: "no"}
	audio := Block{Kind: KindMedia, Site: SiteAudio, Type: "audio", Media: &Media{Kind: MediaAudio, URI: "audio_1"}}
	refusalPart := Block{Kind: KindRefusal, Type: "refusal", Text: "no"}
	checkReadings(t, FormatOpenAIChat, []reading{
		{"reasoning_content", `{"role":"assistant","reasoning_content":"hm","content":"x"}`, assistant(ShapeString, reasoning, says("x"))},
		{"reasoning", `{"role":"assistant","content":"x","reasoning":"hm"}`, assistant(ShapeString, reasoning, says("x"))},
		{"reasoning_content wins over reasoning, before it", `{"role":"assistant","reasoning_content":"hm","reasoning":"other"}`, assistant(ShapeAbsent, reasoning)},
		{"reasoning_content wins over reasoning, after it", `{"role":"assistant","reasoning":"other","reasoning_content":"hm"}`, assistant(ShapeAbsent, reasoning)},
		{"reasoning counts when reasoning_content is null", `{"role":"assistant","reasoning":"hm","reasoning_content":null}`, assistant(ShapeAbsent, reasoning)},
		{"reasoning that is no text", `{"role":"assistant","reasoning":{"effort":"low"},"reasoning_content":null,"reasoning_details":[{"data":"x"}]}`, assistant(ShapeAbsent)},
		{"a refusal", `{"role":"assistant","content":null,"refusal":"no"}`, assistant(ShapeNull, refusal)},
		{"no refusal", `{"role":"assistant","content":"x","refusal":null}`, assistant(ShapeString, says("x"))},
		{"a refusal part", `{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]}`, assistant(ShapeList, refusalPart)},
		{"spoken audio", `{"role":"assistant","content":null,"audio":{"id":"audio_1"}}`, assistant(ShapeNull, audio)},
		{"no audio", `{"role":"assistant","content":"x","audio":null}`, assistant(ShapeString, says("x"))},
		{
			"all of them, in reading order",
			`{"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}],"refusal":"no","audio":{"id":"audio_1"},"content":"x","reasoning":"hm","role":"assistant"}`,
			assistant(ShapeString, reasoning, says("x"), audio, refusal, toolCall("c1", "f", "{}")),
		},
		{"fields of an assistant on a tool message are not read", `{"role":"tool","tool_call_id":"c1","content":"3","reasoning":"hm","refusal":"no"}`, toolMessage("c1", ShapeString, says("3"))},
	})
}

func TestOpenAIMediaIsDescribed(t *testing.T) {
	media := func(word string, m Media) Message {
		return user(ShapeList, Block{Kind: KindMedia, Type: word, Media: &m})
	}
	part := func(p string) string { return `{"role":"user","content":[` + p + `]}` }
	checkReadings(t, FormatOpenAIChat, []reading{
		{"an image address", part(`{"type":"image_url","image_url":{"url":"https://example.com/i.png","detail":"high"}}`), media("image_url", Media{Kind: MediaImage, URI: "https://example.com/i.png", Detail: "high"})},
		{"an image as data", part(`{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}`), media("image_url", Media{Kind: MediaImage, MIMEType: "image/png", Data: "AAAA"})},
		{"an image address as a string", part(`{"type":"image_url","image_url":"https://example.com/i.png"}`), media("image_url", Media{Kind: MediaImage, URI: "https://example.com/i.png"})},
		{"audio", part(`{"type":"input_audio","input_audio":{"data":"UklG","format":"wav"}}`), media("input_audio", Media{Kind: MediaAudio, MIMEType: "audio/wav", Data: "UklG"})},
		{"a file by id", part(`{"type":"file","file":{"file_id":"file-1"}}`), media("file", Media{Kind: MediaFile, URI: "file-1"})},
		{"a PDF as data", part(`{"type":"file","file":{"filename":"a.pdf","file_data":"DATA:application/pdf;base64,JVBE"}}`), media("file", Media{Kind: MediaDocument, MIMEType: "application/pdf", Data: "JVBE", Filename: "a.pdf"})},
		{"a video address", part(`{"type":"video_url","video_url":{"url":"https://example.com/v.mp4"}}`), media("video_url", Media{Kind: MediaVideo, URI: "https://example.com/v.mp4"})},
		{"an audio address", part(`{"type":"audio_url","audio_url":{"url":"https://example.com/a.mp3"}}`), media("audio_url", Media{Kind: MediaAudio, URI: "https://example.com/a.mp3"})},
		{"a data address without a comma is an address", part(`{"type":"image_url","image_url":{"url":"data:image/png"}}`), media("image_url", Media{Kind: MediaImage, URI: "data:image/png"})},
		{"an image without a source", part(`{"type":"image_url"}`), user(ShapeList, opaque("image_url", `{"type":"image_url"}`))},
	})
}

func TestOpenAIToolsAreRead(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       []Tool
	}{
		{"functions of tools", `"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type": "object"},"strict":true}}]`, []Tool{{Type: "function", Name: "f", Description: "d", Schema: `{"type": "object"}`}}},
		{"flat tools", `"tools":[{"type":"function","name":"f","parameters":null}]`, []Tool{{Type: "function", Name: "f"}}},
		{"a custom tool", `"tools":[{"type":"custom","custom":{"name":"c","description":"d"}}]`, []Tool{{Type: "custom", Name: "c", Description: "d"}}},
		{"legacy functions", `"functions":[{"name":"f","description":"d","parameters":{}}]`, []Tool{{Name: "f", Description: "d", Schema: "{}"}}},
		{"tools win over functions that follow", `"tools":[{"type":"function","name":"a"}],"functions":[{"name":"b"}]`, []Tool{{Type: "function", Name: "a"}}},
		{"tools win over functions before them", `"functions":[{"name":"b"}],"tools":[{"type":"function","name":"a"}]`, []Tool{{Type: "function", Name: "a"}}},
		{"null tools do not win", `"functions":[{"name":"b"}],"tools":null`, []Tool{{Name: "b"}}},
		{"no tools", `"tools":[]`, nil},
		{"a name inside the name is not read", `"tools":[{"type":"function","function":{"name":"f","type":"x","function":{"name":"g"}}}]`, []Tool{{Type: "function", Name: "f"}}},
		{"a mark on the tool", `"tools":[{"name":"f","cache_control":{"type":"ephemeral","ttl":"1h"}}]`, []Tool{{Name: "f", Mark: &Mark{TTL: "1h"}}}},
		{"a mark on its function", `"tools":[{"function":{"name":"f","cache_control":{"type":"ephemeral"}}}]`, []Tool{{Name: "f", Mark: &Mark{}}}},
		{"both: the first counts", `"tools":[{"function":{"name":"f","cache_control":{"type":"ephemeral"}},"cache_control":{"type":"ephemeral","ttl":"1h"}}]`, []Tool{{Name: "f", Mark: &Mark{}, Strays: []*Mark{{TTL: "1h"}}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := mustParse(t, FormatOpenAIChat, `{"messages":[],`+c.body+`}`)
			checkSpans(t, got)
			_, tools, _ := saidRequest(got)
			for i := range tools {
				tools[i].Raw = ""
			}
			checkSame(t, "tools", c.want, tools)
		})
	}
}

func TestOpenAIBodiesAreReadBesideTheirMessages(t *testing.T) {
	c := mustParse(t, FormatOpenAIChat, ` {"model":"gpt-4o","system":"not a member of this API","thinking":{"type":"enabled"},"messages":[{"role":"user","content":"x"}],"n":1} `)
	if c.Model != "gpt-4o" || c.Bare || c.System != nil || c.ThinkingOn || len(c.Messages) != 1 {
		t.Errorf("got %+v", c)
	}
	if c = mustParse(t, FormatOpenAIChat, " [] "); !c.Bare || len(c.Messages) != 0 {
		t.Errorf("got %+v", c)
	}
}
