package conformance

import (
	"bytes"
	"strings"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// maxMarks is the most breakpoints Anthropic takes in one request.
const maxMarks = 4

// Marking is one placement of cache breakpoints.
type Marking struct {
	// Input and Output are the conversation before and after.
	Input, Output *Transcript
	// Breakpoints are those that were reported.
	Breakpoints []*pb.Breakpoint
	// Kept is set when existing marks were respected: the input's own faults are
	// then nobody else's.
	Kept bool
	// PartsOfResults is set for the typed form with a layout that has its marks on the
	// text parts of a tool's message.
	PartsOfResults bool
	// Split is set when the caller allowed the first text of the system prompt to be
	// parted in two.
	Split bool
}

// Check lists every broken promise: marks that a provider would refuse, marks
// that are not reported, and anything but marks that changed.
func (m *Marking) Check() []Violation {
	var f findings
	placed := m.Output.marks()
	if m.PartsOfResults && m.Output.dialect == Typed {
		for i := range placed {
			if placed[i].wrong == partOfResult {
				placed[i].wrong = ""
			}
		}
	}
	if !m.Kept {
		judgeMarks(&f, placed)
	}
	m.reported(&f, placed)
	m.nothingElse(&f)
	return f.list
}

// judgeMarks finds what a provider would refuse.
func judgeMarks(f *findings, placed []place) {
	if len(placed) > maxMarks {
		f.add(RuleMarks, -1, "%d breakpoints", len(placed))
	}
	short := false
	for _, p := range placed {
		if p.hour && short {
			f.add(RuleMarks, p.index, "a breakpoint of one hour after one of five minutes")
		}
		short = short || !p.hour
		if p.wrong != "" {
			f.add(RuleMarks, p.index, "a breakpoint on %s", p.wrong)
		}
	}
}

// reported compares the marks with the reported breakpoints.
func (m *Marking) reported(f *findings, placed []place) {
	if len(placed) != len(m.Breakpoints) {
		f.add(RuleMarks, -1, "%d breakpoints, %d reported", len(placed), len(m.Breakpoints))
		return
	}
	for i, p := range placed {
		b := m.Breakpoints[i]
		section := p.section
		if section == pb.Section_SECTION_MESSAGES && b.GetSection() == pb.Section_SECTION_SYSTEM && !p.auto && m.Output.messages[p.index].isSystem() {
			section = b.GetSection() // a system message inside the list
		}
		if b.GetSection() != section || int(b.GetMessageIndex()) != p.index {
			f.add(RuleMarks, p.index, "a breakpoint in %v, reported in %v at %d", p.section, b.GetSection(), b.GetMessageIndex())
		}
		if hour := b.GetTtl() == pb.CacheTtl_CACHE_TTL_1H; hour != p.hour {
			f.add(RuleMarks, p.index, "its life is reported as %v", b.GetTtl())
		}
	}
}

// nothingElse compares input and output without their marks.
func (m *Marking) nothingElse(f *findings) {
	in, out := m.Input, m.Output
	if in.bare != out.bare || len(in.messages) != len(out.messages) || len(in.tools.elements) != len(out.tools.elements) {
		f.add(RuleMarks, -1, "messages or tools were added or removed")
		return
	}
	if !in.bare {
		m.compareSides(f, in, out)
	}
	if !sameGlue(in.list.glue, out.list.glue) {
		f.add(RuleMarks, -1, "the bytes between messages differ")
	}
	for i := range in.messages {
		if in.messages[i].isSystem() && m.split(in.messages[i], out.messages[i]) {
			continue
		}
		if why := unmarkedMessage(in.messages[i].raw, out.messages[i].raw); why != "" {
			f.add(RuleMarks, i, "%s", why)
		}
	}
}

// split reports whether a system prompt differs by one text that became two, as was
// allowed: together they say what it said.
func (m *Marking) split(in, out *message) bool {
	if !m.Split || len(out.content.blocks) != len(in.content.blocks)+1 {
		return false
	}
	said := func(of *message) string {
		var text strings.Builder
		for i := range of.content.blocks {
			if b := &of.content.blocks[i]; b.hasText {
				text.WriteString(b.text)
			} else {
				text.Write(b.raw)
			}
		}
		return text.String()
	}
	return said(in) == said(out)
}

// compareSides compares what stands beside the messages.
func (m *Marking) compareSides(f *findings, in, out *Transcript) {
	a, b := withoutMark(&in.body), withoutMark(&out.body)
	if len(a) != len(b) {
		f.add(RuleMarks, -1, "the body's keys differ")
		return
	}
	for i := range a {
		switch {
		case a[i].key != b[i].key:
			f.add(RuleMarks, -1, "the body's keys differ")
		case a[i].key == "messages" || bytes.Equal(a[i].value, b[i].value):
		case a[i].key == "tools" || a[i].key == "functions" && in.dialect == OpenAI:
			for n := range in.tools.elements {
				if why := unmarkedCall(in.tools.elements[n], out.tools.elements[n]); why != "" {
					f.add(RuleMarks, n, "tool: %s", why)
				}
			}
		case a[i].key == "system" && in.system != nil && out.system != nil && m.split(in.system, out.system):
		case a[i].key == "system" && in.system != nil && out.system != nil:
			if why := unmarkedContent(a[i].value, b[i].value); why != "" {
				f.add(RuleMarks, -1, "system: %s", why)
			}
		default:
			f.add(RuleMarks, -1, "the field %s differs", a[i].key)
		}
	}
}

// withoutMark lists the members of an object but its breakpoint.
func withoutMark(o *object) []member {
	var out []member
	for _, m := range o.members {
		if m.key != "cache_control" && m.key != "prompt_cache_breakpoint" {
			out = append(out, m)
		}
	}
	return out
}

// deeper says how the values of some members differ in more than their marks.
type deeper map[string]func(in, out []byte) string

// unmarkedMessage says how two messages differ in more than their marks.
func unmarkedMessage(in, out []byte) string {
	return unmarked(in, out, deeper{
		"content":       unmarkedContent,
		"tool_calls":    func(in, out []byte) string { return unmarkedList(in, out, unmarkedCall) },
		"function_call": unmarkedCall,
	})
}

// unmarkedCall compares two calls of OpenAI's, or two definitions of tools.
func unmarkedCall(in, out []byte) string {
	function := func(in, out []byte) string { return unmarked(in, out, nil) }
	return unmarked(in, out, deeper{"function": function, "custom": function})
}

// unmarkedBlock compares two blocks, and what they consist of.
func unmarkedBlock(in, out []byte) string {
	source := func(in, out []byte) string { return unmarked(in, out, deeper{"content": unmarkedContent}) }
	citation := func(in, out []byte) string { return unmarked(in, out, nil) }
	return unmarked(in, out, deeper{
		"content": unmarkedContent, "source": source,
		"citations": func(in, out []byte) string { return unmarkedList(in, out, citation) },
	})
}

// unmarkedList compares two lists by their elements.
func unmarkedList(in, out []byte, element func(in, out []byte) string) string {
	a, errA := splitArray(in)
	b, errB := splitArray(out)
	if errA != nil || errB != nil || len(a.elements) != len(b.elements) {
		return "a list differs"
	}
	for i := range a.elements {
		if why := element(a.elements[i], b.elements[i]); why != "" {
			return why
		}
	}
	return ""
}

func unmarked(in, out []byte, deeper deeper) string {
	if bytes.Equal(in, out) {
		return ""
	}
	if len(in) == 0 || len(out) == 0 || in[0] != '{' || out[0] != '{' {
		return "a value differs"
	}
	a, errA := splitObject(in)
	b, errB := splitObject(out)
	if errA != nil || errB != nil {
		return "it cannot be read"
	}
	was, is := withoutMark(&a), withoutMark(&b)
	if len(was) != len(is) {
		return "its keys differ"
	}
	for i := range was {
		compare := deeper[was[i].key]
		switch {
		case was[i].key != is[i].key:
			return "its keys differ or their order does"
		case bytes.Equal(was[i].value, is[i].value):
		case compare != nil:
			if why := compare(was[i].value, is[i].value); why != "" {
				return why
			}
		default:
			return "the field " + was[i].key + " differs"
		}
	}
	return ""
}

// unmarkedContent compares two content values; a list of one plain text reads as
// its string.
func unmarkedContent(in, out []byte) string {
	a, errA := readContent(in)
	b, errB := readContent(out)
	switch {
	case errA != nil || errB != nil:
		return "its content cannot be read"
	case bytes.Equal(a.flat(), b.flat()):
		return ""
	case a.shape != shapeList || b.shape != shapeList || len(a.blocks) != len(b.blocks):
		return "its content differs"
	}
	for i := range a.blocks {
		if why := unmarkedBlock(a.blocks[i].raw, b.blocks[i].raw); why != "" {
			return why
		}
	}
	return ""
}

// flat is the literal of a string, or of a list of one plain text; else the value.
func (c *content) flat() []byte {
	if c.shape == shapeList && len(c.blocks) == 1 && c.blocks[0].isObject && c.blocks[0].kind == "text" {
		if rest := withoutMark(&c.blocks[0].object); len(rest) == 2 && c.blocks[0].hasText {
			return c.blocks[0].object.get("text")
		}
	}
	return c.raw
}

// SameUnmarked reports how out differs from in in more than breakpoints, ""
// when it does not.
func SameUnmarked(in, out *Transcript) string {
	var f findings
	(&Marking{Input: in, Output: out}).nothingElse(&f)
	if len(f.list) > 0 {
		return f.list[0].String()
	}
	return ""
}
