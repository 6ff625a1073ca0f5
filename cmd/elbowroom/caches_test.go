package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tables writes files with one good row each, and one row of each that makes no sense.
func tables(t *testing.T) (layouts, prices, badLayouts, badPrices string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	const one = `{"layouts":[{"name":"ANTHROPIC","title":"two marks","mark":"cache_control","forms":["anthropic-messages","typed"],"results":"block","max_marks":2,"ttls":["5m"],"minimum":"anthropic"}`
	return write("layouts.json", one+`]}`),
		write("prices.json", `[{"models":["claude-sonnet-5-5"],"input":1000,"write_5m":1000,"read":1000,"date":"2027-01-01","source":"a contract"}]`),
		write("bad-layouts.json", one+`,{"name":"MINIMAX","max_marks":9}]}`),
		write("bad-prices.json", `[{"models":["a"],"input":1,"date":"2027-01-01"},{"models":["b"],"input":-1,"date":"2027-01-01"}]`)
}

func TestATableThatMakesNoSenseStopsTheStart(t *testing.T) {
	_, _, layouts, prices := tables(t)
	row := map[string]string{layouts: layouts + ": layouts: layouts[1] (MINIMAX): max_marks 9", prices: prices + ": row 1 (b): prices cannot be used: a rate of -1"}
	for _, c := range []struct {
		name string
		args []string
		file string
		key  string
	}{
		{"serve, layouts", []string{"serve", "--prompt-caching-layouts-file", layouts}, layouts, "layouts"},
		{"serve, prices", []string{"serve", "--prompt-caching-prices-file", prices}, prices, "prices"},
		{"cache, layouts", []string{"cache", "--layouts-file", layouts, "testdata/anthropic.json"}, layouts, "layouts"},
		{"cache, prices", []string{"cache", "--prices-file", prices, "testdata/anthropic.json"}, prices, "prices"},
		{"replay, layouts", []string{"cache", "--replay", "--layouts-file", layouts, "testdata/turn-3.json"}, layouts, "layouts"},
		{"replay, prices", []string{"cache", "--replay", "--prices-file", prices, "testdata/turn-3.json"}, prices, "prices"},
		{"no file", []string{"serve", "--prompt-caching-prices-file", "/does/not/exist.json"}, "", "prices"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := runArgs(t, c.args...)
			if want := "prompt_caching." + c.key + "_file: " + row[c.file]; got.code != exitUsage || !strings.Contains(got.stderr, want) {
				t.Errorf("exit code %d, stderr %q, want %q", got.code, got.stderr, want)
			}
		})
	}
	env := process{environ: []string{"ELBOWROOM_PROMPT_CACHING_LAYOUTS_FILE=" + layouts}}
	if got := runWith(t, env, "config", "check"); got.code != exitUsage || !strings.Contains(got.stderr, row[layouts]) {
		t.Errorf("config check: %+v", got)
	}
}

func TestTablesTakeThePlaceOfBuiltInRows(t *testing.T) {
	layouts, prices, _, _ := tables(t)
	marked := runArgs(t, "cache", "--layout", "anthropic", "--layouts-file", layouts, "testdata/turn-3.json")
	if marked.code != exitOK || !strings.Contains(strings.ToUpper(marked.stdout), "BREAKPOINTS (2 OF") {
		t.Errorf("two marks are allowed: %+v", marked)
	}
	replayed := runArgs(t, "cache", "--replay", "--layouts-file", layouts, "--prices-file", prices, "--json", "testdata/turn-3.json")
	if replayed.code != exitOK || !strings.Contains(replayed.stdout, `"price_date": "2027-01-01"`) || !strings.Contains(replayed.stdout, `"price_source": "a contract"`) {
		t.Errorf("the price of the file: %+v", replayed)
	}
	env := process{environ: []string{"ELBOWROOM_PROMPT_CACHING_PRICES_FILE=" + prices}}
	if got := runWith(t, env, "cache", "--replay", "--json", "testdata/turn-3.json"); !strings.Contains(got.stdout, `"price_date": "2027-01-01"`) {
		t.Errorf("the configured price: %+v", got)
	}
	if got := runArgs(t, "cache", "--server", "127.0.0.1:1", "--prices-file", prices, "testdata/turn-3.json"); got.code != exitUsage || !strings.Contains(got.stderr, "go without --server") {
		t.Errorf("tables for somebody else's server: %+v", got)
	}
	_, b := serve(t, "--prompt-caching-layouts-file", layouts, "--prompt-caching-prices-file", prices)
	for _, want := range []string{"Cache layouts: built in, with the rows of " + layouts, "Cache prices: built in, with the rows of " + prices} {
		if !strings.Contains(b.out.String(), want) {
			t.Errorf("serve says\n%s, want %q", b.out.String(), want)
		}
	}
	b.cancel()
	<-b.code
}

// The examples of the page for users are files that can be read.
func TestDocumentedTablesAreGood(t *testing.T) {
	page, err := os.ReadFile("../../docs/caching.md")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"cache"}
	for _, kind := range []string{"layouts", "prices"} {
		_, rest, _ := strings.Cut(string(page), "```json "+kind+"\n")
		example, _, found := strings.Cut(rest, "```")
		if !found {
			t.Fatalf("no example of %s", kind)
		}
		file := filepath.Join(t.TempDir(), kind+".json")
		if err := os.WriteFile(file, []byte(example), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--"+kind+"-file", file)
	}
	got := runArgs(t, append(args, "--replay", "--json", "testdata/turn-3.json")...)
	if got.code != exitOK || !strings.Contains(got.stdout, `"price_source": "our contract"`) {
		t.Errorf("%+v", got)
	}
}
