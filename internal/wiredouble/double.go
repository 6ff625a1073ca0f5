package wiredouble

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// maxRequestBytes is far above any prompt.
const maxRequestBytes = 64 << 20

// Request is one request as the double understood it.
type Request struct {
	// Header holds the request's headers, of a plug-in's call its metadata.
	Header http.Header
	// Body is what came over the wire; nil for a plug-in's call.
	Body []byte
	// Model is the model asked for, "" for a plug-in's call.
	Model string
	// System and User are the prompt.
	System, User string
	// MaxTokens is the length limit, LimitField the field it was in.
	MaxTokens  int
	LimitField string
	// Stream is set when a stream was asked for.
	Stream bool
	// Usage is set when a stream was asked to tell its usage in OpenAI's way.
	Usage bool
}

// Double is a running double.
type Double struct {
	// URL is the base URL for the backend's options, of a plug-in its target.
	URL string
	// Key is the key that requests must carry. Set it to "" before the first request
	// to demand that there be none.
	Key string

	tb    testing.TB
	stop  chan struct{}
	mutex sync.Mutex
	// steps are what is left of the script, the last of which stays.
	steps    []Step
	requests []Request
	active   int
}

func newDouble(tb testing.TB, steps []Step) *Double {
	tb.Helper()
	if len(steps) == 0 {
		tb.Fatal("wiredouble: a script needs a step")
	}
	return &Double{Key: "key-of-the-double", tb: tb, stop: make(chan struct{}), steps: steps}
}

// Requests are the requests so far, in order of arrival.
func (d *Double) Requests() []Request {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return append([]Request(nil), d.requests...)
}

// Active is the number of requests being answered.
func (d *Double) Active() int {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.active
}

// Script replaces what is left of the script.
func (d *Double) Script(steps ...Step) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.steps = steps
}

// begin records the request and says what to do with it. The caller calls end.
func (d *Double) begin(request Request) Step {
	d.mutex.Lock()
	d.requests = append(d.requests, request)
	d.active++
	step := d.steps[0]
	if len(d.steps) > 1 {
		d.steps = d.steps[1:]
	}
	d.mutex.Unlock()
	if step.kind == computed {
		header, gate := step.header, step.gate
		step = step.from(request)
		if step.header == nil {
			step.header = header
		}
		if step.gate == nil {
			step.gate = gate
		}
	}
	return step
}

func (d *Double) end() {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.active--
}

// wire is one provider's way to write things.
type wire interface {
	// path is the one path served.
	path() string
	// key is the key the request carries, and whether it does so in the right way.
	key(header http.Header) (string, bool)
	// parse reads a request and lists what is wrong with it.
	parse(header http.Header, body []byte) (Request, []string)
	// whole is the answer as one document, events the same as the events of a stream.
	whole(a answer) string
	events(a answer, request Request) []string
	// piece is one event of text; opening and closing stand around the text in the
	// whole document.
	piece(text string) string
	around() (opening, closing string)
	// ping is a keep-alive of a stream.
	ping() string
	// errorBody is the usual body of an error, errorEvent that of an overloaded
	// server in the middle of a stream.
	errorBody(status int) string
	errorEvent() string
	// tooLong is the error of a prompt that does not fit.
	tooLong() (status int, body string)
}

// OpenAI starts a double of Chat Completions. Its URL ends in "/v1".
func OpenAI(tb testing.TB, steps ...Step) *Double {
	tb.Helper()
	d := serve(tb, openAI{}, steps)
	d.URL += "/v1"
	return d
}

// Anthropic starts a double of the Messages API.
func Anthropic(tb testing.TB, steps ...Step) *Double {
	tb.Helper()
	return serve(tb, anthropic{}, steps)
}

func serve(tb testing.TB, speaks wire, steps []Step) *Double {
	tb.Helper()
	d := newDouble(tb, steps)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBytes))
		if err != nil {
			return // The caller went away while sending.
		}
		request, problems := speaks.parse(r.Header, body)
		request.Header, request.Body = r.Header.Clone(), body
		problems = append(problems, d.check(r, speaks)...)
		if len(problems) > 0 {
			d.tb.Errorf("wiredouble: the request is not what the wire wants: %s", strings.Join(problems, "; "))
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, speaks.errorBody(http.StatusBadRequest))
			return
		}
		step := d.begin(request)
		defer d.end()
		(&player{double: d, wire: speaks, w: w, r: r, request: request}).play(step)
	}))
	d.URL = server.URL
	tb.Cleanup(func() {
		close(d.stop)
		server.CloseClientConnections()
		server.Close()
	})
	return d
}

// check lists what is wrong with a request besides its body.
func (d *Double) check(r *http.Request, speaks wire) []string {
	var problems []string
	if r.Method != http.MethodPost {
		problems = append(problems, "method "+r.Method)
	}
	if r.URL.Path != speaks.path() || r.URL.RawQuery != "" {
		problems = append(problems, "path "+r.URL.RequestURI())
	}
	if got := r.Header.Get("Content-Type"); got != "application/json" {
		problems = append(problems, "content type "+got)
	}
	if got, ok := speaks.key(r.Header); !ok || got != d.Key {
		problems = append(problems, "the key is missing, another one, or in the wrong header")
	}
	return problems
}
