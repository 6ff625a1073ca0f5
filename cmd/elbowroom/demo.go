package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/internal/tools/session"
)

type demoCommand struct {
	Server string `placeholder:"ADDR" help:"Use the server at this address. Default: one of its own on a free loopback port."`
	remote
	Lines int    `default:"16" placeholder:"N" help:"How many lines of the summary to show; 0 shows all."`
	Out   string `placeholder:"DIR" help:"Also write before.json, after.json and summary.md there."`
}

// Run sends the bundled conversation through every call.
func (cmd *demoCommand) Run(ctx context.Context, p process) error {
	text, err := session.JSON()
	if err != nil {
		return err
	}
	c, err := loadLocal(p, "")
	if err != nil {
		return err
	}
	conn, err := connect(ctx, p, c, cmd.Server, cmd.remote)
	if err != nil {
		return err
	}
	defer conn.stop()
	d := &demo{client: conn.client, body: text}
	if err := d.play(ctx); err != nil {
		return err
	}
	if cmd.Out != "" {
		if err := d.save(cmd.Out); err != nil {
			return err
		}
	}
	page := newPage(p, p.stdout)
	d.print(page, conn.addr, cmd.Lines)
	return nil
}

// demo is one conversation on its way through the calls, and what came back.
type demo struct {
	client elbowroomv1.ContextServiceClient
	body   string
	calls  []demoCall

	models     *elbowroomv1.ListModelsResponse
	before     *elbowroomv1.CountTokensResponse
	compressed *elbowroomv1.CompressResponse
	edits      *elbowroomv1.CompressResponse
	after      *elbowroomv1.CountTokensResponse
	marked     *elbowroomv1.ApplyCacheControlResponse
	prepared   *elbowroomv1.PrepareResponse
	again      *elbowroomv1.CompressResponse
}

// demoCall is one call and what it cost.
type demoCall struct {
	name, note        string
	took              time.Duration
	request, response int // bytes
}

// timed makes one call.
func timed[Q, R proto.Message](ctx context.Context, d *demo, name, note string, call func(context.Context, Q, ...grpc.CallOption) (R, error), req Q) (R, error) {
	start := time.Now()
	out, err := call(ctx, req)
	if err != nil {
		return out, fmt.Errorf("%s: %w", name, err)
	}
	d.calls = append(d.calls, demoCall{name, note, time.Since(start), proto.Size(req), proto.Size(out)})
	return out, nil
}

// play makes the calls, in the order in which an agent would.
func (d *demo) play(ctx context.Context) (err error) {
	d.models, err = timed(ctx, d, "ListModels", "", d.client.ListModels, &elbowroomv1.ListModelsRequest{})
	if err != nil {
		return err
	}
	full := anthropicBody(d.body)
	d.before, err = timed(ctx, d, "CountTokens", "the first count loads the vocabulary", d.client.CountTokens,
		&elbowroomv1.CountTokensRequest{Conversation: full})
	if err != nil {
		return err
	}
	d.compressed, err = timed(ctx, d, "Compress", "", d.client.Compress,
		&elbowroomv1.CompressRequest{Conversation: full, ContextWindow: session.Window})
	if err != nil {
		return err
	}
	if d.compressed.GetOutcome() != elbowroomv1.Outcome_OUTCOME_COMPRESSED {
		return fmt.Errorf("the server did not compress: %s", d.compressed.GetReport().GetReason())
	}
	d.edits, err = timed(ctx, d, "Compress", "only the edits", d.client.Compress,
		&elbowroomv1.CompressRequest{Conversation: full, ContextWindow: session.Window, View: elbowroomv1.View_VIEW_EDITS})
	if err != nil {
		return err
	}
	shorter := d.compressed.GetConversation()
	d.after, err = timed(ctx, d, "CountTokens", "of the result", d.client.CountTokens, &elbowroomv1.CountTokensRequest{Conversation: shorter})
	if err != nil {
		return err
	}
	d.marked, err = timed(ctx, d, "ApplyCacheControl", "of the result", d.client.ApplyCacheControl,
		&elbowroomv1.ApplyCacheControlRequest{Conversation: shorter})
	if err != nil {
		return err
	}
	d.prepared, err = timed(ctx, d, "Prepare", "both in one trip", d.client.Prepare,
		&elbowroomv1.PrepareRequest{Conversation: full, ContextWindow: session.Window})
	if err != nil {
		return err
	}
	d.again, err = timed(ctx, d, "Compress", "the result once more", d.client.Compress, &elbowroomv1.CompressRequest{
		Conversation: shorter, ContextWindow: session.Window, CompressionState: d.compressed.GetCompressionState(),
	})
	return err
}

func anthropicBody(json string) *elbowroomv1.Conversation {
	return &elbowroomv1.Conversation{Native: &elbowroomv1.NativeRequest{
		Format: elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES, Body: &elbowroomv1.NativeRequest_Json{Json: json},
	}}
}

// fates counts what became of the messages.
type fates struct{ kept, changed, removed, added int32 }

func (d *demo) fates() fates {
	var f fates
	for _, e := range d.edits.GetEdits() {
		if e.GetSection() != elbowroomv1.Section_SECTION_MESSAGES {
			continue
		}
		switch op := e.GetOp().(type) {
		case *elbowroomv1.Edit_Keep:
			f.kept += op.Keep.GetEnd() - op.Keep.GetStart()
		case *elbowroomv1.Edit_Replace:
			f.changed++
		case *elbowroomv1.Edit_Drop:
			f.removed += op.Drop.GetEnd() - op.Drop.GetStart()
		case *elbowroomv1.Edit_Insert:
			f.added++
		}
	}
	return f
}

// whereabouts says where a fact of the session is after compression.
func (d *demo) whereabouts(f session.Fact) string {
	switch {
	case strings.Contains(d.compressed.GetSummary(), f.Text):
		return "in the summary"
	case strings.Contains(d.compressed.GetConversation().GetNative().GetJson(), f.Text):
		return "in a kept message"
	default:
		return "LOST"
	}
}
