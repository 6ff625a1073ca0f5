package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorded are three successive bodies; the third has another date in its system prompt.
func recorded(args ...string) []string {
	return append(append([]string{"cache"}, args...), "testdata/turn-1.json", "testdata/turn-2.json", "testdata/turn-3.json")
}

func TestCacheTablesForPeople(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
	}{
		{"help-cache", []string{"cache", "--help"}},
		{"cache-bodies", recorded()},
		{"cache-bodies-json", recorded("--json")},
		{"cache-replay", []string{"cache", "--replay", "--strategy", "anchored", "testdata/turn-3.json"}},
		{"cache-replay-pauses", []string{"cache", "--replay", "--pause-every", "2", "--ttl", "1h", "testdata/turn-3.json"}},
		{"cache-replay-relative", []string{"cache", "--replay", "--model", "gpt-5.6", "testdata/openai.json"}},
		{"cache-replay-automatic", []string{"cache", "--replay", "--model", "deepseek-chat", "testdata/openai.json"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := runArgs(t, c.args...)
			if got.code != exitOK || got.stderr != "" {
				t.Fatalf("exit code %d, stderr %q", got.code, got.stderr)
			}
			golden(t, c.name, got.stdout)
			if strings.HasSuffix(c.name, "json") || strings.HasPrefix(c.name, "help") {
				return
			}
			for _, line := range strings.Split(got.stdout, "\n") {
				if n := len([]rune(line)); n > 80 {
					t.Errorf("%d columns: %s", n, line)
				}
			}
		})
	}
}

func TestCachePage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.html")
	got := runArgs(t, recorded("--html", file)...)
	if got.code != exitOK {
		t.Fatalf("exit code %d, stderr %q", got.code, got.stderr)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "cache-page", string(text))
	for _, outside := range []string{"http://", "https://", "src=", "<script", "@import", "url("} {
		if strings.Contains(string(text), outside) {
			t.Errorf("the page asks for something outside of it: %s", outside)
		}
	}
}

// TestCachePageEscapes: what a conversation says is text in the page.
func TestCachePageEscapes(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for _, word := range []string{"<script>one", "<script>two"} {
		body, err := json.Marshal(map[string]any{
			"model": "claude-opus-5", "system": word + strings.Repeat(" rule", 900),
			"messages": []map[string]string{{"role": "user", "content": "hello"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, filepath.Join(dir, word[8:]+".json"))
		if err := os.WriteFile(files[len(files)-1], body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page := filepath.Join(dir, "page.html")
	got := runArgs(t, append([]string{"cache", "--html", page}, files...)...)
	if got.code != exitOK {
		t.Fatalf("exit code %d, stderr %q", got.code, got.stderr)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "<script") || !strings.Contains(string(text), "script") {
		t.Error("text of the conversation is not escaped in the page, or not there")
	}
}

func TestCacheCommandLinesThatDoNotFit(t *testing.T) {
	for _, c := range []struct {
		name   string
		args   []string
		stderr string
	}{
		{"a server for several files", recorded("--server", "127.0.0.1:1"), "--server goes with one file"},
		{"an output for several files", recorded("--out", "x.json"), "--out goes with one file"},
		{"a replay of several files", recorded("--replay"), "--replay takes one file"},
		{"a gap that goes backwards", []string{"cache", "--replay", "--gap=-5s", "testdata/long.json"}, "--gap and --pause are above 0"},
		{"a gap of years", []string{"cache", "--replay", "--gap=90000h", "testdata/long.json"}, "at most 720h"},
		{"a pause that goes backwards", []string{"cache", "--replay", "--pause=-5s", "testdata/long.json"}, "--gap and --pause are above 0"},
		{"every -1st gap", []string{"cache", "--replay", "--pause-every=-1", "testdata/long.json"}, "--pause-every is not below"},
		{"no model", []string{"cache", "--replay", "testdata/long.json"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := runArgs(t, c.args...)
			if c.stderr != "" && (got.code != exitUsage || !strings.Contains(got.stderr, c.stderr)) {
				t.Errorf("exit code %d, stderr %q", got.code, got.stderr)
			}
		})
	}
}
