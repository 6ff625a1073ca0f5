package conformance

import (
	"bytes"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// Edits is one answer in the short form, with the input and the full answer to
// the same request, as they were sent and taken apart.
type Edits struct {
	Input, Full   *pb.Conversation
	Before, After *Transcript
	Edits         []*pb.Edit
	Splices       []*pb.Splice
	Carried       *pb.Conversation // what the short form carried beside them: nothing
}

// Check applies edits and splices to the input and compares with the full answer.
func (e *Edits) Check() []Violation {
	var f findings
	if e.Carried != nil {
		f.add(RuleEdits, -1, "the short form carries a conversation")
	}
	if e.Input.GetNative() == nil {
		e.typed(&f)
		return f.list
	}
	input, full := nativeBytes(e.Input), nativeBytes(e.Full)
	if bytes.Equal(input, full) {
		if len(e.Edits)+len(e.Splices) > 0 {
			f.add(RuleEdits, -1, "nothing changed, and there are %d edits and %d splices", len(e.Edits), len(e.Splices))
		}
		return f.list
	}
	if got, err := ApplySplices(input, e.Splices); err != nil {
		f.add(RuleEdits, -1, "splices: %v", err)
	} else if !bytes.Equal(got, full) {
		f.add(RuleEdits, -1, "splices lead somewhere else: %s", firstDifference(got, full))
	}
	before, after := e.Before, e.After
	sections := []struct {
		section   pb.Section
		in, after [][]byte
	}{
		{pb.Section_SECTION_TOOLS, before.tools.elements, after.tools.elements},
		{pb.Section_SECTION_SYSTEM, before.systemElements(before), after.systemElements(before)},
		{pb.Section_SECTION_MESSAGES, before.list.elements, after.list.elements},
		{pb.Section_SECTION_BODY, before.bodyElements(), after.bodyElements()},
	}
	for _, s := range sections {
		got, err := follow(s.section, e.Edits, s.in, func(edit *pb.Edit) []byte {
			if r := edit.GetReplace(); r != nil {
				return []byte(r.GetJson())
			}
			return []byte(edit.GetInsert().GetJson())
		})
		if err != nil {
			f.add(RuleEdits, -1, "%v: %v", s.section, err)
			continue
		}
		if !slices.EqualFunc(got, s.after, bytes.Equal) {
			f.add(RuleEdits, -1, "%v: the program leads to %d elements that differ from the full answer's %d", s.section, len(got), len(s.after))
		}
	}
	return f.list
}

// typed checks the typed form.
func (e *Edits) typed(f *findings) {
	if len(e.Splices) > 0 {
		f.add(RuleEdits, -1, "the typed form has no bytes to splice")
	}
	if proto.Equal(e.Input, e.Full) {
		if len(e.Edits) > 0 {
			f.add(RuleEdits, -1, "nothing changed, and there are %d edits", len(e.Edits))
		}
		return
	}
	messages, err := follow(pb.Section_SECTION_MESSAGES, e.Edits, e.Input.GetMessages(), func(edit *pb.Edit) *pb.Message {
		if r := edit.GetReplace(); r != nil {
			return r.GetMessage()
		}
		return edit.GetInsert().GetMessage()
	})
	if err != nil {
		f.add(RuleEdits, -1, "messages: %v", err)
	} else if !slices.EqualFunc(messages, e.Full.GetMessages(), equal[*pb.Message]) {
		f.add(RuleEdits, -1, "messages: the program leads somewhere else")
	}
	tools, err := follow(pb.Section_SECTION_TOOLS, e.Edits, e.Input.GetTools(), func(edit *pb.Edit) *pb.Tool {
		return edit.GetReplace().GetTool()
	})
	if err != nil {
		f.add(RuleEdits, -1, "tools: %v", err)
	} else if !slices.EqualFunc(tools, e.Full.GetTools(), equal[*pb.Tool]) {
		f.add(RuleEdits, -1, "tools: the program leads somewhere else")
	}
}

func equal[M proto.Message](a, b M) bool { return proto.Equal(a, b) }

// bodyElements are the value of the cache_control of the request as a whole, where it has
// one.
func (t *Transcript) bodyElements() [][]byte {
	if mark := t.body.get("cache_control"); !isNull(mark) {
		return [][]byte{mark}
	}
	return nil
}

// systemElements are the blocks of a top-level system prompt, or the whole value
// as one element where it was written as a string before.
func (t *Transcript) systemElements(before *Transcript) [][]byte {
	switch {
	case t.system == nil:
		return nil
	case before.system != nil && before.system.content.shape == shapeList:
		return t.system.content.list.elements
	default:
		return [][]byte{t.system.raw}
	}
}

// follow runs the edits of one section: every input element exactly once, in order.
func follow[E any](section pb.Section, edits []*pb.Edit, in []E, element func(*pb.Edit) E) ([]E, error) {
	var out []E
	at := 0
	take := func(start, end int32) error {
		if int(start) != at || end <= start || int(end) > len(in) {
			return fmt.Errorf("a step covers [%d,%d) of %d elements, and %d is next", start, end, len(in), at)
		}
		at = int(end)
		return nil
	}
	for _, edit := range edits {
		if edit.GetSection() != section {
			continue
		}
		var err error
		switch op := edit.GetOp().(type) {
		case *pb.Edit_Keep:
			if err = take(op.Keep.GetStart(), op.Keep.GetEnd()); err == nil {
				out = append(out, in[op.Keep.GetStart():op.Keep.GetEnd()]...)
			}
		case *pb.Edit_Drop:
			err = take(op.Drop.GetStart(), op.Drop.GetEnd())
		case *pb.Edit_Replace:
			if err = take(op.Replace.GetIndex(), op.Replace.GetIndex()+1); err == nil {
				out = append(out, element(edit))
			}
		case *pb.Edit_Insert:
			out = append(out, element(edit))
		default:
			err = fmt.Errorf("an edit without a step")
		}
		if err != nil {
			return nil, err
		}
	}
	if at != len(in) {
		return nil, fmt.Errorf("the program covers %d of %d elements", at, len(in))
	}
	return out, nil
}

// ApplySplices applies byte edits that must be ascending and disjoint.
func ApplySplices(input []byte, splices []*pb.Splice) ([]byte, error) {
	var out bytes.Buffer
	at := int64(0)
	for i, s := range splices {
		if s.GetOffset() < at || s.GetLength() < 0 || s.GetOffset()+s.GetLength() > int64(len(input)) {
			return nil, fmt.Errorf("splice %d covers [%d,+%d), after %d of %d bytes", i, s.GetOffset(), s.GetLength(), at, len(input))
		}
		out.Write(input[at:s.GetOffset()])
		out.WriteString(s.GetText())
		at = s.GetOffset() + s.GetLength()
	}
	out.Write(input[at:])
	return out.Bytes(), nil
}

func nativeBytes(c *pb.Conversation) []byte {
	if b := c.GetNative().GetJsonBytes(); b != nil {
		return b
	}
	return []byte(c.GetNative().GetJson())
}

func firstDifference(got, want []byte) string {
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	return fmt.Sprintf("from byte %d: %s, want %s", i, excerpt(got[i:]), excerpt(want[i:]))
}
