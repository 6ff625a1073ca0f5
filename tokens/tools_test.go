package tokens

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestToolDefinitionsOfOpenAIAreTypeScript(t *testing.T) {
	conv := openAI(t, `{"messages":[],"tools":[
		{"type":"function","function":{"name":"look","description":"Look at a pier.\nTwice.","parameters":{"type":"object","properties":{
			"pier":{"type":"integer","description":"Its number"},
			"day":{"type":"string","enum":["today","tomorrow"]},
			"tags":{"type":"array","items":{"type":"string"}},
			"where":{"type":"object","properties":{"x":{"type":"number"}},"required":["x"]},
			"note":{"anyOf":[{"type":"string"},{"type":"null"}]},
			"either":{"type":["string","null"]},
			"any":{}},"required":["pier","where"]}}},
		{"type":"function","function":{"name":"stop"}}]}`)
	var got []string
	for i := range conv.Tools {
		got = append(got, definition(&conv.Tools[i], newRegistry(t).Lookup("gpt-4o")))
	}
	want := []string{
		"// Look at a pier.\n// Twice.\ntype look = (_: {\n// Its number\npier: number,\nday?: \"today\" | \"tomorrow\",\ntags?: string[],\n" +
			"where: {\nx: number,\n},\nnote?: string | null,\neither?: string | null,\nany?: any,\n}) => any;\n\n",
		"type stop = () => any;\n\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestToolDefinitionsElsewhereAreCompactJSON(t *testing.T) {
	conv := anthropic(t, `{"messages":[],"tools":[
		{"name":"look","description":"Look \"up\"","input_schema":{ "type": "object",
			"properties": {"a b": {"type": "string", "default": " x "}} },"cache_control":{"type":"ephemeral"}},
		{"type":"web_search_20250305", "name":"web_search"}]}`)
	var got []string
	for i := range conv.Tools {
		got = append(got, definition(&conv.Tools[i], newRegistry(t).Lookup("claude-opus-5")))
	}
	want := []string{
		`{"description":"Look \"up\"","name":"look","parameters":{"type":"object","properties":{"a b":{"type":"string","default":" x "}}}}`,
		`{"type":"web_search_20250305","name":"web_search"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestClaudeAddsItsToolPromptOnceAndNothingForDeferredTools(t *testing.T) {
	c, claude := NewCounter(), newRegistry(t).Lookup("claude-sonnet-4-5")
	const message = `"messages":[{"role":"user","content":"hi"}]`
	tool := func(extra string) string { return `{"name":"look","input_schema":{"type":"object"}` + extra + `}` }
	size := func(tools ...string) int {
		return report(t, c, anthropic(t, `{`+message+`,"tools":[`+strings.Join(tools, ",")+`]}`), claude).Tools
	}
	one, two := size(tool("")), size(tool(""), tool(""))
	if none := size(); none != 0 {
		t.Errorf("no tools cost %d", none)
	}
	if one <= claude.ToolPrompt || two-one != one-claude.ToolPrompt && two-one != one-claude.ToolPrompt+1 && two-one != one-claude.ToolPrompt-1 {
		t.Errorf("one tool costs %d, two %d: the tool prompt of %d must be added once", one, two, claude.ToolPrompt)
	}
	if deferred := size(tool(`,"defer_loading":true`)); deferred != 0 {
		t.Errorf("a deferred tool costs %d", deferred)
	}
	if marked := size(tool(`,"cache_control":{"type":"ephemeral"}`)); marked != one {
		t.Errorf("a marked tool costs %d, an unmarked one %d", marked, one)
	}
}
