package llm

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/redact"
)

type shown struct{ Label, Text string }

func shownOf(messages ...*conversation.Message) []shown {
	req := request(messages...)
	var out []shown
	for _, e := range gather(&req, redact.New()).entries {
		out = append(out, shown{e.label, e.text})
	}
	return out
}

func TestHowMessagesAreShown(t *testing.T) {
	failed := answering("run", textBlock("exit status 2"))
	failed.Blocks[0].IsError = true
	tests := []struct {
		name     string
		messages []*conversation.Message
		want     []shown
	}{
		{"blank text is nothing", []*conversation.Message{user(" \n "), assistant("")}, nil},
		{"a call", []*conversation.Message{calling("run", `{"cmd":"ls"}`)}, []shown{{"#3 assistant calls run", `{"cmd":"ls"}`}}},
		{"a call without arguments", []*conversation.Message{calling("run", "")}, []shown{{"#3 assistant calls run", "(no arguments)"}}},
		{"a failed result", []*conversation.Message{failed}, []shown{{"#3 result of run (failed)", "exit status 2"}}},
		{"an empty result", []*conversation.Message{answering("run")}, []shown{{"#3 result of run", "(empty)"}}},
		{"a refusal", []*conversation.Message{{Role: conversation.RoleAssistant, Blocks: []conversation.Block{{Kind: conversation.KindRefusal, Text: "No."}}}}, []shown{{"#3 assistant", "No."}}},
		{"an image by address", []*conversation.Message{{Role: conversation.RoleUser, Blocks: []conversation.Block{
			{Kind: conversation.KindMedia, Media: &conversation.Media{Kind: conversation.MediaImage, URI: "https://example.com/a.png"}},
		}}}, []shown{{"#3 user", "[image, https://example.com/a.png]"}}},
		{"a text document", []*conversation.Message{{Role: conversation.RoleUser, Blocks: []conversation.Block{
			{Kind: conversation.KindMedia, Text: "contents", Media: &conversation.Media{Kind: conversation.MediaDocument, MIMEType: "text/plain"}},
		}}}, []shown{{"#3 user", "[document, text/plain]\ncontents"}}},
		{"a server tool's result", []*conversation.Message{{Role: conversation.RoleAssistant, Blocks: []conversation.Block{
			{Kind: conversation.KindServerToolResult, ID: "s1", Type: "web_search_tool_result", Raw: `{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"title":"High water","encrypted_content":"` + strings.Repeat("A", 300) + `"}]}`},
		}}}, []shown{{"#3 result of web_search_tool_result", "High water"}}},
		{"thinking in the text", []*conversation.Message{assistant("<think>secret plan</think>Done.")}, []shown{{"#3 assistant", "Done."}}},
		{"thinking without an end", []*conversation.Message{assistant("Done.\n<thinking>secret plan")}, []shown{{"#3 assistant", "Done."}}},
		{"tool calls in the text", []*conversation.Message{assistant("I look.\n<tool_call>{\"name\":\"x\"}</tool_call>")}, []shown{{"#3 assistant", "I look."}}},
		{"tags in a user's words stay", []*conversation.Message{user("why does <think>a</think> show up?")}, []shown{{"#3 user", "why does <think>a</think> show up?"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, shownOf(tt.messages...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLongTextsAreCutAtTheirLimits(t *testing.T) {
	tests := []struct {
		name       string
		message    *conversation.Message
		head, tail int
		wantWhole  bool
		left       string
	}{
		{name: "6,000 characters stay", message: user(strings.Repeat("ä", 6_000)), wantWhole: true},
		{name: "content keeps 4,000 and 1,500", message: user(strings.Repeat("ä", 7_000)), head: 4_000, tail: 1_500, left: "1500"},
		{name: "a result is content", message: answering("run", textBlock(strings.Repeat("界", 6_001))), head: 4_000, tail: 1_500, left: "501"},
		{name: "1,500 characters of arguments stay", message: calling("run", strings.Repeat("ä", 1_500)), wantWhole: true},
		{name: "arguments keep 1,200", message: calling("run", strings.Repeat("ä", 2_000)), head: 1_200, left: "800"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := shownOf(tt.message)[0].Text
			if !utf8.ValidString(text) {
				t.Fatal("cut inside a character")
			}
			head, rest, cut := strings.Cut(text, "\n[... ")
			if cut == tt.wantWhole {
				t.Fatalf("cut: %v", cut)
			}
			if tt.wantWhole {
				return
			}
			left, tail, _ := strings.Cut(rest, " characters left out ...]")
			tail = strings.TrimPrefix(tail, "\n")
			if utf8.RuneCountInString(head) != tt.head || utf8.RuneCountInString(tail) != tt.tail || left != tt.left {
				t.Errorf("head %d, left out %s, tail %d; want %d, %s, %d", utf8.RuneCountInString(head), left, utf8.RuneCountInString(tail), tt.head, tt.left, tt.tail)
			}
		})
	}
}

// TestSecretsAreReplacedBeforeTextsAreCut puts a key across the place of the cut.
func TestSecretsAreReplacedBeforeTextsAreCut(t *testing.T) {
	key := "AKIA" + "IOSFODNN7" + "EXAMPLQ"
	for _, before := range []int{3_985, 3_990, 3_999} {
		text := shownOf(user(strings.Repeat("a ", before/2) + " " + key + " " + strings.Repeat("b ", 3_000)))[0].Text
		if strings.Contains(text, "AKIA") {
			t.Errorf("a part of the key is shown after %d characters", before)
		}
	}
}

// TestASecretNamedLaterIsReplacedEverywhere shows the password first without its
// name.
func TestASecretNamedLaterIsReplacedEverywhere(t *testing.T) {
	got := shownOf(user("try Tr0ub4dor&3xyz!"), user("password=Tr0ub4dor&3xyz!"))
	for _, s := range got {
		if strings.Contains(s.Text, "Tr0ub4dor") {
			t.Errorf("%s: %s", s.Label, s.Text)
		}
	}
}

// TestNoPositionLetsASecretThrough plants a key wherever a request holds text.
func TestNoPositionLetsASecretThrough(t *testing.T) {
	key := "AKIA" + "IOSFODNN7" + "EXAMPLQ"
	media := conversation.Block{Kind: conversation.KindMedia, Text: key, Media: &conversation.Media{Filename: key + ".txt", MIMEType: key, URI: "https://example.com/?k=" + key}}
	opaque := conversation.Block{Kind: conversation.KindOpaque, Type: key, Raw: key}
	req := request(
		user(key), assistant("I use "+key), calling(key, `{"k":"`+key+`","escaped":"{\"k\":\"`+key+`\"}"}`),
		answering(key, textBlock(key), media, opaque),
		&conversation.Message{Role: conversation.RoleAssistant, Name: key, RawRole: key, Blocks: []conversation.Block{
			media, opaque, {Kind: conversation.KindCompaction, Text: key}, {Kind: conversation.KindRefusal, Text: key},
			{Kind: conversation.KindServerToolUse, Name: key, Input: key},
			{Kind: conversation.KindServerToolResult, Type: key, Raw: `{"title":"` + key + `"}`},
			{Kind: conversation.KindThinking, Text: key},
		}},
		&conversation.Message{Role: conversation.RoleOther, RawRole: key, Blocks: []conversation.Block{textBlock(key)}},
	)
	req.Previous, req.Latest, req.Focus = "## Goal\n- "+key, key, key
	p := promptsOf(t, Options{}, req)[0]
	if strings.Contains(p.System+p.User, "AKIA") {
		t.Error(p.User)
	}
}
