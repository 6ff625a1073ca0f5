package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// The wheel is not at hand in every test run. Its hash is checked before a file is generated and the file's hash after, so
// a committed file with that hash is what the generator writes.
func TestCommittedFilesHaveTheGeneratedHash(t *testing.T) {
	for _, s := range sources() {
		file, err := os.ReadFile(filepath.Join("..", "..", "..", "tokens", "pieces", s.name+".pieces"))
		if err != nil {
			t.Fatal(err)
		}
		if got := hash(file); got != s.sha256 {
			t.Errorf("%s.pieces: SHA-256 %s, want %s; run go run ./internal/tools/claudepieces", s.name, got, s.sha256)
		}
	}
}

func TestCommittedFilesAreWhatTheGeneratorWrites(t *testing.T) {
	wheel, err := os.ReadFile(filepath.Join("..", "..", "..", "bin", "ctok-1.3.0-py3-none-any.whl"))
	if err != nil {
		t.Skipf("the wheel of ctok is not at hand (%v); the hash of the files was checked", err)
	}
	for _, s := range sources() {
		file, err := build(wheel, s.member)
		if err != nil {
			t.Fatal(err)
		}
		if got := hash(file); got != s.sha256 {
			t.Errorf("%s: the generator writes SHA-256 %s, want %s", s.name, got, s.sha256)
		}
	}
}

func TestBuildRefusesAnotherWheel(t *testing.T) {
	if _, err := build([]byte("PK"), sources()[0].member); err == nil {
		t.Error("a wheel with another hash was accepted")
	}
}

const small = `{"meta":{"fold_quotes":true,"allcaps_min":4},"tokens":{
	"word_pieces":{"⟨shift⟩⟨bow⟩the⟨eow⟩":{},"th":{},"the":{},"⟨0xE2⟩⟨0x9F⟩⟨0xA8⟩":{}},
	"bytes_fallback":{"e0a4":{}},"contractions":{"'t":{}}}}`

func TestParseReadsPiecesInEveryNotation(t *testing.T) {
	v, err := parse([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"'t", "'t\xf9", "th", "the", "\xe0\xa4", "⟨", "\xfa\xf8the\xf9"}
	if !v.foldQuotes || v.capsMin != 4 || len(v.pieces) != len(want) {
		t.Fatalf("%+q, want %+q", v.pieces, want)
	}
	for i, piece := range v.pieces {
		if string(piece) != want[i] {
			t.Errorf("piece %d is %+q, want %+q", i, piece, want[i])
		}
	}
}

func TestParseRefusesBrokenVocabularies(t *testing.T) {
	for name, text := range map[string]string{
		"not JSON": "{", "no pieces": `{"tokens":{}}`, "unknown marker": `{"tokens":{"a":{"⟨end⟩":{}}}}`,
		"open marker": `{"tokens":{"a":{"⟨bow":{}}}}`, "not hexadecimal": `{"tokens":{"bytes_fallback":{"xy":{}}}}`,
		"empty piece": `{"tokens":{"a":{"":{}}}}`, "zero byte": `{"tokens":{"a":{"⟨0x00⟩":{}}}}`,
	} {
		if _, err := parse([]byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestEveryPieceIsFoundAndNothingElse(t *testing.T) {
	v, err := parse([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	file := v.encode()
	if !bytes.HasPrefix(file, []byte("ELBP\x01\x01\x04\x00")) {
		t.Errorf("header %q", file[:8])
	}
	slot := func(i uint32) uint32 {
		if at := 16 + 4*int(i); at+4 <= len(file) {
			return binary.LittleEndian.Uint32(file[at:])
		}
		return 0
	}
	found := func(text string) bool {
		node := slot(0)
		for _, c := range []byte(text) {
			if node = slot(node&(1<<22-1) + uint32(c)); node>>labelShift != uint32(c) {
				return false
			}
		}
		return node&pieceEnds != 0
	}
	for _, piece := range v.pieces {
		if !found(string(piece)) {
			t.Errorf("%+q is not found", piece)
		}
	}
	for _, text := range []string{"", "t", "h", "'", "thee", "\xe0", "\xfa\xf8the", "'t\xf9\xf9"} {
		if found(text) {
			t.Errorf("%+q is found and is no piece", text)
		}
	}
}
