package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// build checks the pinned SHA-256 of the published files, so this test covers both the source and the result.
func TestCommittedFilesAreWhatTheGeneratorWrites(t *testing.T) {
	for _, s := range sources() {
		t.Run(s.name, func(t *testing.T) {
			want, err := build(s)
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Join("..", "..", "..", "tokens", "ranks", s.name+".ranks"))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the committed file (%d bytes) differs from the generated one (%d bytes); run go run ./internal/tools/ranks", len(got), len(want))
			}
		})
	}
}

func TestBuildRefusesASourceWithAnotherHash(t *testing.T) {
	s := sources()[0]
	s.sha256 = sources()[1].sha256
	if _, err := build(s); err == nil {
		t.Error("build accepted a rank file whose SHA-256 is not the pinned one")
	}
}

func TestParseRefusesBrokenRankFiles(t *testing.T) {
	for name, text := range map[string]string{
		"no rank":      "IQ==\n",
		"not base64":   "!! 0\n",
		"not a number": "IQ== x\n",
		"rank missing": "IQ== 1\n",
		"not a byte":   "ICA= 0\n",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parse([]byte(text)); err == nil {
				t.Errorf("parse(%q) gave no error", text)
			}
		})
	}
}

func TestMergeTakesTheLowestRankAndThenTheLeftmost(t *testing.T) {
	ranks := map[string]int{"aa": 300, "ab": 299, "aab": 301, "aaa": 302}
	for _, c := range []struct {
		text  string
		limit int
		want  []int
	}{
		{text: "aaa", limit: 302, want: []int{0, 2, 3}},
		{text: "aab", limit: 301, want: []int{0, 1, 3}},
		{text: "aaaa", limit: 400, want: []int{0, 2, 4}},
		{text: "xyz", limit: 400, want: []int{0, 1, 2, 3}},
	} {
		got := merge([]byte(c.text), ranks, c.limit)
		if len(got) != len(c.want) {
			t.Errorf("merge(%q) = %v, want %v", c.text, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("merge(%q) = %v, want %v", c.text, got, c.want)
				break
			}
		}
	}
}
