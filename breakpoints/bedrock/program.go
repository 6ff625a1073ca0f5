package bedrock

import (
	"slices"

	"github.com/elbowroom/elbowroom/conversation"
)

// Program renders the same decision as edit programs, one for each array that the
// request has: toolConfig.tools, system, messages. Indices count the elements of those
// arrays, cachePoints among them.
func (r *Request) Program(rw *conversation.Rewrite) []conversation.Op {
	var out program
	out.list(r, conversation.SectionTools, &r.tools, r.toolChanges(rw))
	out.list(r, conversation.SectionSystem, &r.system, r.systemChanges(rw))
	for i := range r.messages {
		out.element(r, conversation.SectionMessages, i, r.Conversation.Messages[i].Span, r.messageSplices(rw, i))
	}
	return out
}

// program is a list of ops in which neighbouring keeps and drops are one op.
type program []conversation.Op

// list adds the elements of an array that stay, go and come.
func (p *program) list(r *Request, section conversation.Section, l *list, c changes) {
	for i := range l.elements {
		if c.dropped[i] {
			p.add(conversation.Op{Section: section, Kind: conversation.OpDrop, Start: i, End: i + 1})
		} else {
			var inside []conversation.Splice
			if cut, ok := c.cuts[i]; ok {
				inside = []conversation.Splice{cut}
			}
			p.element(r, section, i, l.elements[i].at, inside)
		}
		if c.after[i] == "" {
			continue
		}
		added, _ := conversation.Elements("[" + c.after[i][1:] + "]")
		for _, e := range added {
			p.add(conversation.Op{Section: section, Kind: conversation.OpInsert, Start: i + 1, End: i + 1, JSON: e.Value})
		}
	}
}

// element adds one that stays: kept when there is nothing to splice into it, else
// replaced.
func (p *program) element(r *Request, section conversation.Section, i int, at conversation.Span, splices []conversation.Splice) {
	op := conversation.Op{Section: section, Kind: conversation.OpKeep, Start: i, End: i + 1}
	if len(splices) > 0 {
		slices.SortStableFunc(splices, func(a, b conversation.Splice) int { return a.Offset - b.Offset })
		for k := range splices {
			splices[k].Offset -= at.Start
		}
		op.Kind, op.JSON = conversation.OpReplace, conversation.ApplySplices(r.Source[at.Start:at.End], splices)
	}
	p.add(op)
}

func (p *program) add(op conversation.Op) {
	if n := len(*p); n > 0 && (op.Kind == conversation.OpKeep || op.Kind == conversation.OpDrop) {
		if last := &(*p)[n-1]; last.Section == op.Section && last.Kind == op.Kind && last.End == op.Start {
			last.End = op.End
			return
		}
	}
	*p = append(*p, op)
}
