package server

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conversation"
)

// defaultLimits are the limits a server has when none are configured.
var defaultLimits = conversation.Limits{MaxDepth: conversation.DefaultMaxDepth, MaxBlocks: conversation.DefaultMaxBlocks}

func mustReadTyped(t *testing.T, in *elbowroomv1.Conversation) *conversation.Conversation {
	t.Helper()
	c, err := readTyped(in, defaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestReadTypedConvertsEveryKindOfBlock(t *testing.T) {
	oneHour := &elbowroomv1.CacheControl{Ttl: elbowroomv1.CacheTtl_CACHE_TTL_1H}
	in := &elbowroomv1.Conversation{
		Tools: []*elbowroomv1.Tool{{Name: "grep", Description: "search", InputSchemaJson: `{"type":"object"}`, CacheControl: oneHour}},
		Messages: []*elbowroomv1.Message{
			{Role: elbowroomv1.Role_ROLE_SYSTEM, Blocks: []*elbowroomv1.Block{textBlock("be brief")}},
			{Role: elbowroomv1.Role_ROLE_USER, Name: "ann", Blocks: []*elbowroomv1.Block{
				textBlock(""),
				{Kind: &elbowroomv1.Block_Media{Media: &elbowroomv1.Media{
					MimeType: "image/png", Source: &elbowroomv1.Media_Data{Data: []byte{1, 2}}, Width: 3, Height: 4,
				}}, CacheControl: &elbowroomv1.CacheControl{}},
				{Kind: &elbowroomv1.Block_Media{Media: &elbowroomv1.Media{Source: &elbowroomv1.Media_Uri{Uri: "data:application/pdf;base64,QUJD"}}}},
				{Kind: &elbowroomv1.Block_Media{Media: &elbowroomv1.Media{MimeType: "video/mp4", Source: &elbowroomv1.Media_Uri{Uri: "https://example.com/v"}}}},
			}},
			{Role: elbowroomv1.Role_ROLE_ASSISTANT, Blocks: []*elbowroomv1.Block{
				{Kind: &elbowroomv1.Block_Thinking{Thinking: &elbowroomv1.Thinking{Text: "hm", Signature: "sig"}}},
				{Kind: &elbowroomv1.Block_Thinking{Thinking: &elbowroomv1.Thinking{Text: "unsigned"}}},
				{Kind: &elbowroomv1.Block_ToolUse{ToolUse: &elbowroomv1.ToolUse{Id: "c1", Name: "grep", InputJson: `{"q": 1}`}}},
				{Kind: &elbowroomv1.Block_OpaqueJson{OpaqueJson: `{"type":"search_result","x":1}`}},
				{Kind: &elbowroomv1.Block_OpaqueJson{OpaqueJson: `not json`}},
			}},
			{Role: elbowroomv1.Role_ROLE_TOOL, Blocks: []*elbowroomv1.Block{{
				Kind: &elbowroomv1.Block_ToolResult{ToolResult: &elbowroomv1.ToolResult{
					ToolUseId: "c1", IsError: true, Blocks: []*elbowroomv1.Block{textBlock("none"), {Kind: &elbowroomv1.Block_Media{Media: &elbowroomv1.Media{MimeType: "text/csv"}}}},
				}},
				CacheControl: &elbowroomv1.CacheControl{Ttl: elbowroomv1.CacheTtl_CACHE_TTL_5M},
			}}},
		},
	}
	list := conversation.ShapeList
	want := &conversation.Conversation{
		Format: conversation.FormatTyped,
		Tools:  []conversation.Tool{{Name: "grep", Description: "search", Schema: `{"type":"object"}`, Mark: &conversation.Mark{TTL: "1h"}}},
		Messages: []conversation.Message{
			{Role: conversation.RoleSystem, RawRole: "system", Shape: list, Blocks: []conversation.Block{{Kind: conversation.KindText, Text: "be brief"}}},
			{Role: conversation.RoleUser, RawRole: "user", Name: "ann", Shape: list, Blocks: []conversation.Block{
				{Kind: conversation.KindText},
				{
					Kind: conversation.KindMedia, Mark: &conversation.Mark{},
					Media: &conversation.Media{Kind: conversation.MediaImage, MIMEType: "image/png", Bytes: []byte{1, 2}, Width: 3, Height: 4},
				},
				{Kind: conversation.KindMedia, Media: &conversation.Media{Kind: conversation.MediaDocument, MIMEType: "application/pdf", Data: "QUJD"}},
				{Kind: conversation.KindMedia, Media: &conversation.Media{Kind: conversation.MediaVideo, MIMEType: "video/mp4", URI: "https://example.com/v"}},
			}},
			{Role: conversation.RoleAssistant, RawRole: "assistant", Shape: list, Blocks: []conversation.Block{
				{Kind: conversation.KindThinking, Text: "hm", Signed: true},
				{Kind: conversation.KindThinking, Text: "unsigned"},
				{Kind: conversation.KindToolUse, ID: "c1", Name: "grep", Input: `{"q": 1}`, InputShape: conversation.ShapeString},
				{Kind: conversation.KindOpaque, Type: "search_result", Raw: `{"type":"search_result","x":1}`},
				{Kind: conversation.KindOpaque, Raw: `not json`},
			}},
			{Role: conversation.RoleTool, RawRole: "tool", Shape: list, Blocks: []conversation.Block{{
				Kind: conversation.KindToolResult, ID: "c1", IsError: true, ResultShape: list, Mark: &conversation.Mark{},
				Result: []conversation.Block{
					{Kind: conversation.KindText, Text: "none"},
					{Kind: conversation.KindMedia, Media: &conversation.Media{Kind: conversation.MediaDocument, MIMEType: "text/csv"}},
				},
			}}},
		},
	}
	got := mustReadTyped(t, in)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(conversation.Conversation{})); diff != "" {
		t.Errorf("readTyped (-want +got):\n%s", diff)
	}
}

func TestReadTypedKeepsItsLimits(t *testing.T) {
	nest := textBlock("bottom")
	for range 10 {
		nest = &elbowroomv1.Block{Kind: &elbowroomv1.Block_ToolResult{ToolResult: &elbowroomv1.ToolResult{Blocks: []*elbowroomv1.Block{nest}}}}
	}
	in := &elbowroomv1.Conversation{Messages: []*elbowroomv1.Message{{}, {Blocks: []*elbowroomv1.Block{nest}}}}
	for _, c := range []struct {
		name   string
		limits conversation.Limits
		want   string
	}{
		{"depth", conversation.Limits{MaxDepth: 10, MaxBlocks: 100}, "conversation.messages: tool results nested deeper than 10 levels"},
		{"number", conversation.Limits{MaxDepth: 100, MaxBlocks: 12}, "conversation.messages: more than 12 messages, blocks and tools"},
		{"neither", conversation.Limits{MaxDepth: 11, MaxBlocks: 13}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readTyped(in, c.limits)
			got := ""
			if err != nil {
				got = err.Error()
				var bad *requestError
				if !errors.As(err, &bad) || bad.message != 1 {
					t.Errorf("error %#v, want a requestError about message 1", err)
				}
			}
			if got != c.want {
				t.Errorf("error %q, want %q", got, c.want)
			}
		})
	}
}

// equal compares two messages, at proto.Equal's speed while they are the same.
func equal(t *testing.T, what string, a, b proto.Message) {
	t.Helper()
	if !proto.Equal(a, b) {
		t.Fatalf("%s differ (-first +second):\n%s", what, cmp.Diff(a, b, protocmp.Transform()))
	}
}

// unknown marks a message with a field that this service does not know.
func unknown[M proto.Message](m M, value uint64) M {
	b := protowire.AppendTag(nil, 1000, protowire.VarintType)
	m.ProtoReflect().SetUnknown(protowire.AppendVarint(b, value))
	return m
}

// randomTyped makes a conversation in which everything carries an unknown field.
func randomTyped(rnd *rand.Rand) *elbowroomv1.Conversation {
	serial := uint64(0)
	next := func() uint64 { serial++; return serial }
	mark := func() *elbowroomv1.CacheControl {
		if rnd.IntN(4) > 0 {
			return nil
		}
		return unknown(&elbowroomv1.CacheControl{Ttl: elbowroomv1.CacheTtl(rnd.IntN(3))}, next())
	}
	var block func(depth int) *elbowroomv1.Block
	block = func(depth int) *elbowroomv1.Block {
		b := unknown(&elbowroomv1.Block{CacheControl: mark()}, next())
		switch n := rnd.IntN(6); {
		case n == 0:
			b.Kind = &elbowroomv1.Block_ToolUse{ToolUse: unknown(&elbowroomv1.ToolUse{Id: fmt.Sprint("c", next()), Name: "f", InputJson: `{"a":1}`}, next())}
		case n == 1 && depth < 3:
			res := unknown(&elbowroomv1.ToolResult{ToolUseId: fmt.Sprint("c", next()), IsError: rnd.IntN(2) == 0}, next())
			for range rnd.IntN(3) {
				res.Blocks = append(res.Blocks, block(depth+1))
			}
			b.Kind = &elbowroomv1.Block_ToolResult{ToolResult: res}
		case n == 2:
			b.Kind = &elbowroomv1.Block_Media{Media: unknown(&elbowroomv1.Media{MimeType: "image/png", Source: &elbowroomv1.Media_Data{Data: []byte{byte(next())}}}, next())}
		case n == 3:
			b.Kind = &elbowroomv1.Block_Thinking{Thinking: unknown(&elbowroomv1.Thinking{Text: fmt.Sprint("thought ", next()), Signature: "s"}, next())}
		case n == 4:
			b.Kind = &elbowroomv1.Block_OpaqueJson{OpaqueJson: `{"type":"odd"}`}
		default:
			b.Kind = &elbowroomv1.Block_Text{Text: fmt.Sprint("text ", next())}
		}
		return b
	}
	c := unknown(&elbowroomv1.Conversation{}, next())
	for range rnd.IntN(8) {
		m := unknown(&elbowroomv1.Message{Role: elbowroomv1.Role(1 + rnd.IntN(4)), Name: "n"}, next())
		for range rnd.IntN(4) {
			m.Blocks = append(m.Blocks, block(0))
		}
		c.Messages = append(c.Messages, m)
	}
	for i := range rnd.IntN(3) {
		c.Tools = append(c.Tools, unknown(&elbowroomv1.Tool{Name: fmt.Sprint("t", i), CacheControl: mark()}, next()))
	}
	return c
}

// randomRewrite decides something at random about a typed conversation.
func randomRewrite(rnd *rand.Rand, c *conversation.Conversation) *conversation.Rewrite {
	r := conversation.NewRewrite(c)
	ttl := []string{"", "1h"}
	for i := range c.Messages {
		if rnd.IntN(5) == 0 {
			r.Insert(i, conversation.NewMessage{Role: conversation.RoleUser, Text: fmt.Sprint("new ", rnd.IntN(100))})
		}
		if rnd.IntN(5) == 0 {
			r.Insert(i, conversation.NewMessage{Role: conversation.RoleTool, Result: &conversation.NewResult{ID: "c", Text: "stub"}})
		}
		if rnd.IntN(4) == 0 {
			r.Drop(i)
			continue
		}
		for b := range c.Messages[i].Blocks {
			ref := conversation.Ref{Message: i, Block: b}
			block := &c.Messages[i].Blocks[b]
			switch rnd.IntN(8) {
			case 0:
				if block.Kind == conversation.KindText || block.Kind == conversation.KindToolResult {
					r.SetText(ref, fmt.Sprint("changed ", rnd.IntN(100)))
				}
			case 1:
				if block.Kind == conversation.KindToolUse {
					r.SetInput(ref, `{"b":2}`)
				}
			case 2:
				r.MarkBlock(ref, ttl[rnd.IntN(2)])
			case 3:
				r.UnmarkBlock(ref)
			case 4:
				r.DropBlock(ref)
			case 5:
				if len(block.Result) > 0 {
					r.MarkPart(ref, rnd.IntN(len(block.Result)), ttl[rnd.IntN(2)])
				}
			}
		}
		if rnd.IntN(6) == 0 {
			r.AppendText(i, "appended")
		}
	}
	if rnd.IntN(4) == 0 {
		r.Insert(len(c.Messages), conversation.NewMessage{Role: conversation.RoleAssistant, Text: "last"})
	}
	for i := range c.Tools {
		switch rnd.IntN(4) {
		case 0:
			r.MarkTool(i, ttl[rnd.IntN(2)])
		case 1:
			r.UnmarkTool(i)
		}
	}
	return r
}

// follow applies a typed edit program, and fails the test if it does not pass
// every element of the input exactly once and in order.
func follow(t *testing.T, in *elbowroomv1.Conversation, edits []*elbowroomv1.Edit) *elbowroomv1.Conversation {
	t.Helper()
	if edits == nil {
		return in
	}
	out := unknown(&elbowroomv1.Conversation{}, 0)
	out.ProtoReflect().SetUnknown(in.ProtoReflect().GetUnknown())
	at := map[elbowroomv1.Section]int32{}
	pass := func(s elbowroomv1.Section, start, end int32) {
		if start != at[s] || end <= start {
			t.Fatalf("%v: edit of %d to %d, the next element is %d", s, start, end, at[s])
		}
		at[s] = end
	}
	for _, e := range edits {
		s := e.GetSection()
		switch op := e.GetOp().(type) {
		case *elbowroomv1.Edit_Keep:
			pass(s, op.Keep.GetStart(), op.Keep.GetEnd())
			if s == elbowroomv1.Section_SECTION_TOOLS {
				out.Tools = append(out.Tools, in.GetTools()[op.Keep.GetStart():op.Keep.GetEnd()]...)
			} else {
				out.Messages = append(out.Messages, in.GetMessages()[op.Keep.GetStart():op.Keep.GetEnd()]...)
			}
		case *elbowroomv1.Edit_Drop:
			pass(s, op.Drop.GetStart(), op.Drop.GetEnd())
		case *elbowroomv1.Edit_Replace:
			pass(s, op.Replace.GetIndex(), op.Replace.GetIndex()+1)
			if s == elbowroomv1.Section_SECTION_TOOLS {
				out.Tools = append(out.Tools, op.Replace.GetTool())
			} else {
				out.Messages = append(out.Messages, op.Replace.GetMessage())
			}
		case *elbowroomv1.Edit_Insert:
			out.Messages = append(out.Messages, op.Insert.GetMessage())
		}
	}
	if n := at[elbowroomv1.Section_SECTION_MESSAGES]; int(n) != len(in.GetMessages()) {
		t.Fatalf("the program ends at message %d of %d", n, len(in.GetMessages()))
	}
	if n := at[elbowroomv1.Section_SECTION_TOOLS]; int(n) != len(in.GetTools()) {
		t.Fatalf("the program ends at tool %d of %d", n, len(in.GetTools()))
	}
	return out
}

func TestTypedRenderingIsWhatTheDomainDecided(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	// How a block was written is not part of the typed form.
	domain := cmp.Options{
		cmpopts.IgnoreFields(conversation.Message{}, "Shape", "RawRole"),
		cmpopts.IgnoreFields(conversation.Block{}, "Type", "ResultShape"),
		cmpopts.EquateEmpty(),
	}
	for range 300 {
		in := randomTyped(rnd)
		before := proto.CloneOf(in)
		f := &typedForm{request: in, result: keepTyped(in)}
		c := mustReadTyped(t, in)
		rw := randomRewrite(rnd, c)
		f.apply(rw)

		want := rw.Apply()
		got := mustReadTyped(t, f.full())
		if diff := cmp.Diff(want.Conversation.Messages, got.Messages, domain); diff != "" {
			t.Fatalf("messages (-Apply +rendered):\n%s", diff)
		}
		if diff := cmp.Diff(want.Conversation.Tools, got.Tools, domain); diff != "" {
			t.Fatalf("tools (-Apply +rendered):\n%s", diff)
		}
		if !rw.Empty() {
			if diff := cmp.Diff(want.From, f.result.from, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("origins (-Apply +rendered):\n%s", diff)
			}
		}
		for i, from := range f.result.from {
			if from >= 0 && !rw.Changed(from) && f.full().GetMessages()[i] != in.GetMessages()[from] {
				t.Fatalf("message %d was kept and is not the caller's object", from)
			}
		}
		equal(t, "the request before and after", before, in)
		edits, splices := f.edits()
		if splices != nil {
			t.Fatalf("the typed form has splices: %v", splices)
		}
		equal(t, "the full view and what following the edits gives", f.full(), follow(t, in, edits))
	}
}

func TestTypedEditsLeadFromTheRequestOverSeveralRewrites(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		in := randomTyped(rnd)
		f := &typedForm{request: in, result: keepTyped(in)}
		for range 2 {
			f.apply(randomRewrite(rnd, mustReadTyped(t, f.full())))
		}
		edits, _ := f.edits()
		equal(t, "the full view and what following the edits gives", f.full(), follow(t, in, edits))
	}
}

func TestTypedRenderingKeepsUnknownFieldsOfWhatItChanges(t *testing.T) {
	in := &elbowroomv1.Conversation{
		Messages: []*elbowroomv1.Message{unknown(&elbowroomv1.Message{
			Role: elbowroomv1.Role_ROLE_TOOL,
			Blocks: []*elbowroomv1.Block{unknown(&elbowroomv1.Block{
				Kind: &elbowroomv1.Block_ToolResult{ToolResult: unknown(&elbowroomv1.ToolResult{ToolUseId: "c", Blocks: []*elbowroomv1.Block{textBlock("long")}}, 3)},
			}, 2)},
		}, 1)},
		Tools: []*elbowroomv1.Tool{unknown(&elbowroomv1.Tool{Name: "f"}, 4)},
	}
	c := mustReadTyped(t, in)
	rw := conversation.NewRewrite(c)
	rw.SetText(conversation.Ref{}, "stub")
	rw.MarkBlock(conversation.Ref{}, "1h")
	rw.MarkTool(0, "")
	f := &typedForm{request: in, result: keepTyped(in)}
	f.apply(rw)

	want := proto.CloneOf(in)
	block := want.Messages[0].Blocks[0]
	block.GetToolResult().Blocks = []*elbowroomv1.Block{textBlock("stub")}
	block.CacheControl = &elbowroomv1.CacheControl{Ttl: elbowroomv1.CacheTtl_CACHE_TTL_1H}
	want.Tools[0].CacheControl = &elbowroomv1.CacheControl{Ttl: elbowroomv1.CacheTtl_CACHE_TTL_5M}
	if diff := cmp.Diff(want, f.full(), protocmp.Transform()); diff != "" {
		t.Errorf("rendered (-want +got):\n%s", diff)
	}
}

func TestTypedEditsAreAbsentWhenNothingChanged(t *testing.T) {
	in := randomTyped(rand.New(rand.NewPCG(1, 1)))
	f := &typedForm{request: in, result: keepTyped(in)}
	f.apply(conversation.NewRewrite(mustReadTyped(t, in)))
	if edits, splices := f.edits(); edits != nil || splices != nil {
		t.Errorf("edits %v, splices %v, want none", edits, splices)
	}
	if f.full() != in {
		t.Error("the conversation is not the caller's object")
	}
}
