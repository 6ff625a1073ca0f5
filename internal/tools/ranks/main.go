// Command ranks turns the published tiktoken rank files into the compact files that package tokens embeds.
//
// The rank files come from the module github.com/pkoukk/tiktoken-go-loader (MIT), which carries them unchanged; their
// SHA-256 is checked against the values that tiktoken itself pins before anything is written. The output depends on
// the input only, so running the command again gives the same bytes.
//
// Run it from the repository root:
//
//	go run ./internal/tools/ranks -out tokens/ranks
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

// source is one published rank file and the SHA-256 that tiktoken's openai_public.py pins for it.
type source struct {
	name   string
	sha256 string
}

func sources() []source {
	return []source{
		{name: "o200k_base", sha256: "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"},
		{name: "cl100k_base", sha256: "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"},
	}
}

func main() {
	out := flag.String("out", filepath.Join("tokens", "ranks"), "directory that receives one .ranks file per encoding")
	flag.Parse()
	for _, s := range sources() {
		if err := generate(s, *out); err != nil {
			fmt.Fprintln(os.Stderr, "ranks:", err)
			os.Exit(1)
		}
	}
}

func generate(s source, dir string) error {
	file, err := build(s)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, s.name+".ranks")
	if err := os.WriteFile(path, file, 0o644); err != nil { //nolint:gosec // a committed source file, not a secret
		return fmt.Errorf("write %s: %w", s.name, err)
	}
	fmt.Printf("%s: %d bytes\n", path, len(file))
	return nil
}

// build reads the published rank file, checks its hash and returns the compact file.
func build(s source) ([]byte, error) {
	published, err := assets.Assets.ReadFile(s.name + ".tiktoken")
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.name, err)
	}
	sum := sha256.Sum256(published)
	if got := hex.EncodeToString(sum[:]); got != s.sha256 {
		return nil, fmt.Errorf("%s: SHA-256 is %s, want %s", s.name, got, s.sha256)
	}
	vocabulary, err := parse(published)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	return encode(vocabulary), nil
}
