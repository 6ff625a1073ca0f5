package provider_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elbowroom/elbowroom/tokens"
	"github.com/elbowroom/elbowroom/tokens/provider"
	"github.com/elbowroom/elbowroom/tokens/provider/anthropic"
	"github.com/elbowroom/elbowroom/tokens/provider/gemini"
	"github.com/elbowroom/elbowroom/tokens/provider/openai"
)

// testKey is the key of every double. No message may hold it.
const testKey = "sk-test-0123456789"

// api describes one provider's wire.
type api struct {
	name  string // of the provider
	model string
	path  string
	// header must be there with that value; version is a header that must be there with any.
	header, value, version string
	// required and allowed are the members of the body, or of the object under inside.
	inside            string
	required, allowed []string
	// answer is the body that says 42.
	answer string
	new    func(t *testing.T, address string, client *http.Client) provider.Backend
}

// apis are the three wires.
func apis() []api {
	return []api{
		{
			name: "anthropic", model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0", path: "/v1/messages/count_tokens",
			header: "Authorization", value: "Bearer " + testKey, version: "Anthropic-Version",
			required: []string{"model", "messages"}, allowed: []string{"system", "tools", "tool_choice", "thinking", "output_config"},
			answer: `{"input_tokens": 42}`,
			new: func(_ *testing.T, address string, client *http.Client) provider.Backend {
				return anthropic.New(anthropic.Options{Key: testKey, BaseURL: address, HTTP: client})
			},
		},
		{
			name: "openai", model: "openai/gpt-4o", path: "/v1/responses/input_tokens",
			header: "Authorization", value: "Bearer " + testKey,
			required: []string{"model", "input"}, allowed: []string{"tools", "tool_choice", "text"},
			answer: `{"object": "response.input_tokens", "input_tokens": 42}`,
			new: func(_ *testing.T, address string, client *http.Client) provider.Backend {
				return openai.New(openai.Options{Key: testKey, BaseURL: address + "/v1", HTTP: client})
			},
		},
		{
			name: "google", model: "google/gemini-2.5-pro", path: "/v1beta/models/gemini-2.5-pro:countTokens",
			header: "X-Goog-Api-Key", value: testKey,
			inside: "generateContentRequest", required: []string{"model", "contents"}, allowed: []string{"systemInstruction", "tools"},
			answer: `{"totalTokens": 42, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 42}]}`,
			new: func(t *testing.T, address string, client *http.Client) provider.Backend {
				b, err := gemini.New(t.Context(), gemini.Options{Key: testKey, BaseURL: address, HTTP: client})
				if err != nil {
					t.Fatal(err)
				}
				return b
			},
		},
	}
}

// double stands in for a provider on the loopback interface and finds fault with every request that is not as it must be.
type double struct {
	api     api
	address string
	// leave lets go of handlers that hang.
	leave chan struct{}

	mu     sync.Mutex
	bodies [][]byte
	faults []string
}

// newDouble starts a double that answers with respond, or with 42 when respond is nil.
func newDouble(t *testing.T, a api, respond http.HandlerFunc) *double {
	t.Helper()
	d := &double{api: a, leave: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			d.fault("read the request: " + err.Error())
		}
		d.check(r, body)
		d.mu.Lock()
		d.bodies = append(d.bodies, body)
		d.mu.Unlock()
		if respond == nil {
			answer(http.StatusOK, a.answer)(w, r)
			return
		}
		respond(w, r)
	}))
	d.address = server.URL
	t.Cleanup(func() {
		close(d.leave)
		server.CloseClientConnections()
		server.Close()
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, fault := range d.faults {
			t.Errorf("%s: %s", a.name, fault)
		}
	})
	return d
}

// answer responds with a status and a JSON body.
func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func (d *double) fault(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = append(d.faults, text)
}

// check is as strict as the provider, and more.
func (d *double) check(r *http.Request, body []byte) {
	a := d.api
	if r.Method != http.MethodPost || r.URL.Path != a.path || r.URL.RawQuery != "" {
		d.fault("request is " + r.Method + " " + r.URL.String())
	}
	if got := r.Header.Get(a.header); got != a.value {
		d.fault(a.header + " is " + got)
	}
	if a.version != "" && r.Header.Get(a.version) == "" {
		d.fault("no " + a.version)
	}
	if got := r.Header.Get("Content-Type"); got != "application/json" {
		d.fault("content type " + got)
	}
	for _, name := range []string{"Cookie", "Openai-Organization", "Openai-Project", "Anthropic-Beta"} {
		if r.Header.Get(name) != "" {
			d.fault("header " + name)
		}
	}
	if bytes.Contains(body, []byte(testKey)) || strings.Contains(r.URL.String(), testKey) {
		d.fault("the key stands outside the headers")
	}
	object := members(body)
	if a.inside != "" {
		if len(object) != 1 {
			d.fault("the body has more than " + a.inside)
		}
		object = members(object[a.inside])
	}
	for _, name := range a.required {
		if object[name] == nil {
			d.fault("the body has no " + name)
		}
	}
	for name := range object {
		if !slices.Contains(a.required, name) && !slices.Contains(a.allowed, name) {
			d.fault("the body has " + name)
		}
	}
}

func members(object []byte) map[string]json.RawMessage {
	var out map[string]json.RawMessage
	_ = json.Unmarshal(object, &out) // nil when it is none; the caller misses members then
	return out
}

// requests returns the bodies so far.
func (d *double) requests() [][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.bodies)
}

// counter returns a counter that asks the double.
func (d *double) counter(t *testing.T, timeout time.Duration) *provider.Counter {
	t.Helper()
	client := provider.NewHTTPClient(nil)
	t.Cleanup(client.CloseIdleConnections)
	c, err := provider.New(provider.Options{Backends: []provider.Backend{d.api.new(t, d.address, client)}, Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func lookup(t *testing.T, name string) tokens.Model {
	t.Helper()
	registry, err := tokens.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	return registry.Lookup(name)
}
