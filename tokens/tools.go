package tokens

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/elbowroom/elbowroom/conversation"
)

// CountTools sizes the tool definitions as the provider shows them to the model, with what it adds to explain them. No
// tools cost nothing; deferred tools (Anthropic's defer_loading) are not in the prompt and cost nothing either. Errors
// are the context's.
func (c *Counter) CountTools(ctx context.Context, tools []conversation.Tool, model Model) (Cost, error) {
	t := c.tally(ctx, model)
	shown := 0
	for i := range tools {
		if tools[i].Deferred {
			continue
		}
		shown++
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

// definition renders one tool: as TypeScript for OpenAI, else as compact JSON.
func definition(tool *conversation.Tool, model Model) string {
	var b strings.Builder
	switch {
	case tool.Name == "" && tool.Raw != "" || isServerTool(tool):
		return compact(tool.Raw)
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

// isServerTool reports whether the provider runs the tool: it has a type of its own and no schema.
func isServerTool(tool *conversation.Tool) bool {
	return tool.Schema == "" && tool.Type != "" && tool.Type != "function" && tool.Type != "custom"
}

// compact removes the white space between the values of a JSON text.
func compact(text string) string {
	if !strings.ContainsAny(text, "\n\t\r ") {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	inString := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inString && c == '\\' && i+1 < len(text):
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
