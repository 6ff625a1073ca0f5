package breakpoints

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// published says where the published code marks a conversation: the system row and
// the last three rows that it takes to carry a mark. It is written from its
// description and knows nothing of this package.
func published(t *testing.T, route Layout, src string) []string {
	t.Helper()
	var body struct {
		System   any
		Messages []map[string]any
	}
	if err := json.Unmarshal([]byte(src), &body); err != nil {
		t.Fatal(err)
	}
	native := route == LayoutAnthropic
	// where is the place on a row, empty for a row that carries none.
	where := func(path string, row map[string]any) string {
		if row["role"] == "tool" && route == LayoutLiteLLM {
			return ""
		}
		switch content := row["content"].(type) {
		case nil:
		case string:
			if content != "" {
				return path + ".content[0]"
			}
		case []any:
			if n := len(content); n > 0 {
				if _, ok := content[n-1].(map[string]any); ok {
					return fmt.Sprintf("%s.content[%d]", path, n-1)
				}
			}
			return ""
		}
		if native {
			return path // a mark on the row, which an adapter moves
		}
		return ""
	}
	var out []string
	first := 0
	if native {
		out = append(out, "system[0]")
	} else {
		out = append(out, where("messages[0]", body.Messages[0]))
		first = 1
	}
	var rows []string
	for i, row := range slices.Backward(body.Messages) {
		if at := where(fmt.Sprintf("messages[%d]", i), row); i >= first && at != "" && len(rows) < 3 {
			rows = append(rows, at)
		}
	}
	slices.Reverse(rows)
	return append(out, rows...)
}

// SYSTEM_AND_3 is the published algorithm on every shape of content, but for what is
// named: "empty", blank content is skipped and its slot moves up; "tool", tool
// results are marked as each route takes them. "refused" are places that the provider
// or the route does not take a mark at, where the published code relies on never
// getting there.
func TestSystemAnd3IsThePublishedAlgorithm(t *testing.T) {
	const (
		text  = `{"type":"text","text":"x"}`
		blank = `{"type":"text","text":" "}`
		none  = `{"type":"text","text":""}`
		url   = `{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}`
		think = `{"type":"thinking","thinking":"t","signature":"c2ln"}`
		call  = `{"type":"tool_use","id":"c","name":"n","input":{}}`
		calls = `,"tool_calls":[{"id":"c","type":"function","function":{"name":"n","arguments":"{}"}}]`
	)
	row := func(role, content, more string) string {
		return fmt.Sprintf(`{"role":%q,"content":%s%s}`, role, content, more)
	}
	tests := []struct {
		name      string
		route     Layout
		row       string
		deviation string
	}{
		{"user string", LayoutOpenRouter, row("user", `"x"`, ""), ""},
		{"user string of escapes", LayoutOpenRouter, row("user", `"\u00e9\n\"x\""`, ""), ""},
		{"user empty string", LayoutOpenRouter, row("user", `""`, ""), ""},
		{"user blank string", LayoutOpenRouter, row("user", `" \n"`, ""), "empty"},
		{"user null", LayoutOpenRouter, row("user", `null`, ""), ""},
		{"user empty list", LayoutOpenRouter, row("user", `[]`, ""), ""},
		{"user one part", LayoutOpenRouter, row("user", `[`+text+`]`, ""), ""},
		{"user two parts", LayoutOpenRouter, row("user", `[`+text+`,`+text+`]`, ""), ""},
		{"user image, then text", LayoutOpenRouter, row("user", `[`+url+`,`+text+`]`, ""), ""},
		{"user text, then image", LayoutOpenRouter, row("user", `[`+text+`,`+url+`]`, ""), "refused"},
		{"user image alone", LayoutOpenRouter, row("user", `[`+url+`]`, ""), "refused"},
		{"user text, then an empty one", LayoutOpenRouter, row("user", `[`+text+`,`+none+`]`, ""), "empty"},
		{"user list ending in a bare string", LayoutOpenRouter, row("user", `[`+text+`,"x"]`, ""), ""},
		{"user bare string, then text", LayoutOpenRouter, row("user", `["x",`+text+`]`, ""), ""},
		{"assistant string", LayoutOpenRouter, row("assistant", `"x"`, ""), ""},
		{"assistant string with calls", LayoutOpenRouter, row("assistant", `"x"`, calls), ""},
		{"assistant null with calls", LayoutOpenRouter, row("assistant", `null`, calls), ""},
		{"assistant empty string with calls", LayoutOpenRouter, row("assistant", `""`, calls), ""},
		{"assistant parts with calls", LayoutOpenRouter, row("assistant", `[`+text+`]`, calls), ""},
		{"tool string", LayoutOpenRouter, row("tool", `"x"`, `,"tool_call_id":"c"`), ""},
		{"tool empty string", LayoutOpenRouter, row("tool", `""`, `,"tool_call_id":"c"`), ""},
		{"tool parts", LayoutOpenRouter, row("tool", `[`+text+`,`+text+`]`, `,"tool_call_id":"c"`), ""},
		{"tool parts ending in an image", LayoutOpenRouter, row("tool", `[`+text+`,`+url+`]`, `,"tool_call_id":"c"`), "tool"},
		{"user string, LiteLLM", LayoutLiteLLM, row("user", `"x"`, ""), ""},
		{"tool string, LiteLLM", LayoutLiteLLM, row("tool", `"x"`, `,"tool_call_id":"c"`), ""},
		{"tool parts, LiteLLM", LayoutLiteLLM, row("tool", `[`+text+`]`, `,"tool_call_id":"c"`), ""},
		{"assistant null, LiteLLM", LayoutLiteLLM, row("assistant", `null`, calls), ""},
		{"user string, native", LayoutAnthropic, row("user", `"x"`, ""), ""},
		{"user empty string, native", LayoutAnthropic, row("user", `""`, ""), "empty"},
		{"user one block, native", LayoutAnthropic, row("user", `[`+text+`]`, ""), ""},
		{"user image alone, native", LayoutAnthropic, row("user", `[`+image+`]`, ""), ""},
		{"user image, then an empty text, native", LayoutAnthropic, row("user", `[`+image+`,`+none+`]`, ""), "empty"},
		{"user a blank block, native", LayoutAnthropic, row("user", `[`+blank+`]`, ""), "empty"},
		{"assistant null, native", LayoutAnthropic, row("assistant", `null`, ""), "empty"},
		{"assistant text and call, native", LayoutAnthropic, row("assistant", `[`+text+`,`+call+`]`, ""), ""},
		{"assistant thinking and text, native", LayoutAnthropic, row("assistant", `[`+think+`,`+text+`]`, ""), ""},
		{"assistant text and thinking, native", LayoutAnthropic, row("assistant", `[`+text+`,`+think+`]`, ""), "refused"},
		{"result string, native", LayoutAnthropic, row("user", `[{"type":"tool_result","tool_use_id":"c","content":"x"}]`, ""), ""},
		{"result list, native", LayoutAnthropic, row("user", `[{"type":"tool_result","tool_use_id":"c","content":[`+text+`]}]`, ""), ""},
		{"results and text, native", LayoutAnthropic, row("user", `[{"type":"tool_result","tool_use_id":"c","content":"x"},`+text+`]`, ""), ""},
		{"empty result, native", LayoutAnthropic, row("user", `[{"type":"tool_result","tool_use_id":"c","content":""}]`, ""), "empty"},
		{"result without content, native", LayoutAnthropic, row("user", `[{"type":"tool_result","tool_use_id":"c"}]`, ""), "empty"},
	}
	if len(tests) < 40 {
		t.Fatalf("%d shapes", len(tests))
	}
	for _, tt := range tests {
		for n, before := range []int{0, 1, 2} { // rows between the shape and the end
			t.Run(fmt.Sprint(tt.name, " ", n), func(t *testing.T) {
				rows := []string{row("user", `"a"`, ""), row("assistant", `"b"`, ""), row("user", `"c"`, ""), row("assistant", `"d"`, "")}
				tail := []string{row("user", `"e"`, ""), row("assistant", `"f"`, "")}[:before]
				rows = append(append(rows, tt.row), tail...)
				format, src := openAI, `{"messages":[`+row("system", `"S"`, "")+`,`+strings.Join(rows, ",")+`]}`
				if tt.route == LayoutAnthropic {
					format, src = anthropic, `{"system":"S","messages":[`+strings.Join(rows, ",")+`]}`
				}
				_, out := place(t, format, src, Options{Layout: tt.route})
				diff := cmp.Diff(published(t, tt.route, src), marksIn(t, format, out))
				switch {
				case tt.deviation == "" && diff != "":
					t.Errorf("not where the published code marks (-published +got):\n%s", diff)
				case tt.deviation != "" && diff == "":
					t.Errorf("this is where the published code marks, and no deviation (%s)", tt.deviation)
				}
				if problems := problemsOf(t, format, out); len(problems) > 0 {
					t.Errorf("refused: %v", problems)
				}
			})
		}
	}
}
