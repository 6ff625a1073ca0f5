package breakpoints

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/conversation"
)

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestDocsShowWhatHappens(t *testing.T) {
	page := read(t, "../docs/caching.md")
	fence := func(name string) string {
		m := regexp.MustCompile("(?s)```json " + name + "\n(.*?)```").FindStringSubmatch(page)
		if m == nil {
			t.Fatalf("no %s block in docs/caching.md", name)
		}
		return m[1]
	}
	_, out := place(t, anthropic, fence("input"), Options{})
	if diff := cmp.Diff(fence("output"), out); diff != "" {
		t.Errorf("docs/caching.md (-page +result):\n%s", diff)
	}
}

func TestDocsExplainEveryReasonAndWarningOfARequest(t *testing.T) {
	page := read(t, "../docs/caching.md")
	for _, r := range reasons {
		if !strings.Contains(page, "| `"+string(r)+"` |") {
			t.Errorf("docs/caching.md does not explain %s", r)
		}
	}
	for _, code := range []string{WarnBelowMinimum, WarnAutomaticRemoved, WarnToolMarksRemoved, WarnMarksRespected, WarnIllegalMark, WarnTTLClamped, WarnNoAutomatic, WarnNoSystem, WarnStaticMismatch, WarnMarksRemoved} {
		if !strings.Contains(page, "`"+code+"`") {
			t.Errorf("docs/caching.md does not mention %s", code)
		}
	}
}

func ExamplePlace() {
	body, err := os.ReadFile("../docs/examples/harbour-office.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := conversation.Parse(conversation.FormatAnthropicMessages, string(body), conversation.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := Place(c, Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Layout, "-", res.Reason)
	for _, b := range res.Breakpoints {
		fmt.Println(b.Position, b.TTL)
	}
	fmt.Println(len(res.Rewrite.Splices()), "splices")
	// Output:
	// ANTHROPIC - native Anthropic conversation
	// system[0] 5m
	// messages[2].content[0] 5m
	// messages[3].content[1] 5m
	// messages[4].content[0] 5m
	// 6 splices
}
