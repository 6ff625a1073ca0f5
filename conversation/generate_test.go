package conversation

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// generator writes made-up requests: known members in any order, of expected and
// unexpected kinds, with white space wherever JSON allows it.
type generator struct {
	format Format
	pick   func(n int) int
	depth  int
}

// one returns one of the alternatives.
func (g *generator) one(alternatives ...string) string {
	return alternatives[g.pick(len(alternatives))]
}

func (g *generator) space() string { return g.one("", "", "", " ", "\n\t", "\r\n ") }

func (g *generator) list(elems ...string) string {
	for i, e := range elems {
		elems[i] = g.space() + e + g.space()
	}
	if len(elems) == 0 {
		elems = []string{g.space()}
	}
	return "[" + strings.Join(elems, ",") + "]"
}

// object writes the members, key and value in turn, in some order and some of
// them left out. The first keep members stay.
func (g *generator) object(keep int, members ...string) string {
	var out []string
	for i := 0; i < len(members); i += 2 {
		if i/2 >= keep && g.pick(3) == 0 {
			continue
		}
		m := g.space() + `"` + members[i] + `"` + g.space() + ":" + g.space() + members[i+1] + g.space()
		at := g.pick(len(out) + 1)
		out = append(out[:at], append([]string{m}, out[at:]...)...)
	}
	if len(out) == 0 {
		return "{" + g.space() + "}"
	}
	return "{" + strings.Join(out, ",") + "}"
}

func (g *generator) text() string {
	return g.one(`"plain"`, `""`, `"  "`, `"a\nb \"c\" \\"`, `"\u0041\ud83d\ude00"`, `"\ud800"`, `"naïve 📥"`, `"[1 line]"`)
}

func (g *generator) odd() string {
	return g.one("null", "17", "-0.5e+10", "true", "false", `"s"`, "[]", "{}", `[1,{"a":[null]}]`, `{"cache_control":{"type":"ephemeral"}}`)
}

func (g *generator) mark() string {
	return g.one("null", `{"type":"ephemeral"}`, `{"type":"ephemeral","ttl":"1h"}`, `{ "ttl" : "1h" , "type" : "ephemeral" }`,
		`{"type": "ephemeral"}`, `{"type":"ephemeral","scope":"global"}`, `"ephemeral"`, "{}")
}

func (g *generator) id() string { return g.one(`"a"`, `"b"`, `"c|d"`, `""`, `"c"`, "7", "null") }

func (g *generator) request() string {
	var messages []string
	for range g.pick(7) {
		messages = append(messages, g.message())
	}
	list := g.list(messages...)
	if g.pick(4) == 1 {
		return g.space() + list + g.space()
	}
	var tools []string
	for range g.pick(4) {
		tools = append(tools, g.object(0, "name", g.text(), "type", `"function"`, "cache_control", g.mark(), "parameters", g.odd(),
			"function", g.object(0, "name", g.text(), "cache_control", g.mark(), "id", g.odd()), "defer_loading", g.odd()))
	}
	system := g.one(g.text(), g.odd())
	if g.pick(2) == 1 {
		system = g.content()
	}
	return g.object(1, "messages", list, "tools", g.one("null", g.list(tools...)), "functions", g.one("null", `[{"name":"f"}]`),
		"system", system, "cache_control", g.mark(), "model", g.text(), "thinking", g.odd(), "x", g.odd())
}

func (g *generator) message() string {
	role := g.one(`"user"`, `"user"`, `"assistant"`, `"assistant"`, `"system"`, `"tool"`, `"tool"`, `"function"`, `"other"`)
	members := []string{"role", role, "content", g.content(), "cache_control", g.mark(), "name", g.id(), "x", g.odd()}
	if g.format == FormatOpenAIChat {
		var calls []string
		for range g.pick(3) {
			calls = append(calls, g.one(g.call(), g.call(), g.odd()))
		}
		members = append(members, "tool_call_id", g.id(), "tool_calls", g.one("null", g.list(calls...)), "function_call", g.one("null", g.call()),
			"refusal", g.one("null", g.text()), "reasoning", g.one("null", g.text()), "reasoning_content", g.one("null", g.text()),
			"audio", g.one("null", `{"id":"audio_1"}`))
	}
	return g.object(1, members...)
}

func (g *generator) call() string {
	input := g.one(`"{\"a\":1}"`, `"not JSON"`, `{"a":[1]}`, "null", `""`)
	return g.object(0, "id", g.id(), "call_id", g.id(), "type", `"function"`, "cache_control", g.mark(), "name", g.id(), "arguments", input,
		"function", g.object(0, "name", g.text(), "arguments", input, "id", g.odd(), "cache_control", g.mark()))
}

func (g *generator) content() string {
	if g.depth > 2 || g.pick(3) == 1 {
		return g.one(g.text(), g.text(), g.odd())
	}
	g.depth++
	defer func() { g.depth-- }()
	var blocks []string
	for range g.pick(5) {
		blocks = append(blocks, g.block())
	}
	return g.list(blocks...)
}

func (g *generator) block() string {
	switch g.pick(12) {
	case 0, 1, 2:
		return g.object(0, "type", `"text"`, "text", g.text(), "cache_control", g.mark(), "citations", g.odd())
	case 3:
		return g.one(g.text(), g.odd())
	case 4, 5:
		return g.object(0, "type", `"tool_use"`, "id", g.id(), "name", g.text(), "input", g.odd(), "cache_control", g.mark(), "caller", g.one("null", `{"type":"code_execution_20260120"}`))
	case 6, 7, 8:
		return g.object(0, "type", `"tool_result"`, "tool_use_id", g.id(), "content", g.content(), "is_error", g.odd(), "cache_control", g.mark())
	case 9:
		return g.object(0, "type", g.one(`"thinking"`, `"redacted_thinking"`, `"refusal"`, `"compaction"`, "null"), "thinking", g.text(), "refusal", g.text(), "signature", g.text(), "content", g.content(), "cache_control", g.mark())
	case 10:
		return g.object(0, "type", g.one(`"server_tool_use"`, `"web_search_tool_result"`, `"mcp_tool_use"`, `"mcp_tool_result"`, `"later"`), "id", g.id(), "tool_use_id", g.id(), "input", g.odd(), "content", g.content(), "cache_control", g.mark())
	default:
		source := g.object(0, "type", g.one(`"base64"`, `"text"`, `"content"`, `"url"`), "data", g.text(), "media_type", g.text(), "content", g.content(), "url", `"data:image/png;base64,AA=="`)
		return g.object(0, "type", g.one(`"image"`, `"document"`, `"image_url"`, `"file"`, `"input_audio"`), "source", g.one(source, g.odd()), "image_url", g.one(g.text(), source), "text", g.text(), "cache_control", g.mark())
	}
}

func TestRandomRewritesOfGeneratedRequests(t *testing.T) {
	for _, format := range []Format{FormatOpenAIChat, FormatAnthropicMessages} {
		t.Run(format.String(), func(t *testing.T) {
			for seed := range uint64(1000) {
				rnd := rand.New(rand.NewPCG(seed, 4))
				g := generator{format: format, pick: rnd.IntN}
				c := checkParse(t, format, g.request())
				if c == nil {
					continue // a second tool list, a call list that is none
				}
				checkPairing(t, c)
				for rare := 2; rare <= 3; rare++ {
					checkRewrite(t, decide(c, rare, rnd.IntN))
				}
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}
