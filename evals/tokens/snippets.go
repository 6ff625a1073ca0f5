package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/elbowroom/elbowroom/conversation"
)

const (
	// snippetLength is how long the pieces are that texts are cut into, in bytes; what is left over and shorter than
	// snippetLeast is not looked at.
	snippetLength = 2048
	snippetLeast  = 512
)

// recorded is one real conversation as the texts a model reads of it.
type recorded struct {
	name     string
	snippets []string
}

// conversations reads the recorded conversations, sorted by name.
func (s settings) conversations() ([]recorded, error) {
	files, err := filepath.Glob(filepath.Join(s.data, "conversations", "*.json"))
	if err != nil || len(files) == 0 {
		return nil, errors.Join(fmt.Errorf("no conversations in %s", s.data), err)
	}
	var out []recorded
	for _, file := range files {
		body, err := os.ReadFile(file) //nolint:gosec // an argument of the command
		if err != nil {
			return nil, fmt.Errorf("read a conversation: %w", err)
		}
		var head struct {
			Format string `json:"format"`
		}
		if err := json.Unmarshal(body, &head); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		format := conversation.FormatOpenAIChat
		if head.Format == "anthropic" {
			format = conversation.FormatAnthropicMessages
		}
		c, err := conversation.Parse(format, string(body), conversation.Limits{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		r := recorded{name: strings.TrimSuffix(filepath.Base(file), ".json")}
		if c.System != nil {
			r.add(c.System.Blocks)
		}
		for i := range c.Messages {
			r.add(c.Messages[i].Blocks)
		}
		out = append(out, r)
	}
	return out, nil
}

// add cuts the texts of blocks into snippets.
func (r *recorded) add(blocks []conversation.Block) {
	for i := range blocks {
		b := &blocks[i]
		r.cut(b.Text)
		r.cut(b.Input)
		r.add(b.Result)
	}
}

func (r *recorded) cut(text string) {
	for len(text) >= snippetLeast {
		end := min(snippetLength, len(text))
		for end < len(text) && !utf8.RuneStart(text[end]) {
			end--
		}
		r.snippets = append(r.snippets, text[:end])
		text = text[end:]
	}
}

// everyText returns every string of the conversations and the cases, whatever it is for, once each.
func (s settings) everyText() ([]string, error) {
	files, err := filepath.Glob(filepath.Join(s.data, "*", "*.json*"))
	if err != nil || len(files) == 0 {
		return nil, errors.Join(fmt.Errorf("no texts in %s", s.data), err)
	}
	seen := make(map[string]bool)
	var texts []string
	var walk func(value any)
	walk = func(value any) {
		switch v := value.(type) {
		case string:
			if !seen[v] {
				seen[v] = true
				texts = append(texts, v)
			}
		case []any:
			for _, element := range v {
				walk(element)
			}
		case map[string]any: // in any order: only the set matters
			for _, member := range v {
				walk(member)
			}
		}
	}
	for _, file := range files {
		f, err := os.Open(file) //nolint:gosec // an argument of the command
		if err != nil {
			return nil, fmt.Errorf("read the texts: %w", err)
		}
		for decoder := json.NewDecoder(f); decoder.More(); {
			var value any
			if err := decoder.Decode(&value); err != nil {
				return nil, errors.Join(fmt.Errorf("%s: %w", file, err), f.Close())
			}
			walk(value)
		}
		if err := f.Close(); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return texts, nil
}
