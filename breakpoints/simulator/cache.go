package simulator

import (
	"slices"
	"time"

	"github.com/elbowroom/elbowroom/conversation"
)

// marks is one step under [ModeMarks].
func (s *run) marks(st *step) {
	r, p, out, now := st.req.Rules, st.prompt, st.out, st.req.Start
	st.marks = p.expanded(r)
	var active []Mark
	for _, m := range st.marks {
		placed := Placed{At: p.Blocks[m.Block].At, TTL: m.TTL, Tokens: st.upTo[m.Block], Automatic: m.Automatic}
		placed.Inert = placed.Tokens < r.MinTokens
		out.Marks = append(out.Marks, placed)
		if !placed.Inert {
			active = append(active, m)
		}
	}
	if len(active) == 0 {
		out.Uncached = st.whole
		return
	}
	read := 0
	var hit *entry
	for i := len(active) - 1; i >= 0 && hit == nil; i-- {
		if at := s.lookBack(st, active[:i+1]); at >= 0 {
			hit = s.store[st.keys[at]]
			read, out.Hit = st.upTo[at], at
		}
	}
	long, last := read, max(read, st.upTo[active[len(active)-1].Block])
	for _, m := range active {
		if at := st.upTo[m.Block]; m.TTL == TTL1h && at > read {
			long = at
		}
	}
	out.Split = Split{Read: read, Write1h: long - read, Write5m: last - long, Uncached: st.whole - last}
	st.cached = last
	if hit != nil {
		hit.refresh(now)
		hit.reads++
	}
	for _, m := range active {
		switch e := s.store[st.keys[m.Block]]; {
		case m.Block > out.Hit:
			s.write(st, m.Block, m.TTL, false)
		case e.live(now) && !r.FixedMarks:
			e.refresh(now)
		}
	}
}

// expanded are the marks in order, the automatic one put on its block.
func (p *Prompt) expanded(r *Rules) []Mark {
	marks := slices.Clone(p.Marks)
	for i := range marks {
		if !r.Has1h {
			marks[i].TTL = TTL5m
		}
	}
	slices.SortStableFunc(marks, func(a, b Mark) int { return a.Block - b.Block })
	if p.Automatic == 0 {
		return marks
	}
	for i := len(p.Blocks) - 1; i >= 0; i-- {
		if p.Blocks[i].Refused != "" {
			continue
		}
		if len(marks) == 0 || marks[len(marks)-1].Block < i {
			marks = append(marks, Mark{Block: i, TTL: p.Automatic, Automatic: true})
		}
		break
	}
	return marks
}

// lookBack walks back from the last of the marks over the positions of the window. Within a run that counts as one
// position only its end is looked at, and blocks that are marked. It returns the block of the first live entry, -1 when
// there is none.
func (s *run) lookBack(st *step, marks []Mark) int {
	last := len(marks) - 1
	first := st.pos[marks[last].Block]
	for i := marks[last].Block; i >= 0; i-- {
		if w := st.req.Rules.Window; w > 0 && first-st.pos[i] >= w {
			break
		}
		isMarked := last >= 0 && marks[last].Block == i
		if isMarked {
			last--
		}
		inRun := i+1 < len(st.pos) && st.pos[i] == st.pos[i+1]
		if (isMarked || !inRun) && s.store[st.keys[i]].live(st.req.Start) {
			return i
		}
	}
	return -1
}

// breakpoints is one step under [ModeBreakpoints].
func (s *run) breakpoints(st *step) {
	r, p, out, now := st.req.Rules, st.prompt, st.out, st.req.Start
	var explicit, ends []int
	for _, m := range p.Marks {
		explicit = append(explicit, m.Block)
	}
	if !p.Explicit {
		ends = p.messageEnds()
	}
	candidates := slices.Concat(explicit, ends)
	slices.Sort(candidates)
	candidates = slices.Compact(candidates)
	candidates = candidates[max(0, len(candidates)-r.Candidates):]
	read := 0
	for i := len(candidates) - 1; i >= 0; i-- {
		at := candidates[i]
		e := s.store[st.keys[at]]
		if e.live(now) && (!p.Explicit || !e.implicit) && st.upTo[at] >= r.MinTokens {
			read, out.Hit = st.upTo[at], at
			e.refresh(now)
			e.reads++
			break
		}
	}
	room := r.MaxWrites
	implicit := -1
	if len(ends) > 0 {
		implicit = ends[len(ends)-1]
		room--
	}
	writes := slices.Clone(explicit[max(0, len(explicit)-room):])
	if implicit >= 0 && !slices.Contains(writes, implicit) {
		writes = append(writes, implicit)
	}
	slices.Sort(writes)
	last := read
	for _, at := range writes {
		auto := at == implicit && !slices.Contains(explicit, at)
		inert := st.upTo[at] < r.MinTokens
		out.Marks = append(out.Marks, Placed{At: p.Blocks[at].At, TTL: time.Duration(r.Life), Tokens: st.upTo[at], Inert: inert, Automatic: auto})
		switch e := s.store[st.keys[at]]; {
		case inert:
		case at > out.Hit:
			s.write(st, at, time.Duration(r.Life), auto)
			last = st.upTo[at]
		case e.live(now):
			e.refresh(now)
		}
	}
	out.Split = Split{Read: read, Write: last - read, Uncached: st.whole - last}
	st.cached = last
}

// messageEnds are the places at which the provider may put a breakpoint of its own: the ends of user messages, of runs of
// tool messages, and of the system prompt.
func (p *Prompt) messageEnds() []int {
	var out []int
	for i := range p.Blocks {
		b := &p.Blocks[i]
		if !b.Ends {
			continue
		}
		last := i == len(p.Blocks)-1
		switch {
		case b.Tier == TierSystem && (last || p.Blocks[i+1].Tier != TierSystem),
			b.Role == conversation.RoleUser,
			b.Role == conversation.RoleTool && (last || p.Blocks[i+1].Role != conversation.RoleTool):
			out = append(out, i)
		}
	}
	return out
}

// prefix is one step under [ModePrefix] and [ModeUnits]. A block that changed counts as changed from its start.
func (s *run) prefix(st *step) {
	r, out, now := st.req.Rules, st.out, st.req.Start
	read := 0
	for i := len(st.keys) - 1; i >= 0; i-- {
		if e := s.store[st.keys[i]]; e.live(now) {
			read, out.Hit = st.upTo[i], i
			e.reads++
			break
		}
	}
	if r.Step > 1 {
		read -= read % r.Step
	}
	if read < r.MinTokens || read == 0 {
		read, out.Hit = 0, -1
	}
	out.Split = Split{Read: read, Uncached: st.whole - read}
	st.cached = st.whole
	for i := range st.keys {
		if r.Mode == ModeUnits && !st.prompt.Blocks[i].Ends && i != len(st.keys)-1 {
			continue
		}
		if e := s.store[st.keys[i]]; e != nil && e.expires > now {
			e.refresh(now)
			continue
		}
		s.write(st, i, time.Duration(r.Life), true)
	}
	st.written = nil // free, so nothing is wasted when it is never read
}
