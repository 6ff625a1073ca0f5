package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

// example is a fenced command of a page, and what the page says it prints.
type example struct {
	name     string
	commands string
	fails    bool
	json     string // a part of the output, as JSON
	lines    []string
}

// examplesOf reads the commands of a page: blocks of sh, "sh fails" for those that
// end with an error, and behind them what they print: a part of it as json, or
// pieces as text.
func examplesOf(t *testing.T, path string) []example {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []example
	end := 0
	for _, at := range regexp.MustCompile("(?s)```([a-z ]+)\n(.*?)```\n").FindAllSubmatchIndex(page, -1) {
		kind, text := string(page[at[2]:at[3]]), string(page[at[4]:at[5]])
		line := 1 + bytes.Count(page[:at[0]], []byte("\n"))
		follows := end > 0 && strings.TrimSpace(string(page[end:at[0]])) == ""
		switch {
		case kind == "sh" || kind == "sh fails":
			out = append(out, example{name: fmt.Sprintf("%s:%d", filepath.Base(path), line), commands: text, fails: kind == "sh fails"})
			end = at[1]
			continue
		case kind == "json" && follows:
			out[len(out)-1].json = text
		case kind == "text" && follows:
			out[len(out)-1].lines = strings.Split(strings.TrimSpace(text), "\n")
		}
		end = 0
	}
	return out
}

// The commands of the pages do what the pages say.
func TestDocumentedCommandsRun(t *testing.T) {
	grpc, b := serve(t)
	web := httpAddr(t, b)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "bin") + ":" + filepath.Join(root, "tools/npm/node_modules/.bin") + ":" + os.Getenv("PATH")
	t.Setenv("PATH", path)
	missing := map[string]bool{}
	for _, tool := range []string{"bash", "curl", "grpcurl", "buf"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") == "true" {
				t.Errorf("%s is missing and CI=true", tool)
			}
			missing[tool] = true
		}
	}
	calls := map[string]int{}
	for _, page := range []string{"../../docs/http.md", "../../docs/grpcurl.md"} {
		for _, e := range examplesOf(t, page) {
			for _, at := range regexp.MustCompile(`(?m)(?:^|\| *\n? *)(grpcurl|buf curl|curl) [^|]*?ContextService/(\w+)`).FindAllStringSubmatch(e.commands, -1) {
				calls[at[1]+" "+at[2]]++
			}
			t.Run(e.name, func(t *testing.T) {
				for tool := range missing {
					if tool == "bash" || regexp.MustCompile(`(?m)(^| )`+tool+` `).MatchString(e.commands) {
						t.Skipf("skipped: %s is not installed", tool)
					}
				}
				e.run(t, root, strings.NewReplacer("127.0.0.1:50051", grpc, "127.0.0.1:8051", web))
			})
		}
	}
	for _, tool := range []string{"curl", "grpcurl", "buf curl"} {
		for _, method := range []string{"Compress", "StreamCompress", "ApplyCacheControl", "CountTokens", "Prepare", "SimulateCache", "ListModels"} {
			if calls[tool+" "+method] == 0 {
				t.Errorf("the pages do not show %s with %s", method, tool)
			}
		}
	}
}

func (e example) run(t *testing.T, root string, addresses *strings.Replacer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", "set -euo pipefail\n"+addresses.Replace(e.commands))
	cmd.Dir = root
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if (err != nil) != e.fails {
		t.Fatalf("%v\n%s%s%s", err, e.commands, stdout.String(), stderr.String())
	}
	if e.json != "" {
		var want, got any
		if err := json.Unmarshal([]byte(e.json), &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
			t.Fatalf("%v: %s", err, stdout.String())
		}
		if !holds(got, want) {
			t.Errorf("%s\nprints\n%s\nthe page says\n%s", e.commands, stdout.String(), e.json)
		}
	}
	for _, line := range e.lines {
		// protobuf's JSON may or may not have blanks behind its colons.
		if all := stdout.String() + stderr.String(); !strings.Contains(unspaced(all), unspaced(line)) {
			t.Errorf("%s\nprints\n%s\nthe page says %q", e.commands, all, line)
		}
	}
}

func unspaced(s string) string { return regexp.MustCompile(`([:,]) +`).ReplaceAllString(s, "$1") }

// holds reports whether want is a part of got.
func holds(got, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		fields, ok := got.(map[string]any)
		for name, w := range want {
			ok = ok && holds(fields[name], w)
		}
		return ok
	case []any:
		list, ok := got.([]any)
		ok = ok && len(list) == len(want)
		for i := range want {
			ok = ok && holds(list[i], want[i])
		}
		return ok
	default:
		return reflect.DeepEqual(got, want)
	}
}
