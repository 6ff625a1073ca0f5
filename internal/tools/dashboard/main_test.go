package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestTheDashboardIsTheOneWritten(t *testing.T) {
	want, err := dashboard()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../../" + path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error(path + " is not what go run ./internal/tools/dashboard writes")
	}
}

// Every metric and label of a query is one that docs/observability.md lists, which is
// held against what is exported; and every metric that it lists is shown.
func TestTheDashboardShowsTheMetricsThatThereAre(t *testing.T) {
	page, err := os.ReadFile("../../../docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{}
	shown := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `((?:elbowroom|rpc)_\\w+)` \\| (\\w+) \\| [^|]* \\| ([^|]*) \\|").FindAllStringSubmatch(string(page), -1) {
		name, kind := m[1], m[2]
		labels[name] = m[3] + "`job` `instance`"
		if kind == "histogram" {
			for _, suffix := range []string{"_bucket", "_count", "_sum"} {
				labels[name+suffix] = m[3] + "`job` `instance` `le`"
			}
		}
		shown[name] = false
	}
	// The Prometheus client's own, which the documentation does not list one by one.
	for _, name := range []string{"process_resident_memory_bytes", "process_cpu_seconds_total", "go_goroutines"} {
		labels[name] = "`job` `instance`"
	}
	text, err := os.ReadFile("../../../" + path)
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	metric := regexp.MustCompile(`\b(\w+)\{([^}]*)\}`)
	by := regexp.MustCompile(`by \(([^)]*)\)`)
	label := regexp.MustCompile(`(\w+)(?:=|!)`)
	queries := 0
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			queries++
			found := metric.FindAllStringSubmatch(target.Expr, -1)
			if len(found) == 0 {
				t.Errorf("%s: no metric in %s", p.Title, target.Expr)
			}
			for _, m := range found {
				name := m[1]
				have, known := labels[name]
				if !known {
					t.Errorf("%s: there is no metric %s", p.Title, name)
					continue
				}
				for _, suffix := range []string{"", "_bucket", "_count", "_sum"} {
					if base := strings.TrimSuffix(name, suffix); base != "" {
						if _, ok := shown[base]; ok {
							shown[base] = true
						}
					}
				}
				var used []string
				for _, list := range by.FindAllStringSubmatch(target.Expr, -1) {
					used = append(used, strings.Split(list[1], ", ")...)
				}
				for _, l := range label.FindAllStringSubmatch(m[2], -1) {
					used = append(used, l[1])
				}
				for _, l := range used {
					if !strings.Contains(have, "`"+l+"`") {
						t.Errorf("%s: %s has no label %s", p.Title, name, l)
					}
				}
			}
		}
	}
	if queries == 0 {
		t.Error("no queries")
	}
	for name, is := range shown {
		if !is && name != "elbowroom_kept_bodies" { // their memory is shown
			t.Errorf("%s is not shown", name)
		}
	}
}
