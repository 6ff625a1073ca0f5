package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conversation"
)

type countCommand struct {
	input
	Text     bool `help:"The file is plain text, not a conversation."`
	ShowText bool `help:"Show the first words of the largest messages."`
	Provider bool `help:"Ask the provider's own counting endpoint, with the key in the environment of the server."`
}

// Run counts the file.
func (cmd *countCommand) Run(ctx context.Context, p process) error {
	text, err := cmd.text(p)
	if err != nil {
		return err
	}
	c, err := loadLocal(p, cmd.Config)
	if err != nil {
		return err
	}
	conn, err := connect(ctx, p, c, cmd.Server, cmd.remote)
	if err != nil {
		return err
	}
	defer conn.stop()
	req := &elbowroomv1.CountTokensRequest{Model: cmd.Model}
	if cmd.Provider {
		req.Method = elbowroomv1.Method_METHOD_PROVIDER
	}
	if cmd.Text {
		if at := invalidUTF8(text); at >= 0 {
			return &usageError{fmt.Errorf("%s: invalid UTF-8 at byte %d", cmd.File, at)}
		}
		req.Text = &text
	} else {
		req.Conversation = cmd.conversation(text)
	}
	out, err := conn.client.CountTokens(ctx, req)
	if err != nil {
		if status.Code(err) == codes.InvalidArgument && !cmd.Text && !strings.ContainsAny(firstSign(text), "{[") {
			return fmt.Errorf("%s is no conversation in JSON (count plain text with --text): %s", cmd.File, status.Convert(err).Message())
		}
		return err
	}
	if cmd.JSON {
		return printJSON(p.stdout, out)
	}
	page := newPage(p, p.stdout)
	size := sizeOf(cmd, req, out)
	size.print(page)
	printWarnings(page, out.GetWarnings())
	return nil
}

// firstSign is the first character that is no white space.
func firstSign(text string) string {
	text = strings.TrimSpace(text)
	return text[:min(len(text), 1)]
}

// invalidUTF8 is the offset of the first byte that is no part of a character, -1 for none.
func invalidUTF8(text string) int {
	for at, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[at:], "\uFFFD") {
			return at
		}
	}
	return -1
}

// size is a count as it is told to people.
type size struct {
	out   *elbowroomv1.CountTokensResponse
	model string
	// messages are the conversation's, in its order; empty for a text.
	messages []conversation.Message
	showText bool
}

// sizeOf puts a response beside what was asked. The server takes no notice of what its numbers are about, so the messages
// are read from the request.
func sizeOf(cmd *countCommand, req *elbowroomv1.CountTokensRequest, out *elbowroomv1.CountTokensResponse) size {
	s := size{out: out, model: cmd.Model, showText: cmd.ShowText}
	if cmd.Text {
		return s
	}
	native := req.GetConversation().GetNative()
	format := conversation.FormatOpenAIChat
	if native.GetFormat() == elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES {
		format = conversation.FormatAnthropicMessages
	}
	// What the server took can be read here too, unless its limits are wider: then the numbers stand without words.
	if conv, err := conversation.Parse(format, string(native.GetJsonBytes()), conversation.Limits{}); err == nil && len(conv.Messages) == len(out.GetMessages()) {
		s.messages = conv.Messages
		s.model = cmp.Or(s.model, conv.Model)
	}
	return s
}

// largest is how many messages are listed.
const largest = 10

// print writes the total, the parts and the largest messages, at most 80 columns wide.
func (s size) print(p page) {
	out := s.out
	total := out.GetTokens()
	bounds := fmt.Sprintf("between %s and %s", grouped(out.GetLowerBound()), grouped(out.GetUpperBound()))
	if out.GetLowerBound() == out.GetUpperBound() {
		bounds = "exact"
	}
	p.printf("%s  %s\n%s\n", p.bold(plural(total, "token")), bounds, s.how())
	if out.GetProvider() != nil && !out.GetProvider().GetUsed() {
		p.printf("not counted by the provider: %s\n", printable(out.GetProvider().GetFallbackReason(), 300))
	}

	p.heading("By part")
	parts := out.GetParts()
	var shown []bar
	for _, part := range []bar{
		{"system prompt", parts.GetSystem()}, {"tools", parts.GetTools()}, {"text", parts.GetText()}, {"reasoning", parts.GetReasoning()},
		{"tool calls", parts.GetToolCalls()}, {"tool results", parts.GetToolResults()}, {"media", parts.GetMedia()}, {"framing", parts.GetFraming()},
	} {
		if part.tokens > 0 {
			shown = append(shown, part)
		}
	}
	slices.SortStableFunc(shown, func(a, b bar) int { return cmp.Compare(b.tokens, a.tokens) })
	for _, part := range shown {
		p.printf("  %-13s  %s\n", part.name, p.measure(part.tokens, shown[0].tokens, total, 38))
	}

	count := len(out.GetMessages())
	if count == 0 {
		return
	}
	order := make([]int, count)
	for i := range order {
		order[i] = i
	}
	tokens := func(i int) int32 { return out.GetMessages()[i].GetTokens() }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(tokens(b), tokens(a)) })
	if count > largest {
		p.heading("The %d largest of %s", largest, plural(count, "message"))
		order = order[:largest]
	} else {
		p.heading("Messages, the largest first")
	}
	for _, i := range order {
		role, kind, text := "", "", ""
		if s.messages != nil {
			role, kind, text = printable(s.messages[i].RawRole, 9), kindOf(&s.messages[i]), firstText(&s.messages[i])
		}
		p.printf("  %5d  %s  %s  %s\n", i, padded(role, 9), padded(kind, 24), p.measure(tokens(i), tokens(order[0]), total, 12))
		if s.showText && text != "" {
			p.printf("         %s\n", printable(text, 70))
		}
	}
}

// how names the model and the method.
func (s size) how() string {
	model := cmp.Or(printable(s.model, 30), "no model named")
	switch out := s.out; {
	case out.GetProvider().GetUsed():
		return model + ", counted by " + printable(out.GetProvider().GetName(), 12) + ", the parts with " + out.GetEncoding()
	case out.GetMethod() == elbowroomv1.Method_METHOD_ESTIMATE:
		return model + ", estimated from " + out.GetEncoding()
	default:
		return model + ", counted with " + out.GetEncoding()
	}
}

// bar is a number with a name.
type bar struct {
	name   string
	tokens int32
}

// measure writes a number of tokens, its share of the total, and a bar that is width columns long for the largest.
func (p page) measure(tokens, largest, total int32, width int) string {
	share := "0 %"
	if total > 0 && tokens > 0 {
		share = fmt.Sprintf("%.0f %%", 100*float64(tokens)/float64(total))
		if 200*int64(tokens) < int64(total) {
			share = "<1 %"
		}
	}
	return strings.TrimRight(fmt.Sprintf("%11s  %5s  %s", grouped(tokens), share, p.accent(blocks(tokens, largest, width))), " ")
}

// blocks draws a bar in eighths of a column; what is more than nothing has at least one.
func blocks(n, largest int32, width int) string {
	if n <= 0 || largest <= 0 {
		return ""
	}
	eighths := max(1, int(int64(n)*int64(width)*8/int64(largest)))
	drawn := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		drawn += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return drawn
}

// kindOf says in a few words what a message consists of.
func kindOf(m *conversation.Message) string {
	var kinds []string
	counts := map[string]int{}
	add := func(kind string) {
		if counts[kind]++; counts[kind] == 1 {
			kinds = append(kinds, kind)
		}
	}
	for i := range m.Blocks {
		switch b := &m.Blocks[i]; b.Kind {
		case conversation.KindText, conversation.KindRefusal:
			add("text")
		case conversation.KindThinking, conversation.KindRedactedThinking:
			add("reasoning")
		case conversation.KindToolUse, conversation.KindServerToolUse:
			add("call")
		case conversation.KindToolResult, conversation.KindServerToolResult:
			add("result")
		case conversation.KindMedia:
			kind := conversation.MediaFile
			if b.Media != nil {
				kind = b.Media.Kind
			}
			add(kind.Word())
		case conversation.KindCompaction:
			add("compaction")
		case conversation.KindOpaque:
			add("other")
		}
	}
	for i, kind := range kinds {
		n := counts[kind]
		name := kind
		if kind == "call" || kind == "result" {
			name = "tool " + kind
			if len(kinds) > 2 {
				name = kind
			}
		}
		switch {
		case n > 1 && kind != "text" && kind != "reasoning" && kind != "other" && kind != "audio":
			kinds[i] = fmt.Sprintf("%d %ss", n, name)
		default:
			kinds[i] = name
		}
	}
	if len(kinds) == 0 {
		return "empty"
	}
	return strings.Join(kinds, ", ")
}

// firstText is the first text of a message: its own, a result's, or a call.
func firstText(m *conversation.Message) string {
	for i := range m.Blocks {
		switch b := &m.Blocks[i]; b.Kind {
		case conversation.KindToolUse, conversation.KindServerToolUse:
			return b.Name + " " + b.Input
		case conversation.KindToolResult:
			for j := range b.Result {
				if b.Result[j].Text != "" {
					return b.Result[j].Text
				}
			}
		default:
			if strings.TrimSpace(b.Text) != "" {
				return b.Text
			}
		}
	}
	return ""
}
