package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// Model is the model named in the body. Window is the context window, in tokens,
// that the demo asks for: the one of the published example.
const (
	Model  = "claude-sonnet-4-5"
	Window = 128_000
)

// body is an Anthropic Messages request.
type body struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	System    string    `json:"system"`
	Tools     []tool    `json:"tools"`
	Messages  []message `json:"messages"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type message struct {
	Role    string `json:"role"`
	Content any    `json:"content"` // a string or a list of blocks
}

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
}

// JSON returns the conversation as an Anthropic Messages request body of 45
// messages.
func JSON() (string, error) {
	w := &writer{rnd: rand.New(rand.NewPCG(48, 21))}
	w.write()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body{Model: Model, MaxTokens: 8192, System: system, Tools: tools(), Messages: w.messages}); err != nil {
		return "", fmt.Errorf("write the demo conversation: %w", err)
	}
	return out.String(), nil
}

// writer puts the messages together.
type writer struct {
	rnd      *rand.Rand
	messages []message
	calls    int
}

func (w *writer) user(text string) { w.messages = append(w.messages, message{"user", text}) }

func (w *writer) assistant(text string) { w.messages = append(w.messages, message{"assistant", text}) }

// step is one tool call and what came back.
type step struct {
	tool  string
	input map[string]string
	// order lists the keys of input as the model wrote them.
	order  []string
	output string
}

// turn is an assistant message with calls and the user message with the results.
func (w *writer) turn(text string, steps ...step) {
	calls := []block{{Type: "text", Text: text}}
	var results []block
	for _, s := range steps {
		w.calls++
		id := fmt.Sprintf("toolu_01%06d", 731*w.calls)
		calls = append(calls, block{Type: "tool_use", ID: id, Name: s.tool, Input: object(s.order, s.input)})
		results = append(results, block{Type: "tool_result", ToolUseID: id, Content: s.output})
	}
	w.messages = append(w.messages, message{"assistant", calls}, message{"user", results})
}

// call makes a step of a tool with one argument.
func call(tool, key, value, output string) step {
	return step{tool, map[string]string{key: value}, []string{key}, output}
}

// write makes a step that writes a file.
func writeFile(path, content string) step {
	return step{
		"write_file", map[string]string{"path": path, "content": content}, []string{"path", "content"},
		fmt.Sprintf("wrote %s (%d bytes)", path, len(content)),
	}
}

func object(order []string, values map[string]string) json.RawMessage {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, key := range order {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(quote(key) + ":" + quote(values[key]))
	}
	out.WriteByte('}')
	return out.Bytes()
}

// quote writes a JSON string without escaping what HTML would want escaped.
func quote(s string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil { // strings always encode
		return `""`
	}
	return string(bytes.TrimSpace(out.Bytes()))
}

func tools() []tool {
	schema := func(key, description string) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"string","description":%q}},"required":[%q]}`, key, description, key))
	}
	return []tool{
		{"list_files", "List the files of the repository below a directory, with their sizes.", schema("path", "directory, relative to the root")},
		{"search", "Search the repository for a regular expression. Returns path:line:text.", schema("pattern", "RE2 expression")},
		{"read_file", "Read a file with line numbers.", schema("path", "file, relative to the root")},
		{"write_file", "Write a file. The whole content is replaced.", json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`)},
		{"run", "Run a command in the repository and return its output and exit code.", schema("command", "shell command")},
		{"logs", "Fetch log lines of a service in staging or production.", schema("query", "service and filter")},
		{"query_replica", "Run a read-only SQL query on the read replica.", schema("sql", "one statement")},
	}
}
