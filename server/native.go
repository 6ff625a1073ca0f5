package server

import (
	"unicode/utf8"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/server/wire"
)

// nativeForm is a conversation as a provider's own JSON.
type nativeForm struct {
	format elbowroomv1.Format
	// bytes is set when the request carries json_bytes, which the response mirrors.
	bytes bool
	// text is the JSON as it is now, but for the pending splices.
	text    string
	pending []conversation.Splice
	// outline is set when long texts are not looked at, valid while the text is known
	// to be valid UTF-8: gRPC has checked the string.
	outline, valid bool
	// room is where what is read stands, nil for a place of its own.
	room *conversation.Room
	// wantEdits is set when splices and program are needed: they lead from the
	// request's JSON to text.
	wantEdits bool
	// wantSplices is set when splices alone are.
	wantSplices bool
	splices     []conversation.Splice
	program     []conversation.Op
	// changed is where the first rewrite began, noChange before it.
	changed int
	kept    keeping
}

func newNativeForm(in *elbowroomv1.NativeRequest, view elbowroomv1.View) *nativeForm {
	f := &nativeForm{format: in.GetFormat(), changed: noChange, wantEdits: view == elbowroomv1.View_VIEW_EDITS, wantSplices: view == elbowroomv1.View_VIEW_SPLICES}
	switch body := in.GetBody().(type) {
	case *elbowroomv1.NativeRequest_Json:
		f.text, f.valid = body.Json, true
	case *elbowroomv1.NativeRequest_JsonBytes:
		f.text, f.bytes = string(body.JsonBytes), true
	}
	return f
}

func (f *nativeForm) read(limits conversation.Limits) (*conversation.Conversation, error) {
	format := conversation.FormatOpenAIChat
	switch f.format {
	case elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES:
		format = conversation.FormatAnthropicMessages
	case elbowroomv1.Format_FORMAT_BEDROCK_CONVERSE:
		return nil, &requestError{field: "conversation.native.format", message: -1, reason: "FORMAT_BEDROCK_CONVERSE is taken by ApplyCacheControl only"}
	}
	f.settle()
	c, err := conversation.Reading{Limits: limits, Outline: f.outline, ValidUTF8: f.valid, Room: f.room}.Parse(format, f.text)
	if err != nil {
		return nil, &requestError{field: f.field(), message: -1, err: err}
	}
	f.kept.c = c
	return c, nil
}

// field is the path of the JSON in the request.
func (f *nativeForm) field() string {
	if f.bytes {
		return "conversation.native.json_bytes"
	}
	return "conversation.native.json"
}

func (f *nativeForm) apply(rw *conversation.Rewrite) {
	splices := rw.Splices()
	if len(splices) == 0 {
		return
	}
	if f.changed == noChange {
		f.changed = splices[0].Offset
	}
	f.settle()
	f.pending = splices
	f.kept.splices(rw, splices)
	switch {
	case !f.wantEdits && !f.wantSplices:
		return
	case len(f.splices) == 0:
		f.splices = splices
	default:
		f.splices = conversation.ChainSplices(f.splices, splices)
	}
	switch {
	case f.wantSplices:
	case len(f.program) == 0:
		f.program = rw.Program()
	default:
		f.program = conversation.ChainPrograms(f.program, rw.Program())
	}
}

// settle brings the text up to date, for those who need it: edits do not, and to
// write a megabyte anew takes as long as to place marks in it.
func (f *nativeForm) settle() {
	if len(f.pending) > 0 {
		f.text, f.pending, f.valid = conversation.ApplySplices(f.text, f.pending), nil, false
	}
}

func (f *nativeForm) firstChange() int { return f.changed }

func (f *nativeForm) altered() int { return f.kept.changed }

func (f *nativeForm) full() *elbowroomv1.Conversation {
	f.settle()
	native := wire.Native{Format: f.format, Bytes: f.bytes, Pieces: []string{f.text}}
	return native.Message()
}

func (f *nativeForm) pieces() *wire.Native {
	if !f.valid && !utf8.ValidString(f.text) {
		return nil
	}
	pieces, ok := cutPieces(f.text, f.pending)
	if !ok {
		return nil
	}
	return &wire.Native{Format: f.format, Bytes: f.bytes, Pieces: pieces}
}

// cutPieces returns what splices make of a text as pieces: what is kept of the text, and
// what is put between. It reports false where a piece would not be valid UTF-8 by
// itself, which the text has to be.
func cutPieces(text string, splices []conversation.Splice) ([]string, bool) {
	pieces := make([]string, 0, 2*len(splices)+1)
	at := 0
	for _, sp := range splices {
		end := sp.Offset + sp.Length
		if !onCharacter(text, sp.Offset) || !onCharacter(text, end) || !utf8.ValidString(sp.Text) {
			return nil, false
		}
		pieces = append(pieces, text[at:sp.Offset], sp.Text)
		at = end
	}
	return append(pieces, text[at:]), true
}

// onCharacter reports whether a character begins at an offset of a text, or the text ends.
func onCharacter(text string, at int) bool { return at == len(text) || utf8.RuneStart(text[at]) }

func (f *nativeForm) edits() ([]*elbowroomv1.Edit, []*elbowroomv1.Splice) {
	if len(f.splices) == 0 {
		return nil, nil
	}
	edits := make([]*elbowroomv1.Edit, len(f.program))
	for i, op := range f.program {
		edits[i] = nativeEdit(op)
	}
	splices := make([]*elbowroomv1.Splice, len(f.splices))
	for i, sp := range f.splices {
		splices[i] = &elbowroomv1.Splice{Offset: int64(sp.Offset), Length: int64(sp.Length), Text: sp.Text}
	}
	return edits, splices
}

func nativeEdit(op conversation.Op) *elbowroomv1.Edit {
	e := &elbowroomv1.Edit{Section: sectionOf(op.Section)}
	switch op.Kind {
	case conversation.OpKeep:
		e.Op = &elbowroomv1.Edit_Keep{Keep: &elbowroomv1.KeepEdit{Start: int32(op.Start), End: int32(op.End)}}
	case conversation.OpDrop:
		e.Op = &elbowroomv1.Edit_Drop{Drop: &elbowroomv1.DropEdit{Start: int32(op.Start), End: int32(op.End)}}
	case conversation.OpReplace:
		e.Op = &elbowroomv1.Edit_Replace{Replace: &elbowroomv1.ReplaceEdit{
			Index: int32(op.Start), Element: &elbowroomv1.ReplaceEdit_Json{Json: op.JSON},
		}}
	case conversation.OpInsert:
		e.Op = &elbowroomv1.Edit_Insert{Insert: &elbowroomv1.InsertEdit{Element: &elbowroomv1.InsertEdit_Json{Json: op.JSON}}}
	}
	return e
}
