package server

import (
	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/breakpoints/bedrock"
	"github.com/elbowroom/elbowroom/conversation"
)

// converseForm is a conversation as the JSON of Bedrock's Converse API. It takes
// cache points and no other change.
type converseForm struct {
	nativeForm
	request *bedrock.Request
}

// markedForm returns the form of a conversation that is to be marked. What it reads may
// stand in the room, if that is not nil.
func markedForm(in *elbowroomv1.Conversation, view elbowroomv1.View, room *conversation.Room) form {
	if in.GetNative().GetFormat() == elbowroomv1.Format_FORMAT_BEDROCK_CONVERSE {
		return &converseForm{nativeForm: *newNativeForm(in.GetNative(), view)}
	}
	if in.GetNative() != nil {
		f := newNativeForm(in.GetNative(), view)
		f.room = room
		f.outline = true // of messages behind the first, marks need no more than whether they are blank
		return f
	}
	return formOf(in, view)
}

func (f *converseForm) read(limits conversation.Limits) (*conversation.Conversation, error) {
	request, err := bedrock.Parse(f.text, limits)
	if err != nil {
		return nil, &requestError{field: f.field(), message: -1, err: err}
	}
	f.request = request
	return request.Conversation, nil
}

func (f *converseForm) apply(rw *conversation.Rewrite) {
	f.splices = f.request.Splices(rw)
	if f.wantEdits {
		f.program = f.request.Program(rw)
	}
	f.text = conversation.ApplySplices(f.text, f.splices)
}
