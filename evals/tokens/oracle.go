package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
)

// ctokCounts returns ctok's counts of texts by its version names: "3.0", "4.7" and "4.8".
func (s settings) ctokCounts(ctx context.Context, texts []string) (map[string][]int, error) {
	return ask(ctx, texts, filepath.Join(s.oracles, "python", "bin", "python"), "evals/tokens/ctok_counts.py")
}

// otherCounts returns the counts of the other families' tokenizers.
func (s settings) otherCounts(ctx context.Context, texts []string) (map[string][]int, error) {
	return ask(ctx, texts, "node", "evals/tokens/counts.mjs", filepath.Join(s.oracles, "npm"))
}

// ask runs a program that reads texts as JSON and writes counts as JSON.
func ask(ctx context.Context, texts []string, program string, args ...string) (map[string][]int, error) {
	input, err := json.Marshal(texts)
	if err != nil {
		return nil, fmt.Errorf("write the texts: %w", err)
	}
	command := exec.CommandContext(ctx, program, args...) //nolint:gosec // fixed programs
	var stdout, stderr bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(input), &stdout, &stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", program, err, stderr.Bytes())
	}
	var counts map[string][]int
	if err := json.Unmarshal(stdout.Bytes(), &counts); err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	for name, list := range counts {
		if len(list) != len(texts) {
			return nil, fmt.Errorf("%s: %d counts for %d texts", name, len(list), len(texts))
		}
	}
	return counts, nil
}
