package config_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/internal/config"
)

var update = flag.Bool("update", false, "write the table of docs/configuration.md anew")

// The page for users lists every setting, with the default that the code has.
func TestDocumentationListsEverySetting(t *testing.T) {
	const path, begin, end = "../../docs/configuration.md", "-update` -->\n", "<!-- /settings -->"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(page), begin)
	_, tail, foundEnd := strings.Cut(rest, end)
	if !found || !foundEnd {
		t.Fatalf("%s has no place for the table", path)
	}
	var table strings.Builder
	table.WriteString("\n| key, flag, variable | default | reload | meaning |\n| --- | --- | --- | --- |\n")
	for _, s := range config.Settings() {
		value := "none"
		if s.Default != "" {
			value = "`" + s.Default + "`"
		}
		flag, reload := "`"+s.Flag()+"`", ""
		if s.Secret {
			flag = "no flag: a secret"
		}
		if s.Reloadable {
			reload = "yes"
		}
		fmt.Fprintf(&table, "| `%s`<br>%s<br>`%s` | %s | %s | %s |\n", s.Key, flag, s.Variable(), value, reload, s.Help)
	}
	table.WriteString("\n")
	want := head + begin + table.String() + end + tail
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(page)); diff != "" {
		t.Errorf("%s (-want +got; run with -update to accept):\n%s", path, diff)
	}
}

// The example of the page is a file that can be read.
func TestDocumentationExampleIsGood(t *testing.T) {
	page, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("no example")
	}
	c := load(t, config.Sources{File: writeFile(t, example)})
	if c.Compression.ModelThresholds["gpt-4.1"] != 0.4 {
		t.Errorf("settings %+v", c)
	}
}
