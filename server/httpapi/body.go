package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"
)

// paceBytes is the piece of a body that has [Options.Pace] to come or go. A peer that
// stops reading or writing must not hold a request for ever, and a slow one may take
// its time.
const paceBytes = 256 << 10

// firstBuffer is how much room a body gets before any of it has come, whatever its
// Content-Length promises.
const firstBuffer = 64 << 10

// body is a request's body in memory. Close gives its bytes back to the budget.
type body struct {
	data []byte
	held *budget
	n    int64
}

func (b *body) Close() { b.held.give(b.n) }

// readBody reads the body of a request, and decompresses it where the request has a
// Content-Encoding. The body has to be closed, also when it is refused.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, inflate bool) (*body, *refusal) {
	b := &body{held: &s.held}
	if r.ContentLength > int64(s.limit) {
		return b, tooLarge(s.limit)
	}
	control := http.NewResponseController(w)
	src := io.Reader(&pacedReader{src: r.Body, control: control, timeout: s.pace, end: time.Now().Add(s.receive), ended: s.ended})
	arrived := endReading(s.ended, control)
	defer arrived()
	if inflate {
		switch encoding := strings.ToLower(r.Header.Get("Content-Encoding")); encoding {
		case "", "identity":
		case "gzip":
			// Both sides of the decompression are bounded.
			unzipped, err := gzip.NewReader(io.LimitReader(src, int64(s.limit)+1))
			if err != nil {
				return b, unreadable(err)
			}
			src = unzipped
		default:
			return b, refuse(codes.Unimplemented, http.StatusUnsupportedMediaType, "Content-Encoding %q is not taken: use gzip or none", clip(encoding))
		}
	}
	var buf bytes.Buffer
	buf.Grow(int(min(max(r.ContentLength, 512), firstBuffer)))
	for {
		n, err := io.CopyN(&buf, src, int64(min(paceBytes, s.limit+1-buf.Len())))
		b.n += n
		switch {
		case !s.held.take(n):
			return b, overloaded(s.held.limit.Load())
		case buf.Len() > s.limit:
			return b, tooLarge(s.limit)
		case errors.Is(err, io.EOF):
			// Else it would end the call itself. A body that is refused keeps it: what
			// is left of it is read once more before the connection is used again.
			arrived()
			_ = control.SetReadDeadline(time.Time{})
			b.data = buf.Bytes()
			return b, nil
		case err != nil && s.ended.Err() != nil:
			return b, shuttingDown()
		case err != nil:
			return b, unreadable(err)
		}
	}
}

func tooLarge(limit int) *refusal {
	return refuse(codes.ResourceExhausted, http.StatusRequestEntityTooLarge, "the body is larger than %d bytes (limits.max_message_bytes)", limit)
}

func overloaded(limit int64) *refusal {
	out := refuse(codes.ResourceExhausted, 0, "the requests being received hold more than %d bytes together (limits.max_in_flight_bytes)", limit)
	out.status = withDetails(out.status, &errdetails.RetryInfo{RetryDelay: durationpb.New(time.Second)})
	return out
}

func shuttingDown() *refusal {
	out := refuse(codes.Unavailable, 0, "the server is shutting down")
	out.status = withDetails(out.status, &errdetails.RetryInfo{RetryDelay: durationpb.New(time.Second)})
	return out
}

func unreadable(err error) *refusal {
	return refuse(codes.InvalidArgument, 0, "the body cannot be read: %s", clip(err.Error()))
}

// pacedReader gives every piece of a body the same time to arrive, and all of them an
// end.
type pacedReader struct {
	src     io.Reader
	control *http.ResponseController
	timeout time.Duration
	end     time.Time
	ended   context.Context //nolint:containedctx // the server's
	left    int             // bytes of the piece that are to come
}

// endReading breaks the reading of a body off when ended does. The body's reader calls
// what it returns when it is done, after which nobody sets the deadline any more.
func endReading(ended context.Context, control *http.ResponseController) (done func()) {
	over := make(chan struct{})
	stop := context.AfterFunc(ended, func() {
		defer close(over)
		_ = control.SetReadDeadline(time.Unix(1, 0)) // it fails on a closed connection only
	})
	return sync.OnceFunc(func() {
		if !stop() {
			<-over
		}
	})
}

func (p *pacedReader) Read(into []byte) (int, error) {
	if p.left <= 0 {
		p.left = paceBytes
		by := time.Now().Add(p.timeout)
		if p.end.Before(by) {
			by = p.end
		}
		if err := p.control.SetReadDeadline(by); err != nil {
			return 0, err
		}
		if err := p.ended.Err(); err != nil { // and its deadline was the one before
			return 0, err
		}
	}
	n, err := p.src.Read(into)
	p.left -= n
	return n, err
}

// pacedWriter gives every piece of a response the same time to be taken. The deadline
// of a connection stays from one response to the next, so whatever writes sets it.
type pacedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
}

// newPacedWriter gives the peer its time from now on, to send the body and to take
// what net/http writes of its own accord.
func newPacedWriter(w http.ResponseWriter, timeout time.Duration) *pacedWriter {
	p := &pacedWriter{ResponseWriter: w, control: http.NewResponseController(w), timeout: timeout}
	_ = p.control.SetReadDeadline(time.Now().Add(timeout))
	p.extend()
	return p
}

// extend gives the next piece its time. It fails on a closed connection only, which
// the write then reports.
func (p *pacedWriter) extend() { _ = p.control.SetWriteDeadline(time.Now().Add(p.timeout)) }

func (p *pacedWriter) WriteHeader(code int) {
	p.extend()
	p.ResponseWriter.WriteHeader(code)
}

func (p *pacedWriter) Write(data []byte) (int, error) {
	written := 0
	for {
		piece := data[written:min(len(data), written+paceBytes)]
		p.extend()
		n, err := p.ResponseWriter.Write(piece)
		written += n
		if err != nil || written == len(data) {
			return written, err
		}
	}
}

// Flush implements [http.Flusher], which the protocols with several messages need.
func (p *pacedWriter) Flush() {
	p.extend()
	_ = p.control.Flush()
}

// Unwrap leads [http.ResponseController] to the connection.
func (p *pacedWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }
