package simulator

import (
	"slices"
	"time"
)

// rejected is the finding of a rejection.
func rejected(r Rejection) Finding {
	f := Finding{Code: r.Code, Severity: SeverityError, Evidence: EvidenceRules, Tier: Tier(r.At.Section), At: r.At, Offset: -1, Detail: "the provider refuses the request: " + r.Text}
	switch r.Code {
	case CodeTooManyMarkers:
		f.Fix = "count the marks that other layers set in tools, system prompt and tool results, and set one fewer for each"
	case CodeTTLOrder:
		f.Fix = "put the marks with the longer life first, or use one life for all"
	case CodeUnknownTTL:
		f.Fix = "write 5m or 1h, or leave ttl out for 5m"
	case CodeAutoConflict:
		f.Fix = "drop the mark on the request as a whole, or free a mark and use one life"
	case CodePrewarm:
		f.Fix = "warm with a request that has none of these"
	default:
		f.Fix = "mark the nearest block before it that may carry a mark"
	}
	return f
}

// judge finds what rules and bill have to say about a step.
func (s *run) judge(st *step) {
	out := st.out
	add := func(f Finding) { out.Findings = append(out.Findings, f) }
	if f, ok := s.missed(st); ok {
		add(f)
	}
	if st.req.Rules.Mode == ModeMarks {
		for _, f := range st.marksFindings() {
			add(f)
		}
	}
	if p := st.req.Price; p.LongOver > 0 && st.whole > p.LongOver {
		short := *p
		short.LongOver = 0
		now, less := p.Cost(out.Split), short.Cost(out.Split)
		more := Cost{USD: now.USD - less.USD, BaseTokens: now.BaseTokens - less.BaseTokens}
		add(Finding{
			Code: CodePriceStep, Severity: SeverityWarning, Evidence: EvidenceRules, Tier: TierMessages, At: whole(), Offset: -1, Now: more, PerTurn: more,
			Detail: detail("the prompt has %d tokens; above %d every token of it costs more", st.whole, p.LongOver),
			Fix:    detail("drop %d tokens", st.whole-p.LongOver),
		})
	}
	st.bill()
}

// missed finds an entry that this prompt could have read and did not.
func (s *run) missed(st *step) (Finding, bool) {
	out, now := st.out, st.req.Start
	at := len(st.keys) - 1
	// Entries of this request are in the store by now: what it wrote itself it could not have read.
	for at > out.Hit && (s.store[st.keys[at]] == nil || s.fresh(st, at)) {
		at--
	}
	if at <= out.Hit {
		return Finding{}, false
	}
	e := s.before(st, at)
	f := Finding{Evidence: EvidenceRules, Tier: st.prompt.Blocks[at].Tier, At: st.prompt.Blocks[at].At, Offset: -1}
	switch {
	case e.expires <= now:
		f.Code = CodeTTLExpired
		f.Detail = detail("the same prefix was cached and expired %s before this request; its life is %s", (now - e.expires).Round(time.Second), ttlWord(e.ttl))
		f.Fix = "keep it alive with a request before its life ends"
		if st.req.Rules.Has1h {
			f.Fix = "use 1h marks where pauses of more than 5 minutes are common (more than about 3 % of turns), or keep it alive"
		}
	case e.visible > now:
		f.Code = CodeNotVisibleYet
		f.Detail = "another request was still writing the same prefix: it can be read when the first token of its answer has come"
		if st.req.Rules.VisibleAtEnd {
			f.Detail = "another request was still writing the same prefix: it can be read when its answer has ended"
		}
		f.Fix = "send one request first, and the others when it can be read"
	case st.req.Rules.Mode == ModeMarks:
		st.overlooked(&f, at)
	case st.req.Rules.Mode == ModeBreakpoints:
		f.Code = CodeNoMarker
		f.Detail = "the same prefix is cached, and none of the breakpoints that are looked up stands at its end"
		if st.prompt.Explicit && e.implicit {
			f.Detail = "the same prefix is cached at a breakpoint of the provider's choice, which a request with explicit breakpoints alone does not read"
		}
		f.Fix = "mark the block the previous request ended with, and the last block"
	default: // it is smaller than what is ever read
		return Finding{}, false
	}
	f.lost(st.upTo[at]-out.Read, st.req.Price, st.whole, out.Written() > 0, false)
	return f, true
}

// overlooked says why no mark finds the entry that ends with a block.
func (st *step) overlooked(f *Finding, at int) {
	next := slices.IndexFunc(st.marks, func(m Mark) bool { return m.Block >= at })
	if next < 0 {
		f.Code = CodeNoMarker
		f.Detail = "the same prefix is cached, and no mark stands at its end or after it"
		f.Fix = "mark the block the previous request ended with, and the last block"
		return
	}
	f.Fix = detail("mark %v too, where the previous request ended", st.prompt.Blocks[at].At)
	distance := st.pos[st.marks[next].Block] - st.pos[at]
	if window := st.req.Rules.Window; window == 0 || distance < window {
		f.Code = CodeNoMarker
		f.Detail = "the same prefix is cached, but it ends within a run of calls or results, which counts as one position, and no mark stands at its end"
		return
	}
	f.Code = CodeLookbackOverflow
	f.Detail = detail("the same prefix is cached %d positions before the next mark; a mark looks back over %d, its own included", distance, st.req.Rules.Window)
}

// fresh reports whether the entry at a block is this request's own and there was none before it.
func (s *run) fresh(st *step, at int) bool {
	e := s.store[st.keys[at]]
	return e.by == st.index && e.replaced == nil
}

// before is the entry at a block as it was before this request.
func (s *run) before(st *step, at int) *entry {
	e := s.store[st.keys[at]]
	if e.by == st.index {
		return e.replaced
	}
	return e
}

// marksFindings looks at the marks themselves.
func (st *step) marksFindings() []Finding {
	var out []Finding
	active, largest := 0, 0
	for i, m := range st.out.Marks {
		largest = max(largest, m.Tokens)
		if !m.Inert {
			active++
		}
		if i == 0 || m.Inert {
			continue
		}
		a, b := st.marks[i-1].Block, st.marks[i].Block
		if st.pos[a] == st.pos[b] {
			out = append(out, Finding{
				Code: CodeWastedMarker, Evidence: EvidenceRules, Tier: st.prompt.Blocks[b].Tier, At: st.prompt.Blocks[a].At, Offset: -1,
				Detail: detail("this mark and the one on %v count as one position", st.prompt.Blocks[b].At), Fix: "drop the first of the two",
			})
		}
	}
	if len(st.out.Marks) > 0 && active == 0 {
		out = append(out, Finding{
			Code: CodeBelowMinimum, Evidence: EvidenceRules, Tier: TierMessages, At: st.out.Marks[len(st.out.Marks)-1].At, Offset: -1,
			Detail: detail("the largest marked prefix has %d tokens, %d fewer than the model caches", largest, st.req.Rules.MinTokens-largest),
			Fix:    "nothing: the marks are free, and work when the prefix has grown",
		})
	}
	return out
}

// bill compares what was predicted with what was billed.
func (st *step) bill() {
	b, out := st.req.Billed, st.out
	if b == nil {
		return
	}
	if out.Write1h > 0 && b.Write1h == 0 && b.Write5m > 0 {
		out.Findings = append(out.Findings, Finding{
			Code: CodeTTLDowngraded, Severity: SeverityWarning, Evidence: EvidenceBill, Tier: TierMessages, At: whole(), Offset: -1,
			Detail: "marks ask for 1h and the bill has writes of 5m only", Fix: "ask whether the gateway or the model takes 1h; plan with 5m until then",
		})
	}
	const slack = 1024 // tokens: sizes of blocks are estimates
	if short := out.Read - b.Read; short > max(slack, out.Read/10) {
		f := Finding{
			Code: CodeUnexplained, Evidence: EvidenceBill, Tier: TierMessages, At: whole(), Offset: -1,
			Detail: detail("%d tokens should have been read, the bill says %d; nothing in the requests explains it", out.Read, b.Read),
			Fix:    "nothing in the request: the provider evicted the entry, or routed the request elsewhere",
		}
		f.lost(short, st.req.Price, st.whole, b.Write5m+b.Write1h+b.Write > 0, false)
		out.Findings = append(out.Findings, f)
	}
}

// neverRun is how many requests in a row must have written in vain before it is reported.
const neverRun = 3

// neverRead finds threads in which one request after the other writes what none ever reads.
func (s *run) neverRead(report *Report) {
	type streak struct{ requests, tokens, last int }
	open := make(map[string]*streak)
	var order []string
	closeStreak := func(k *streak) {
		if k.requests >= neverRun {
			s.reportNeverRead(report, k.requests, k.tokens, k.last)
		}
		*k = streak{}
	}
	for n, st := range s.steps {
		k := open[st.req.Thread]
		if k == nil {
			k = &streak{}
			open[st.req.Thread] = k
			order = append(order, st.req.Thread)
		}
		last := s.last[st.req.Thread] == st
		vain := len(st.written) > 0 && !last
		for _, e := range st.written {
			vain = vain && e.reads == 0
		}
		switch {
		case last: // nobody had a chance to read what it wrote
		case vain:
			k.requests, k.tokens, k.last = k.requests+1, k.tokens+st.out.Written(), n
		case st.out.Written() > 0:
			closeStreak(k)
		}
	}
	for _, thread := range order {
		closeStreak(open[thread])
	}
}

func (s *run) reportNeverRead(report *Report, requests, tokens, last int) {
	st := s.steps[last]
	f := Finding{
		Code: CodeWriteNeverRead, Severity: SeverityWarning, Evidence: EvidenceRules, Tier: TierMessages, At: whole(), Offset: -1,
		Detail: detail("%d requests in a row wrote %d tokens to the cache that no later request read", requests, tokens),
		Fix:    "end the marked prefix before what changes from request to request",
	}
	if len(st.out.Marks) > 0 {
		f.At = st.out.Marks[len(st.out.Marks)-1].At
	}
	r := st.req.Price.at(st.whole)
	sum := float64(tokens) * (max(r.Write5m, r.Write) - r.Input)
	f.Now = Cost{BaseTokens: sum / st.req.Price.Input}
	if !st.req.Price.Relative {
		f.Now.USD = sum / 1e6
	}
	report.Outcomes[st.index].Findings = append(report.Outcomes[st.index].Findings, f)
}
