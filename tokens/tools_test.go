package tokens

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/conversation"
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

func TestSetupFollowsToolChoiceAndSystemMessage(t *testing.T) {
	c, r := NewCounter(), newRegistry(t)
	setup := func(model string, conv *conversation.Conversation) int {
		t.Helper()
		cost, err := c.CountSetup(t.Context(), conv, r.Lookup(model))
		if err != nil {
			t.Fatal(err)
		}
		return cost.Tokens()
	}
	const (
		user       = `{"role":"user","content":"hi"}`
		system     = `{"role":"system","content":"x"},`
		tools      = `,"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object","properties":{"pier":{"type":"integer"}}}}}]`
		claudeTool = `,"tools":[{"name":"look","input_schema":{"type":"object"}}]`
	)
	gpt := func(system, rest string) int {
		return setup("gpt-4o", openAI(t, `{"messages":[`+system+user+`]`+rest+`}`))
	}
	free := gpt("", tools)
	for _, x := range []struct {
		name         string
		system, rest string
		want         int
	}{
		{"auto", "", tools + `,"tool_choice":"auto"`, free},
		{"required", "", tools + `,"tool_choice":"required"`, free},
		{"none", "", tools + `,"tool_choice":"none"`, free + 1},
		{"a function", "", tools + `,"tool_choice":{"type":"function","function":{"name":"look"}}`, free + 5},
		{"an older form", "", tools + `,"function_call":{"name":"look"}`, free + 5},
		{"a choice that is neither", "", tools + `,"tool_choice":7`, free},
		{"with a system message", system, tools, free - 4},
		{"no tools", "", `,"tool_choice":"none"`, 0},
		{"no tools and a system message", system, "", 0},
	} {
		if got := gpt(x.system, x.rest); got != x.want {
			t.Errorf("gpt-4o, %s: %d tokens, want %d", x.name, got, x.want)
		}
	}
	for model, columns := range map[string][2]int{
		"claude-opus-4-8": {290, 410}, "claude-opus-4-7": {675, 804}, "claude-opus-4-6": {497, 589}, "claude-sonnet-4-6": {497, 589},
		"claude-opus-4-5": {496, 588}, "claude-sonnet-4-5": {496, 588}, "claude-haiku-4-5": {496, 588}, "claude-opus-4-1": {313, 315},
		"claude-opus-4": {313, 315}, "claude-sonnet-4": {313, 315}, "claude-opus-5": {286, 406}, "claude-sonnet-5": {354, 474},
		"claude-3-5-haiku": {264, 355}, "claude-3-7-sonnet": {346, 313}, "claude-3-5-sonnet-20241022": {346, 313},
		"claude-3-5-sonnet-20240620": {294, 261}, "claude-3-opus": {530, 281}, "claude-3-sonnet": {159, 235}, "claude-3-haiku": {264, 340},
	} {
		m := r.Lookup(model)
		if got := [2]int{m.ToolPrompt, m.ToolPromptForced}; got != columns {
			t.Errorf("%s: tool system prompts of %v tokens, want %v", model, got, columns)
		}
		size := func(choice string) int {
			return setup(model, anthropic(t, `{"messages":[`+user+`]`+claudeTool+choice+`}`))
		}
		auto := size("")
		for choice, want := range map[string]int{"auto": auto, "none": auto, "any": auto - columns[0] + columns[1], "tool": auto - columns[0] + columns[1]} {
			name := ""
			if choice == "tool" {
				name = `,"name":"look"`
			}
			if got := size(`,"tool_choice":{"type":"` + choice + `"` + name + `}`); got != want {
				t.Errorf("%s, %s: %d tokens, want %d", model, choice, got, want)
			}
		}
	}
}

func TestThinkingCostsASystemPromptUpToClaude46(t *testing.T) {
	c, r := NewCounter(), newRegistry(t)
	size := func(model, thinking string) int {
		return report(t, c, anthropic(t, `{"messages":[{"role":"user","content":"hi"}]`+thinking+`}`), r.Lookup(model)).Tokens
	}
	const on, off = `,"thinking":{"type":"enabled","budget_tokens":1024}`, `,"thinking":{"type":"disabled"}`
	for model, want := range map[string]int{"claude-sonnet-4-5": thinkingPrompt, "claude-opus-5": 0} {
		if got := size(model, on) - size(model, ""); got != want {
			t.Errorf("%s: thinking costs %d tokens, want %d", model, got, want)
		}
		if size(model, off) != size(model, "") {
			t.Errorf("%s: thinking that is off costs something", model)
		}
	}
}

// A deferred tool is in the prompt once a search has found it.
func TestDeferredToolsCountOnceFound(t *testing.T) {
	c, r := NewCounter(), newRegistry(t)
	const (
		definition = `"name":"tide","description":"Tell the tide","input_schema":{"type":"object","properties":{"day":{"type":"string"}}}`
		look       = `{"name":"look","input_schema":{"type":"object"}}`
		reference  = `{"type":"tool_reference","tool_name":"tide"}`
	)
	body := func(tools, results string) string {
		return `{"tools":[` + tools + `],"messages":[{"role":"user","content":"hi"},
			{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"search","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[` + results + `]}]}]}`
	}
	for _, model := range []string{"claude-haiku-4-5", "claude-opus-5"} {
		m := r.Lookup(model)
		size := func(tools, results string) Report {
			return report(t, c, anthropic(t, body(tools, results)), m)
		}
		hidden := size(look+`,{"defer_loading":true,`+definition+`}`, "").Tools
		once := size(look+`,{"defer_loading":true,`+definition+`}`, reference)
		twice := size(look+`,{"defer_loading":true,`+definition+`}`, reference+","+reference).Tools
		loaded := size(look+`,{`+definition+`}`, "").Tools
		added := 0
		if m.Family == FamilyClaude5 {
			added = deferredTools
		}
		if none := size(look, "").Tools; hidden != none+added {
			t.Errorf("%s: %d tokens with a hidden tool, %d without", model, hidden, none)
		}
		if got := once.Tools - added; got < loaded-1 || got > loaded+1 || twice != once.Tools {
			t.Errorf("%s: found %d, found twice %d, never deferred %d", model, got, twice-added, loaded)
		}
		if len(once.Warnings) != 0 {
			t.Errorf("%s: warnings %v", model, once.Warnings)
		}
		if stray := size(look, reference); stray.Tools != size(look, "").Tools {
			t.Errorf("%s: a reference to nothing costs %d", model, stray.Tools)
		}
	}
}

// What the client's JSON encoder does makes no difference to what the provider shows the model.
func TestEncodersDoNotChangeTheCount(t *testing.T) {
	c, r := NewCounter(), newRegistry(t)
	const short = `{"tools":[{"name":"look","description":"看","input_schema":{"type":"object","properties":{"船":{"type":"string","description":"船の名前 ⚓ 🛥"}}}},{"type":"web_search_20250305","name":"web_search"}],
		"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"look","input":{"船":"灯台 🛥","n":[1,2]}}]}]}`
	long := strings.NewReplacer(
		"看", `\u770b`, "船", `\u8239`, "の", `\u306e`, "名", `\u540d`, "前", `\u524d`, "灯", `\u706F`, "台", `\u53f0`, "⚓", `\u2693`, "🛥", `\ud83d\udee5`,
		`":`, `" : `, `,"`, ` , "`, "[1,2]", "[ 1, 2 ]",
		`"name":"web_search"`, `"name":"web_search","cache_control":{"type":"ephemeral"}`).Replace(short)
	for _, model := range []string{"claude-opus-5", "gpt-4o", "gemini-3-pro"} {
		m := r.Lookup(model)
		if a, b := report(t, c, anthropic(t, short), m), report(t, c, anthropic(t, long), m); a.Tokens != b.Tokens {
			t.Errorf("%s: %+v, written another way %+v", model, a.Parts, b.Parts)
		}
	}
	for text, want := range map[string]string{
		`{"a b": "\\u8239 \" \n \u0041 \ud83d \ud83dx \u12"}`: `{"a b":"\\u8239 \" \n \u0041 ` + "\ufffd \ufffd" + `x \u12"}`,
		`"\`:                                  `"\`,
		`"\u`:                                 `"\u`,
		"[ 1 ,\t\"\\u00e9 \\ud83d\\udee5\" ]": `[1,"é 🛥"]`,
	} {
		if got := compact(text); got != want {
			t.Errorf("compact(%s) = %s, want %s", text, got, want)
		}
	}
}

func TestToolsTheModelKnowsCountWithWhatTheProviderAdds(t *testing.T) {
	c, r := NewCounter(), newRegistry(t)
	size := func(model, tool string) int {
		return report(t, c, anthropic(t, `{"messages":[{"role":"user","content":"hi"}],"tools":[`+tool+`]}`), r.Lookup(model)).Parts.Tools
	}
	claude := r.Lookup("claude-sonnet-4-5")
	for tool, want := range map[string]int{
		`{"type":"bash_20250124","name":"bash"}`:                                 245,
		`{"type":"text_editor_20250728","name":"str_replace_based_edit_tool"}`:   700,
		`{"type":"computer_20250124","name":"computer","display_width_px":1024}`: 735,
		`{"name":"bash_","description":"","input_schema":{"type":"object"}}`:     size("claude-sonnet-4-5", `{"name":"bash_","description":"","input_schema":{"type":"object"},"type":"custom"}`) - claude.ToolPrompt - claudeFrame(7).tool,
	} {
		if got := size("claude-sonnet-4-5", tool) - claude.ToolPrompt - claudeFrame(7).tool; got != want {
			t.Errorf("%s: %d tokens, want %d", tool, got, want)
		}
	}
	// Declarations in Gemini's form, which no dialect here reads, count as they are written.
	if got := size("gemini-3-pro", `{"functionDeclarations":[{"name":"look","description":"Look at a pier and report the boats","parameters":{"type":"object"}}]}`); got < 20 {
		t.Errorf("declarations cost %d tokens", got)
	}
}
