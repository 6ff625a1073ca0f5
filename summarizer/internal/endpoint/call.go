package endpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"go.opentelemetry.io/otel/propagation"

	"github.com/elbowroom/elbowroom/summarizer"
)

const (
	// maxErrorBytes is how much of an error's body is read.
	maxErrorBytes = 64 << 10
	// streamOverhead is how many bytes on the wire one byte of text may cost: each
	// piece of a stream comes in a JSON envelope of some 200 bytes.
	streamOverhead = 64
)

// Call is one HTTP call, seen from under the SDK. It lets pass what its protocol
// promises, within bounds, and turns everything else into a
// [*summarizer.BackendError].
type Call struct {
	// Stream is set when an event stream was asked for.
	Stream bool
	// MaxBytes bounds a whole answer.
	MaxBytes int64
	// Whole is the answer of a server that was asked for a stream and sent one JSON
	// document instead. The call then fails with [ErrWhole].
	Whole []byte
}

// ErrWhole is the error of a streaming call whose answer is in [Call.Whole].
var ErrWhole = errors.New("the server answered with one document instead of a stream")

// Middleware sends the request, as both SDKs' middleware.
func (c *Call) Middleware(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	// The trace goes on in the model's server. Nothing else of the context does.
	propagation.TraceContext{}.Inject(req.Context(), propagation.HeaderCarrier(req.Header))
	resp, err := next(req)
	if err != nil {
		return nil, transportError(req.Context(), err)
	}
	body := &boundedBody{ctx: req.Context(), body: resp.Body, left: c.MaxBytes}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		defer func() { _ = resp.Body.Close() }()
		body.left = maxErrorBytes
		// What cannot be read of an error does not change what it is.
		text, _ := io.ReadAll(body)
		return nil, statusError(resp.StatusCode, resp.Header, text)
	}
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	isJSON := media == "application/json" || strings.HasSuffix(media, "+json")
	switch {
	case c.Stream && media == "text/event-stream":
		body.left = c.MaxBytes * streamOverhead
		resp.Body = body
		return resp, nil
	case c.Stream && isJSON:
		defer func() { _ = resp.Body.Close() }()
		text, err := io.ReadAll(body)
		if err != nil {
			return nil, err
		}
		c.Whole = text
		return nil, ErrWhole
	case !c.Stream && isJSON:
		resp.Body = body
		return resp, nil
	}
	_ = resp.Body.Close()
	return nil, &summarizer.BackendError{
		Failure: summarizer.FailureBadResponse, Status: resp.StatusCode,
		Err: errors.New("the answer is of another content type than the protocol's"),
	}
}

// boundedBody is a response body that ends in an error after left bytes.
type boundedBody struct {
	ctx  context.Context // The call's, whose body this is.
	body io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.body.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		b.left = 0
		return 0, TooLarge()
	}
	if err != nil && err != io.EOF {
		return n, transportError(b.ctx, err)
	}
	return n, err
}

func (b *boundedBody) Close() error { return b.body.Close() }

// TooLarge is the error of an answer that is larger than allowed.
func TooLarge() *summarizer.BackendError {
	return &summarizer.BackendError{Failure: summarizer.FailureBadResponse, Err: errors.New("the answer is larger than allowed")}
}

// Malformed is the error of an answer that is not what the protocol promises.
func Malformed(what string) *summarizer.BackendError {
	return &summarizer.BackendError{Failure: summarizer.FailureBadResponse, Err: errors.New(what)}
}

// BrokenOff is the error of a stream that ended before its answer did.
func BrokenOff() *summarizer.BackendError {
	return &summarizer.BackendError{Failure: summarizer.FailureNetwork, Err: errors.New("the stream ended before the answer did")}
}

// transportError makes the error of a request that got no answer or only a part.
func transportError(ctx context.Context, err error) error {
	if ended := contextError(ctx); ended != nil {
		return ended
	}
	// url.Error puts the URL into its text.
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return &summarizer.BackendError{Failure: summarizer.FailureTimeout, Err: err}
	}
	return &summarizer.BackendError{Failure: summarizer.FailureNetwork, Err: err}
}

// contextError is how a call ends whose context has ended, nil while it has not.
func contextError(ctx context.Context) error {
	err := ctx.Err()
	if errors.Is(err, context.DeadlineExceeded) {
		return &summarizer.BackendError{Failure: summarizer.FailureTimeout, Err: err}
	}
	return err
}

// Explain makes the error that a backend returns from the one its SDK did.
func Explain(ctx context.Context, err error) error {
	if ended := contextError(ctx); ended != nil {
		return ended
	}
	var failed *summarizer.BackendError
	if errors.As(err, &failed) {
		return failed
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &summarizer.BackendError{Failure: summarizer.FailureTimeout, Err: context.DeadlineExceeded}
	}
	// The rest are the SDK's decoders. What they quote is the server's, so only the type is told.
	return Malformed(fmt.Sprintf("the answer cannot be decoded (%T)", err))
}
