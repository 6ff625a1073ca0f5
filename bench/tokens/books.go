package main

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// books are documents that Debian packages in many languages, unpacked into one directory.
type books struct {
	root     string
	packages string // names and versions
}

func openBooks(dir string) (*books, error) {
	packages, err := os.ReadFile(filepath.Join(dir, "PACKAGES"))
	if err != nil {
		return nil, fmt.Errorf("the books from Debian are not here: %w", err)
	}
	return &books{root: dir, packages: strings.Join(strings.Fields(string(packages)), " ")}, nil
}

// handbook is the pattern for the pages of Debian's handbook in a language.
func handbook(language string) string {
	return "usr/share/doc/debian-handbook/html/" + language + "/*.html"
}

// reference is the pattern for the pages of the Debian Reference in a language.
func reference(language string) string { return "usr/share/debian-reference/*." + language + ".html" }

// texts returns the paragraphs that are wanted, each once: the first page of every pattern, then the second, ...
func (b *books) texts(wanted func(paragraph string) bool, patterns ...string) (string, error) {
	pages := make([][]string, len(patterns))
	longest := 0
	for i, pattern := range patterns {
		var err error
		if pages[i], err = filepath.Glob(filepath.Join(b.root, pattern)); err != nil { // sorted
			return "", err
		}
		longest = max(longest, len(pages[i]))
	}
	seen := make(map[string]bool)
	var out strings.Builder
	for n := range longest {
		for _, list := range pages {
			if n >= len(list) {
				continue
			}
			page, err := os.ReadFile(list[n])
			if err != nil {
				return "", err
			}
			for _, paragraph := range paragraphs(string(page)) {
				if !seen[paragraph] && wanted(paragraph) {
					seen[paragraph] = true
					out.WriteString(paragraph)
					out.WriteString("\n\n")
				}
			}
		}
	}
	return out.String(), nil
}

// paragraphs returns the text of a page, cut where a block ends. Line breaks inside a block are spaces, except in what
// is preformatted.
func paragraphs(page string) []string {
	var out []string
	var block strings.Builder
	preformatted, hidden := 0, 0
	flush := func() {
		text := html.UnescapeString(block.String())
		if preformatted == 0 {
			text = strings.Join(strings.Fields(text), " ")
		}
		if strings.TrimSpace(text) != "" {
			out = append(out, text)
		}
		block.Reset()
	}
	tag := regexp.MustCompile(`<(/?)([a-zA-Z0-9]*)[^>]*>`)
	at := 0
	for _, m := range tag.FindAllStringSubmatchIndex(page, -1) {
		if hidden == 0 {
			block.WriteString(page[at:m[0]])
		}
		at = m[1]
		step := 1
		if m[2] != m[3] {
			step = -1
		}
		switch name := strings.ToLower(page[m[4]:m[5]]); name {
		case "a", "em", "i", "b", "strong", "code", "span", "kbd", "tt", "sup", "sub", "img", "abbr", "q", "cite", "acronym":
		case "head", "script", "style":
			flush()
			hidden = max(0, hidden+step)
		case "pre":
			flush()
			preformatted = max(0, preformatted+step)
		default:
			flush()
		}
	}
	flush()
	return out
}
