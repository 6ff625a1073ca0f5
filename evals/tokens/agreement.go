package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/elbowroom/elbowroom/tokens"
)

// claude is one of ctok's versions and a model that is counted so.
type claude struct{ version, model string }

func claudes() []claude {
	return []claude{{"3.0", "claude-opus-4-5"}, {"4.7", "claude-opus-4-7"}, {"4.8", "claude-opus-5"}}
}

// counter counts texts by model name.
type counter struct {
	*tokens.Counter
	*tokens.Registry
}

func newCounter() (counter, error) {
	registry, err := tokens.NewRegistry()
	return counter{tokens.NewCounter(), registry}, err
}

// agreement compares the counts for Claude with ctok's, on generated texts and on every text of the data. It fails if any
// differ.
func agreement(ctx context.Context, s settings, out io.Writer) error {
	c, err := newCounter()
	if err != nil {
		return err
	}
	recordedTexts, err := s.everyText()
	if err != nil {
		return err
	}
	different := 0
	for _, set := range []struct {
		name  string
		texts []string
	}{{"generated texts", generatedTexts(s.texts, s.seed)}, {"recorded texts", recordedTexts}} {
		counts, err := s.ctokCounts(ctx, set.texts)
		if err != nil {
			return err
		}
		for _, v := range claudes() {
			n := 0
			for i, text := range set.texts {
				if text == "" {
					continue // a message without content is a matter of the frame
				}
				got, err := c.CountText(ctx, text, c.Lookup(v.model))
				if err != nil {
					return fmt.Errorf("count: %w", err)
				}
				if want := counts[v.version][i]; got.Tokens != want {
					n++
					fmt.Fprintf(out, "%s: %d, ctok %s says %d: %.300q\n", v.model, got.Tokens, v.version, want, text)
				}
			}
			fmt.Fprintf(out, "%s, ctok %s: %d of %d differ\n", set.name, v.version, n, len(set.texts))
			different += n
		}
	}
	if different > 0 {
		return fmt.Errorf("%d counts differ", different)
	}
	return nil
}

// goldenTexts and goldenSeed choose the texts of the golden file.
const (
	goldenTexts = 3000
	goldenSeed  = 1
	goldenFile  = "tokens/testdata/golden_claude.json"
)

// goldenCase is a text with ctok's counts of it.
type goldenCase struct {
	Text string `json:"text"`
	V3   int    `json:"v3"`
	V47  int    `json:"v4.7"`
	V48  int    `json:"v4.8"`
}

// golden writes the file that the tests of package tokens compare with.
func golden(ctx context.Context, s settings, out io.Writer) error {
	texts := generatedTexts(goldenTexts, goldenSeed)
	counts, err := s.ctokCounts(ctx, texts)
	if err != nil {
		return err
	}
	file := []byte("[\n")
	for i, text := range texts {
		line, err := json.Marshal(goldenCase{Text: text, V3: counts["3.0"][i], V47: counts["4.7"][i], V48: counts["4.8"][i]})
		if err != nil {
			return fmt.Errorf("write a case: %w", err)
		}
		if i > 0 {
			file = append(file, ",\n"...)
		}
		file = append(file, line...)
	}
	file = append(file, "\n]\n"...)
	if err := os.WriteFile(goldenFile, file, 0o644); err != nil { //nolint:gosec // a committed file
		return fmt.Errorf("write the golden file: %w", err)
	}
	fmt.Fprintf(out, "%s: %d texts\n", goldenFile, len(texts))
	return nil
}
