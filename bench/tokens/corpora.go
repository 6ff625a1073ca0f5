package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// corpusBytes is the size of every corpus.
const corpusBytes = 2_000_000

// corpus is a text to be measured and where it comes from. None of it is kept in the repository.
type corpus struct {
	name, origin, text string
}

// corpora assembles the five corpora from what tools/oracles.sh and the Go distribution put on the machine.
func corpora(ctx context.Context, dir string) ([]corpus, error) {
	goroot, err := output(ctx, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	goroot = strings.TrimSpace(goroot)
	shelf, err := openBooks(filepath.Join(dir, "books"))
	if err != nil {
		return nil, err
	}
	prose, err := proseCorpus(shelf, goroot)
	if err != nil {
		return nil, err
	}
	code, err := codeCorpus(goroot, dir)
	if err != nil {
		return nil, err
	}
	packages, err := output(ctx, "go", "list", "-json", "std")
	if err != nil {
		return nil, err
	}
	records, err := logRecords(prose, corpusBytes-len(packages)/2)
	if err != nil {
		return nil, err
	}
	cjk, err := shelf.texts(mostlyCJK, handbook("zh-CN"), handbook("ja-JP"), handbook("zh-TW"), handbook("ko-KR"), reference("zh-cn"), reference("ja"))
	if err != nil {
		return nil, err
	}
	mixed, err := shelf.texts(beyondASCII, handbook("ru-RU"), handbook("ar-MA"), handbook("fr-FR"), handbook("fa-IR"), handbook("vi-VN"))
	if err != nil {
		return nil, err
	}
	all := []corpus{
		{"prose", "the Debian handbook in English (Debian's packages " + shelf.packages + "), Newton's Opticks and the language documents of the Go distribution", prose},
		{"code", "Go's standard library, and pip as Python's venv installs it", code},
		{"JSON", "go list -json std, and log records with words of the prose, half of them in one line", packages[:len(packages)/2] + records},
		{"CJK", "the handbook in Chinese (both scripts), Japanese and Korean, the Debian Reference in Chinese and Japanese; translated paragraphs only", cjk},
		{"mixed", "the handbook in Russian, Arabic, French, Persian and Vietnamese; translated paragraphs only", mixed},
	}
	for i := range all {
		if all[i].text, err = cut(all[i].name, all[i].text); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// cut shortens a text to corpusBytes, at a character.
func cut(name, text string) (string, error) {
	if len(text) < corpusBytes {
		return "", fmt.Errorf("the corpus %s has %d bytes only, want %d", name, len(text), corpusBytes)
	}
	end := corpusBytes
	for !utf8.RuneStart(text[end-1]) || text[end-1] >= utf8.RuneSelf {
		end-- // ends after an ASCII character
	}
	return strings.ToValidUTF8(text[:end], "\ufffd"), nil
}

func output(ctx context.Context, program string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, program, args...).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", program, strings.Join(args, " "), err)
	}
	return string(out), nil
}

func proseCorpus(shelf *books, goroot string) (string, error) {
	text, err := shelf.texts(func(string) bool { return true }, handbook("en-US"))
	if err != nil {
		return "", err
	}
	opticks, err := os.ReadFile(filepath.Join(goroot, "src", "testdata", "Isaac.Newton-Opticks.txt"))
	if err != nil {
		return "", err
	}
	text += string(opticks)
	for _, name := range []string{"go_spec.html", "go_mem.html", "asm.html"} {
		page, err := os.ReadFile(filepath.Join(goroot, "doc", name))
		if err != nil {
			return "", err
		}
		text += strings.Join(paragraphs(string(page)), "\n\n")
	}
	notes, err := os.ReadFile(filepath.Join(goroot, "doc", "godebug.md"))
	return text + string(notes), err
}

// codeCorpus takes two thirds Go and one third Python. Files come in a seeded order, so that no package dominates.
func codeCorpus(goroot, dir string) (string, error) {
	goText, err := sources(filepath.Join(goroot, "src"), ".go", corpusBytes*2/3)
	if err != nil {
		return "", err
	}
	pythonText, err := sources(filepath.Join(dir, "python", "lib"), ".py", corpusBytes-len(goText))
	return goText + pythonText, err
}

func sources(dir, extension string, size int) (string, error) {
	var paths []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && filepath.Ext(path) == extension {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	r := rand.New(rand.NewPCG(1, 0))
	r.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	var b strings.Builder
	for _, path := range paths {
		if b.Len() >= size {
			break
		}
		file, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		// A table of numbers or names is no code that anyone would send to a model.
		if len(file) < 60_000 {
			b.Write(file)
		}
	}
	return b.String(), nil
}

// logRecord is what services write: some fields repeat, some are unique.
type logRecord struct {
	Time     time.Time      `json:"time"`
	Level    string         `json:"level"`
	Service  string         `json:"service"`
	Message  string         `json:"msg"`
	TraceID  string         `json:"trace_id"`
	Duration float64        `json:"duration_ms"`
	Status   int            `json:"status"`
	Path     string         `json:"path"`
	Labels   map[string]any `json:"labels,omitempty"`
}

// logRecords writes JSON records whose words are drawn from a real text, so they are as frequent as there. The first
// half is one record a line, the second one array in one line.
func logRecords(prose string, size int) (string, error) {
	r := rand.New(rand.NewPCG(2, 0))
	list := strings.Fields(prose)
	phrase := func(n int) string {
		at := r.IntN(len(list) - n)
		return strings.Join(list[at:at+n], " ")
	}
	now := time.Date(2026, 11, 30, 4, 5, 6, 0, time.UTC)
	next := func() (string, error) {
		now = now.Add(time.Duration(r.IntN(2_000_000)) * time.Microsecond)
		record := logRecord{
			Time: now, Level: []string{"INFO", "INFO", "INFO", "DEBUG", "WARN", "ERROR"}[r.IntN(6)],
			Service: []string{"gateway", "billing", "search", "worker"}[r.IntN(4)], Message: phrase(3 + r.IntN(12)),
			TraceID: fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64()), Duration: float64(r.IntN(1_000_000)) / 1000,
			Status: []int{200, 200, 200, 204, 404, 500}[r.IntN(6)],
			Path:   "/v1/" + strings.ToLower(list[r.IntN(len(list))]) + "/" + fmt.Sprint(r.IntN(100_000)),
		}
		if r.IntN(3) == 0 {
			record.Labels = map[string]any{"attempt": r.IntN(5), "region": "eu-north-1", "note": phrase(2)}
		}
		text, err := json.Marshal(record)
		return string(text), err
	}
	var b strings.Builder
	for b.Len() < size/2 {
		text, err := next()
		if err != nil {
			return "", err
		}
		b.WriteString(text + "\n")
	}
	b.WriteByte('[')
	for b.Len() < size {
		text, err := next()
		if err != nil {
			return "", err
		}
		b.WriteString(text + ",")
	}
	b.WriteString("{}]\n")
	return b.String(), nil
}

func mostlyCJK(paragraph string) bool {
	cjk, letters := 0, 0
	for _, c := range paragraph {
		switch {
		case unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			cjk++
			letters++
		case unicode.IsLetter(c):
			letters++
		}
	}
	return cjk*2 > letters
}

func beyondASCII(paragraph string) bool {
	return slices.ContainsFunc([]rune(paragraph), func(c rune) bool { return c >= utf8.RuneSelf && unicode.IsLetter(c) })
}
