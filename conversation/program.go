package conversation

// Op is one step of an edit program. A program lists every element of one
// section's array exactly once, in order, as kept, replaced or dropped, with
// inserted elements between them; following it gives the rewritten array.
type Op struct {
	Section Section
	Kind    OpKind
	// Start and End are the half-open range of a keep or drop; Start is the index
	// of a replaced element.
	Start, End int
	// JSON is the new element of a replace or insert in the native forms.
	JSON string
	// New is the inserted message, nil for other ops.
	New *NewMessage
}

// OpKind is the kind of an Op.
type OpKind int

// The kinds of Op.
const (
	OpKeep OpKind = iota
	OpReplace
	OpInsert
	OpDrop
)

// Program renders the rewrite as edit programs, one for each section that the
// input has, in the order in which a prompt is rendered: tools, system, messages.
//
// The section SYSTEM is the list of system blocks; a system prompt that is one
// string is one element, and its replacement is the whole new system value. The body
// comes last: a cache_control of it is one element, its value.
func (r *Rewrite) Program() []Op {
	var ops program
	for i := range r.c.Tools {
		ops.element(r.c, SectionTools, i, r.c.Tools[i].Span, r.toolEdits(i))
	}
	if r.c.System != nil {
		r.systemProgram(&ops)
	}
	for i := 0; i <= len(r.c.Messages); i++ {
		for _, m := range r.inserts[i] {
			ops.add(Op{Section: SectionMessages, Kind: OpInsert, Start: i, End: i, JSON: r.newJSON(m), New: &m})
		}
		if i == len(r.c.Messages) {
			break
		}
		switch e := r.messages[i]; {
		case e != nil && e.Drop:
			ops.add(Op{Section: SectionMessages, Kind: OpDrop, Start: i, End: i + 1})
		case e != nil && r.c.Format == FormatTyped:
			ops.add(Op{Section: SectionMessages, Kind: OpReplace, Start: i, End: i + 1})
		default:
			ops.element(r.c, SectionMessages, i, r.c.Messages[i].Span, r.messageEdits(i))
		}
	}
	r.bodyProgram(&ops)
	return ops
}

// bodyProgram renders what happens to the cache_control of the request as a whole.
func (r *Rewrite) bodyProgram(ops *program) {
	have := r.c.AutoMark
	switch {
	case have == nil && r.auto.Kind == MarkSet:
		ops.add(Op{Section: SectionBody, Kind: OpInsert, JSON: r.auto.value()})
	case have == nil:
	case r.auto.Kind == MarkRemove:
		ops.add(Op{Section: SectionBody, Kind: OpDrop, End: 1})
	case r.auto.Kind == MarkSet && !r.c.Carries(have, r.auto):
		ops.add(Op{Section: SectionBody, Kind: OpReplace, End: 1, JSON: r.auto.value()})
	default:
		ops.add(Op{Section: SectionBody, Kind: OpKeep, End: 1})
	}
}

// MessageJSON returns a kept message as it leaves (native forms).
func (r *Rewrite) MessageJSON(i int) string {
	return r.c.spliced(r.c.Messages[i].Span, r.messageEdits(i))
}

// messageEdits returns the splices inside one message.
func (r *Rewrite) messageEdits(i int) []Splice {
	e := r.messages[i]
	if e == nil || r.c.Format == FormatTyped {
		return nil
	}
	return r.c.settle(r.c.messageSplices(&r.c.Messages[i], e))
}

// toolEdits returns the splices inside one tool definition.
func (r *Rewrite) toolEdits(i int) []Splice {
	if r.c.Format == FormatTyped {
		return nil
	}
	return r.c.toolSplices(&r.c.Tools[i], r.tools[i])
}

func (r *Rewrite) newJSON(m NewMessage) string {
	if r.c.Format == FormatTyped {
		return ""
	}
	return m.JSON(r.c.Format)
}

// systemProgram renders the top-level system prompt.
func (r *Rewrite) systemProgram(ops *program) {
	sys, e := r.c.System, r.system
	if e == nil {
		e = &MessageEdit{}
	}
	if sys.Shape != ShapeList {
		ops.element(r.c, SectionSystem, 0, sys.Span, r.c.settle(r.c.messageSplices(sys, e)))
		return
	}
	for i := range sys.Blocks {
		b := &sys.Blocks[i]
		var splices []Splice
		if be := e.blocks[i]; be != nil {
			splices = r.c.blockSplices(b, be)
		}
		if e.Unmark {
			splices = append(splices, cutStrays(straysIn(sys.Strays, b.Span))...)
		}
		ops.element(r.c, SectionSystem, i, b.Span, r.c.settle(splices))
		if be := e.blocks[i]; be != nil && r.c.splits(b, be) {
			ops.add(Op{Section: SectionSystem, Kind: OpInsert, Start: i + 1, End: i + 1, JSON: r.c.restJSON(b, be)})
		}
	}
	if n := len(sys.Blocks); e.Append != "" {
		ops.add(Op{Section: SectionSystem, Kind: OpInsert, Start: n, End: n, JSON: textBlock(e.Append)})
	}
}

// program is a list of ops in which neighbouring keeps and drops are one op.
type program []Op

// element adds an input element that stays: kept when there is nothing to splice
// into it, else replaced.
func (p *program) element(c *Conversation, section Section, i int, span Span, splices []Splice) {
	op := Op{Section: section, Kind: OpKeep, Start: i, End: i + 1}
	if len(splices) > 0 {
		op.Kind, op.JSON = OpReplace, c.spliced(span, splices)
	}
	p.add(op)
}

func (p *program) add(op Op) {
	if n := len(*p); n > 0 {
		last := &(*p)[n-1]
		if last.Section == op.Section && last.Kind == op.Kind && last.End == op.Start && (op.Kind == OpKeep || op.Kind == OpDrop) {
			last.End = op.End
			return
		}
	}
	*p = append(*p, op)
}
