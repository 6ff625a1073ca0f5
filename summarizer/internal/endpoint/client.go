package endpoint

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Defaults of [Settings].
const (
	// DefaultMaxResponseBytes is fifty times the largest summary.
	DefaultMaxResponseBytes = 8 << 20
	// DefaultHeaderTimeout is long: a model on a CPU reads a large prompt for minutes
	// before its server says anything. It ends calls that have no deadline of their own.
	DefaultHeaderTimeout = 5 * time.Minute
)

// Settings are the limits of an HTTP backend. The zero value stands for the
// defaults.
type Settings struct {
	// HTTPClient sends the requests. nil: a client of its own, with the proxy of the
	// environment. Redirects are followed in no case: a prompt goes to no other place
	// than the configured one.
	HTTPClient *http.Client
	// MaxResponseBytes bounds a whole answer, and the text of a streamed one. Default
	// [DefaultMaxResponseBytes].
	MaxResponseBytes int64
	// HeaderTimeout is how long a server may take to begin its answer. It applies to
	// the client of its own only. Default [DefaultHeaderTimeout].
	HeaderTimeout time.Duration
}

// Client sends requests.
type Client struct {
	// HTTP is what to hand to the SDK.
	HTTP *http.Client
	// MaxBytes bounds an answer.
	MaxBytes int64
	owned    bool
}

// NewClient returns the client for the settings.
func NewClient(settings Settings) *Client {
	client := &Client{HTTP: &http.Client{}, MaxBytes: settings.MaxResponseBytes}
	if client.MaxBytes <= 0 {
		client.MaxBytes = DefaultMaxResponseBytes
	}
	if settings.HTTPClient != nil {
		*client.HTTP = *settings.HTTPClient
	} else {
		headerTimeout := settings.HeaderTimeout
		if headerTimeout <= 0 {
			headerTimeout = DefaultHeaderTimeout
		}
		client.owned = true
		client.HTTP.Transport = &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			ForceAttemptHTTP2:      true,
			TLSHandshakeTimeout:    10 * time.Second,
			ResponseHeaderTimeout:  headerTimeout,
			MaxResponseHeaderBytes: 1 << 20,
			MaxIdleConnsPerHost:    16,
			IdleConnTimeout:        90 * time.Second,
		}
	}
	// net/http drops an Authorization header that would cross to another host, but not the prompt.
	client.HTTP.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client
}

// Close closes the idle connections of a client of its own.
func (c *Client) Close() {
	if c.owned {
		c.HTTP.CloseIdleConnections()
	}
}

// CheckBaseURL reports what is wrong with a base URL. The URL itself is not in
// the error: it may hold a password.
func CheckBaseURL(base string) error {
	parsed, err := url.Parse(base)
	switch {
	case err != nil:
		return errors.New("the base URL cannot be parsed")
	case parsed.Scheme != "http" && parsed.Scheme != "https":
		return fmt.Errorf("the base URL has the scheme %q; http and https are possible", parsed.Scheme)
	case parsed.Host == "":
		return errors.New("the base URL names no host")
	case parsed.User != nil:
		return errors.New("the base URL holds a user or password; the key has an option of its own")
	case parsed.RawQuery != "" || parsed.Fragment != "":
		return errors.New("the base URL has a query or a fragment, which calls would lose")
	}
	return nil
}
