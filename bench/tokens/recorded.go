package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// recordedTexts returns every file under dir as it stands, and of the JSON in it every string (message texts, tool
// arguments, tool results, ...) and every message as its JSON text. No directory: no texts.
func recordedTexts(dir string) ([]string, error) {
	var texts []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !utf8.Valid(file) {
			return nil
		}
		texts = append(texts, string(file))
		if extension := filepath.Ext(path); extension != ".json" && extension != ".jsonl" {
			return nil
		}
		values := json.NewDecoder(strings.NewReader(string(file)))
		for {
			var value json.RawMessage
			if err := values.Decode(&value); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			if texts, err = appendTexts(texts, value, ""); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return texts, err
}

// appendTexts appends the strings of a JSON value, and the elements of arrays that stand under the key "messages" and
// objects under "input" as JSON text.
func appendTexts(texts []string, value json.RawMessage, key string) ([]string, error) {
	switch value[0] {
	case '"':
		var s string
		if err := json.Unmarshal(value, &s); err != nil {
			return nil, err
		}
		return append(texts, s), nil
	case '[':
		var list []json.RawMessage
		if err := json.Unmarshal(value, &list); err != nil {
			return nil, err
		}
		for _, element := range list {
			if key == "messages" {
				texts = append(texts, string(element))
			}
			var err error
			if texts, err = appendTexts(texts, element, ""); err != nil {
				return nil, err
			}
		}
		return texts, nil
	case '{':
		if key == "input" {
			texts = append(texts, string(value))
		}
		return appendMembers(texts, value)
	default:
		return texts, nil
	}
}

// appendMembers walks over an object in the order of its text.
func appendMembers(texts []string, object json.RawMessage) ([]string, error) {
	members := json.NewDecoder(strings.NewReader(string(object)))
	if _, err := members.Token(); err != nil {
		return nil, err
	}
	for members.More() {
		name, err := members.Token()
		if err != nil {
			return nil, err
		}
		var member json.RawMessage
		if err := members.Decode(&member); err != nil {
			return nil, err
		}
		if texts, err = appendTexts(texts, member, name.(string)); err != nil {
			return nil, err
		}
	}
	return texts, nil
}
