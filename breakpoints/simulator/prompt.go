package simulator

import (
	"crypto/sha256"
	"time"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/conversation"
)

// Tier is one of the three parts of a prompt, in the order in which they are rendered.
type Tier int

// The tiers.
const (
	TierTools Tier = iota
	TierSystem
	TierMessages
	tiers
)

// String names the tier.
func (t Tier) String() string {
	switch t {
	case TierTools:
		return "tools"
	case TierSystem:
		return "system"
	default:
		return "messages"
	}
}

// Hash is the fingerprint of bytes.
type Hash [sha256.Size]byte

// Block is one piece of a prompt: a tool, a block of the system prompt or of a message.
type Block struct {
	Tier Tier
	Kind conversation.BlockKind
	// Hash is that of the block's bytes without marks. Text counts as what it says, whether it stands in a string or a list.
	Hash Hash
	// Tokens is its size; it may be 0.
	Tokens int
	// At is its place in the caller's own arrays.
	At breakpoints.Position
	// Refused says why the block cannot carry a mark, empty if it can.
	Refused string
	// Hidden is set where the provider could mark the block and the caller's form has no place for a mark: in OpenAI's, on
	// anything but text.
	Hidden bool
	// Role is that of the message; RoleOther for tools.
	Role conversation.Role
	// Request is set for a block of a message in which the user says something.
	Request bool
	// Image is set when there is an image in it.
	Image bool
	// Ends is set on the last block of a message.
	Ends bool

	source source
}

// source is where a block's bytes are.
type source struct {
	tool  int // index of the tool, -1 for blocks
	block *conversation.Block
}

// Mark is a mark on a block.
type Mark struct {
	// Block is the index in [Prompt.Blocks].
	Block int
	// TTL is the life it asks for.
	TTL time.Duration
	// Automatic is set when the provider placed it.
	Automatic bool
}

// The lives of marks.
const (
	TTL5m = 5 * time.Minute
	TTL1h = time.Hour
)

// Prompt is what a provider sees of a request.
type Prompt struct {
	// Model is the model's name.
	Model string
	// Blocks are those that are rendered, in prompt order.
	Blocks []Block
	// Marks are the explicit marks, in prompt order.
	Marks []Mark
	// Automatic is the life that the request's own mark asks for, 0 without one.
	Automatic time.Duration
	// Explicit is set when the request switches breakpoints of the provider's choice off (OpenAI).
	Explicit bool
	Params   Params
	// Rejections are reasons for which the provider refuses the request.
	Rejections []Rejection
	// Stripped is how many thinking blocks the provider leaves out.
	Stripped int

	conv *conversation.Conversation
	// cuts are the places of all marks in the source.
	cuts []conversation.Span
	// keys are those of the chain in no scope, where they are known already.
	keys []Hash
}

// Tokens is the size of the prompt.
func (p *Prompt) Tokens() int {
	sum := 0
	for i := range p.Blocks {
		sum += p.Blocks[i].Tokens
	}
	return sum
}

// Material is a conversation taken apart once, from which the prompts of its beginnings are put together.
type Material struct {
	conv     *conversation.Conversation
	model    string
	setup    []Block   // tools and system prompt
	messages [][]Block // by message
	params   Params
	marks    []found
	cuts     []conversation.Span
}

// Read takes a conversation apart. sizes may be nil: every block then counts a token for four bytes. Errors are those of
// [Sizes.check].
func Read(c *conversation.Conversation, model string, sizes *Sizes) (*Material, error) {
	if sizes == nil {
		sizes = roughSizes(c)
	}
	if err := sizes.check(c); err != nil {
		return nil, err
	}
	m := &Material{conv: c, model: model, params: readParams(c)}
	m.cuts = markSpans(c)
	h := newHasher(c, m.cuts)
	var server []Block
	for i := range c.Tools {
		t := &c.Tools[i]
		if t.Deferred {
			continue
		}
		b := Block{
			Tier: TierTools, Hash: h.tool(t), Tokens: sizes.Tools[i],
			At: breakpoints.Position{Section: conversation.SectionTools, Message: i, Block: -1}, source: source{tool: i},
		}
		if searchTool(t.Type) { // switching web search on leaves the cached tools as they are
			b.Tier = TierSystem
			server = append(server, b)
			continue
		}
		m.setup = append(m.setup, b)
	}
	m.setup = append(m.setup, server...)
	if c.System != nil {
		for i := range c.System.Blocks {
			b := &c.System.Blocks[i]
			m.setup = append(m.setup, Block{
				Tier: TierSystem, Kind: b.Kind, Hash: h.block(c.System, b, false), Tokens: sizes.System[i], Role: conversation.RoleSystem,
				At: breakpoints.Position{Section: conversation.SectionSystem, Block: i}, Refused: refusedSystem(b), source: source{-1, b},
				Ends: i == len(c.System.Blocks)-1,
			})
		}
	}
	programmatic := programmaticBlocks(c)
	leading := true
	m.messages = make([][]Block, len(c.Messages))
	for i := range c.Messages {
		msg := &c.Messages[i]
		leading = leading && msg.Role == conversation.RoleSystem
		tier, request := TierMessages, msg.IsRequest()
		if leading {
			tier = TierSystem
		}
		blocks := make([]Block, len(msg.Blocks))
		for j := range msg.Blocks {
			b := &msg.Blocks[j]
			blocks[j] = Block{
				Tier: tier, Kind: b.Kind, Hash: h.block(msg, b, j == 0), Tokens: sizes.Messages[i][j],
				At: positionOf(i, j, msg), Refused: refused(b, programmatic[b]), Role: msg.Role, Request: request, Image: hasImage(b),
				Hidden: hidden(c, msg, b), source: source{-1, b}, Ends: j == len(msg.Blocks)-1,
			}
		}
		m.messages[i] = blocks
	}
	m.marks = findMarks(c)
	return m, nil
}

// positionOf names a block as [breakpoints.Place] does.
func positionOf(message, block int, m *conversation.Message) breakpoints.Position {
	p := breakpoints.Position{Section: conversation.SectionMessages, Message: message, Block: -1}
	if m.Blocks[block].Site == conversation.SiteContent {
		p.Block = block
		if m.Blocks[0].Site == conversation.SiteReasoning {
			p.Block--
		}
	}
	return p
}

// Prompt puts the prompt of the first n messages together, without marks.
func (m *Material) Prompt(n int, rules *Rules) *Prompt {
	p := &Prompt{Model: m.model, Params: m.params, conv: m.conv, cuts: m.cuts}
	p.Blocks = append(p.Blocks, m.setup...)
	from, fromBlock, stripTo := 0, 0, 0 // what stands before a compaction is not rendered
	for i := range n {
		for j := range m.messages[i] {
			if m.messages[i][j].Kind == conversation.KindCompaction {
				from, fromBlock = i, j
			}
		}
		if rules.StripsThinking && len(m.messages[i]) > 0 && m.messages[i][0].Request && !m.conv.Messages[i].Has(conversation.KindToolResult) {
			stripTo = i
		}
	}
	for i := range n {
		for j := range m.messages[i] {
			b := &m.messages[i][j]
			switch {
			case b.Tier == TierMessages && (i < from || i == from && j < fromBlock):
			case i < stripTo && (b.Kind == conversation.KindThinking || b.Kind == conversation.KindRedactedThinking):
				p.Stripped++
			default:
				p.Blocks = append(p.Blocks, *b)
			}
		}
	}
	for i := range p.Blocks {
		p.Params.images = p.Params.images || p.Blocks[i].Image
	}
	return p
}

// counts are the sizes of the parts of the first n messages.
func (m *Material) counts(n int) breakpoints.TokenCounts {
	out := breakpoints.TokenCounts{Messages: make([]int, n)}
	for i := range m.setup {
		if m.setup[i].Tier == TierTools {
			out.Tools += m.setup[i].Tokens
		} else {
			out.System += m.setup[i].Tokens
		}
	}
	for i := range n {
		for j := range m.messages[i] {
			out.Messages[i] += m.messages[i][j].Tokens
		}
	}
	return out
}

// Request returns the prompt of the whole conversation with its own marks and with what the provider would refuse.
func (m *Material) Request(rules *Rules) *Prompt {
	p := m.Prompt(len(m.messages), rules)
	p.adopt(m.marks, rules)
	p.Rejections = reject(m, rules)
	return p
}

// adopt puts the marks that were found on their blocks.
func (p *Prompt) adopt(marks []found, rules *Rules) {
	byBlock := make(map[*conversation.Block]int, len(p.Blocks))
	byTool := make(map[int]int)
	for i := range p.Blocks {
		if s := p.Blocks[i].source; s.block != nil {
			byBlock[s.block] = i
		} else {
			byTool[s.tool] = i
		}
	}
	wire := conversation.WireCacheControl
	if rules.Mode == ModeBreakpoints {
		wire, p.Explicit = conversation.WireBreakpoint, p.Params.explicit
	}
	for _, f := range marks {
		if f.wire != wire { // not read by this provider
			continue
		}
		if f.request {
			p.Automatic = f.ttl
			continue
		}
		if f.message && rules.Layout != breakpoints.LayoutLiteLLM { // lost on every other way
			continue
		}
		at, ok := byTool[f.tool]
		if f.block != nil {
			at, ok = byBlock[f.block]
		}
		if ok && (len(p.Marks) == 0 || p.Marks[len(p.Marks)-1].Block != at) {
			p.Marks = append(p.Marks, Mark{Block: at, TTL: f.ttl})
		}
	}
}

// Place puts marks on the blocks at the given places; what is not rendered carries none.
func (p *Prompt) Place(marks []breakpoints.Breakpoint) {
	p.Marks, p.Automatic = nil, 0
	at := make(map[breakpoints.Position]int, len(p.Blocks))
	last := make(map[breakpoints.Position]int)
	for i := range p.Blocks {
		b := &p.Blocks[i]
		at[b.At] = i
		whole := b.At
		whole.Block = -1
		last[whole] = i
	}
	for _, m := range marks {
		ttl := TTL5m
		if m.TTL == breakpoints.TTL1h {
			ttl = TTL1h
		}
		if m.Section == conversation.SectionMessages && m.Message < 0 {
			p.Automatic = ttl
			continue
		}
		i, ok := at[m.Position]
		if !ok { // a part of a tool message, or the message as a whole
			whole := m.Position
			whole.Block = -1
			i, ok = last[whole]
		}
		if ok {
			p.Marks = append(p.Marks, Mark{Block: i, TTL: ttl})
		}
	}
}
