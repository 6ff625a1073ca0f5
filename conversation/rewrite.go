package conversation

import "slices"

// Rewrite collects what was decided about one conversation. The zero value of
// every part means "keep". It is written once, by the engine or the placer, and
// then rendered; the conversation itself never changes.
type Rewrite struct {
	c *Conversation
	// messages holds the changed messages only.
	messages map[int]*MessageEdit
	inserts  map[int][]NewMessage // keyed by the message they come before
	system   *MessageEdit
	tools    map[int]MarkEdit
	auto     MarkEdit
	wire     MarkWire // of the marks being set
}

// MessageEdit is what happens to one message.
type MessageEdit struct {
	// Drop removes the whole message; nothing else counts then.
	Drop bool
	// Results are tool results put in front of the content (Anthropic repairs).
	Results []NewResult
	// Append is text added at the end of the content, "" for none.
	Append string
	// Unmark removes a cache_control that stands on the message object itself, and
	// the strays inside its content.
	Unmark bool
	blocks map[int]*BlockEdit
}

// BlockEdit is what happens to one block.
type BlockEdit struct {
	// Drop removes the block.
	Drop bool
	// Text, when not nil, replaces the text of a text block or the whole content
	// of a tool result.
	Text *string
	// Input, when not nil, replaces a call's arguments (JSON text).
	Input *string
	// Mark sets or removes the block's cache breakpoint.
	Mark MarkEdit
	// Split, when over 0, makes two text blocks of one: the first keeps that many
	// bytes of the text and Mark, the second has the rest and takes RestMark.
	Split    int
	RestMark MarkEdit
	// parts are the mark edits of parts inside a tool result.
	parts map[int]MarkEdit
}

// MarkEdit says what happens to a cache breakpoint.
type MarkEdit struct {
	Kind MarkChange
	// TTL is the ttl to write; empty means the key is left out (5 minutes).
	TTL string
	// Wire is the member to write it in.
	Wire MarkWire
}

// MarkChange is the kind of a MarkEdit.
type MarkChange int

// The kinds of mark change.
const (
	MarkKeep MarkChange = iota
	MarkSet
	MarkRemove
)

// NewRewrite returns an empty rewrite of c: rendering it gives c back.
func NewRewrite(c *Conversation) *Rewrite {
	return &Rewrite{
		c:        c,
		messages: make(map[int]*MessageEdit),
		inserts:  make(map[int][]NewMessage),
		tools:    make(map[int]MarkEdit),
	}
}

// Empty reports whether nothing was decided.
func (r *Rewrite) Empty() bool {
	return len(r.messages) == 0 && len(r.inserts) == 0 && len(r.tools) == 0 && r.system == nil && r.auto.Kind == MarkKeep
}

// Drop removes a message.
func (r *Rewrite) Drop(message int) { r.message(message).Drop = true }

// DropBlock removes one block of a message's content list; other blocks cannot
// go alone, and asking for it changes nothing. The caller makes sure that the
// message does not end up empty.
func (r *Rewrite) DropBlock(ref Ref) {
	if r.c.Format == FormatTyped || r.c.Messages[ref.Message].Shape == ShapeList && r.c.At(ref).Site == SiteContent {
		r.block(ref).Drop = true
	}
}

// SetText replaces the text of a text block, or the whole content of a tool
// result, which becomes one string. Blocks of other kinds stay as they are, and so
// does one whose text is the same.
func (r *Rewrite) SetText(ref Ref, text string) { r.block(ref).Text = &text }

// SetInput replaces the arguments of a call by JSON text, which has to be valid.
// A call without arguments stays as it is.
func (r *Rewrite) SetInput(ref Ref, json string) { r.block(ref).Input = &json }

// Insert puts a new message before the message at index before; len(Messages)
// appends. Messages put at one place stand in the order of the calls.
func (r *Rewrite) Insert(before int, m NewMessage) {
	before = min(max(before, 0), len(r.c.Messages))
	r.inserts[before] = append(r.inserts[before], m)
}

// insertResult puts a result before an index and before anything else that was
// inserted there: nothing may stand between a call and its result.
func (r *Rewrite) insertResult(before int, m NewMessage) {
	have := r.inserts[before]
	at := len(have)
	for at > 0 && have[at-1].Result == nil {
		at--
	}
	r.inserts[before] = slices.Insert(have, at, m)
}

// AppendText adds text at the end of a message's content. On string content it
// is written inside the same string, on a list as a text block of its own, and
// null or absent content becomes that text. Content of any other kind stays.
func (r *Rewrite) AppendText(message int, text string) { r.message(message).Append = text }

// AppendSystemText adds text at the end of the top-level system prompt.
func (r *Rewrite) AppendSystemText(text string) { r.systemEdit().Append = text }

// AddResult answers a call that has no result, where the form wants it: in the
// Anthropic form inside the user message that follows the call's turn, elsewhere
// as a message of its own after the turn's last result. unitEnd is the index
// after the last message of the call's unit. A user message that takes the result
// must not be dropped afterwards.
func (r *Rewrite) AddResult(call Ref, unitEnd int, text string) {
	b := r.c.At(call)
	res := NewResult{ID: b.ID, Name: b.Name, Text: text, Legacy: b.Site == SiteFunctionCall}
	if res.ID == "" {
		res.ID = b.AltID
	}
	if r.c.Format == FormatAnthropicMessages {
		turnEnd := call.Message + 1
		for turnEnd < unitEnd && r.c.Messages[turnEnd].Role == RoleAssistant {
			turnEnd++
		}
		if turnEnd < len(r.c.Messages) && !r.Dropped(turnEnd) {
			if m := &r.c.Messages[turnEnd]; m.Role == RoleUser && m.Shape != ShapeOther {
				e := r.message(turnEnd)
				e.Results = append(e.Results, res)
				return
			}
		}
		r.insertResult(turnEnd, NewMessage{Role: RoleUser, Result: &res})
		return
	}
	r.insertResult(unitEnd, NewMessage{Role: RoleTool, Result: &res})
}

// MarkBlock sets the cache breakpoint of a block. String content becomes a list of
// one text block to carry it; the block of a tool message stands for the message
// object. A block that is no object in the source, or no element of a list or
// call, takes none.
func (r *Rewrite) MarkBlock(ref Ref, ttl string) { r.block(ref).Mark = r.set(ttl) }

// MarksAs names the member in which marks set from now on are written. Default
// [WireCacheControl].
func (r *Rewrite) MarksAs(wire MarkWire) { r.wire = wire }

func (r *Rewrite) set(ttl string) MarkEdit { return MarkEdit{Kind: MarkSet, TTL: ttl, Wire: r.wire} }

// SplitText makes two blocks of a text block: the first keeps the first at bytes
// of the text, which must end on a character, and the block's mark. The text of
// the two together is that of the one, byte for byte. It works on string content
// and on text blocks of a content list.
func (r *Rewrite) SplitText(ref Ref, at int) { r.block(ref).Split = at }

// SplitSystem splits a block of the top-level system prompt.
func (r *Rewrite) SplitSystem(block, at int) { r.systemEdit().block(block).Split = at }

// MarkRest sets the breakpoint of the second half of a block that is split.
func (r *Rewrite) MarkRest(ref Ref, ttl string) { r.block(ref).RestMark = r.set(ttl) }

// MarkSystemRest does so in the top-level system prompt.
func (r *Rewrite) MarkSystemRest(block int, ttl string) {
	r.systemEdit().block(block).RestMark = r.set(ttl)
}

// MarkAuto sets the top-level cache_control of a request body (automatic caching).
// An array of messages and the typed form have no place for it, and stay.
func (r *Rewrite) MarkAuto(ttl string) {
	if !r.c.Bare && r.c.Format != FormatTyped {
		r.auto = MarkEdit{Kind: MarkSet, TTL: ttl}
	}
}

// UnmarkBlock removes the cache breakpoint of a block.
func (r *Rewrite) UnmarkBlock(ref Ref) { r.block(ref).Mark = MarkEdit{Kind: MarkRemove} }

// MarkPart sets the breakpoint of a part inside a tool result. Only forms that
// carry the mark there (a tool message of the OpenAI shape) want it.
func (r *Rewrite) MarkPart(ref Ref, part int, ttl string) { r.part(ref, part, r.set(ttl)) }

// UnmarkPart removes the mark of a part inside a tool result.
func (r *Rewrite) UnmarkPart(ref Ref, part int) { r.part(ref, part, MarkEdit{Kind: MarkRemove}) }

func (r *Rewrite) part(ref Ref, part int, e MarkEdit) {
	b := r.block(ref)
	if b.parts == nil {
		b.parts = make(map[int]MarkEdit)
	}
	b.parts[part] = e
}

// UnmarkMessage removes a cache_control from the message object itself, and the
// strays inside its content ([Message.Strays]).
func (r *Rewrite) UnmarkMessage(message int) { r.message(message).Unmark = true }

// MarkSystem sets the breakpoint of a block of the top-level system prompt.
func (r *Rewrite) MarkSystem(block int, ttl string) {
	r.systemEdit().block(block).Mark = r.set(ttl)
}

// UnmarkSystem removes the breakpoint of a block of the top-level system prompt.
func (r *Rewrite) UnmarkSystem(block int) {
	r.systemEdit().block(block).Mark = MarkEdit{Kind: MarkRemove}
}

// MarkTool sets the breakpoint of a tool definition.
func (r *Rewrite) MarkTool(tool int, ttl string) { r.tools[tool] = r.set(ttl) }

// UnmarkTool removes the breakpoint of a tool definition.
func (r *Rewrite) UnmarkTool(tool int) { r.tools[tool] = MarkEdit{Kind: MarkRemove} }

// UnmarkSystemStrays removes the strays inside the top-level system prompt.
func (r *Rewrite) UnmarkSystemStrays() { r.systemEdit().Unmark = true }

// UnmarkAuto removes a top-level cache_control.
func (r *Rewrite) UnmarkAuto() { r.auto = MarkEdit{Kind: MarkRemove} }

// Dropped reports whether a message was removed.
func (r *Rewrite) Dropped(message int) bool {
	e := r.messages[message]
	return e != nil && e.Drop
}

// drops reports whether any message was removed.
func (r *Rewrite) drops() bool {
	for _, e := range r.messages {
		if e.Drop {
			return true
		}
	}
	return false
}

// DroppedBlock reports whether a block, or its whole message, was removed.
func (r *Rewrite) DroppedBlock(ref Ref) bool {
	e := r.messages[ref.Message]
	if e == nil {
		return false
	}
	b := e.blocks[ref.Block]
	return e.Drop || b != nil && b.Drop
}

// Changed reports whether a message leaves otherwise than it came.
func (r *Rewrite) Changed(message int) bool {
	e := r.messages[message]
	return e != nil && (e.Drop || r.c.Format == FormatTyped || len(r.messageEdits(message)) > 0)
}

// Message returns the edit of a message, nil when it is kept as it is.
func (r *Rewrite) Message(i int) *MessageEdit { return r.messages[i] }

// System returns the edit of the top-level system prompt, nil when there is none.
func (r *Rewrite) System() *MessageEdit { return r.system }

// Tool returns the mark edit of a tool definition.
func (r *Rewrite) Tool(i int) MarkEdit { return r.tools[i] }

// Inserted returns the new messages that come before index i.
func (r *Rewrite) Inserted(i int) []NewMessage { return r.inserts[i] }

// Block returns the edit of a block, nil when it is kept as it is.
func (e *MessageEdit) Block(i int) *BlockEdit { return e.blocks[i] }

// Part returns the mark edit of a part inside a tool result.
func (e *BlockEdit) Part(i int) MarkEdit { return e.parts[i] }

// EditedParts lists the parts with a mark edit, in order.
func (e *BlockEdit) EditedParts() []int { return sortedKeys(e.parts) }

// EditedBlocks lists the edited blocks in order.
func (e *MessageEdit) EditedBlocks() []int { return sortedKeys(e.blocks) }

func (r *Rewrite) message(i int) *MessageEdit {
	e := r.messages[i]
	if e == nil {
		e = &MessageEdit{}
		r.messages[i] = e
	}
	return e
}

func (r *Rewrite) block(ref Ref) *BlockEdit { return r.message(ref.Message).block(ref.Block) }

func (r *Rewrite) systemEdit() *MessageEdit {
	if r.system == nil {
		r.system = &MessageEdit{}
	}
	return r.system
}

func (e *MessageEdit) block(i int) *BlockEdit {
	if e.blocks == nil {
		e.blocks = make(map[int]*BlockEdit)
	}
	b := e.blocks[i]
	if b == nil {
		b = &BlockEdit{}
		e.blocks[i] = b
	}
	return b
}

func sortedKeys[V any](m map[int]V) []int {
	keys := make([]int, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
