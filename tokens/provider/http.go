package provider

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// MaxResponseBytes bounds an answer. A count is some 50 bytes.
const MaxResponseBytes = 64 << 10

// NewHTTPClient returns the client that backends use. It follows no redirect, because that would hand the conversation to
// a host nobody configured; it reads at most [MaxResponseBytes]; and it hides the text of error answers from the SDKs. A
// nil transport is a new one like [http.DefaultTransport], proxies from the environment included.
func NewHTTPClient(transport http.RoundTripper) *http.Client {
	if transport == nil {
		own := &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: DefaultConcurrency,
			IdleConnTimeout:     90 * time.Second,
			TLSHandshakeTimeout: 10 * time.Second,
			// Error answers of proxies can carry long headers; 64 KiB is far more than any provider sends.
			MaxResponseHeaderBytes: 64 << 10,
		}
		transport = own
	}
	return &http.Client{
		Transport:     &watched{next: transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// exchange is what happened on the wire in one call, whatever the SDK makes of it.
type exchange struct {
	mu         sync.Mutex
	status     int // of the answer, 0 when there was none
	retryAfter time.Duration
	sort       exchangeSort
}

// exchangeSort is what was wrong with an exchange.
type exchangeSort int

const (
	exchangeFine     exchangeSort = iota
	exchangeBroken                // no connection, or it broke off
	exchangeTooLarge              // more than MaxResponseBytes
	exchangeNotJSON               // another content type
)

func (x *exchange) outcome() (status int, retryAfter time.Duration, sort exchangeSort) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.status, x.retryAfter, x.sort
}

func (x *exchange) set(change func(x *exchange)) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	change(x)
}

type exchangeKey struct{}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// watched is a transport that notes the exchange in the request's context.
type watched struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (w *watched) RoundTrip(req *http.Request) (*http.Response, error) {
	x, _ := req.Context().Value(exchangeKey{}).(*exchange)
	resp, err := w.next.RoundTrip(req)
	if err != nil {
		x.set(func(x *exchange) { x.sort = exchangeBroken })
		return nil, err
	}
	x.set(func(x *exchange) {
		x.status, x.retryAfter = resp.StatusCode, retryAfter(resp.Header.Get("Retry-After"))
		if !isJSON(resp.Header.Get("Content-Type")) {
			x.sort = exchangeNotJSON
		}
	})
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		_ = resp.Body.Close()
		resp.Body = io.NopCloser(strings.NewReader("{}"))
		resp.ContentLength = 2
		return resp, nil
	}
	resp.Body = &bounded{next: resp.Body, left: MaxResponseBytes, exchange: x}
	return resp, nil
}

// errTooLarge ends the reading of an answer that is too long.
var errTooLarge = errors.New("the answer is too large")

// bounded reads a body up to a limit and notes how reading ended.
type bounded struct {
	next     io.ReadCloser
	left     int
	exchange *exchange
}

// Read implements [io.Reader].
func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooLarge
	}
	n, err := b.next.Read(p[:min(len(p), b.left+1)])
	b.left -= n
	switch {
	case b.left < 0:
		b.exchange.set(func(x *exchange) { x.sort = exchangeTooLarge })
		return 0, errTooLarge
	case err != nil && err != io.EOF:
		b.exchange.set(func(x *exchange) { x.sort = exchangeBroken })
	}
	return n, err
}

// Close implements [io.Closer].
func (b *bounded) Close() error { return b.next.Close() }

func isJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}

// longestRetryAfter is the longest wait that is passed on. Longer ones are some mistake.
const longestRetryAfter = 24 * time.Hour

// retryAfter reads the seconds of a Retry-After header, 0 when it holds something else.
func retryAfter(header string) time.Duration {
	seconds, err := strconv.Atoi(strings.TrimSpace(header))
	if err != nil || seconds < 0 || seconds > int(longestRetryAfter/time.Second) {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
