package simulator

import (
	"slices"
	"strings"

	"github.com/elbowroom/elbowroom/conversation"
)

// Params are the parameters of a request that enter the key of its prompt.
type Params struct {
	list   []param
	images bool
	// explicit is OpenAI's prompt_cache_options.mode.
	explicit bool
}

// param is one parameter: its JSON text, and the first tier that is lost when it changes.
type param struct {
	name, value string
	tier        Tier
}

// salt is what enters the key at the start of a tier.
func (p *Params) salt(t Tier, rules *Rules) string {
	var sb strings.Builder
	for _, q := range p.list {
		if q.tier == t {
			sb.WriteString(q.name)
			sb.WriteByte('=')
			sb.WriteString(q.value)
			sb.WriteByte('\n')
		}
	}
	if t == TierMessages && p.images && rules.ImageSalt {
		sb.WriteString("images\n")
	}
	return sb.String()
}

// names lists the parameters of the table, each with what is lost when it changes. Anthropic says of thinking and effort
// that tools and system prompt are lost on some models, and not on which; they are taken to survive.
func tierOf(name string) (Tier, bool) {
	switch name {
	case "speed":
		return TierSystem, true
	case "tool_choice", "thinking", "context_management", "parallel_tool_calls", "function_call",
		"response_format", "reasoning_effort", "verbosity", "text", "reasoning":
		return TierMessages, true
	default:
		return 0, false
	}
}

// readParams reads a body's parameters, in the order of their names.
func readParams(c *conversation.Conversation) Params {
	var p Params
	if cited(c) {
		p.list = append(p.list, param{"citations", "true", TierSystem})
	}
	if c.Bare || c.Source == "" {
		return p
	}
	members, _ := conversation.Members(c.Source)
	for i := range members {
		m := &members[i]
		switch m.Key {
		case "output_config":
			p.output(m.Value)
			continue
		case "prompt_cache_options":
			p.explicit = memberText(m.Value, "mode") == "explicit"
			continue
		}
		tier, ok := tierOf(m.Key)
		if !ok || m.Value == "null" {
			continue
		}
		if m.Key == "speed" && m.Text == "standard" { // the default, written out
			continue
		}
		p.list = append(p.list, param{m.Key, m.Value, tier})
	}
	slices.SortStableFunc(p.list, func(a, b param) int { return strings.Compare(a.name, b.name) })
	return p
}

// output reads output_config, whose members count each for itself. An effort that says the default is no change.
func (p *Params) output(value string) {
	members, _ := conversation.Members(value)
	for i := range members {
		if members[i].Key == "effort" && members[i].Text == "high" {
			continue
		}
		p.list = append(p.list, param{"output_config." + members[i].Key, members[i].Value, TierMessages})
	}
}

func memberText(object, key string) string {
	members, _ := conversation.Members(object)
	for i := range members {
		if members[i].Key == key {
			return members[i].Text
		}
	}
	return ""
}

// cited reports whether a document asks for citations.
func cited(c *conversation.Conversation) bool {
	for i := range c.Messages {
		for j := range c.Messages[i].Blocks {
			b := &c.Messages[i].Blocks[j]
			if b.Kind != conversation.KindMedia || b.Media.Kind != conversation.MediaDocument || c.Source == "" {
				continue
			}
			members, _ := conversation.Members(c.Raw(b.Span))
			for k := range members {
				if members[k].Key == "citations" && strings.Contains(members[k].Value, "true") {
					return true
				}
			}
		}
	}
	return false
}

// searchTool reports whether a tool is the provider's web search.
func searchTool(kind string) bool { return strings.HasPrefix(kind, "web_search_") }

// hasImage reports whether a block is an image or a result with one.
func hasImage(b *conversation.Block) bool {
	if b.Media != nil && b.Media.Kind == conversation.MediaImage {
		return true
	}
	for i := range b.Result {
		if m := b.Result[i].Media; m != nil && m.Kind == conversation.MediaImage {
			return true
		}
	}
	return false
}
