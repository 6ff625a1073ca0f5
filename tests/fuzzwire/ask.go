package fuzzwire

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"unicode/utf8"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/elbowroom/elbowroom/conformance"
	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// caller asks the program.
type caller struct {
	pb.ContextServiceClient
	web *web
}

// ask makes request number n and judges what comes of it.
func (c *caller) ask(ctx context.Context, d *draw) *verdict {
	v := &verdict{text: d.text}
	conv, messages := d.conversation()
	switch kind := d.Roll(20); {
	case kind < 6:
		c.compress(ctx, d, v, conv, messages)
	case kind < 8:
		c.stream(ctx, d, v, conv, messages)
	case kind < 11:
		c.prepare(ctx, d, v, conv, messages)
	case kind < 14:
		c.mark(ctx, d, v, conv)
	case kind < 16:
		c.count(ctx, d, v, conv)
	case kind < 17:
		c.simulate(ctx, d, v, conv)
	case kind < 18:
		c.delta(ctx, d, v)
	case kind < 19:
		c.overHTTP(ctx, d, v, conv, messages)
	default:
		c.gateway(ctx, d, v)
	}
	return v
}

// conversation is what is sent, in one of the forms, and how many messages it seems to
// have.
func (d *draw) conversation() (*pb.Conversation, int) {
	in, err := conformance.Read(d.dialect, []byte(d.text))
	messages := 0
	if err == nil {
		messages, d.in = in.Len(), in
		d.legal = d.legal && in.Legal()
	}
	if err == nil && d.Once(5) {
		typed := conformance.TypedForm(in)
		d.legal = false // what the typed form cannot say is left out
		if d.Once(2) {
			d.typed(typed)
		}
		d.in, err = conformance.ReadTyped(typed, nil)
		if err != nil {
			d.in = nil
		}
		return typed, len(typed.GetMessages())
	}
	// gRPC itself refuses a string that is no UTF-8, before it leaves.
	return d.native(d.text, d.Once(2) || !utf8.ValidString(d.text)), messages
}

// ended notes how a call ended, and reports whether there is an answer to judge. What is
// good must not be refused.
func (v *verdict) ended(err error, good bool) bool {
	v.code = status.Code(err).String()
	if err == nil {
		return true
	}
	v.broken = append(v.broken, judgeError(err)...)
	if good {
		v.complain("refused, and there is nothing wrong with it: %v", err)
	}
	return false
}

func (c *caller) compress(ctx context.Context, d *draw, v *verdict, conv *pb.Conversation, messages int) {
	req, plain := d.compress(conv, messages)
	req.View = pb.View(max(d.Roll(6)-2, 0))
	v.call, v.req = "Compress", req
	resp, err := c.Compress(ctx, req)
	if !v.ended(err, plain && d.legal) {
		return
	}
	full := resp
	if req.GetView() > pb.View_VIEW_FULL || d.Once(10) {
		asked := proto.CloneOf(req)
		asked.View = pb.View_VIEW_FULL
		if full, err = c.Compress(ctx, asked); err != nil {
			v.complain("refused in another view: %v", err)
			return
		}
		if full.GetSummary() != resp.GetSummary() || !proto.Equal(full.GetReport(), resp.GetReport()) {
			v.complain("two runs differ")
		}
	}
	if req.GetView() > pb.View_VIEW_FULL {
		v.short(d, req.GetConversation(), full.GetConversation(), resp.GetConversation(), resp.GetEdits(), resp.GetSplices(), req.GetView())
	}
	v.compressed(d, req, full)
	c.again(ctx, v, req, full)
}

// again compresses what came out: it comes back as it is.
func (c *caller) again(ctx context.Context, v *verdict, req *pb.CompressRequest, full *pb.CompressResponse) {
	if full.GetOutcome() != pb.Outcome_OUTCOME_COMPRESSED || len(req.GetPinned()) > 0 || req.GetLastUsage() != nil || req.GetPreviousSummary() != "" {
		return
	}
	second := proto.CloneOf(req)
	second.Conversation, second.View, second.CompressionState = full.GetConversation(), pb.View_VIEW_FULL, nil
	resp, err := c.Compress(ctx, second)
	switch {
	case err != nil:
		v.complain("its own answer is refused: %v", err)
	case !same(resp.GetConversation(), full.GetConversation()):
		v.complain("a second pass changed its input: %v (%s), %d tokens became %d", resp.GetOutcome(), resp.GetReport().GetReason(),
			resp.GetReport().GetTokensBefore(), resp.GetReport().GetTokensAfter())
	}
}

func (c *caller) stream(ctx context.Context, d *draw, v *verdict, conv *pb.Conversation, messages int) {
	req, plain := d.compress(conv, messages)
	v.call, v.req = "StreamCompress", &pb.StreamCompressRequest{Request: req}
	var result *pb.CompressResponse
	stream, err := c.StreamCompress(ctx, &pb.StreamCompressRequest{Request: req})
	for err == nil {
		var event *pb.StreamCompressResponse
		if event, err = stream.Recv(); err != nil {
			break
		}
		if result != nil {
			v.complain("something comes after the result")
		}
		result = event.GetResult()
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if !v.ended(err, plain && d.legal) {
		return
	}
	if result == nil {
		v.complain("the stream ends without a result")
		return
	}
	v.compressed(d, req, result)
	unary, err := c.Compress(ctx, req)
	if err != nil || !same(unary.GetConversation(), result.GetConversation()) {
		v.complain("Compress answers otherwise (%v)", err)
	}
}

func (c *caller) prepare(ctx context.Context, d *draw, v *verdict, conv *pb.Conversation, messages int) {
	compress, plain := d.compress(conv, messages)
	compress.PlanOnly = false
	mark, plainMark := d.mark(conv)
	mark.Model = compress.GetModel()
	req := prepare(compress, mark)
	req.View = pb.View(max(d.Roll(6)-2, 0))
	v.call, v.req = "Prepare", req
	resp, err := c.Prepare(ctx, req)
	if !v.ended(err, plain && plainMark && d.legal) {
		return
	}
	full := resp
	if req.GetView() > pb.View_VIEW_FULL {
		asked := proto.CloneOf(req)
		asked.View = pb.View_VIEW_FULL
		if full, err = c.Prepare(ctx, asked); err != nil {
			v.complain("refused in another view: %v", err)
			return
		}
		v.short(d, req.GetConversation(), full.GetConversation(), resp.GetConversation(), resp.GetEdits(), resp.GetSplices(), req.GetView())
	}
	// The same in two steps.
	first, err := c.Compress(ctx, compress)
	if err != nil {
		v.complain("Compress refuses what Prepare takes: %v", err)
		return
	}
	v.compressed(d, compress, first)
	mark.Conversation = first.GetConversation()
	second, err := c.ApplyCacheControl(ctx, mark)
	if err != nil {
		v.complain("ApplyCacheControl refuses what Prepare takes: %v", err)
		return
	}
	v.marked(d, mark, second)
	v.marked(d, mark, &pb.ApplyCacheControlResponse{Conversation: full.GetConversation(), Breakpoints: full.GetBreakpoints(), Layout: full.GetLayout()})
	if mark.GetStrategy() == pb.Strategy_STRATEGY_ANCHORED && mark.GetHeadMessages() == 0 {
		return // Prepare knows what the compression keeps in front
	}
	if !same(second.GetConversation(), full.GetConversation()) {
		v.complain("Prepare gives something else than Compress and ApplyCacheControl")
	}
}

func (c *caller) mark(ctx context.Context, d *draw, v *verdict, conv *pb.Conversation) {
	req, plain := d.mark(conv)
	req.View = pb.View(max(d.Roll(6)-2, 0))
	v.call, v.req = "ApplyCacheControl", req
	resp, err := c.ApplyCacheControl(ctx, req)
	if !v.ended(err, plain && d.legal) {
		return
	}
	full := resp
	if req.GetView() > pb.View_VIEW_FULL {
		asked := proto.CloneOf(req)
		asked.View = pb.View_VIEW_FULL
		if full, err = c.ApplyCacheControl(ctx, asked); err != nil {
			v.complain("refused in another view: %v", err)
			return
		}
		v.short(d, req.GetConversation(), full.GetConversation(), resp.GetConversation(), resp.GetEdits(), resp.GetSplices(), req.GetView())
	}
	v.marked(d, req, full)
	again := proto.CloneOf(req)
	again.Conversation, again.View = full.GetConversation(), pb.View_VIEW_FULL
	second, err := c.ApplyCacheControl(ctx, again)
	switch {
	case err != nil:
		v.complain("its own answer is refused: %v", err)
	case !same(second.GetConversation(), full.GetConversation()):
		v.complain("marking a marked conversation changed it")
	}
}

func (c *caller) count(ctx context.Context, d *draw, v *verdict, conv *pb.Conversation) {
	req := &pb.CountTokensRequest{Conversation: conv, Model: d.model(), Method: pb.Method(d.Roll(3))}
	plain := true
	if d.Once(10) {
		req.LastUsage = &pb.Usage{PromptTokens: int32(d.Roll(9_000)), MessageCount: int32(d.Roll(40))}
	}
	if d.Once(10) {
		req.Conversation, req.LastUsage, req.Text = nil, nil, new(d.text)
		if !utf8.ValidString(d.text) {
			req.Text = new("text")
		}
	}
	v.call, v.req = "CountTokens", req
	resp, err := c.CountTokens(ctx, req)
	if !v.ended(err, plain && d.legal) || req.Text != nil {
		return
	}
	if req.GetLastUsage() == nil {
		v.counted(d, conv, resp)
	}
}

func (c *caller) simulate(ctx context.Context, d *draw, v *verdict, conv *pb.Conversation) {
	req := &pb.SimulateCacheRequest{Model: d.model(), OmitExcerpts: d.Once(2), EstimateOnly: d.Once(2)}
	if d.Once(3) {
		req.Layout = pb.Layout(d.Roll(15))
	}
	for n := 1 + d.Roll(3); n > 0; n-- {
		req.Requests = append(req.Requests, &pb.SimulatedRequest{Conversation: conv, StartMs: int64(d.Roll(400)) * 1_000})
	}
	v.call, v.req = "SimulateCache", req
	resp, err := c.SimulateCache(ctx, req)
	if v.ended(err, false) && len(resp.GetTurns()) != len(req.GetRequests()) {
		v.complain("%d turns of %d requests", len(resp.GetTurns()), len(req.GetRequests()))
	}
}

// delta sends a body twice: in full, and as what is different from one that is held.
func (c *caller) delta(ctx context.Context, d *draw, v *verdict) {
	v.call = "delta"
	kept := d.native(d.text, true)
	kept.Native.Keep = true
	if _, err := c.CountTokens(ctx, &pb.CountTokensRequest{Conversation: kept}); !v.ended(err, d.legal) {
		v.req = &pb.CountTokensRequest{Conversation: kept}
		return
	}
	digest := sha256.Sum256([]byte(d.text))
	var splices []*pb.Splice
	for at, n := 0, 1+d.Roll(3); n > 0 && at < len(d.text); n-- {
		at += d.Roll(len(d.text) - at)
		length := min(d.Roll(20), len(d.text)-at)
		splices = append(splices, &pb.Splice{Offset: int64(at), Length: int64(length), Text: d.Pick("", "x", " ", `"`, "漢", ",", "{}")})
		at += length
	}
	if d.Once(10) {
		splices = append(splices, &pb.Splice{Offset: int64(d.Roll(1 << 15)), Length: int64(d.Roll(1 << 15))})
	}
	body, err := conformance.ApplySplices([]byte(d.text), splices)
	req, _ := d.compress(d.native("", false), 0)
	req.Conversation = &pb.Conversation{Native: &pb.NativeRequest{Format: d.native("", false).GetNative().GetFormat(), Body: &pb.NativeRequest_Delta{Delta: &pb.NativeDelta{Base: digest[:], Splices: splices}}}}
	v.req = req
	short, shortErr := c.Compress(ctx, req)
	if err != nil {
		if shortErr == nil {
			v.complain("splices that are none are applied: %v", err)
			return
		}
		v.ended(shortErr, false)
		return
	}
	v.text = string(body)
	full := proto.CloneOf(req)
	full.Conversation = d.native(string(body), true)
	long, longErr := c.Compress(ctx, full)
	if status.Code(shortErr) != status.Code(longErr) || shortErr == nil && !(same(short.GetConversation(), long.GetConversation()) && proto.Equal(short.GetReport(), long.GetReport())) {
		v.complain("as a delta %v, in full %v", shortErr, longErr)
	}
	if v.ended(shortErr, false) {
		v.compressed(d, full, long)
	}
}
