package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conversation"
)

func printed(s size, colour bool) string {
	var out bytes.Buffer
	s.print(page{out: &out, colour: colour})
	return out.String()
}

func widestLine(text string) int {
	widest := 0
	for line := range strings.Lines(text) {
		columns := 0
		for _, c := range strings.TrimRight(line, "\n") {
			columns += columnsOf(c)
		}
		widest = max(widest, columns)
	}
	return widest
}

func TestCountReportFitsItsColumns(t *testing.T) {
	const most = 2_000_000_000
	hostile := conversation.Message{RawRole: strings.Repeat("漢\x1b[31m", 50), Blocks: []conversation.Block{
		{Kind: conversation.KindText, Text: strings.Repeat("語\u0301", 5000)},
		{Kind: conversation.KindMedia}, {Kind: conversation.KindMedia}, {Kind: conversation.KindToolUse}, {Kind: conversation.KindOpaque},
	}}
	s := size{
		model: strings.Repeat("model/", 60), showText: true,
		messages: slices.Repeat([]conversation.Message{hostile}, 100_000),
		out: &elbowroomv1.CountTokensResponse{
			Tokens: most, LowerBound: most, UpperBound: most, Encoding: "o200k_base", Method: elbowroomv1.Method_METHOD_ESTIMATE,
			Parts:    &elbowroomv1.TokenParts{System: most, Tools: 1, Framing: most / 3},
			Messages: slices.Repeat([]*elbowroomv1.MessageTokens{{Tokens: most}}, 100_000),
			Provider: &elbowroomv1.ProviderCount{FallbackReason: "no key"},
		},
	}
	got := printed(s, false)
	if widest := widestLine(got); widest > 80 {
		t.Errorf("%d columns wide:\n%s", widest, got)
	}
	if strings.Contains(got, "\x1b") {
		t.Errorf("an escape sequence of a message reached the terminal:\n%q", got)
	}
	if !strings.Contains(got, "The 10 largest of 100,000 messages") || !strings.Contains(got, "not counted by the provider: no key") {
		t.Errorf("report:\n%s", got)
	}
	if coloured := printed(s, true); !strings.Contains(coloured, "\x1b[36m█") {
		t.Errorf("no colour on a terminal:\n%s", coloured)
	}
}

func TestCountReportOfNothing(t *testing.T) {
	got := printed(size{out: &elbowroomv1.CountTokensResponse{Messages: []*elbowroomv1.MessageTokens{{}}}}, false)
	if !strings.Contains(got, "0 tokens") || strings.Contains(got, "NaN") || strings.Contains(got, "█") {
		t.Errorf("report:\n%s", got)
	}
}

// A server with another idea of what a message is must not make the words stand at the wrong numbers.
func TestCountReportWithoutWordsWhereTheMessagesDoNotMatch(t *testing.T) {
	cmd := &countCommand{}
	out := &elbowroomv1.CountTokensResponse{Tokens: 9, Messages: []*elbowroomv1.MessageTokens{{Tokens: 4}, {Tokens: 5}}}
	req := &elbowroomv1.CountTokensRequest{Conversation: cmd.conversation(`[{"role":"user","content":"hi"}]`)}
	if s := sizeOf(cmd, req, out); s.messages != nil {
		t.Errorf("%d messages beside 2 numbers", len(s.messages))
	}
}

func TestKindOfMessage(t *testing.T) {
	for want, blocks := range map[string][]conversation.BlockKind{
		"empty":                         nil,
		"text":                          {conversation.KindText, conversation.KindText},
		"tool result":                   {conversation.KindToolResult},
		"3 tool results, text":          {conversation.KindToolResult, conversation.KindToolResult, conversation.KindText, conversation.KindToolResult},
		"reasoning, text, 2 calls":      {conversation.KindThinking, conversation.KindText, conversation.KindToolUse, conversation.KindToolUse},
		"2 files":                       {conversation.KindMedia, conversation.KindMedia},
		"compaction, other":             {conversation.KindCompaction, conversation.KindOpaque},
		"tool call, tool result":        {conversation.KindServerToolUse, conversation.KindServerToolResult},
		"reasoning, call, result, text": {conversation.KindRedactedThinking, conversation.KindToolUse, conversation.KindToolResult, conversation.KindRefusal},
	} {
		m := conversation.Message{}
		for _, kind := range blocks {
			m.Blocks = append(m.Blocks, conversation.Block{Kind: kind})
		}
		if got := kindOf(&m); got != want {
			t.Errorf("kindOf(%v) = %q, want %q", blocks, got, want)
		}
	}
}

func TestPrintableIsOneSafeLine(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"  two\n\n\twords ", 20, "two words"},
		{"\x1b[2Jred\x1b[0m\x07\u202e", 20, "[2Jred[0m"},
		{"exactly ten", 11, "exactly ten"},
		{"exactly ten", 10, "exactly t…"},
		{"漢字漢字", 8, "漢字漢字"},
		{"漢字漢字", 7, "漢字漢…"},
		{"漢字漢字", 6, "漢字…"},
		{"", 5, ""},
		{strings.Repeat(" ", 1<<20), 5, ""},
	} {
		got := printable(c.text, c.width)
		if got != c.want {
			t.Errorf("printable(%.20q, %d) = %q, want %q", c.text, c.width, got, c.want)
		}
		if w := widestLine(padded(c.text, c.width)); w != c.width {
			t.Errorf("padded(%.20q, %d) is %d columns wide", c.text, c.width, w)
		}
	}
}

func TestBlocksAreProportionalAndNeverEmptyForSomething(t *testing.T) {
	for _, c := range []struct {
		n, largest int32
		want       string
	}{
		{0, 10, ""}, {5, 0, ""}, {10, 10, "████"}, {5, 10, "██"}, {1, 1_000_000_000, "▏"}, {9, 16, "██▎"}, {2_000_000_000, 2_000_000_000, "████"},
	} {
		if got := blocks(c.n, c.largest, 4); got != c.want {
			t.Errorf("blocks(%d, %d) = %q, want %q", c.n, c.largest, got, c.want)
		}
	}
}

// The report of a server at an address is that of the command's own.
func TestCountAsksTheServerAtTheAddress(t *testing.T) {
	addr, b := serve(t)
	defer b.stop()
	got := runArgs(t, "count", "--server", addr, "testdata/long.json")
	if want := runArgs(t, "count", "testdata/long.json"); got != want || got.code != exitOK {
		t.Errorf("with --server:\n%+v\nwithout:\n%+v", got, want)
	}
}
