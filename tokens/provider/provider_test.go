package provider_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens"
	"github.com/elbowroom/elbowroom/tokens/provider"
)

// TestMain allows the one goroutine that a dependency of the Gemini SDK starts when it is loaded.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}

// secret is caller text. No reason may hold it.
const secret = "the harbour code is 4711"

func greeting() *conversation.Conversation {
	return &conversation.Conversation{Messages: []conversation.Message{{
		Role: conversation.RoleUser, RawRole: "user", Blocks: []conversation.Block{{Kind: conversation.KindText, Text: secret}},
	}}}
}

func TestTheProvidersNumberComesBack(t *testing.T) {
	for _, a := range apis() {
		t.Run(a.name, func(t *testing.T) {
			d := newDouble(t, a, nil)
			got, err := d.counter(t, 0).Count(t.Context(), greeting(), lookup(t, a.model))
			if diff := cmp.Diff(provider.Count{Tokens: 42}, got); err != nil || diff != "" {
				t.Errorf("Count: %v (-want +got)\n%s", err, diff)
			}
		})
	}
}

// TestFailures sends every provider's client through everything that can go wrong. The reason must be the right one, hold
// neither key nor text, and there must have been one request alone: no retries.
func TestFailures(t *testing.T) {
	echo := `{"error": {"type": "invalid", "message": "bad: ` + secret + ` with key ` + testKey + `"}}`
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect was followed to %s", r.URL)
	}))
	t.Cleanup(elsewhere.Close)
	for _, c := range []struct {
		name    string
		respond func(d **double, a api) http.HandlerFunc
		want    string // PROVIDER stands for the name
	}{
		{"401", always(answer(401, echo)), "PROVIDER refused the key (status 401)"},
		{"403", always(answer(403, echo)), "PROVIDER refused the key (status 403)"},
		{"404", always(answer(404, echo)), "PROVIDER does not know the model or the endpoint (status 404)"},
		{"400", always(answer(400, echo)), "PROVIDER refused the request (status 400)"},
		{"413", always(answer(413, echo)), "PROVIDER finds the request too large (status 413)"},
		{"429 with a wait", always(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "7")
			answer(429, echo)(w, r)
		}), "PROVIDER limits the rate (status 429), retry after 7s"},
		{"429 with a date", always(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "Mon, 30 Nov 2026 12:00:00 GMT")
			answer(429, echo)(w, r)
		}), "PROVIDER limits the rate (status 429)"},
		{"529", always(answer(529, echo)), "PROVIDER limits the rate (status 529)"},
		{"500", always(answer(500, echo)), "PROVIDER failed (status 500)"},
		{"503 without a body", always(answer(503, "")), "PROVIDER failed (status 503)"},
		{"an endless error", always(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			endless(w)
		}), "PROVIDER failed (status 500)"},
		{"a redirect", always(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}), "PROVIDER refused the request (status 307)"},
		{"no answer", func(d **double, _ api) http.HandlerFunc {
			return func(_ http.ResponseWriter, r *http.Request) { hang(*d, r) }
		}, "no answer from PROVIDER in time"},
		{"half an answer, then none", func(d **double, a api) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				answer(200, a.answer[:9])(w, r)
				_ = http.NewResponseController(w).Flush()
				hang(*d, r)
			}
		}, "no answer from PROVIDER in time"},
		{"a reset", always(func(w http.ResponseWriter, _ *http.Request) { reset(w) }), "no connection to PROVIDER, or it broke off"},
		{"a reset within the answer", func(_ **double, a api) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Length", "500")
				answer(200, a.answer[:9])(w, r)
				_ = http.NewResponseController(w).Flush()
				reset(w)
			}
		}, "no connection to PROVIDER, or it broke off"},
		{"garbage", always(answer(200, "{\"input_tokens\": \x00")), "PROVIDER answered with something that is no count"},
		{"an empty answer", always(answer(200, "")), "PROVIDER answered with something that is no count"},
		{"a list", always(answer(200, "[42]")), "PROVIDER answered with something that is no count"},
		{"no number", always(answer(200, "{}")), "PROVIDER answered with something that is no count"},
		{"a negative number", always(answer(200, `{"input_tokens": -3, "totalTokens": -3}`)), "PROVIDER answered with something that is no count"},
		{"more than any window", always(answer(200, `{"input_tokens": 9000000000, "totalTokens": 9000000000}`)), "PROVIDER answered with something that is no count"},
		{"a huge answer", func(_ **double, a api) http.HandlerFunc {
			return answer(200, a.answer[:len(a.answer)-1]+`, "padding": "`+strings.Repeat("x", provider.MaxResponseBytes)+`"}`)
		}, "PROVIDER answered with something that is no count"},
		{"an endless answer", always(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			endless(w)
		}), "PROVIDER answered with something that is no count"},
		{"another content type", func(_ **double, a api) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				_, _ = io.WriteString(w, a.answer)
			}
		}, "PROVIDER answered with something that is no count"},
	} {
		for _, a := range apis() {
			t.Run(c.name+" of "+a.name, func(t *testing.T) {
				var d *double
				d = newDouble(t, a, c.respond(&d, a))
				timeout := time.Minute
				if strings.HasPrefix(c.want, "no answer") {
					timeout = 100 * time.Millisecond
				}
				_, err := d.counter(t, timeout).Count(t.Context(), greeting(), lookup(t, a.model))
				var failure *provider.Error
				if !errors.As(err, &failure) {
					t.Fatalf("error %v is no Error", err)
				}
				if want := strings.ReplaceAll(c.want, "PROVIDER", a.name); err.Error() != want {
					t.Errorf("reason %q, want %q", err, want)
				}
				if n := len(d.requests()); n != 1 {
					t.Errorf("%d requests, want 1", n)
				}
			})
		}
	}
}

func always(h http.HandlerFunc) func(**double, api) http.HandlerFunc {
	return func(**double, api) http.HandlerFunc { return h }
}

// hang returns when the client has gone.
func hang(d *double, r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-d.leave:
	}
}

// reset breaks the connection off.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

// endless writes until nobody reads any more.
func endless(w http.ResponseWriter) {
	for {
		if _, err := io.WriteString(w, strings.Repeat(" ", 4096)); err != nil {
			return
		}
	}
}

func TestNobodyListens(t *testing.T) {
	for _, a := range apis() {
		server := httptest.NewServer(nil)
		address := server.URL
		server.Close()
		d := &double{api: a, address: address}
		_, err := d.counter(t, time.Minute).Count(t.Context(), greeting(), lookup(t, a.model))
		if want := "no connection to " + a.name + ", or it broke off"; err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %q", a.name, err, want)
		}
	}
}

func TestWhoIsNotAsked(t *testing.T) {
	anthropic := apis()[0]
	for _, c := range []struct {
		name, model, want string
		counter           func(d *double) *provider.Counter
	}{
		{"an unknown model", "harbour-7b", "no provider is known for the model", nil},
		{"a provider that is not configured", "gpt-4o", "the server is not configured to ask openai", nil},
		{"a provider without an endpoint", "deepseek-chat", "the server is not configured to ask deepseek", nil},
		{"no counter at all", "claude-sonnet-4-5", "the server is not configured to ask anthropic", func(*double) *provider.Counter { return nil }},
		{"no key", "claude-sonnet-4-5", "no key for anthropic: ANTHROPIC_API_KEY is not set", func(*double) *provider.Counter {
			n, err := provider.New(provider.Options{Backends: []provider.Backend{provider.WithoutKey("anthropic", "ANTHROPIC_API_KEY")}})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDouble(t, anthropic, nil)
			counter := d.counter(t, 0)
			if c.counter != nil {
				counter = c.counter(d)
			}
			if _, err := counter.Count(t.Context(), greeting(), lookup(t, c.model)); err == nil || err.Error() != c.want {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if n := len(d.requests()); n != 0 {
				t.Errorf("%d requests, want none", n)
			}
		})
	}
}

func TestTheCallersDeadlineLeavesTimeForTheAnswer(t *testing.T) {
	a := apis()[0]
	var d *double
	d = newDouble(t, a, func(_ http.ResponseWriter, r *http.Request) { hang(d, r) })
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err := d.counter(t, time.Hour).Count(ctx, greeting(), lookup(t, a.model))
	if err == nil || err.Error() != "no answer from anthropic in time" {
		t.Errorf("error %v", err)
	}
	if ctx.Err() != nil {
		t.Error("nothing of the caller's deadline is left")
	}
}

// waiting is a backend that waits to be let go.
type waiting struct{ started, leave chan struct{} }

func (w waiting) Provider() string { return "anthropic" }

func (w waiting) Count(context.Context, *conversation.Conversation, tokens.Model) (provider.Count, error) {
	w.started <- struct{}{}
	<-w.leave
	return provider.Count{Tokens: 1}, nil
}

func TestConcurrencyIsBounded(t *testing.T) {
	b := waiting{started: make(chan struct{}, 3), leave: make(chan struct{})}
	counter, err := provider.New(provider.Options{Backends: []provider.Backend{b}, Concurrency: 2, Timeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	model := lookup(t, "claude-sonnet-4-5")
	var running sync.WaitGroup
	for range 2 {
		running.Go(func() {
			if _, err := counter.Count(t.Context(), greeting(), model); err != nil {
				t.Error(err)
			}
		})
	}
	<-b.started
	<-b.started
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := counter.Count(ctx, greeting(), model); err == nil || err.Error() != "too many provider counts at one time" {
		t.Errorf("the third call: %v", err)
	}
	close(b.leave)
	running.Wait()
	if _, err := counter.Count(t.Context(), greeting(), model); err != nil {
		t.Errorf("after the others: %v", err)
	}
}

func TestAProviderIsConfiguredOnce(t *testing.T) {
	twice := []provider.Backend{provider.WithoutKey("openai", "A"), provider.WithoutKey("openai", "B")}
	if _, err := provider.New(provider.Options{Backends: twice}); err == nil {
		t.Error("no error")
	}
}
