// Package testdata gives every package's tests the same real conversations and
// field cases. They are not part of the repository: they stand beside it, in
// ../shared/data. Where they are absent a test is skipped, except in continuous
// integration (CI=true), where their absence is a failure.
package testdata

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The values of [File.Format] and [Case.Format].
const (
	OpenAI    = "openai"
	Anthropic = "anthropic"
)

// File is one real conversation.
type File struct {
	// Name is the file's name without its extension.
	Name string
	// Format is OpenAI or Anthropic.
	Format string
	// JSON is the file as it stands: a request body in which the fields id, source
	// and format are unknown to the provider.
	JSON string
}

// Conversations returns every real conversation, sorted by name.
func Conversations(t testing.TB) []File {
	t.Helper()
	dir := directory(t, "conversations")
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		t.Fatal(err)
	}
	var files []File
	for _, e := range entries {
		name, isJSON := strings.CutSuffix(e.Name(), ".json")
		if !isJSON {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		var head struct {
			Format string `json:"format"`
		}
		if err := json.Unmarshal(text, &head); err != nil {
			t.Fatalf("%s: %v", e.Name(), err)
		}
		files = append(files, File{Name: name, Format: head.Format, JSON: string(text)})
	}
	if len(files) == 0 {
		t.Fatalf("no conversations in %s", dir)
	}
	return files
}

// Conversation returns one real conversation by name.
func Conversation(t testing.TB, name string) File {
	t.Helper()
	for _, f := range Conversations(t) {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no conversation %s in the test data", name)
	return File{}
}

// Case is one field case: an input that broke somebody's software, and what must
// be true of the output.
type Case struct {
	ID  string `json:"id"`
	Row string `json:"row"` // the field report it comes from
	Op  string `json:"op"`  // compress, cache or count
	Why string `json:"why"`
	// Format is OpenAI or Anthropic.
	Format string `json:"format"`
	// Generator describes in words how to build the input, for cases whose input
	// is too long to write down. JSON is empty then.
	Generator string          `json:"generator"`
	Messages  json.RawMessage `json:"messages"`
	Tools     json.RawMessage `json:"tools"`
	Options   json.RawMessage `json:"options"`
	Expect    []string        `json:"expect"`
	// JSON is the request body: the case's tools, system prompt (which stands among
	// the options) and messages, byte for byte.
	JSON string `json:"-"`
}

// body puts the parts of the request together.
func (c *Case) body() (string, error) {
	if c.Messages == nil {
		return "", nil
	}
	var options struct {
		System json.RawMessage `json:"system"`
	}
	if err := json.Unmarshal(c.Options, &options); err != nil {
		return "", err
	}
	body := "{"
	if c.Tools != nil {
		body += `"tools":` + string(c.Tools) + ","
	}
	if options.System != nil {
		body += `"system":` + string(options.System) + ","
	}
	return body + `"messages":` + string(c.Messages) + "}", nil
}

// Cases returns every field case, in the order of the file.
func Cases(t testing.TB) []Case {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(directory(t, "cases"), "field-cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []Case
	for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var c Case
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatalf("field case on line %d: %v", i+1, err)
		}
		if c.JSON, err = c.body(); err != nil {
			t.Fatalf("field case on line %d: %v", i+1, err)
		}
		cases = append(cases, c)
	}
	return cases
}

// directory finds one directory of the test data.
func directory(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join(root(t), "..", "shared", "data", name)
	if _, err := os.Stat(dir); err != nil {
		const missing = "the shared test data (../shared/data beside the repository) is not here: %v"
		if os.Getenv("CI") == "true" {
			t.Fatalf(missing, err)
		}
		t.Skipf(missing, err)
	}
	return dir
}

// root walks up from the test's working directory to the go.mod of this module.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(mod, []byte("module github.com/elbowroom/elbowroom\n")) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod of this module above the working directory")
		}
		dir = parent
	}
}
