package fuzzwire

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/elbowroom/elbowroom/conformance"
	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// verdict is what became of one request.
type verdict struct {
	// call is what was asked, code how it ended.
	call, code string
	// unread is set for a body that the service takes and the checker cannot read.
	unread bool
	// broken lists what is wrong with the answer.
	broken []string
	// req is what was sent, text the conversation in it.
	req  proto.Message
	text string
}

func (v *verdict) complain(format string, args ...any) {
	v.broken = append(v.broken, fmt.Sprintf(format, args...))
}

func (v *verdict) violations(list []conformance.Violation) {
	for _, one := range list {
		v.complain("%v", one)
	}
}

// textOf is the text of a native conversation.
func textOf(c *pb.Conversation) []byte {
	n := c.GetNative()
	if b := n.GetJsonBytes(); b != nil {
		return b
	}
	return []byte(n.GetJson())
}

// read takes a conversation of either form apart. Messages that are those of like, or
// of the request, are not taken apart again.
func (d *draw) read(c *pb.Conversation, like *conformance.Transcript) (*conformance.Transcript, error) {
	if like == nil {
		like = d.in
	}
	if c.GetNative() == nil {
		return conformance.ReadTyped(c, like)
	}
	return conformance.ReadLike(d.dialect, textOf(c), like)
}

// same reports whether two conversations are.
func same(a, b *pb.Conversation) bool {
	if a.GetNative() != nil && b.GetNative() != nil {
		return bytes.Equal(textOf(a), textOf(b))
	}
	return proto.Equal(a, b)
}

// compressed judges an answer in full.
func (v *verdict) compressed(d *draw, req *pb.CompressRequest, resp *pb.CompressResponse) {
	if req.GetPlanOnly() {
		if !same(req.GetConversation(), resp.GetConversation()) || resp.GetSummary() != "" {
			v.complain("planning changed the conversation or wrote a summary")
		}
		return
	}
	in, err := d.read(req.GetConversation(), nil)
	if err != nil {
		v.unread = true
		if (resp.GetOutcome() == pb.Outcome_OUTCOME_COMPRESSED) == same(req.GetConversation(), resp.GetConversation()) {
			v.complain("%v, which the bytes do not say", resp.GetOutcome())
		}
		return
	}
	out, err := d.read(resp.GetConversation(), in)
	if err != nil {
		v.complain("the answer cannot be read: %v", err)
		return
	}
	strict := req.GetPolicy().GetAlternation() == pb.Alternation_ALTERNATION_STRICT
	for _, w := range resp.GetReport().GetWarnings() {
		strict = strict && w.GetCode() != "ALTERNATION"
	}
	v.violations((&conformance.Compression{
		Input: in, Output: out, Outcome: resp.GetOutcome(), Report: resp.GetReport(), Summary: resp.GetSummary(), Pinned: req.GetPinned(),
		Handoffs: in.Handoffs(), Strict: strict, NoNote: req.GetPolicy().GetSystemNote() == pb.SystemNote_SYSTEM_NOTE_NONE, TokensOnly: true,
	}).Check())
}

// short judges the short form of an answer by the full one.
func (v *verdict) short(d *draw, in, full, carried *pb.Conversation, edits []*pb.Edit, splices []*pb.Splice, view pb.View) {
	if view == pb.View_VIEW_SPLICES && in.GetNative() != nil {
		if len(edits) > 0 || carried != nil {
			v.complain("VIEW_SPLICES carries more than splices")
		}
		got, err := conformance.ApplySplices(textOf(in), splices)
		if err != nil || !bytes.Equal(got, textOf(full)) {
			v.complain("the splices lead somewhere else (%v)", err)
		}
		return
	}
	before, err := d.read(in, nil)
	if err != nil {
		v.unread = true
		return
	}
	after, err := d.read(full, before)
	if err != nil {
		v.complain("the answer cannot be read: %v", err)
		return
	}
	v.violations((&conformance.Edits{Input: in, Full: full, Before: before, After: after, Edits: edits, Splices: splices, Carried: carried}).Check())
}

// marked judges an answer in full.
func (v *verdict) marked(d *draw, req *pb.ApplyCacheControlRequest, resp *pb.ApplyCacheControlResponse) {
	in, err := d.read(req.GetConversation(), nil)
	if err != nil {
		v.unread = true
		return
	}
	out, err := d.read(resp.GetConversation(), in)
	if err != nil {
		v.complain("the answer cannot be read: %v", err)
		return
	}
	parts := resp.GetLayout() != pb.Layout_LAYOUT_ANTHROPIC && resp.GetLayout() != pb.Layout_LAYOUT_BEDROCK && resp.GetLayout() != pb.Layout_LAYOUT_BEDROCK_INVOKE && resp.GetLayout() != pb.Layout_LAYOUT_VERTEX
	// Where nothing is marked, what was there stays.
	kept := req.GetExisting() == pb.ExistingMarks_EXISTING_MARKS_RESPECT || same(req.GetConversation(), resp.GetConversation())
	v.violations((&conformance.Marking{Input: in, Output: out, Breakpoints: resp.GetBreakpoints(), Kept: kept, PartsOfResults: parts, Split: req.GetSplitSystem()}).Check())
}

// counted judges a count.
func (v *verdict) counted(d *draw, c *pb.Conversation, resp *pb.CountTokensResponse) {
	p := resp.GetParts()
	if sum := p.GetSystem() + p.GetTools() + p.GetText() + p.GetToolCalls() + p.GetToolResults() + p.GetMedia() + p.GetFraming() + p.GetReasoning(); sum != resp.GetTokens() {
		v.complain("the parts add up to %d of %d tokens", sum, resp.GetTokens())
	}
	if resp.GetLowerBound() > resp.GetTokens() || resp.GetUpperBound() < resp.GetTokens() || resp.GetTokens() < 0 {
		v.complain("%d tokens are not between %d and %d", resp.GetTokens(), resp.GetLowerBound(), resp.GetUpperBound())
	}
	in, err := d.read(c, nil)
	if err != nil {
		v.unread = true
		return
	}
	if len(resp.GetMessages()) != in.Len() {
		v.complain("%d messages counted, there are %d", len(resp.GetMessages()), in.Len())
	}
}
