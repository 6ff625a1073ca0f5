package simulator

import (
	"slices"
	"strings"
	"time"

	"github.com/elbowroom/elbowroom/conversation"
)

// compare finds in which bytes and parameters a request differs from the one before it, and what that cost.
func compare(before, st *step) []Finding {
	c := &comparison{before: before, after: st, a: before.prompt, b: st.prompt}
	switch {
	case c.a.Model != c.b.Model:
		c.add(Finding{
			Code: CodeModelChanged, Tier: TierTools, At: whole(), Offset: -1, Class: "model",
			Detail: detail("%s before, %s now; every model has a cache of its own", c.a.Model, c.b.Model),
			Fix:    "keep the model of a conversation, and give other work to a subagent with its own conversation",
		}, 0, false)
		return c.out
	case before.req.Scope != st.req.Scope || before.req.Rules.Layout != st.req.Rules.Layout:
		c.add(Finding{
			Code: CodeScopeChanged, Tier: TierTools, At: whole(), Offset: -1,
			Detail: detail("%v %q before, %v %q now; caches are not shared between them", before.req.Rules.Layout, before.req.Scope, st.req.Rules.Layout, st.req.Scope),
			Fix:    "pin the route: one workspace and region, session_id, prompt_cache_key",
		}, 0, false)
		return c.out
	}
	c.tools()
	c.system()
	c.params()
	c.messages()
	return c.out
}

// comparison is two requests of a thread.
type comparison struct {
	before, after *step
	a, b          *Prompt
	out           []Finding
}

// add reports a finding whose loss begins at a block of the later request.
func (c *comparison) add(f Finding, from int, everyTurn bool) {
	kept := 0
	if from > 0 {
		kept = c.after.upTo[min(from, len(c.after.upTo))-1]
	}
	if c.after.req.Rules.AllParams && f.Code == CodeParamsChanged {
		kept = 0
	}
	lost := min(c.before.cached, c.after.whole) - max(kept, c.after.out.Read)
	f.lost(lost, c.after.req.Price, c.after.whole, c.after.out.Written() > 0, everyTurn)
	c.out = append(c.out, f)
}

// tier is the range of a tier's blocks.
func (p *Prompt) tier(t Tier) (from, to int) {
	for from < len(p.Blocks) && p.Blocks[from].Tier < t {
		from++
	}
	to = from
	for to < len(p.Blocks) && p.Blocks[to].Tier == t {
		to++
	}
	return from, to
}

// firstDifference is the first block of a tier in which two prompts differ, counted from the start of the tier; -1 when
// the one before is a beginning of the one after.
func (c *comparison) firstDifference(t Tier) (i, fromA, toA, fromB, toB int) {
	fromA, toA = c.a.tier(t)
	fromB, toB = c.b.tier(t)
	for i = 0; fromA+i < toA && fromB+i < toB; i++ {
		if c.a.Blocks[fromA+i].Hash != c.b.Blocks[fromB+i].Hash {
			return i, fromA, toA, fromB, toB
		}
	}
	if fromA+i == toA && (t == TierMessages || fromB+i == toB) {
		i = -1
	}
	return i, fromA, toA, fromB, toB
}

// at fills in the place and the bytes of the first difference between two blocks, either of which may be -1.
func (c *comparison) at(f *Finding, a, b int) {
	f.Offset = -1
	if b < 0 || b >= len(c.b.Blocks) {
		f.At = whole()
		if a >= 0 && a < len(c.a.Blocks) {
			f.At = c.a.Blocks[a].At
		}
		return
	}
	f.At = c.b.Blocks[b].At
	after, span := c.b.literal(b)
	before := ""
	if a >= 0 && a < len(c.a.Blocks) {
		before, _ = c.a.literal(a)
	}
	n := commonPrefix(before, after)
	f.Before, f.After = excerpt(before, n), excerpt(after, n)
	if span.Len() > 0 {
		f.Offset = sourceOffset(c.b.cuts, span, n)
	}
}

// literal is what is compared of a block: its JSON without marks, of a text only the string.
func (p *Prompt) literal(i int) (string, conversation.Span) {
	s := p.Blocks[i].source
	var span conversation.Span
	switch {
	case s.block == nil:
		span = p.conv.Tools[s.tool].Span
	case s.block.Kind == conversation.KindText:
		span = s.block.TextSpan
	case s.block.Kind == conversation.KindToolResult && len(s.block.Result) == 1 && s.block.Result[0].Kind == conversation.KindText:
		span = s.block.Result[0].TextSpan
	default:
		span = s.block.Span
	}
	if span.Len() == 0 {
		if s.block != nil {
			return s.block.Text + s.block.ResultText(), span
		}
		return "", span
	}
	return without(p.conv, p.cuts, span), span
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// excerptBytes is how much of a text is shown on either side of a difference.
const excerptBytes = 40

func excerpt(s string, at int) string {
	return strings.ToValidUTF8(s[max(0, at-excerptBytes):min(len(s), at+excerptBytes)], "")
}

// sourceOffset is where the byte stands in the source that is number n of a span without its marks.
func sourceOffset(cuts []conversation.Span, span conversation.Span, n int) int {
	at := span.Start + n
	for _, cut := range cuts {
		if cut.Start >= span.Start && cut.End <= span.End && cut.Start <= at {
			at += cut.Len()
		}
	}
	return at
}

func (c *comparison) tools() {
	i, fromA, toA, fromB, toB := c.firstDifference(TierTools)
	if i < 0 {
		return
	}
	f := Finding{Tier: TierTools}
	f.Code, f.Detail, f.Fix = c.toolChange(fromA, toA, fromB, toB)
	a, b := fromA+i, fromB+i
	if a >= toA {
		a = -1
	}
	at := b
	if b >= toB {
		b = -1
	}
	c.at(&f, a, b)
	c.add(f, at, false)
}

func (c *comparison) toolChange(fromA, toA, fromB, toB int) (code, what, fix string) {
	before := make(map[string]int)
	hashes := make(map[Hash]int)
	for i := fromA; i < toA; i++ {
		before[c.a.conv.Tools[c.a.Blocks[i].source.tool].Name] = i
		hashes[c.a.Blocks[i].Hash]++
	}
	same, sameNames, serialized := toA-fromA == toB-fromB, toA-fromA == toB-fromB, true
	var added, changed []string
	for i := fromB; i < toB; i++ {
		name := c.b.conv.Tools[c.b.Blocks[i].source.tool].Name
		hashes[c.b.Blocks[i].Hash]--
		same = same && hashes[c.b.Blocks[i].Hash] >= 0
		at, ok := before[name]
		switch {
		case !ok:
			sameNames = false
			added = append(added, name)
		case c.a.Blocks[at].Hash != c.b.Blocks[i].Hash:
			changed = append(changed, name)
			one, _ := c.a.literal(at)
			two, _ := c.b.literal(i)
			serialized = serialized && sameJSON(one, two)
		}
	}
	switch {
	case same:
		return CodeToolsOrder, "the same tools in another order", "sort the tools by name and keep the order"
	case !sameNames:
		what = detail("%d tools before, %d now", toA-fromA, toB-fromB)
		if len(added) > 0 {
			what += ", new: " + clip(strings.Join(added, ", "))
		}
		return CodeToolsSet, what, "keep the largest set of tools from the first request on, or load tools later as deferred ones"
	case serialized:
		return CodeToolsSerialization, "the same definitions, written in another way: " + clip(strings.Join(changed, ", ")),
			"serialize the tools once and send the same bytes; maps of many languages have no order"
	default:
		return CodeToolsDefinition, "other definitions under the same names: " + clip(strings.Join(changed, ", ")), "freeze the definitions for the session"
	}
}

// clip shortens a list of names.
func clip(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

func (c *comparison) system() {
	i, fromA, toA, fromB, toB := c.firstDifference(TierSystem)
	if i < 0 {
		return
	}
	f := Finding{
		Code: CodeSystemText, Tier: TierSystem, Detail: "the system prompt changed",
		Fix: "build the system prompt once; say later things in a message, a system message in the list where the model takes one",
	}
	a, b := fromA+i, fromB+i
	everyTurn := false
	switch {
	case a >= toA || b >= toB:
		f.Detail = detail("the system prompt had %d blocks, now it has %d", toA-fromA, toB-fromB)
	case c.a.Blocks[a].source.block == nil || c.b.Blocks[b].source.block == nil:
		f.Code, f.Class, f.Detail, f.Fix = CodeParamsChanged, "web_search", "web search was switched on, off or over", "pin it for the session"
	default:
		if class := volatile(c.a.Blocks[a].source.block.Text, c.b.Blocks[b].source.block.Text); class != "" {
			f.Code, f.Class, everyTurn = CodeSystemVolatile, class, true
			f.Detail = "the system prompt differs in this alone: " + class
			f.Fix = "move it to the last message, or to a block of its own after the last mark"
		}
	}
	c.addAt(f, a, toA, b, toB, everyTurn)
}

// addAt adds a finding at the first difference, which may be behind the end of either.
func (c *comparison) addAt(f Finding, a, toA, b, toB int, everyTurn bool) {
	at := b
	if a >= toA {
		a = -1
	}
	if b >= toB {
		b = -1
	}
	c.at(&f, a, b)
	c.add(f, at, everyTurn)
}

// params compares what enters the key beside the blocks.
func (c *comparison) params() {
	var from [tiers]int
	for t := range tiers {
		from[t], _ = c.b.tier(t)
	}
	report := func(name string, t Tier, before, after string) {
		c.add(Finding{
			Code: CodeParamsChanged, Class: clip(name), Tier: t, At: whole(), Offset: -1, Before: excerpt(before, 0), After: excerpt(after, 0),
			Detail: detail("%s changed; the cached %s and what follows are lost", clip(name), t), Fix: detail("keep %s as it is for the whole conversation", clip(name)),
		}, from[t], false)
	}
	a, b := c.a.Params.list, c.b.Params.list
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].name < b[0].name:
			report(a[0].name, a[0].tier, a[0].value, "")
			a = a[1:]
		case len(a) == 0 || b[0].name < a[0].name:
			report(b[0].name, b[0].tier, "", b[0].value)
			b = b[1:]
		default:
			if a[0].value != b[0].value {
				report(a[0].name, a[0].tier, a[0].value, b[0].value)
			}
			a, b = a[1:], b[1:]
		}
	}
	if c.a.Params.images != c.b.Params.images && c.after.req.Rules.ImageSalt {
		report("images", TierMessages, "", "")
	}
}

func (c *comparison) messages() {
	i, fromA, toA, fromB, toB := c.firstDifference(TierMessages)
	if i < 0 {
		return
	}
	f := Finding{Tier: TierMessages, Evidence: EvidenceBytes}
	a, b := fromA+i, fromB+i
	c.messageChange(&f, a, toA, b, toB)
	c.addAt(f, a, toA, b, toB, false)
}

// messageChange says how the messages from two blocks on became what they are.
func (c *comparison) messageChange(f *Finding, a, toA, b, toB int) {
	f.Fix = "append only: leave what was sent as it was"
	if c.b.Stripped > c.a.Stripped && a < toA {
		if k := c.a.Blocks[a].Kind; k == conversation.KindThinking || k == conversation.KindRedactedThinking {
			f.Code, f.Evidence = CodeThinkingStripped, EvidenceRules
			f.Detail = "a plain user message takes the earlier thinking out of the prompt with this model"
			f.Fix = "expected with this model; newer ones keep it"
			return
		}
	}
	if a < toA && b < toB {
		if code := spelling(c.a, a, c.b, b); code != "" {
			f.Code = code
			f.Detail = "the same content, written in another way"
			f.Fix = "send the bytes that were sent before; a layer in between decodes and encodes them"
			return
		}
	}
	// Where the two meet again decides: the first later block of the new list that the old one has too.
	where := make(map[Hash]int)
	for k := toA - 1; k >= a; k-- {
		where[c.a.Blocks[k].Hash] = k
	}
	removed, inserted := toA-a, toB-b
	for k := b; k < toB; k++ {
		if m, ok := where[c.b.Blocks[k].Hash]; ok {
			removed, inserted = m-a, k-b
			break
		}
	}
	switch {
	case b == toB || inserted == 0:
		f.Code, f.Detail = CodeMessagesDelete, detail("%d blocks are gone", removed)
	case removed == 0:
		f.Code, f.Detail = CodeMessagesInsert, detail("%d blocks were put in between", inserted)
	case c.cleared(a, b):
		f.Code, f.Detail = CodeMessagesClear, "an old tool result was shortened"
		c.payBack(f, b)
	case slices.ContainsFunc(c.b.Blocks[b:min(b+inserted, toB)], func(x Block) bool { return x.Kind == conversation.KindCompaction }),
		removed > inserted+1:
		f.Code, f.Detail = CodeMessagesCompaction, detail("%d blocks became %d", removed, inserted)
		c.payBack(f, b)
	default:
		f.Code, f.Detail = CodeMessagesEdit, "a message that was sent before has changed"
	}
}

// cleared reports whether a tool result was replaced by a shorter one.
func (c *comparison) cleared(a, b int) bool {
	x, y := &c.a.Blocks[a], &c.b.Blocks[b]
	return x.Kind == conversation.KindToolResult && y.Kind == x.Kind && x.source.block.ID == y.source.block.ID && y.Tokens < x.Tokens
}

// payBack says after how many turns a shorter prompt has paid for the tokens that are written anew: what is written anew
// costs the difference between writing and reading once, what is gone saves a read every turn.
func (c *comparison) payBack(f *Finding, b int) {
	f.Fix = "compress rarely and much, or when the cache is cold; keep what came back"
	kept := 0
	if b > 0 {
		kept = c.after.upTo[b-1]
	}
	rewritten, saved := c.after.whole-kept, c.before.whole-c.after.whole
	back := PayBack{Turns: -1}
	if saved > 0 {
		back = c.after.req.Price.PayBack(c.after.req.Rules, Shortened{Kept: kept, Rewritten: rewritten, Saved: saved}, 5*time.Minute)
	}
	if back.Turns < 0 {
		f.Detail += detail("; %d tokens are written anew and none is saved", rewritten)
		return
	}
	f.Detail += detail("; %d tokens are written anew and at least %d fewer are read from now on: paid back after about %d turns", rewritten, saved, back.Turns)
}
