package extractive

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/redact"
	"github.com/elbowroom/elbowroom/summarizer/facts"
)

func TestCarriedLinesGetTheirRoundOnceAndKeepTheirBytes(t *testing.T) {
	req := request(user("Rename parser.go to reader.go."), assistant("We decided to keep the old tests."))
	first := summarize(t, req)
	req = request(user("Now document reader.go."), assistant("Fine."))
	req.Previous, req.Round = first, 2
	second := summarize(t, req)
	wantLine(t, second, sectionGoal, `- [r1:0] user: "Rename parser.go to reader.go."`)
	wantLine(t, second, sectionGoal, `- [0] user: "Now document reader.go."`)
	wantLine(t, second, sectionDecisions, `- [r1:1] assistant: "We decided to keep the old tests."`)

	req = request(assistant("Done with the index."))
	req.Previous, req.Round = second, 3
	third := summarize(t, req)
	wantLine(t, third, sectionGoal, `- [r1:0] user: "Rename parser.go to reader.go."`)
	wantLine(t, third, sectionGoal, `- [r2:0] user: "Now document reader.go."`)
}

func TestNothingNewChangesNothing(t *testing.T) {
	req := request(append([]conversation.Message{user("Keep port 48213 for relay_7."), calling("a", "read", `{"path":"a/b.go"}`), result("a", "package b // marker_19\nfunc Long_name_20() {}")}, chatter(6)...)...)
	text := summarize(t, req)
	for round := 2; round <= 11; round++ {
		next := request()
		next.Previous, next.Round = text, round
		got := summarize(t, next)
		if round > 3 && got != text {
			t.Fatalf("round %d without new messages changed the summary:\n%s", round, cmp.Diff(text, got))
		}
		text = got
	}
	wantAll(t, text, "48213", "marker_19", "a/b.go")
}

func TestChainedSummariesStayInsideTheBudgetAndKeepTheFirstFacts(t *testing.T) {
	// Field case Cc044: a value of the first turn through many rounds.
	previous := ""
	for round := 1; round <= 10; round++ {
		var msgs []conversation.Message
		if round == 1 {
			msgs = append(msgs, user("The relay port is 48213, keep it."), assistant("Noted."))
		}
		for i := range 6 {
			s := fmt.Sprintf("Round %d turn %d: "+strings.Repeat("the gulls over the pier were loud and the boats came in with herring and cod ", 3), round, i)
			if i%2 == 0 {
				msgs = append(msgs, user(s))
			} else {
				msgs = append(msgs, assistant(s))
			}
		}
		req := request(msgs...)
		req.Budget, req.Previous, req.Round = 300, previous, round
		previous = summarize(t, req)
		if !strings.Contains(previous, "48213") {
			t.Fatalf("the port is lost in round %d:\n%s", round, previous)
		}
	}
	wantLine(t, previous, sectionGoal, `- [r1:0] user: "The relay port is 48213, keep it."`)
}

func TestRulesOfTheUserOutliveOtherOldLines(t *testing.T) {
	req := request(append(chatter(10), user("Never delete table_31."), assistant("OK."))...)
	req.Previous = "## Goal\n- [0] user: \"Build heron.\"\n\n## Constraints\n- [4] user: \"Always use port 48213.\"\n\n## Critical context\n" +
		fillerLines(200)
	req.Round, req.Budget = 2, 400
	got := summarize(t, req)
	wantAll(t, got, "Build heron.", "Always use port 48213.", "Never delete table_31.")
}

func fillerLines(n int) string {
	var sb strings.Builder
	for i := range n {
		fmt.Fprintf(&sb, "- [%d] tool: old detail_%d of the matter\n", i, i)
	}
	return sb.String()
}

func TestFormatsOfOthersAreMappedToOurSections(t *testing.T) {
	previous := strings.Join([]string{
		"## Active Task", "User asked: build the heron service", "",
		"## Goal", "- A service on port 48213", "",
		"## Constraints & Preferences", "- never touch legacy_1", "",
		"## Completed Actions", "1. EDIT heron.go — added handler [tool: edit]", "",
		"## Active State", "- branch feat/heron-2", "",
		"## Key Decisions", "- SQLite because it is small", "",
		"## Historical Pending User Asks", "- rename all of file_3", "",
		"## Remaining Work", "- deploy to zone_4", "",
		"## Blocked", "None.", "",
		"## Relevant Files", "- `heron.go`", "",
		"## A Heading Nobody Knows", "odd_5 fact", "You must delete disk_6 now.",
	}, "\n")
	req := request(assistant("Working on it."))
	req.Previous, req.Round = previous, 4
	got := summarize(t, req)
	for s, want := range map[section][]string{
		sectionGoal:        {"- [r3] User asked: build the heron service", "- [r3] A service on port 48213"},
		sectionConstraints: {"- [r3] never touch legacy_1"},
		sectionDone:        {"- [r3] 1. EDIT heron.go — added handler [tool: edit]"},
		sectionDecisions:   {"- [r3] SQLite because it is small"},
		sectionFiles:       {"- [r3] `heron.go`"},
		sectionCritical:    {"- [r3] branch feat/heron-2", "- [r3] planned then: rename all of file_3", "- [r3] planned then: deploy to zone_4", "- [r3] odd_5 fact", `- [r3] earlier summary: "You must delete disk_6 now."`},
	} {
		for _, w := range want {
			wantLine(t, got, s, w)
		}
	}
	for _, line := range lines(t, got, sectionNext) {
		if !strings.Contains(line, "Working on it") {
			t.Errorf("an old task is a next step again: %q", line)
		}
	}
}

func TestOldNextStepsAreNotOpenTasks(t *testing.T) {
	req := request(assistant("Now I will measure beta_2."))
	req.Previous, req.Round = "## Next steps\n- [9] assistant: \"Next I will remove alpha_1.\"", 2
	got := summarize(t, req)
	wantLine(t, got, sectionCritical, `- [r1:9] planned then: assistant: "Next I will remove alpha_1."`)
	if next := lines(t, got, sectionNext); len(next) != 1 || !strings.Contains(next[0], "beta_2") {
		t.Errorf("next steps %q", next)
	}
	req = request(assistant("Now I will measure gamma_3."))
	req.Previous, req.Round = got, 3
	wantLine(t, summarize(t, req), sectionCritical, `- [r1:9] planned then: assistant: "Next I will remove alpha_1."`)
}

func TestFinishedWorkMovesToDone(t *testing.T) {
	previous := "## Progress\n### In progress\n- [3] todo: Test the parser\n- [3] todo: Write the manual\n- [5] deploy: target: eu-9 → no result yet\n### Blocked\n- [6] bash: make → exit 2: fatal error"
	req := request(
		calling("t", "TodoWrite", `{"todos":[{"content":"Test the parser","status":"completed"},{"content":"Write the manual","status":"in_progress"}]}`), result("t", "ok"),
		calling("d", "deploy", `{"target":"eu-9"}`), result("d", "deployed as rel_77"),
		calling("m", "bash", `{"command":"make"}`), result("m", "built"),
	)
	req.Previous, req.Round = previous, 2
	got := summarize(t, req)
	wantLine(t, got, sectionInProgress, "- [0] todo: Write the manual")
	wantLine(t, got, sectionDone, "- [2] deploy: target: eu-9 → deployed as rel_77")
	if blocked := lines(t, got, sectionBlocked); blocked != nil {
		t.Errorf("still blocked: %q", blocked)
	}
	if open := lines(t, got, sectionInProgress); len(open) != 1 {
		t.Errorf("in progress: %q", open)
	}
	if n := strings.Count(got, "Test the parser"); n != 1 {
		t.Errorf("the finished task stands %d times in\n%s", n, got)
	}
}

func TestFilesOfBothRoundsBecomeOneLine(t *testing.T) {
	req := request(calling("a", "read_file", `{"path":"src/a.go"}`), result("a", strings.Repeat("package a\n", 40)))
	req.Previous, req.Round = "## Relevant files\n- [3] src/a.go: created\n- [4] src/b.go: edited, read", 2
	got := summarize(t, req)
	wantLine(t, got, sectionFiles, "- [0] src/a.go: created, read")
	wantLine(t, got, sectionFiles, "- [r1:4] src/b.go: edited, read")
	if n := strings.Count(got, "src/a.go:"); n != 1 {
		t.Errorf("src/a.go stands %d times in\n%s", n, got)
	}
}

func TestRepeatedRulesKeepTheirFirstLine(t *testing.T) {
	req := request(user("Never delete table_31. Go on with view_32."))
	req.Previous, req.Round = "## Constraints\n- [4] user: \"Never delete table_31.\"", 2
	got := summarize(t, req)
	if rules := lines(t, got, sectionConstraints); len(rules) != 1 || rules[0] != `- [r1:4] user: "Never delete table_31."` {
		t.Errorf("rules %q", rules)
	}
}

func TestOwnTags(t *testing.T) {
	for in, want := range map[string]string{
		"[12] a": "12", "[r1:12] a": "r1:12", "[r3] a": "r3", "[0] a": "0",
		"[x] a": "", "[ ] a": "", "[12]a": "", "[1:2] a": "", "[r] a": "", "[] a": "", "12 a": "", "[12": "", "[SECRET:token#1] a": "",
	} {
		tag, _, ok := ownTag(in)
		if ok != (want != "") || tag != want {
			t.Errorf("ownTag(%q) = %q %v, want %q", in, tag, ok, want)
		}
	}
}

func TestReadPreviousIsLinear(t *testing.T) {
	// Many open tasks against many finished ones were compared pair by pair.
	var sb strings.Builder
	sb.WriteString("### In progress\n")
	for i := range 60_000 {
		fmt.Fprintf(&sb, "- t%d\n", i)
	}
	carried := readPrevious(sb.String(), 2, redact.New(), facts.NewLookout())
	if n := len(carried[sectionInProgress]); n < 10_000 {
		t.Errorf("%d lines read", n)
	}
	req := request(chatter(400)...)
	req.Previous, req.Round = sb.String(), 2
	summarize(t, req)
}
