package elbowroom

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// baseMisses is after how many deltas in a row whose base the server did not hold
// the conversation is sent in full from then on: other replicas answer, or the
// server holds none.
const baseMisses = 3

// Conversation prepares the requests of one agent loop, turn by turn. The loop keeps
// its list of messages as it does without the service, or keeps what it gets back;
// both work. What was compressed stays compressed, and the prefix stays the same byte
// for byte until the next compression. Only what is new is sent to the service.
//
// It is safe for concurrent use, but one conversation has one turn at a time.
type Conversation struct {
	client   *Client
	request  *elbowroomv1.PrepareRequest
	failOpen bool

	mu sync.Mutex
	// format is told from the first body, unless it is named.
	format elbowroomv1.Format
	memory
	// held is the last body that the server was asked to hold, nil without one.
	held   []byte
	misses int
	// aside is set when the last body is not the one remembered.
	aside bool

	last                     Turn
	bytesSent, bytesReceived int64
}

// memory is what a conversation carries from turn to turn.
type memory struct {
	// given is the last body as the caller gave it, sent as the caller got it back.
	given, sent layout
	// What the service and the provider said of the last turn.
	compressionState, cacheState []byte
	usage                        *elbowroomv1.Usage
}

// Turn is what became of one call of [Conversation.BeforeRequest].
type Turn struct {
	// Outcome is what the service did, unspecified where it did not answer.
	Outcome elbowroomv1.Outcome
	// Report says it in detail.
	Report *elbowroomv1.CompressionReport
	// Breakpoints are those that the body carries.
	Breakpoints []*elbowroomv1.Breakpoint
	// Err is why the service did not answer, also where the turn failed open.
	Err error
	// Continued says that the earlier turn's result stands for its messages.
	Continued bool
	// Delta says that only what is new was sent to the service.
	Delta bool
}

// ConversationOption is a setting of [Client.NewConversation].
type ConversationOption func(*Conversation)

// WithFailOpen lets BeforeRequest return a body that can be sent where the service
// gives none: the history as it was compressed last with the new messages, or the
// caller's own body. [Turn] holds the error. Default: the error is returned.
func WithFailOpen() ConversationOption {
	return func(c *Conversation) { c.failOpen = true }
}

// WithConversationFormat names the format of the bodies. Default: told from the first.
func WithConversationFormat(format elbowroomv1.Format) ConversationOption {
	return func(c *Conversation) { c.format = format }
}

// NewConversation begins a conversation. The request holds what is the same in every
// turn: model, strategy, ttl, policy, context window and so on; nil asks for the
// defaults. Without a session id it gets a random one.
func (c *Client) NewConversation(request *elbowroomv1.PrepareRequest, options ...ConversationOption) *Conversation {
	out := &Conversation{client: c, request: copied(request)}
	out.request.View = elbowroomv1.View_VIEW_SPLICES
	if out.request.GetSessionId() == "" {
		out.request.SessionId = rand.Text()
	}
	out.compressionState, out.cacheState = out.request.GetCompressionState(), out.request.GetCacheState()
	for _, option := range options {
		option(out)
	}
	return out
}

// BeforeRequest returns the body to send to the provider: compressed where it is
// time for it, and with cache breakpoints. The body is a request body or a list of
// messages, see [JSON]: all messages so far, as the caller has always had them, or
// those it got back the last time, and the new ones. Any other list begins anew.
// The system prompt, tools and everything else are taken from the body, but a system
// prompt that the service has extended stays so while the caller's stays the same.
func (c *Conversation) BeforeRequest(ctx context.Context, body any, options ...CallOption) (json.RawMessage, error) {
	text, err := JSON(body)
	if err != nil {
		return nil, err
	}
	text = bytes.Clone(text) // it is compared with the next one, and the caller may change it
	c.mu.Lock()
	defer c.mu.Unlock()
	given, readable := takeApart(text)
	request, continued := given.text, false
	if readable {
		request, continued = c.continued(&given)
	}
	before := c.memory
	if !continued {
		c.forget()
	}
	resp, delta, err := c.prepare(ctx, request, options)
	c.last = Turn{
		Outcome: resp.GetOutcome(), Report: resp.GetReport(), Breakpoints: resp.GetBreakpoints(),
		Err: err, Continued: continued, Delta: delta,
	}
	if err == nil {
		var result json.RawMessage
		if result, err = spliced(request, resp.GetSplices()); err == nil {
			c.compressionState, c.cacheState = resp.GetCompressionState(), resp.GetCacheState()
			c.held, c.aside = result, false
			c.remember(given, result)
			return bytes.Clone(result), nil
		}
		c.last.Err = err
	}
	c.memory = before // another body may have been a side question
	if !c.failOpen || ctx.Err() != nil {
		return nil, err
	}
	if c.aside = !continued; c.aside {
		return bytes.Clone(given.text), nil
	}
	if carriesMarks(&given, len(c.given.messages)) {
		// Together with those of the last turn they may be too many.
		request = given.text
	}
	c.remember(given, request)
	return bytes.Clone(request), nil
}

// AfterResponse takes the usage that the provider reported for the body of the last
// BeforeRequest, as it came: the SDK's object, a map, JSON, or a whole response. It
// decides in the next turn whether it is time to compress, in place of an own count. A
// usage without a prompt, as streams report it, is passed over. The error is one of
// JSON that cannot be read.
func (c *Conversation) AfterResponse(usage any) error {
	u, err := usageOf(usage)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if u == nil || c.aside {
		return nil
	}
	u.MessageCount = int32(len(c.sent.messages)) //nolint:gosec // far below the limit of a request
	c.usage = u
	return nil
}

// Last is the last turn.
func (c *Conversation) Last() Turn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// SessionID names the conversation to the service.
func (c *Conversation) SessionID() string { return c.request.GetSessionId() }

// Bytes are the sizes of all messages sent to the service and received from it so
// far, without what retries of gRPC and the transport add.
func (c *Conversation) Bytes() (sent, received int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytesSent, c.bytesReceived
}

// prepare makes the call, with a delta where that is smaller, and in full where the
// server does not hold its base.
func (c *Conversation) prepare(ctx context.Context, body []byte, options []CallOption) (*elbowroomv1.PrepareResponse, bool, error) {
	call := c.client.newCall(options)
	if call.format != elbowroomv1.Format_FORMAT_UNSPECIFIED {
		c.format = call.format
	}
	full, err := native(body, true, c.format)
	if err != nil {
		return nil, false, err
	}
	c.format = full.GetNative().GetFormat()
	full.GetNative().Keep = true
	req := copied(c.request)
	req.CompressionState, req.CacheState, req.LastUsage = c.compressionState, c.cacheState, c.usage
	ctx, cancel := call.context(ctx)
	defer cancel()
	send := func(conversation *elbowroomv1.Conversation) (*elbowroomv1.PrepareResponse, error) {
		req.Conversation = conversation
		resp, err := c.client.stub.Prepare(ctx, req, call.grpc...)
		c.bytesSent += int64(proto.Size(req))
		c.bytesReceived += int64(proto.Size(resp))
		return resp, typed(err)
	}
	if c.held != nil && c.misses < baseMisses {
		if delta := deltaOf(c.held, body); delta != nil {
			resp, err := send(&elbowroomv1.Conversation{Native: &elbowroomv1.NativeRequest{
				Format: c.format, Body: &elbowroomv1.NativeRequest_Delta{Delta: delta}, Keep: true,
			}})
			var refused *RefusedError
			if !errors.As(err, &refused) || refused.Reason != "BASE_UNKNOWN" {
				c.misses = 0
				return resp, true, err
			}
			c.misses++
		}
	}
	resp, err := send(full)
	return resp, false, err
}

// continued puts what was sent last in the place of the messages it stands for. It
// reports false where the list does not begin as the last one did.
func (c *Conversation) continued(given *layout) ([]byte, bool) {
	n := 0
	switch {
	case given.startsWith(&c.given):
		n = len(c.given.messages)
	case given.startsWith(&c.sent):
		n = len(c.sent.messages)
	}
	if n == 0 || len(c.sent.messages) == 0 {
		return given.text, false
	}
	type patch struct {
		at   span
		text []byte
	}
	patches := []patch{{given.run(n), c.sent.of(c.sent.run(len(c.sent.messages)))}}
	system := given.of(given.system)
	if len(system) > 0 && c.sent.system.end > 0 && bytes.Equal(system, c.given.of(c.given.system)) {
		patches = append(patches, patch{given.system, c.sent.of(c.sent.system)})
	}
	slices.SortFunc(patches, func(a, b patch) int { return a.at.start - b.at.start })
	var out []byte
	at := 0
	for _, p := range patches {
		out = append(append(out, given.text[at:p.at.start]...), p.text...)
		at = p.at.end
	}
	return append(out, given.text[at:]...), true
}

// remember keeps a turn for the next one.
func (c *Conversation) remember(given layout, sent []byte) {
	c.usage = nil // it was of the turn before
	c.given = given
	var ok bool
	if c.sent, ok = takeApart(sent); !ok {
		c.given, c.sent = layout{}, layout{}
	}
}

// forget begins anew.
func (c *Conversation) forget() {
	if len(c.given.messages) > 0 {
		c.compressionState, c.cacheState = nil, nil
	}
	c.usage, c.given, c.sent = nil, layout{}, layout{}
}

// carriesMarks reports whether messages from the nth on, or what stands beside the
// messages, may carry breakpoints.
func carriesMarks(l *layout, n int) bool {
	if n >= len(l.messages) {
		return false
	}
	beside := l.text[:l.messages[0].start]
	return bytes.Contains(beside, []byte(`"cache_control"`)) || bytes.Contains(l.text[l.messages[n].start:], []byte(`"cache_control"`))
}
