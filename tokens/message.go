package tokens

import (
	"context"
	"strings"

	"github.com/elbowroom/elbowroom/conversation"
)

func (c *Counter) countMessage(ctx context.Context, m *conversation.Message, model Model) (Cost, error) {
	t := c.tally(ctx, model)
	t.framing(t.frame.message, t.frame.slackMessage)
	if m.Name != "" {
		t.framing(t.frame.name, 0)
		t.text(&t.names, m.Name)
	}
	t.blocks(m.Blocks, t.partOf(m.Role))
	return t.cost()
}

func (c *Counter) countSystem(ctx context.Context, m *conversation.Message, model Model) (Cost, error) {
	t := c.tally(ctx, model)
	t.framing(t.frame.system, t.frame.slackMessage)
	t.blocks(m.Blocks, &t.system)
	return t.cost()
}

// partOf is where the text of a message of the role belongs.
func (t *tally) partOf(role conversation.Role) *amount {
	switch role {
	case conversation.RoleSystem:
		return &t.system
	case conversation.RoleTool:
		return &t.results
	default:
		return &t.prose
	}
}

func (t *tally) blocks(blocks []conversation.Block, part *amount) {
	for i := range blocks {
		t.block(&blocks[i], part)
	}
}

func (t *tally) block(b *conversation.Block, part *amount) {
	switch b.Kind {
	case conversation.KindText, conversation.KindRefusal, conversation.KindCompaction:
		t.text(part, b.Text)
	case conversation.KindThinking:
		t.text(&t.reasoning, b.Text)
	case conversation.KindRedactedThinking:
		t.warn(WarnOpaqueNotCounted, "redacted thinking")
	case conversation.KindToolUse, conversation.KindServerToolUse:
		t.call(b)
	case conversation.KindToolResult:
		t.framing(t.frame.result, t.frame.slackCall)
		t.blocks(b.Result, &t.results)
	case conversation.KindServerToolResult:
		t.framing(t.frame.result, t.frame.slackCall)
		t.json(&t.results, b.Raw)
	case conversation.KindMedia:
		t.media(b, part)
	default:
		if b.Type == toolReference { // the definition it stands for counts with the tools
			return
		}
		t.warn(WarnUnknownBlock, "a block of type "+conversation.Quote(b.Type)+" counts as its JSON text")
		t.json(part, b.Raw)
	}
}

func (t *tally) call(b *conversation.Block) {
	t.framing(t.frame.call, t.frame.slackCall)
	t.text(&t.calls, b.Name)
	if b.InputShape == conversation.ShapeOther {
		t.text(&t.calls, compact(b.Input))
	} else {
		t.text(&t.calls, b.Input) // as the model wrote it
	}
	if t.frame.param > 0 {
		t.framing(t.frame.param*topLevelMembers(b.Input), 0)
	}
	if b.Site != conversation.SiteToolCalls && b.Site != conversation.SiteFunctionCall {
		return
	}
	switch b.InputShape {
	case conversation.ShapeString:
	case conversation.ShapeOther:
		t.warn(WarnOddArguments, "the arguments of a call are a JSON value and not a string; they count as its text")
	default:
		t.warn(WarnOddArguments, "a call without arguments")
	}
}

// topLevelMembers is the number of members of a JSON object, 0 for anything else.
func topLevelMembers(json string) int {
	members, ok := conversation.Members(json)
	if !ok {
		return 0
	}
	return len(members)
}

// blobLength is the shortest string of base64 characters that counts as data and not as text, in bytes. Words and
// identifiers stay well below.
const blobLength = 512

// json counts a JSON text without the data in it: long base64 strings and data URLs are not what a model reads as text.
func (t *tally) json(part *amount, json string) {
	json = compact(json)
	if len(json) < blobLength {
		t.text(part, json)
		return
	}
	values, ok := conversation.StringValues(json)
	if !ok {
		t.text(part, json)
		return
	}
	from := 0
	for _, v := range values {
		switch {
		case len(v.Text) < blobLength:
			continue
		case isDataURL(v.Text):
			t.inlineURL(v.Text)
		case isBlob(v.Text):
			t.warn(WarnOpaqueNotCounted, "encoded data inside a block")
		default:
			continue
		}
		t.text(part, json[from:v.Span.Start+1])
		from = v.Span.End - 1
	}
	t.text(part, json[from:])
}

func isBlob(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '+', c == '/', c == '=', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}

// dataScheme begins a data: URL, in any case of letters.
const dataScheme = "data:"

// isDataURL reports whether a text is a data: URL; its parameters (a charset, a file name) are short.
func isDataURL(s string) bool {
	return len(s) >= len(dataScheme) && strings.EqualFold(s[:len(dataScheme)], dataScheme) && strings.Contains(s[:min(len(s), 512)], ",")
}
