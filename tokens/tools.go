package tokens

import (
	"context"
	"encoding/json"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/elbowroom/elbowroom/conversation"
)

func (c *Counter) countTools(ctx context.Context, tools []conversation.Tool, model Model) (Cost, error) {
	t := c.tally(ctx, model)
	shown := 0
	for i := range tools {
		if tools[i].Deferred {
			continue
		}
		shown++
		if n := clientTool(tools[i].Type); n > 0 && model.Claude {
			t.ruled.Tools += n
			t.slack += n / 4
			continue
		}
		t.text(&t.tools, definition(&tools[i], model))
	}
	if shown == 0 {
		return Cost{}, nil
	}
	if model.Family == FamilyOpenAI {
		t.text(&t.tools, "namespace functions {\n\n} // namespace functions")
	}
	t.ruled.Tools += model.ToolPrompt + t.frame.tools + t.frame.tool*shown
	t.slack += t.frame.slackTools + t.frame.slackCall*shown
	return t.cost()
}

// What a request changes about its tools, in tokens.
const (
	// systemWithTools: OpenAI puts the definitions into the system message if there is one, and saves the frame of its own.
	// Rule of openai-chat-tokens; recorded requests to gpt-4.1-mini agree.
	systemWithTools = -4
	// A named function costs its name and 4, "none" 1 (openai-chat-tokens); "required" costs nothing in recorded requests
	// to gpt-4o.
	functionNamed = 4
	functionNone  = 1
	// deferredTools is what Claude 5 models add when there are tools with defer_loading: 93 in recorded requests to
	// Sonnet 5 and to Opus 5. Haiku 4.5 adds nothing.
	deferredTools = 93
	// thinkingPrompt is what Claude up to 4.6 adds when extended thinking is on: 28 in recorded requests to Sonnet 4.5 with
	// a budget, 17 to Opus 4.6 with adaptive thinking. Opus 4.8 and Opus 5 add nothing.
	thinkingPrompt      = 28
	slackThinkingPrompt = 12
)

// CountSetup sizes what a request sets up beside its system prompt and messages: the tools as CountTools has them, what a
// tool_choice and a system message change about them, deferred tools that a search has brought in, which are in the
// prompt from then on, and what switching thinking on adds. Errors are the context's.
func (c *Counter) CountSetup(ctx context.Context, conv *conversation.Conversation, model Model) (Cost, error) {
	cost, err := c.CountTools(ctx, conv.Tools, model)
	if err != nil {
		return Cost{}, err
	}
	t := c.tally(ctx, model)
	if conv.ThinkingOn && model.Family == FamilyClaude3 {
		t.framing(thinkingPrompt, slackThinkingPrompt)
	}
	if cost.Tokens() > 0 {
		t.toolChoice(conv)
	}
	found, deferred := toolsFound(conv)
	for _, tool := range found {
		t.text(&t.tools, definition(tool, model))
		t.ruled.Tools += t.frame.tool
		t.slack += t.frame.slackCall
	}
	if deferred && model.Family == FamilyClaude5 {
		t.ruled.Tools += deferredTools
		t.slack += t.frame.slackTools
	}
	extra, err := t.cost()
	if err != nil {
		return Cost{}, err
	}
	return Cost{
		Parts: cost.Parts.Add(extra.Parts), Text: cost.Text + extra.Text, Slack: cost.Slack + extra.Slack,
		Warnings: cost.Warnings,
	}, nil
}

// toolChoice adds what tool_choice and a system message change where there are tools.
func (t *tally) toolChoice(conv *conversation.Conversation) {
	choice := conv.ToolChoice
	if choice.Mode == conversation.ToolsAny || choice.Mode == conversation.ToolsForced {
		t.ruled.Tools += t.model.ToolPromptForced - t.model.ToolPrompt
	}
	if t.model.Family != FamilyOpenAI {
		return
	}
	if len(conv.Messages) > 0 && conv.Messages[0].Role == conversation.RoleSystem {
		t.ruled.Tools += systemWithTools
	}
	switch choice.Mode {
	case conversation.ToolsForced:
		t.text(&t.tools, choice.Name)
		t.ruled.Tools += functionNamed
	case conversation.ToolsNone:
		t.ruled.Tools += functionNone
	case conversation.ToolsAuto, conversation.ToolsAny:
	}
}

// toolReference is the type of a block that names a deferred tool in the result of a search (Anthropic).
const toolReference = "tool_reference"

// toolsFound lists the deferred tools that a result of the conversation refers to, each once, and says whether there are
// deferred tools at all.
func toolsFound(conv *conversation.Conversation) (found []*conversation.Tool, deferred bool) {
	waiting := make(map[string]*conversation.Tool)
	for i := range conv.Tools {
		if conv.Tools[i].Deferred {
			waiting[conv.Tools[i].Name] = &conv.Tools[i]
		}
	}
	if len(waiting) == 0 {
		return nil, false
	}
	for i := range conv.Messages {
		for j := range conv.Messages[i].Blocks {
			result := conv.Messages[i].Blocks[j].Result
			for k := range result {
				if result[k].Type != toolReference {
					continue
				}
				name := memberText(result[k].Raw, "tool_name")
				if tool := waiting[name]; tool != nil {
					found = append(found, tool)
					delete(waiting, name)
				}
			}
		}
	}
	return found, true
}

// memberText is the string under a key of a JSON object, empty if there is none.
func memberText(object, key string) string {
	members, _ := conversation.Members(object)
	for _, m := range members {
		if m.Key == key {
			return m.Text
		}
	}
	return ""
}

// definition renders one tool: as TypeScript for OpenAI, else as compact JSON.
func definition(tool *conversation.Tool, model Model) string {
	var b strings.Builder
	switch {
	case tool.Name == "" && tool.Raw != "" || isServerTool(tool):
		return compact(withoutMark(tool))
	case model.Family == FamilyOpenAI:
		typeScript(&b, tool)
	default:
		b.WriteString(`{"description":`)
		b.WriteString(conversation.Quote(tool.Description))
		b.WriteString(`,"name":`)
		b.WriteString(conversation.Quote(tool.Name))
		b.WriteString(`,"parameters":`)
		b.WriteString(compact(tool.Schema))
		b.WriteString(`}`)
	}
	return b.String()
}

// withoutMark is a definition's JSON without the cache breakpoint, which costs nothing.
func withoutMark(tool *conversation.Tool) string {
	if tool.Mark == nil {
		return tool.Raw
	}
	from, to := tool.Mark.Member.Start-tool.Span.Start, tool.Mark.Member.End-tool.Span.Start
	if from < 0 || to < from || to > len(tool.Raw) {
		return tool.Raw
	}
	return tool.Raw[:from] + tool.Raw[to:]
}

// clientTool sizes the tools that Claude models were trained on: the definition names only the type, and the provider adds
// the rest, at a price that Anthropic's pages of these tools state (read 2026-11, for Claude 4 models; assumed for later ones).
// In tokens.
func clientTool(typeWord string) int {
	switch {
	case strings.HasPrefix(typeWord, "bash_"):
		return 245
	case strings.HasPrefix(typeWord, "text_editor_"):
		return 700
	case strings.HasPrefix(typeWord, "computer_"):
		return 735
	default:
		return 0
	}
}

// isServerTool reports whether the provider runs the tool: it has a type of its own and no schema.
func isServerTool(tool *conversation.Tool) bool {
	return tool.Schema == "" && tool.Type != "" && tool.Type != "function" && tool.Type != "custom"
}

// compact writes a JSON text as a provider shows it to the model, whatever the client's encoder made of it: without white
// space between the values, and with characters for the escapes of those beyond ASCII, which many encoders write.
func compact(text string) string {
	if !strings.ContainsAny(text, "\n\t\r ") && !strings.Contains(text, `\u`) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	inString := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inString && c == '\\' && i+1 < len(text):
			if r, size := escapedRune(text[i:]); r >= utf8.RuneSelf {
				b.WriteRune(r)
				i += size - 1
				continue
			}
			b.WriteByte(c)
			i++
			c = text[i]
		case c == '"':
			inString = !inString
		case !inString && (c == ' ' || c == '\n' || c == '\t' || c == '\r'):
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// escapedRune reads \uXXXX, or two of them that make a surrogate pair, at the front of text; 0 if there is none.
func escapedRune(text string) (r rune, size int) {
	one := func(text string) rune {
		if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
			return 0
		}
		n := rune(0)
		for i := 2; i < 6; i++ {
			digit := hexDigit(text[i])
			if digit < 0 {
				return 0
			}
			n = n<<4 | rune(digit) //nolint:gosec // four bits
		}
		return n
	}
	r = one(text)
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if pair := utf16.DecodeRune(r, one(text[6:])); pair != utf8.RuneError {
		return pair, 12
	}
	return utf8.RuneError, 6
}

// deepestSchema is how many levels of a schema are rendered as TypeScript; what is deeper is counted as JSON.
const deepestSchema = 8

// typeScript renders a function tool the way the models are shown it:
//
//	// description
//	type name = (_: {
//	// property description
//	property: string,
//	optional?: number,
//	}) => any;
func typeScript(b *strings.Builder, tool *conversation.Tool) {
	comment(b, tool.Description)
	b.WriteString("type ")
	b.WriteString(tool.Name)
	schema := readSchema(tool.Schema)
	if len(schema.properties) == 0 {
		b.WriteString(" = () => any;\n\n")
		return
	}
	b.WriteString(" = (_: ")
	object(b, &schema, deepestSchema)
	b.WriteString(") => any;\n\n")
}

func comment(b *strings.Builder, text string) {
	if text != "" {
		b.WriteString("// ")
		b.WriteString(strings.ReplaceAll(text, "\n", "\n// "))
		b.WriteByte('\n')
	}
}

func object(b *strings.Builder, s *schema, levels int) {
	b.WriteString("{\n")
	for _, property := range s.properties {
		inner := readSchema(property.Value)
		comment(b, inner.description)
		b.WriteString(property.Key)
		if !s.required[property.Key] {
			b.WriteByte('?')
		}
		b.WriteString(": ")
		typeOf(b, &inner, levels-1)
		b.WriteString(",\n")
	}
	b.WriteByte('}')
}

func typeOf(b *strings.Builder, s *schema, levels int) {
	switch {
	case levels <= 0:
		b.WriteString(s.text)
	case len(s.enum) > 0:
		union(b, s.enum)
	case len(s.anyOf) > 0:
		for i, option := range s.anyOf {
			if i > 0 {
				b.WriteString(" | ")
			}
			inner := readSchema(option)
			typeOf(b, &inner, levels-1)
		}
	case len(s.properties) > 0:
		object(b, s, levels)
	case s.items != "":
		inner := readSchema(s.items)
		typeOf(b, &inner, levels-1)
		b.WriteString("[]")
	case s.kind == "integer":
		b.WriteString("number")
	case s.kind == "array":
		b.WriteString("any[]")
	case s.kind == "":
		b.WriteString("any")
	default:
		b.WriteString(s.kind)
	}
}

func union(b *strings.Builder, values []string) {
	for i, v := range values {
		if i > 0 {
			b.WriteString(" | ")
		}
		b.WriteString(v)
	}
}

// schema is what the rendering needs of a JSON schema.
type schema struct {
	text        string
	kind        string
	description string
	properties  []conversation.Member
	required    map[string]bool
	enum, anyOf []string
	items       string
}

func readSchema(text string) schema {
	s := schema{text: text}
	members, _ := conversation.Members(text)
	for _, m := range members {
		switch m.Key {
		case "type":
			s.kind = m.Text
			if !m.IsString {
				s.kind = strings.Join(strings.FieldsFunc(m.Value, func(c rune) bool { return strings.ContainsRune("[]\", ", c) }), " | ")
			}
		case "description":
			s.description = m.Text
		case "properties":
			s.properties, _ = conversation.Members(m.Value)
		case "required":
			s.required = make(map[string]bool)
			values, _ := conversation.StringValues(m.Value)
			for _, v := range values {
				s.required[v.Text] = true
			}
		case "enum":
			s.enum = elements(m.Value)
		case "anyOf", "oneOf":
			s.anyOf = elements(m.Value)
		case "items":
			s.items = m.Value
		}
	}
	return s
}

// elements lists the values of a JSON array; nil for anything else.
func elements(text string) []string {
	var raw []json.RawMessage
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return nil
	}
	out := make([]string, len(raw))
	for i, v := range raw {
		out[i] = string(v)
	}
	return out
}
