package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/internal/config"
	"github.com/elbowroom/elbowroom/internal/tools/session"
)

func playDemo(t *testing.T) *demo {
	t.Helper()
	c, err := config.Load(config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	conn, err := connect(t.Context(), process{stderr: &stderr}, c, "", remote{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.stop()
	text, err := session.JSON()
	if err != nil {
		t.Fatal(err)
	}
	d := &demo{client: conn.client, body: text}
	if err := d.play(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	return d
}

// The published example: 45 messages of about 95,000 tokens become about 25 of
// fewer than 50,000.
func TestThePublishedExampleHolds(t *testing.T) {
	d := playDemo(t)
	r := d.compressed.GetReport()
	if r.GetMessagesBefore() != 45 || r.GetTokensBefore() < 93_000 || r.GetTokensBefore() > 97_000 {
		t.Errorf("before: %d messages, %d tokens", r.GetMessagesBefore(), r.GetTokensBefore())
	}
	if r.GetMessagesAfter() < 22 || r.GetMessagesAfter() > 27 || r.GetTokensAfter() > 50_000 {
		t.Errorf("after: %d messages, %d tokens", r.GetMessagesAfter(), r.GetTokensAfter())
	}
	if f := d.fates(); f.kept+f.changed+f.removed != 45 || f.kept+f.changed+f.added != r.GetMessagesAfter() {
		t.Errorf("the edits %+v do not add up", f)
	}
}

// The numbers that the docs name are those of the demo, to the nearest thousand.
func TestTheDocsNameTheNumbersOfTheDemo(t *testing.T) {
	r := playDemo(t).compressed.GetReport()
	round := func(n int32) string { return grouped((n + 500) / 1000 * 1000) }
	want := fmt.Sprintf("%d messages of about %s tokens become %d of about %s.",
		r.GetMessagesBefore(), round(r.GetTokensBefore()), r.GetMessagesAfter(), round(r.GetTokensAfter()))
	page, err := os.ReadFile("../../docs/getting-started.md")
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(strings.Fields(string(page)), " "); !strings.Contains(text, want) {
		t.Errorf("docs/getting-started.md does not say %q", want)
	}
}

// A summarizer that forgets half of what the session planted is none.
func TestMostFactsOfTheSessionSurvive(t *testing.T) {
	d := playDemo(t)
	lost := 0
	for _, f := range session.Facts() {
		if d.whereabouts(f) == "LOST" {
			lost++
			t.Logf("lost: %s (%s)", f.What, f.Text)
		}
	}
	if lost > 4 {
		t.Errorf("%d of %d facts were lost", lost, len(session.Facts()))
	}
}

func TestTheDemoShowsWhatItPromises(t *testing.T) {
	dir := t.TempDir()
	got := runArgs(t, "demo", "--out", dir)
	if got.code != exitOK || got.stderr != "" {
		t.Fatalf("exit code %d: %s", got.code, got.stderr)
	}
	for _, want := range []string{
		"Before and after", "head", "middle", "tail", "What happened to the messages", "Where things are now", "The summary, message 3 of the result",
		"Breakpoints (4 of at most 4)", "system prompt, block 0", "Calls, each timed once", "ListModels", "CountTokens", "Compress", "ApplyCacheControl", "Prepare",
	} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("the demo does not show %q", want)
		}
	}
	if strings.Contains(got.stdout, "  NO\n") {
		t.Errorf("a promise was broken:\n%s", got.stdout)
	}
	for _, name := range []string{"before.json", "after.json"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(text) {
			t.Errorf("%s is not JSON", name)
		}
	}
}

// The session as a file, through the compress command.
func TestCompressTellsWhatItDid(t *testing.T) {
	text, err := session.JSON()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.json"), filepath.Join(dir, "out.json")
	if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got := runArgs(t, "compress", "--window", "128000", "--out", out, in)
	for _, want := range []string{
		"COMPRESSED", "45 messages", " smaller)", "threshold   64,000 tokens of a window of 128,000",
		"Regions", "middle  3 to 24 (22)", "Changes", "summarized", "by extractive", "Summary", "  ## ",
	} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("the report does not say %q:\n%.2000s", want, got.stdout)
		}
	}
	result, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	again := runArgs(t, "compress", "--window", "128000", "--json", out)
	var report struct {
		Outcome      string
		Conversation any
		Report       struct{ TokensBefore, TokensAfter int }
	}
	if err := json.Unmarshal([]byte(again.stdout), &report); err != nil {
		t.Fatalf("%v\n%+v", err, again)
	}
	if report.Outcome != "OUTCOME_BELOW_THRESHOLD" || report.Conversation != nil || report.Report.TokensAfter >= 50_000 || len(result) >= len(text) {
		t.Errorf("the result, compressed again: %+v", report)
	}
	// Where nothing fits, the report says so and the program still succeeds.
	if got := runArgs(t, "compress", "--window", "128000", "--target", "20000", "--force", in); got.code != exitOK || !strings.HasPrefix(got.stdout, "TARGET UNREACHABLE") {
		t.Errorf("with a target of 20,000: %d %.200s%s", got.code, got.stdout, got.stderr)
	}
	if got := runArgs(t, "compress", "--window", "128000", "--layer", "gateway", in); !strings.HasPrefix(got.stdout, "BELOW THRESHOLD") {
		t.Errorf("the gateway layer: %.200s", got.stdout)
	}
	if got := runArgs(t, "compress", "--window", "128000", "--plan", in); !strings.HasPrefix(got.stdout, "PLANNED") {
		t.Errorf("the plan: %.200s", got.stdout)
	}
}
