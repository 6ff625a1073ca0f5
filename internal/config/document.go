package config

import (
	"bytes"
	"errors"

	"github.com/knadh/koanf/parsers/yaml"
)

// document reads a file of settings: one YAML document that is a group of keys,
// or nothing. Of several documents the parser would read the first and say
// nothing of the others.
type document struct{ *yaml.YAML }

// Unmarshal reads the document.
func (d document) Unmarshal(b []byte) (map[string]any, error) {
	if severalDocuments(b) {
		return nil, errors.New("there are several YAML documents (---) in it; settings are one")
	}
	return d.YAML.Unmarshal(b)
}

// severalDocuments looks for a marker behind the first document's beginning.
// YAML allows three hyphens at the beginning of a line nowhere else.
func severalDocuments(b []byte) bool {
	begun := false
	for line := range bytes.Lines(bytes.TrimPrefix(b, []byte("\ufeff"))) {
		rest, marker := bytes.CutPrefix(line, []byte("---"))
		marker = marker && (len(rest) == 0 || bytes.ContainsAny(rest[:1], " \t\r\n"))
		switch {
		case marker && begun:
			return true
		case marker, len(bytes.TrimSpace(line)) > 0 && line[0] != '#' && line[0] != '%':
			begun = true
		}
	}
	return false
}
