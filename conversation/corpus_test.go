package conversation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

// sample is a made-up request that holds shapes real agents send.
type sample struct {
	name   string
	format Format
	json   string
}

// samples are requests that parse, in both formats, as the seeds of property
// tests and fuzz targets.
var samples = []sample{
	{"openai text", FormatOpenAIChat, `{"model":"gpt-4o","temperature":0.70,"messages":[
		{"role":"system","content":"Clerk."},
		{"role":"developer","content":[{"type":"text","text":"Be brief."}]},
		{"role":"user","content":"h\u00e9llo \ud83d\ude00 \"x\"\n","name":"ann"},
		{"role":"assistant","content":"hi","refusal":null,"annotations":[]},
		{"content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo=","detail":"low"}},"bare"],"role":"user"}],"stream":true}`},
	{"openai calls", FormatOpenAIChat, `{"tools":[{"type":"function","function":{"name":"tides","description":"d","parameters":{"type":"object"}}},
		{"type":"function","cache_control":{"type":"ephemeral"},"function":{"name":"b","cache_control":null}},{"type":"custom","custom":{"name":"c"}}],"messages":[
		{"role":"user","content":"go"},
		{"role":"assistant","content":null,"reasoning_content":"thinking about it","tool_calls":[
			{"id":"c1","type":"function","function":{"name":"tides","arguments":"{\"port\":\"Lark\"}"},"index":0},
			{"id":"c2","type":"function","function":{"arguments":{"port":1e400},"name":"tides"},"extra_content":{"google":{"thought_signature":"AbC="}}},
			{"id":"c3","function":{"name":"tides","arguments":null}},{"id":"c4","function":{"name":"tides"}}, "loose", 7],"x":[1,{"y":null}]},
		{"role":"tool","tool_call_id":"c1","content":"3.2 m"},
		{"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"one","cache_control":{"type":"ephemeral"}},{"type":"text","text":"two"},"three"]},
		{"role":"tool","tool_call_id":"c3","content":null,"cache_control":{"type":"ephemeral","ttl":"1h"}},
		{"role":"tool","tool_call_id":"c4"},
		{"role":"assistant","content":"","reasoning":"alias","refusal":"no","audio":{"id":"audio_1"}}]}`},
	{"openai legacy", FormatOpenAIChat, `{"functions":[{"name":"f","parameters":{}}],"messages":[{"role":"user","content":"q"},
		{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{\"a\": [\"x\"]}"}},{"role":"function","name":"f","content":"out"},
		{"role":"assistant","function_call":{"name":"f","arguments":"{}"}}]}`},
	{"openai odd shapes", FormatOpenAIChat, `[{"role":"exit","content":{"a":1}},{"role":"user","content":17},{"role":"user","content":[]},{"role":"assistant"},
		{"role":"user","content":[{},[],7,null,true,"s",{"type":"text","text":null},{"type":"later","cache_control":{"type":"ephemeral"}}]},{"role":"user","content":""},
		{"role":"assistant","tool_calls":[],"content":null},{"role":"assistant","tool_calls":null,"function_call":null,"audio":null,"content":"\ud800 lone"}]`},
	{"openai media", FormatOpenAIChat, `{"messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}},
		{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERi0="}},{"type":"file","file":{"file_id":"file-1"}},
		{"type":"video_url","video_url":{"url":"https://example.com/v.mp4"}},{"type":"image_url","image_url":"https://example.com/i.png"}]}]}`},
	{"anthropic text", FormatAnthropicMessages, `{"model":"claude","system":"You are a clerk.","thinking":{"type":"enabled","budget_tokens":1024},"messages":[
		{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"text","text":"hello","citations":null}]},
		{"role":"user","content":[{"type":"text","text":"again","cache_control":{"type":"ephemeral"}}]}],"max_tokens":10}`},
	{"anthropic tools", FormatAnthropicMessages, `{"cache_control":{"type":"ephemeral"},"tools":[{"name":"a","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral","ttl":"1h"}},
		{"cache_control":null,"name":"b"},{"type":"web_search_20250305","name":"web_search","defer_loading":true}, {"cache_control":{"type":"ephemeral"}}],
		"system":[{"type":"text","text":"one"},"two",{"cache_control":{"type":"ephemeral"},"type":"text","text":"three"}],"messages":[
		{"role":"user","content":"go"},
		{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"redacted_thinking","data":"ZW5j"},{"type":"text","text":"looking"},
			{"type":"tool_use","id":"t1","name":"a","input":{"p":"x","n":1.50}},{"type":"tool_use","id":"t2","name":"b","input":{},"caller":{"type":"code_execution_20250825","tool_id":"s1"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"found","cache_control":{"type":"ephemeral"}},
			{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":[{"type":"text","text":"no"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},"bare"]},
			{"type":"tool_result","tool_use_id":"t3"},{"type":"tool_result","tool_use_id":"t4","content":null},{"type":"text","text":"go on"}]},
		{"role":"assistant","content":[{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"q"}},
			{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result","url":"u","encrypted_content":"e","cache_control":{"type":"ephemeral"}}]},
			{"type":"mcp_tool_use","id":"m1","name":"n","server_name":"s","input":{}},{"type":"mcp_tool_result","tool_use_id":"m1","content":[]},
			{"type":"compaction","content":"summary"},{"type":"text","text":"done"}],"cache_control":{"type":"ephemeral"}}]}`},
	{"anthropic documents", FormatAnthropicMessages, `[{"role":"user","content":[
		{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0="},"title":"t"},
		{"type":"document","source":{"type":"text","media_type":"text/plain","data":"plain, text"}},
		{"type":"document","source":{"type":"content","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"b"}]}},
		{"type":"document","source":{"type":"url","url":"https://example.com/a.pdf"}},{"type":"document","source":{"type":"file","file_id":"file_1"}},
		{"type":"image","source":{"type":"url","url":"https://example.com/i.png"},"cache_control":null},{"type":"container_upload","file_id":"f"}]},
		{"content":"   ","role":"user"},{"role":"assistant","content":"x"},{"role":"user","content":null},{"role":"user"}]`},
	{"anthropic turns", FormatAnthropicMessages, `{"messages":[{"role":"user","content":"1"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n","input":{}}]},
		{"role":"assistant","content":[{"type":"tool_use","id":"b","name":"n","input":null},{"type":"tool_use","id":"c","name":"n"}]},{"role":"user","content":"late"},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r"}]},{"role":"assistant","content":"2"},{"role":"user","content":""}]}`},
	{"no messages at all", FormatOpenAIChat, `{"messages":[]}`},
	{"an empty bare list", FormatAnthropicMessages, ` [ ] `},
	{"one message", FormatOpenAIChat, `[{"role":"user","content":"only"}]`},
}

// forms returns every sample as written, indented, and without any white space.
func forms(t testing.TB) []sample {
	t.Helper()
	var out []sample
	for _, s := range samples {
		var indented, compact bytes.Buffer
		if err := json.Indent(&indented, []byte(s.json), "\r", "\t "); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if err := json.Compact(&compact, []byte(s.json)); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		out = append(out, s,
			sample{s.name + ", indented", s.format, indented.String()},
			sample{s.name + ", compact", s.format, compact.String()})
	}
	return out
}

// mustParse parses input that is known to be good.
func mustParse(t testing.TB, format Format, src string) *Conversation {
	t.Helper()
	c, err := Parse(format, src, Limits{})
	if err != nil {
		t.Fatalf("%s: %v\n%s", format, err, clip(src, 2000))
	}
	return c
}

// member is one member of a JSON object as encoding/json sees it.
type member struct {
	key   string
	value json.RawMessage
}

// object lists the members of a JSON object in order.
func object(raw []byte) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, fmt.Errorf("not an object: %v %v", tok, err)
	}
	var out []member
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		out = append(out, member{key.(string), value})
	}
	return out, nil
}

// array lists the elements of a JSON array, nil when it is none.
func array(raw []byte) []json.RawMessage {
	var out []json.RawMessage
	if json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}

// request is a request body, or a bare list, as encoding/json sees it.
type request struct {
	members  []member
	tools    []json.RawMessage
	system   []json.RawMessage // a system prompt that is no list is one element
	messages []json.RawMessage
}

func decode(t testing.TB, format Format, src string) request {
	t.Helper()
	if !json.Valid([]byte(src)) {
		t.Fatalf("not valid JSON: %s", clip(src, 4000))
	}
	if list := array([]byte(src)); list != nil {
		return request{messages: list}
	}
	members, err := object([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	r := request{members: members}
	for _, m := range members {
		switch {
		case m.key == "tools" && string(m.value) != "null":
			r.tools = array(m.value)
		case m.key == "messages":
			r.messages = array(m.value)
		case m.key == "system" && format == FormatAnthropicMessages && string(m.value) != "null":
			if r.system = array(m.value); r.system == nil {
				r.system = []json.RawMessage{m.value}
			}
		}
	}
	if format == FormatOpenAIChat && !r.has("tools") {
		for _, m := range members {
			if m.key == "functions" {
				r.tools = array(m.value)
			}
		}
	}
	return r
}

// has reports whether a member is there and is a list.
func (r request) has(key string) bool {
	return slices.ContainsFunc(r.members, func(m member) bool { return m.key == key && array(m.value) != nil })
}
