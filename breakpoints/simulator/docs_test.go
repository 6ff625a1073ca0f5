package simulator

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestThePageOnPrefixStabilityNamesFindingsThatExist(t *testing.T) {
	source, err := os.ReadFile("finding.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/prefix-stability.md")
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	for _, m := range regexp.MustCompile(`Code\w+\s+= "([^"]+)"`).FindAllStringSubmatch(string(source), -1) {
		known[m[1]] = true
	}
	rows := 0
	for line := range strings.Lines(string(page)) {
		columns := strings.Split(line, "|")
		if len(columns) != 5 || !strings.Contains(columns[3], "`") {
			continue
		}
		rows++
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(columns[3], -1) {
			if !known[m[1]] {
				t.Errorf("no finding %q", m[1])
			}
		}
	}
	if rows < 10 {
		t.Errorf("the page has %d rules", rows)
	}
}
