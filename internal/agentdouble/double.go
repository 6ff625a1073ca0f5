package agentdouble

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/elbowroom/elbowroom/conformance"
)

// maxRequestBytes is far above any prompt.
const maxRequestBytes = 64 << 20

// Double is a model that wants to read files.
type Double struct {
	// URL is what the SDK takes as its base URL.
	URL string

	tb    testing.TB
	wire  wire
	calls int

	mutex   sync.Mutex
	judge   Judge
	bodies  [][]byte
	changes int
	// thoughts are the signatures of the reasoning that was given out, with its text.
	thoughts map[string]string
}

// wire is one provider's way to write things.
type wire interface {
	path() string
	// call asks for the nth tool call, end ends the turn. prompt is the size of the
	// request in tokens.
	call(n, prompt int) any
	end(prompt int) any
	// refusal is the body of an error.
	refusal(problem string) any
}

// Anthropic starts a double of the Messages API that asks for so many calls of the
// tool read_file, each after some signed reasoning.
func Anthropic(tb testing.TB, calls int) *Double {
	tb.Helper()
	return start(tb, anthropic{}, conformance.Anthropic, calls, "")
}

// OpenAI starts a double of Chat Completions that does the same, without reasoning.
func OpenAI(tb testing.TB, calls int) *Double {
	tb.Helper()
	return start(tb, openAI{}, conformance.OpenAI, calls, "/v1")
}

func start(tb testing.TB, speaks wire, dialect conformance.Dialect, calls int, base string) *Double {
	tb.Helper()
	d := &Double{tb: tb, wire: speaks, calls: calls, judge: Judge{Dialect: dialect}, thoughts: make(map[string]string)}
	for n := range calls {
		text, signature := thought(n)
		d.thoughts[signature] = text
	}
	server := httptest.NewServer(d)
	tb.Cleanup(server.Close)
	d.URL = server.URL + base
	return d
}

// End lets the turn end after fewer calls.
func (d *Double) End(calls int) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.calls = calls
}

// Bodies are the requests so far.
func (d *Double) Bodies() [][]byte {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return append([][]byte(nil), d.bodies...)
}

// Changes is how often a request did not begin as the one before it did.
func (d *Double) Changes() int {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.changes
}

// ServeHTTP implements http.Handler.
func (d *Double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBytes))
	if err != nil {
		return // The caller went away while sending.
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	changed, problems := d.judge.Look(body)
	if r.URL.Path != d.wire.path() || r.Method != http.MethodPost {
		problems = append(problems, r.Method+" "+r.URL.Path)
	}
	problems = append(problems, d.alteredThoughts(body)...)
	w.Header().Set("Content-Type", "application/json")
	if len(problems) > 0 {
		d.tb.Errorf("agentdouble: request %d: %s", len(d.bodies), strings.Join(problems, "; "))
		w.WriteHeader(http.StatusBadRequest)
		d.write(w, d.wire.refusal(problems[0]))
		return
	}
	if changed {
		d.changes++
	}
	n, prompt := len(d.bodies), len(body)/4
	d.bodies = append(d.bodies, body)
	if n < d.calls {
		d.write(w, d.wire.call(n, prompt))
	} else {
		d.write(w, d.wire.end(prompt))
	}
}

func (d *Double) write(w io.Writer, answer any) {
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		d.tb.Errorf("agentdouble: %v", err)
	}
}

// alteredThoughts finds reasoning that is not as it was given out.
func (d *Double) alteredThoughts(body []byte) []string {
	var problems []string
	messages, _ := messagesOf(body)
	for i, m := range messages {
		var sent struct {
			Content []struct {
				Type      string `json:"type"`
				Thinking  string `json:"thinking"`
				Signature string `json:"signature"`
			} `json:"content"`
		}
		if json.Unmarshal(m, &sent) != nil {
			continue // content is a string
		}
		for _, b := range sent.Content {
			if text, known := d.thoughts[b.Signature]; b.Type == "thinking" && (!known || text != b.Thinking) {
				problems = append(problems, fmt.Sprintf("messages[%d]: reasoning was altered", i))
			}
		}
	}
	return problems
}

func thought(n int) (text, signature string) {
	return fmt.Sprintf("File %d may say <more> & \"that\".", n), fmt.Sprintf("c2lnbmF0dXJl%04d", n)
}

// Answer is the text that ends the turn.
const Answer = "All files are read."

func path(n int) string { return fmt.Sprintf("file_%d.txt", n) }

type object map[string]any

type anthropic struct{}

func (anthropic) path() string { return "/v1/messages" }

func (a anthropic) call(n, prompt int) any {
	text, signature := thought(n)
	return a.message("tool_use", prompt,
		object{"type": "thinking", "thinking": text, "signature": signature},
		object{"type": "text", "text": fmt.Sprintf("I read file %d.", n)},
		object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", n), "name": "read_file", "input": object{"path": path(n)}})
}

func (a anthropic) end(prompt int) any {
	return a.message("end_turn", prompt, object{"type": "text", "text": Answer})
}

func (anthropic) message(reason string, prompt int, content ...object) any {
	return object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "double", "content": content, "stop_reason": reason,
		"usage": object{"input_tokens": 10, "cache_read_input_tokens": prompt - 10, "cache_creation_input_tokens": 0, "output_tokens": 20},
	}
}

func (anthropic) refusal(problem string) any {
	return object{"type": "error", "error": object{"type": "invalid_request_error", "message": problem}}
}

type openAI struct{}

func (openAI) path() string { return "/v1/chat/completions" }

func (o openAI) call(n, prompt int) any {
	return o.completion("tool_calls", prompt, object{
		"role": "assistant", "content": fmt.Sprintf("I read file %d.", n), "tool_calls": []object{{
			"id": fmt.Sprintf("call_%d", n), "type": "function",
			"function": object{"name": "read_file", "arguments": `{"path": "` + path(n) + `"}`},
		}},
	})
}

func (o openAI) end(prompt int) any {
	return o.completion("stop", prompt, object{"role": "assistant", "content": Answer})
}

func (openAI) completion(reason string, prompt int, message object) any {
	return object{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1_700_000_000, "model": "double",
		"choices": []object{{"index": 0, "finish_reason": reason, "message": message}},
		"usage":   object{"prompt_tokens": prompt, "completion_tokens": 20, "total_tokens": prompt + 20},
	}
}

func (openAI) refusal(problem string) any {
	return object{"error": object{"type": "invalid_request_error", "message": problem}}
}
