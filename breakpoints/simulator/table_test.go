package simulator

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/conversation"
)

// body is a request with a mark at the end of each tier.
const body = `{"model":"claude-opus-5","max_tokens":100,
"tools":[{"name":"read","description":"Read a file.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}},
{"name":"write","description":"Write a file.","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}],
"system":[{"type":"text","text":"You are careful. Today is 2026-11-29.","cache_control":{"type":"ephemeral"}}],
"messages":[{"role":"user","content":"Look at the file."},
{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"read","input":{"path":"a.go","line":1}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"package a\nfunc A() {}"},{"type":"text","text":"And now?","cache_control":{"type":"ephemeral"}}]}]}`

// The sizes that the tests give to the blocks of body.
const (
	toolSize, systemSize, messageSize = 2_000, 3_000, 1_000
	allTools                          = 2 * toolSize
	toolsAndSystem                    = allTools + systemSize
)

// uniform sizes every block of a tier alike.
func uniform(c *conversation.Conversation) *Sizes {
	s := &Sizes{Messages: make([][]int, len(c.Messages))}
	for range c.Tools {
		s.Tools = append(s.Tools, toolSize)
	}
	if c.System != nil {
		for range c.System.Blocks {
			s.System = append(s.System, systemSize)
		}
	}
	for i := range c.Messages {
		for range c.Messages[i].Blocks {
			s.Messages[i] = append(s.Messages[i], messageSize)
		}
	}
	return s
}

func readBody(t testing.TB, format conversation.Format, json string, rules *Rules) *Prompt {
	t.Helper()
	c, err := conversation.Parse(format, json, conversation.Limits{})
	if err != nil {
		t.Fatalf("%v\n%s", err, json)
	}
	m, err := Read(c, c.Model, uniform(c))
	if err != nil {
		t.Fatal(err)
	}
	return m.Request(rules)
}

// after runs two bodies one after the other and returns what became of the second.
func after(t testing.TB, first, second string) *Outcome {
	t.Helper()
	rules, price := lookUp(t, breakpoints.LayoutAnthropic, "claude-opus-5", CountingDefault)
	report := mustRun(t, []Request{
		{Prompt: readBody(t, conversation.FormatAnthropicMessages, first, rules), Rules: rules, Price: price},
		{Prompt: readBody(t, conversation.FormatAnthropicMessages, second, rules), Rules: rules, Price: price, Start: time.Minute},
	})
	return &report.Outcomes[1]
}

func replace(old, with string) func(string) string {
	return func(s string) string { return strings.Replace(s, old, with, 1) }
}

func TestWhatInvalidatesWhat(t *testing.T) { // table 1.4
	const image = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}`
	for _, c := range []struct {
		name   string
		change func(string) string
		read   int
		code   string
		class  string
	}{
		{"nothing", func(s string) string { return s }, toolsAndSystem + 5*messageSize, "", ""},
		{"moved marks", func(s string) string {
			return replace(`"content":"Look at the file."`, `"content":[{"type":"text","text":"Look at the file.","cache_control":{"type":"ephemeral"}}]`)(
				replace(`"input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}`, `"input_schema":{"type":"object"}`)(s))
		}, toolsAndSystem + 5*messageSize, "", ""},
		{"a tool's description", replace("Write a file.", "Writes a file."), 0, CodeToolsDefinition, ""},
		{"a tool's schema", replace(`"type":"string"`, `"type":"number"`), 0, CodeToolsDefinition, ""},
		{"another tool", replace(`"tools":[`, `"tools":[{"name":"list","input_schema":{}},`), 0, CodeToolsSet, ""},
		{"one tool less", replace(`{"name":"read","description":"Read a file.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}},`, ""), 0, CodeToolsSet, ""},
		{"the tools in another order", func(string) string {
			return replace(`{"name":"read"`, `{"name":"write","description":"Write a file.","input_schema":{"type":"object"}},{"name":"read"`)(
				replace(`,
{"name":"write","description":"Write a file.","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}`, "")(body))
		}, 0, CodeToolsOrder, ""},
		{"a tool's keys in another order", replace(`"name":"read","description":"Read a file."`, `"description":"Read a file.","name":"read"`), 0, CodeToolsSerialization, ""},
		{"a deferred tool", replace(`"tools":[`, `"tools":[{"name":"rare","input_schema":{},"defer_loading":true},`), toolsAndSystem + 5*messageSize, "", ""},
		{"the model", replace("claude-opus-5", "claude-opus-5-5"), 0, CodeModelChanged, "model"},
		{"the system text", replace("You are careful.", "You are quick."), allTools, CodeSystemText, ""},
		{"a date in the system text", replace("2026-11-29", "2026-11-30"), allTools, CodeSystemVolatile, "date"},
		{"web search", replace(`"tools":[`, `"tools":[{"type":"web_search_20250305","name":"web_search"},`), allTools, CodeParamsChanged, "web_search"},
		{"citations", replace(`"content":"Look at the file."`, `"content":[{"type":"text","text":"Look at the file."},{"type":"document","citations":{"enabled":true},"source":{"type":"text","media_type":"text/plain","data":"x"}}]`), allTools, CodeParamsChanged, "citations"},
		{"speed", replace(`"max_tokens"`, `"speed":"fast","max_tokens"`), allTools, CodeParamsChanged, "speed"},
		{"the default speed, written out", replace(`"max_tokens"`, `"speed":"standard","max_tokens"`), toolsAndSystem + 5*messageSize, "", ""},
		{"tool_choice", replace(`"max_tokens"`, `"tool_choice":{"type":"any"},"max_tokens"`), toolsAndSystem, CodeParamsChanged, "tool_choice"},
		{"an image", replace(`"content":"Look at the file."`, `"content":[{"type":"text","text":"Look at the file."},`+image+`]`), toolsAndSystem, CodeParamsChanged, "images"},
		{"an image at the end", replace(`"text":"And now?"`, `"text":"And now?"},`+image+`,{"type":"text","text":"And this?"`), toolsAndSystem, CodeParamsChanged, "images"},
		{"thinking", replace(`"max_tokens"`, `"thinking":{"type":"enabled","budget_tokens":2000},"max_tokens"`), toolsAndSystem, CodeParamsChanged, "thinking"},
		{"effort", replace(`"max_tokens"`, `"output_config":{"effort":"low"},"max_tokens"`), toolsAndSystem, CodeParamsChanged, "output_config.effort"},
		{"the default effort, written out", replace(`"max_tokens"`, `"output_config":{"effort":"high"},"max_tokens"`), toolsAndSystem + 5*messageSize, "", ""},
		{"the output format", replace(`"max_tokens"`, `"output_config":{"format":{"type":"json_schema"}},"max_tokens"`), toolsAndSystem, CodeParamsChanged, "output_config.format"},
		{"a task budget", replace(`"max_tokens"`, `"output_config":{"task_budget":{"type":"tokens","total":9}},"max_tokens"`), toolsAndSystem, CodeParamsChanged, "output_config.task_budget"},
		{"max_tokens and temperature", replace(`"max_tokens":100`, `"temperature":0.5,"max_tokens":200`), toolsAndSystem + 5*messageSize, "", ""},
		{"an edited message", replace("Look at the file.", "Look at the files."), toolsAndSystem, CodeMessagesEdit, ""},
		{"a removed block", replace(`{"type":"text","text":"I look."},`, ""), toolsAndSystem, CodeMessagesDelete, ""},
		{"an inserted block", replace(`{"type":"text","text":"I look."},`, `{"type":"text","text":"I look."},{"type":"text","text":"Twice."},`), toolsAndSystem, CodeMessagesInsert, ""},
		{"input with other white space", replace(`{"path":"a.go","line":1}`, `{"path": "a.go", "line": 1}`), toolsAndSystem, CodeMessagesWhitespace, ""},
		{"input with its keys in another order", replace(`{"path":"a.go","line":1}`, `{"line":1,"path":"a.go"}`), toolsAndSystem, CodeMessagesKeyOrder, ""},
		{"input with a number in another form", replace(`"line":1`, `"line":1.0`), toolsAndSystem, CodeMessagesNumberFormat, ""},
		{"input with an escape", replace(`"path":"a.go"`, `"path":"\u0061.go"`), toolsAndSystem, CodeMessagesUnicode, ""},
		{"text with an escape, which is the same text", replace("Look at", `\u004cook at`), toolsAndSystem + 5*messageSize, "", ""},
		{"content as a list, which is the same text", replace(`"content":"Look at the file."`, `"content":[{"type":"text","text":"Look at the file."}]`), toolsAndSystem + 5*messageSize, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			second := c.change(body)
			if c.read != toolsAndSystem+5*messageSize && second == body {
				t.Fatal("the change changes nothing")
			}
			got := after(t, body, second)
			if got.Read != c.read {
				t.Errorf("read %d tokens, want %d", got.Read, c.read)
			}
			var code, class string
			evidence := EvidenceBytes
			for _, f := range got.Findings {
				if f.Evidence == EvidenceBytes && (code == "" || f.Code == c.code && f.Class == c.class) {
					code, class, evidence = f.Code, f.Class, f.Evidence
				}
			}
			if code != c.code || class != c.class || evidence != EvidenceBytes {
				t.Errorf("found %s %s, want %s %s; all: %+v", code, class, c.code, c.class, got.Findings)
			}
		})
	}
}

func TestFirstDifferingByte(t *testing.T) {
	second := replace("2026-11-29", "2026-12-29")(body)
	got := after(t, body, second).Findings[0]
	if want := strings.Index(second, "2026-12-29") + len("2026-1"); got.Offset != want {
		t.Errorf("offset %d, want %d", got.Offset, want)
	}
	if got.At.String() != "system[0]" || !strings.HasSuffix(got.Before, `2026-11-29."`) || !strings.HasSuffix(got.After, `2026-12-29."`) {
		t.Errorf("at %v, before %q, after %q", got.At, got.Before, got.After)
	}
	// 12,000 tokens were cached, 4,000 of them in the tools survive; all is written anew at 1.25 and could have been read at 0.1.
	if got.TokensLost != 8_000 || got.Now.BaseTokens != 8_000*1.15 || got.PerTurn != got.Now {
		t.Errorf("lost %d tokens, %v now and %v per turn", got.TokensLost, got.Now, got.PerTurn)
	}
	// Neither marks before the place nor marks inside the same definition shift it.
	inside := replace(`"name":"read","description":"Read a file."`, `"cache_control":{"type":"ephemeral"},"name":"read","description":"Read all files."`)(body)
	if got := after(t, body, inside).Findings[0]; got.Code != CodeToolsDefinition || got.Offset != strings.Index(inside, "ll files") {
		t.Errorf("offset %d of %s with a mark inside, want %d", got.Offset, got.Code, strings.Index(inside, "ll files"))
	}
	moved := replace(`"name":"read"`, `"cache_control":{"type":"ephemeral"},"name":"read"`)(second)
	if got := after(t, body, moved).Findings[0]; got.Offset != strings.Index(moved, "2026-12-29")+len("2026-1") {
		t.Errorf("offset %d with another mark before it", got.Offset)
	}
}

func TestThinkingThatAModelStrips(t *testing.T) {
	const first = `{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"a"},
{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"t","name":"x","input":{}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r","cache_control":{"type":"ephemeral"}}]}]}`
	second := strings.TrimSuffix(first, "]}") + `,{"role":"assistant","content":"done"},{"role":"user","content":[{"type":"text","text":"more","cache_control":{"type":"ephemeral"}}]}]}`
	for model, want := range map[string]string{"claude-sonnet-4-5": CodeThinkingStripped, "claude-opus-5": ""} {
		rules, price := lookUp(t, breakpoints.LayoutAnthropic, model, CountingDefault)
		report := mustRun(t, []Request{
			{Prompt: readBody(t, conversation.FormatAnthropicMessages, strings.Replace(first, "claude-sonnet-4-5", model, 1), rules), Rules: rules, Price: price},
			{Prompt: readBody(t, conversation.FormatAnthropicMessages, strings.Replace(second, "claude-sonnet-4-5", model, 1), rules), Rules: rules, Price: price, Start: time.Minute},
		})
		got := ""
		if f := report.Outcomes[1].Findings; len(f) > 0 {
			got = f[0].Code
		}
		if got != want {
			t.Errorf("%s: found %q, want %q", model, got, want)
		}
	}
}

func TestCompactionPaysBackLater(t *testing.T) {
	var long strings.Builder
	for i := range 30 {
		if i > 0 {
			long.WriteByte(',')
		}
		long.WriteString(`{"role":"` + []string{"user", "assistant"}[i%2] + `","content":"message ` + string(rune('a'+i)) + `"}`)
	}
	tail := `,{"role":"user","content":[{"type":"text","text":"go on","cache_control":{"type":"ephemeral"}}]}]}`
	first := `{"model":"claude-opus-5","messages":[` + long.String() + tail
	second := `{"model":"claude-opus-5","messages":[{"role":"user","content":"message a"},{"role":"user","content":"a summary of it all"}` + tail
	got := after(t, first, second).Findings[0]
	if got.Code != CodeMessagesCompaction || got.TokensLost != 2_000 {
		t.Errorf("found %+v", got)
	}
	// W = 2,000 anew, S = 28,000 fewer: 11.5 * 2/28 turns.
	if want := "paid back after about 1 turns"; !strings.Contains(got.Detail, want) {
		t.Errorf("detail %q, want %q", got.Detail, want)
	}
}

func TestVolatileText(t *testing.T) {
	for _, c := range []struct{ a, b, class string }{
		{"now 2026-11-29", "now 2026-11-30", "date"},
		{"Today is Sunday, November 29, 2026.", "Today is Monday, November 30, 2026.", "date"},
		{"it is 10:15", "it is 10:16", "time"},
		{"at 2026-11-29T10:15:00Z", "at 2026-11-30T11:16:01.5Z", "time"},
		{"id 123e4567-e89b-12d3-a456-426614174000", "id 123e4567-e89b-12d3-a456-426614174001", "uuid"},
		{"HEAD is a1b2c3d", "HEAD is a1b2c3e", "hash"},
		{"in /home/dev/a", "in /home/dev/b/c", "path"},
		{"turn 4 of 9", "turn 5 of 9", "counter"},
		{"Git branch: main\nend", "Git branch: fix\nend", "git state"},
		{"one  two", "one two", "white space"},
		{"You are careful", "You are quick", ""},
		{"same", "same and more", ""},
	} {
		if got := volatile(c.a, c.b); got != c.class {
			t.Errorf("%q and %q differ in %q, want %q", c.a, c.b, got, c.class)
		}
	}
}

func TestRejections(t *testing.T) { // table 1.9
	mark := `"cache_control":{"type":"ephemeral"}`
	long := `"cache_control":{"type":"ephemeral","ttl":"1h"}`
	user := func(blocks string) string {
		return `{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":[` + blocks + `]}]}`
	}
	text := func(m string) string { return `{"type":"text","text":"x",` + m + `}` }
	for _, c := range []struct {
		name, json, code, text string
		layout                 breakpoints.Layout
	}{
		{"four marks", user(strings.Repeat(text(mark)+",", 3) + text(mark)), "", "", 0},
		{"five marks", user(strings.Repeat(text(mark)+",", 4) + text(mark)), CodeTooManyMarkers, "Found 5.", 0},
		{"five over three sections", strings.Replace(strings.Replace(body, `"text":"I look."`, `"text":"I look.",`+mark, 1), `"id":"t1"`, `"id":"t1",`+mark, 1), CodeTooManyMarkers, "Found 5.", 0},
		{"1h after 5m", user(text(mark) + "," + text(long)), CodeTTLOrder, "must not come after", 0},
		{"a life of two hours", user(text(`"cache_control":{"type":"ephemeral","ttl":"2h"}`)), CodeUnknownTTL, `"2h"`, 0},
		{"a life in seconds", user(text(`"cache_control":{"type":"ephemeral","ttl":3600}`)), CodeUnknownTTL, "3600", 0},
		{"a life of two hours for the whole", strings.Replace(user(text(mark)), `"model"`, `"cache_control":{"type":"ephemeral","ttl":"2h"},"model"`, 1), CodeUnknownTTL, `"2h"`, 0},
		{"a life that is null", user(text(`"cache_control":{"type":"ephemeral","ttl":null}`)), "", "", 0},
		{"a life of two hours that is lost on the way", `{"model":"claude-opus-5","messages":[{"role":"user","content":"x","cache_control":{"type":"ephemeral","ttl":"2h"}}]}`, CodeUnmarkable, "on the message", 0},
		{"5m after 1h", user(text(long) + "," + text(mark)), "", "", 0},
		{"empty text", user(`{"type":"text","text":"",` + mark + `}`), CodeUnmarkable, "empty text", 0},
		{"white space", user(`{"type":"text","text":" \n",` + mark + `}`), CodeUnmarkable, "empty text", 0},
		{"automatic and four", strings.Replace(user(strings.Repeat(text(mark)+",", 3)+text(mark)), `"model"`, mark+`,"model"`, 1), CodeAutoConflict, "", 0},
		{"automatic and three", strings.Replace(user(strings.Repeat(text(mark)+",", 2)+text(mark)), `"model"`, mark+`,"model"`, 1), "", "", 0},
		{"automatic with another life", strings.Replace(user(text(long)), `"model"`, mark+`,"model"`, 1), CodeAutoConflict, "1h", 0},
		{"automatic on legacy Bedrock", strings.Replace(strings.Replace(user(`{"type":"text","text":"x"}`), `"model"`, mark+`,"model"`, 1), "claude-opus-5", "claude-opus-4-6", 1), CodeAutoConflict, "", breakpoints.LayoutBedrockInvoke},
		{"automatic on new Bedrock", strings.Replace(user(`{"type":"text","text":"x"}`), `"model"`, mark+`,"model"`, 1), "", "", breakpoints.LayoutBedrockInvoke},
		{"a deferred tool", strings.Replace(body, `"name":"write"`, `"defer_loading":true,"name":"write"`, 1), CodeUnmarkable, "defer_loading", 0},
		{"thinking", `{"model":"claude-opus-5","messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"h","signature":"s",` + mark + `}]}]}`, CodeUnmarkable, "thinking", 0},
		{"a call made by code execution", `{"model":"claude-opus-5","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"x","input":{},"caller":{"type":"code_execution_20250825"},` + mark + `}]}]}`, CodeUnmarkable, "code execution", 0},
		{"the result of such a call", `{"model":"claude-opus-5","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"x","input":{},"caller":{"type":"code_execution_20250825"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r",` + mark + `}]}]}`, CodeUnmarkable, "code execution", 0},
		{"inside a tool result", user(`{"type":"tool_result","tool_use_id":"t","content":[` + text(mark) + `]}`), CodeUnmarkable, "inside a tool result", 0},
		{"inside a document", user(`{"type":"document","source":{"type":"content","content":[` + text(mark) + `]}}`), CodeUnmarkable, "inside a block", 0},
		{"on the message", `{"model":"claude-opus-5","messages":[{"role":"user","content":"x",` + mark + `}]}`, CodeUnmarkable, "on the message", 0},
		{"an endpoint that refuses marks", user(text(mark)), CodeUnmarkable, "refuses", breakpoints.LayoutMoonshot},
		{"warming with a stream", strings.Replace(user(text(mark)), `"max_tokens":9`, `"stream":true,"max_tokens":0`, 1), CodePrewarm, "stream", 0},
		{"warming with thinking", strings.Replace(user(text(mark)), `"max_tokens":9`, `"thinking":{"type":"enabled","budget_tokens":1024},"max_tokens":0`, 1), CodePrewarm, "thinking", 0},
		{"warming with a forced tool", strings.Replace(user(text(mark)), `"max_tokens":9`, `"tool_choice":{"type":"any"},"max_tokens":0`, 1), CodePrewarm, "tool_choice", 0},
		{"warming with a format", strings.Replace(user(text(mark)), `"max_tokens":9`, `"output_config":{"format":{"type":"json_schema"}},"max_tokens":0`, 1), CodePrewarm, "format", 0},
		{"warming", strings.Replace(user(text(mark)), `"max_tokens":9`, `"max_tokens":0`, 1), "", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			layout := c.layout
			if layout == breakpoints.LayoutUnset {
				layout = breakpoints.LayoutAnthropic
			}
			name := "claude-opus-5"
			if strings.Contains(c.json, "claude-opus-4-6") {
				name = "claude-opus-4-6"
			}
			rules, price := lookUp(t, layout, name, CountingDefault)
			report := mustRun(t, []Request{{Prompt: readBody(t, conversation.FormatAnthropicMessages, c.json, rules), Rules: rules, Price: price}})
			o := report.Outcomes[0]
			var codes []string
			for _, r := range o.Rejections {
				codes = append(codes, r.Code)
			}
			var want []string
			if c.code != "" {
				want = []string{c.code}
				if o.Prompt() != 0 || len(o.Findings) == 0 || o.Findings[0].Severity != SeverityError {
					t.Errorf("a refused request is billed %+v, findings %+v", o.Split, o.Findings)
				}
			}
			if diff := cmp.Diff(want, codes); diff != "" {
				t.Fatalf("%s\n%+v", diff, o.Rejections)
			}
			if c.code != "" && !strings.Contains(o.Rejections[0].Text, c.text) {
				t.Errorf("text %q, want %q in it", o.Rejections[0].Text, c.text)
			}
		})
	}
}
