package server

import (
	"context"
	"strconv"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/server/wire"
)

// form is a conversation in the form in which its request carries it, on its way
// through one or more rewrites.
type form interface {
	// read returns the domain view of the conversation as it is now. Errors are of
	// type [*requestError].
	read(limits conversation.Limits) (*conversation.Conversation, error)
	// apply follows a rewrite of what read returned.
	apply(rw *conversation.Rewrite)
	// firstChange is the offset of the first byte that apply changed, [noChange] where
	// there is none or the form has no bytes.
	firstChange() int
	// altered is how many bytes apply changed of what was to be kept.
	altered() int
	// full returns the conversation as it is now.
	full() *elbowroomv1.Conversation
	// pieces returns the same conversation in pieces, nil where it has none.
	pieces() *wire.Native
	// edits returns what leads from the request's conversation to this one, nothing
	// when they are the same. Only the native form has splices.
	edits() ([]*elbowroomv1.Edit, []*elbowroomv1.Splice)
}

// noChange is the offset of a change that is not there.
const noChange = -1

// formOf returns the form of a request's conversation, to be rendered in a view.
func formOf(in *elbowroomv1.Conversation, view elbowroomv1.View) form {
	if in.GetNative() != nil {
		return newNativeForm(in.GetNative(), view)
	}
	return &typedForm{request: in, result: keepTyped(in)}
}

// rendered are the three fields in which a response carries its conversation.
type rendered struct {
	conversation *elbowroomv1.Conversation
	edits        []*elbowroomv1.Edit
	splices      []*elbowroomv1.Splice
}

// render returns the conversation in the view that was asked for. In full, a native one
// is left to the reply of the call where there is one.
func render(ctx context.Context, f form, view elbowroomv1.View) rendered {
	if view == elbowroomv1.View_VIEW_EDITS || view == elbowroomv1.View_VIEW_SPLICES {
		edits, splices := f.edits()
		return rendered{edits: edits, splices: splices}
	}
	if leaveToReply(ctx, f) {
		return rendered{}
	}
	return rendered{conversation: f.full()}
}

func sectionOf(s conversation.Section) elbowroomv1.Section {
	switch s {
	case conversation.SectionTools:
		return elbowroomv1.Section_SECTION_TOOLS
	case conversation.SectionSystem:
		return elbowroomv1.Section_SECTION_SYSTEM
	case conversation.SectionBody:
		return elbowroomv1.Section_SECTION_BODY
	default:
		return elbowroomv1.Section_SECTION_MESSAGES
	}
}

func itoa(n int) string { return strconv.Itoa(n) }
