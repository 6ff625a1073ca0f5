package elbowroom

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// CallOption is a setting of one call.
type CallOption func(*call)

// call is how one call is made.
type call struct {
	format  elbowroomv1.Format
	timeout time.Duration
	grpc    []grpc.CallOption
}

// WithFormat names the body's format, where the body alone does not tell it or the
// client need not look.
func WithFormat(format elbowroomv1.Format) CallOption {
	return func(c *call) { c.format = format }
}

// WithCallTimeout sets how long this call may take, in place of the client's timeout.
func WithCallTimeout(timeout time.Duration) CallOption {
	return func(c *call) { c.timeout = timeout }
}

// WithCallOptions adds options of gRPC.
func WithCallOptions(options ...grpc.CallOption) CallOption {
	return func(c *call) { c.grpc = append(c.grpc, options...) }
}

// CompressResult is a compressed conversation and what the service says of it.
type CompressResult struct {
	// Body is the caller's body with what changed.
	Body json.RawMessage
	// CompressResponse has the outcome, the report, the summary and the state to pass
	// back. Its splices are applied already.
	*elbowroomv1.CompressResponse
}

// CacheResult is a conversation with cache breakpoints.
type CacheResult struct {
	// Body is the caller's body with its breakpoints.
	Body json.RawMessage
	// ApplyCacheControlResponse has the breakpoints and the state to pass back.
	*elbowroomv1.ApplyCacheControlResponse
}

// PrepareResult is a conversation ready to send.
type PrepareResult struct {
	// Body is the caller's body, compressed where it was time for it, and marked.
	Body json.RawMessage
	// PrepareResponse has the outcome, the report, the breakpoints and the states.
	*elbowroomv1.PrepareResponse
}

// Compress returns the conversation, shorter where it is time for it. The body is a
// request body or a list of messages, see [JSON]. Everything but the conversation is
// taken from req, which is not changed; nil asks for the defaults. The view is
// VIEW_SPLICES unless req asks for VIEW_EDITS.
func (c *Client) Compress(ctx context.Context, body any, req *elbowroomv1.CompressRequest, options ...CallOption) (*CompressResult, error) {
	text, conversation, call, err := c.begin(body, options)
	if err != nil {
		return nil, err
	}
	out := copied(req)
	out.Conversation, out.View = conversation, viewOf(out.GetView())
	ctx, cancel := call.context(ctx)
	defer cancel()
	resp, err := c.stub.Compress(ctx, out, call.grpc...)
	if err != nil {
		return nil, typed(err)
	}
	result, err := spliced(text, resp.GetSplices())
	return &CompressResult{result, resp}, err
}

// StreamCompress is [Client.Compress] with progress: each gets the events before the
// result, one after the other. It may be nil.
func (c *Client) StreamCompress(ctx context.Context, body any, req *elbowroomv1.CompressRequest,
	each func(*elbowroomv1.StreamCompressResponse), options ...CallOption,
) (*CompressResult, error) {
	text, conversation, call, err := c.begin(body, options)
	if err != nil {
		return nil, err
	}
	out := copied(req)
	out.Conversation, out.View = conversation, viewOf(out.GetView())
	ctx, cancel := call.context(ctx)
	defer cancel()
	stream, err := c.stub.StreamCompress(ctx, &elbowroomv1.StreamCompressRequest{Request: out}, call.grpc...)
	if err != nil {
		return nil, typed(err)
	}
	var resp *elbowroomv1.CompressResponse
	for {
		event, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, typed(err)
		}
		if resp = event.GetResult(); resp == nil && each != nil {
			each(event)
		}
	}
	if resp == nil {
		return nil, &InternalError{Err: &Error{
			Code: codes.Internal, Message: "the stream ended without a result", Advice: advice(codes.Internal, ""),
		}}
	}
	result, err := spliced(text, resp.GetSplices())
	return &CompressResult{result, resp}, err
}

// ApplyCacheControl returns the conversation with cache breakpoints in the places
// that the provider reads best. See [Client.Compress] for body and req.
func (c *Client) ApplyCacheControl(ctx context.Context, body any, req *elbowroomv1.ApplyCacheControlRequest, options ...CallOption) (*CacheResult, error) {
	text, conversation, call, err := c.begin(body, options)
	if err != nil {
		return nil, err
	}
	out := copied(req)
	out.Conversation, out.View = conversation, viewOf(out.GetView())
	ctx, cancel := call.context(ctx)
	defer cancel()
	resp, err := c.stub.ApplyCacheControl(ctx, out, call.grpc...)
	if err != nil {
		return nil, typed(err)
	}
	result, err := spliced(text, resp.GetSplices())
	return &CacheResult{result, resp}, err
}

// Prepare is [Client.Compress] and [Client.ApplyCacheControl] in one round trip, for
// every turn of an agent. [Conversation] carries its states from turn to turn.
func (c *Client) Prepare(ctx context.Context, body any, req *elbowroomv1.PrepareRequest, options ...CallOption) (*PrepareResult, error) {
	text, conversation, call, err := c.begin(body, options)
	if err != nil {
		return nil, err
	}
	out := copied(req)
	out.Conversation, out.View = conversation, viewOf(out.GetView())
	ctx, cancel := call.context(ctx)
	defer cancel()
	resp, err := c.stub.Prepare(ctx, out, call.grpc...)
	if err != nil {
		return nil, typed(err)
	}
	result, err := spliced(text, resp.GetSplices())
	return &PrepareResult{result, resp}, err
}

// CountTokens returns the size of a conversation in tokens, with bounds. See
// [Client.Compress] for body and req.
func (c *Client) CountTokens(ctx context.Context, body any, req *elbowroomv1.CountTokensRequest, options ...CallOption) (*elbowroomv1.CountTokensResponse, error) {
	_, conversation, call, err := c.begin(body, options)
	if err != nil {
		return nil, err
	}
	out := copied(req)
	out.Conversation = conversation
	return c.count(ctx, out, call)
}

// CountText returns the size of a plain text in tokens, without any framing.
func (c *Client) CountText(ctx context.Context, text, model string, options ...CallOption) (*elbowroomv1.CountTokensResponse, error) {
	return c.count(ctx, &elbowroomv1.CountTokensRequest{Text: &text, Model: model}, c.newCall(options))
}

func (c *Client) count(ctx context.Context, req *elbowroomv1.CountTokensRequest, call *call) (*elbowroomv1.CountTokensResponse, error) {
	ctx, cancel := call.context(ctx)
	defer cancel()
	resp, err := c.stub.CountTokens(ctx, req, call.grpc...)
	return resp, typed(err)
}

// SimulateCache says what a sequence of requests reads from the provider's prompt
// cache, what that costs, and why a part of it is not read. [Native] makes its
// conversations.
func (c *Client) SimulateCache(ctx context.Context, req *elbowroomv1.SimulateCacheRequest, options ...CallOption) (*elbowroomv1.SimulateCacheResponse, error) {
	call := c.newCall(options)
	ctx, cancel := call.context(ctx)
	defer cancel()
	resp, err := c.stub.SimulateCache(ctx, req, call.grpc...)
	return resp, typed(err)
}

// ListModels returns the models whose id contains the filter, all for an empty one.
func (c *Client) ListModels(ctx context.Context, filter string, options ...CallOption) (*elbowroomv1.ListModelsResponse, error) {
	call := c.newCall(options)
	ctx, cancel := call.context(ctx)
	defer cancel()
	resp, err := c.stub.ListModels(ctx, &elbowroomv1.ListModelsRequest{Filter: filter}, call.grpc...)
	return resp, typed(err)
}

func (c *Client) newCall(options []CallOption) *call {
	out := &call{timeout: c.timeout}
	for _, option := range options {
		option(out)
	}
	return out
}

// begin reads a body and the options of a call that takes one.
func (c *Client) begin(body any, options []CallOption) (json.RawMessage, *elbowroomv1.Conversation, *call, error) {
	call := c.newCall(options)
	text, err := JSON(body)
	if err != nil {
		return nil, nil, nil, err
	}
	_, isText := body.(string)
	conversation, err := native(text, isText, call.format)
	return text, conversation, call, err
}

// context bounds a call in time. A context's own earlier deadline stays.
func (c *call) context(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.timeout < 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, c.timeout)
}

// copied is a request that may be changed.
func copied[M any, P interface {
	*M
	proto.Message
}](req P) P {
	if req == nil {
		return P(new(M))
	}
	out, _ := proto.Clone(req).(P)
	return out
}

// viewOf asks for splices alone, which is all that a body is made of. Callers who read
// edits can have them beside.
func viewOf(asked elbowroomv1.View) elbowroomv1.View {
	if asked == elbowroomv1.View_VIEW_EDITS {
		return asked
	}
	return elbowroomv1.View_VIEW_SPLICES
}
