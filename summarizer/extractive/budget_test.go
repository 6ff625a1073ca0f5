package extractive

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/testdata"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/tokens"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestEveryBudgetIsKeptOnRealConversations(t *testing.T) {
	enc, err := tokens.NewEncoding(tokens.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range testdata.Conversations(t) {
		t.Run(f.Name, func(t *testing.T) {
			req := middleOf(t, f, enc.Count)
			for _, budget := range []int{20, 33, 60, 150, 700, 2000, 12_000} {
				req.Budget = budget
				resp, err := New().Summarize(context.Background(), req)
				if err != nil {
					t.Fatalf("budget %d: %v", budget, err)
				}
				checkShape(t, req, resp)
			}
		})
	}
}

func TestUpdatesOfRealConversationsKeepTheirBudget(t *testing.T) {
	enc, err := tokens.NewEncoding(tokens.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range testdata.Conversations(t) {
		t.Run(f.Name, func(t *testing.T) {
			whole := middleOf(t, f, enc.Count)
			previous := ""
			for round := 1; round <= 5; round++ {
				req := whole
				req.Turns = whole.Turns[(round-1)*len(whole.Turns)/5 : round*len(whole.Turns)/5]
				req.Budget, req.Previous, req.Round = 800, previous, round
				resp, err := New().Summarize(context.Background(), req)
				if errors.Is(err, summarizer.ErrNothingToSay) {
					continue
				}
				if err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
				checkShape(t, req, resp)
				previous = resp.Text
			}
		})
	}
}

func TestTheSameRequestGivesTheSameBytes(t *testing.T) {
	files := testdata.Conversations(t)
	for _, f := range files[:min(len(files), 6)] {
		req := middleOf(t, f, quarter)
		req.Budget = 3000
		s := New()
		want, err := s.Summarize(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				got, err := s.Summarize(context.Background(), req)
				if err != nil || got.Text != want.Text || got.Tokens != want.Tokens {
					t.Errorf("%s: another run differs (error %v):\n%s", f.Name, err, cmp.Diff(want.Text, got.Text))
				}
			})
		}
		wg.Wait()
	}
}

func TestTinyBudgetsGiveTheMostImportantLine(t *testing.T) {
	req := request(user("Repair the lock of the harbour gate before the tide comes in, and mind the gulls."), assistant("Looking at gate_7."))
	for budget := 8; budget <= 40; budget++ {
		req.Budget = budget
		got := summarize(t, req)
		if !strings.Contains(got, "[0]") {
			t.Errorf("budget %d gives %q, not the goal", budget, got)
		}
	}
	req.Budget = 2
	_, err := New().Summarize(context.Background(), req)
	wantErr(t, err, summarizer.ErrBudgetTooSmall)
}

func TestAnEmptyMiddleIsAnError(t *testing.T) {
	for _, req := range []summarizer.Request{
		request(),
		request(assistant(""), text(conversation.RoleSystem, " ")),
	} {
		_, err := New().Summarize(context.Background(), req)
		wantErr(t, err, summarizer.ErrNothingToSay)
	}
}

func TestErrorsOfTheCounterAndTheContextComeThrough(t *testing.T) {
	broken := errors.New("no vocabulary")
	req := request(user("Hello heron_1."))
	req.Count = func(context.Context, string) (int, error) { return 0, broken }
	_, err := New().Summarize(context.Background(), req)
	wantErr(t, err, broken)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = New().Summarize(ctx, request(user("Hello heron_1.")))
	wantErr(t, err, context.Canceled)
}

func TestACounterThatIsNotAdditiveIsStillObeyed(t *testing.T) {
	req := request(append([]conversation.Message{user("Build heron_1 with rule_2.")}, chatter(30)...)...)
	// Longer texts cost more than the sum of their lines.
	req.Count = func(_ context.Context, s string) (int, error) { return len(s)/8 + len(s)*len(s)/4000 + 1, nil }
	req.Budget = 200
	summarize(t, req)
}

func TestTheFocusGetsMostOfTheRoom(t *testing.T) {
	var msgs []conversation.Message
	for i := range 60 {
		msgs = append(msgs,
			assistant(fmt.Sprintf("The render pipeline step_%d blends layer_%d into buffer_%d with factor 0.%d.", i, i, i, i+10)),
			assistant(fmt.Sprintf("The database schema table_%d has column col_%d of type VARCHAR with limit %d.", i, i, i*17+300)))
	}
	share := func(focus string) float64 {
		req := request(append([]conversation.Message{user("Make the thing work.")}, msgs...)...)
		req.Budget, req.Focus = 500, focus
		got := summarize(t, req)
		return float64(strings.Count(got, "table_")) / float64(strings.Count(got, "table_")+strings.Count(got, "step_"))
	}
	with, without := share("database schemas"), share("")
	if with < 0.6 || without > 0.6 {
		t.Errorf("the focus has %.2f of the lines, %.2f without a focus", with, without)
	}
}

func TestCutsKeepLettersWhole(t *testing.T) {
	// Field case Cc046.
	for _, letter := range []string{"📥", "👨‍👩‍👧‍👦", "é", "각", "🇵🇹"} {
		for pad := range 40 {
			s := strings.Repeat("x", 100+pad) + strings.Repeat(letter, 60)
			for n := 90; n < 200; n += 7 {
				got := strings.TrimSuffix(clip(s, n), ellipsis)
				rest, whole := strings.CutPrefix(s, got)
				if !whole || strings.Trim(got, "x")+rest != strings.TrimLeft(s, "x") && len(strings.ReplaceAll(strings.TrimLeft(got, "x"), letter, "")) > 0 {
					t.Fatalf("clip(%q, %d) = %q", letter, n, got)
				}
				if len(got)+len(ellipsis) > n {
					t.Fatalf("clip to %d bytes gives %d", n, len(got)+len(ellipsis))
				}
				if left := strings.ReplaceAll(strings.TrimLeft(got, "x"), letter, ""); left != "" {
					t.Fatalf("half a letter is left: %q", left)
				}
			}
		}
	}
}

func TestGolden(t *testing.T) {
	input, err := os.ReadFile(filepath.Join("testdata", "harbour.json"))
	if err != nil {
		t.Fatal(err)
	}
	enc, err := tokens.NewEncoding(tokens.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	req := middleOf(t, testdata.File{Name: "harbour", Format: testdata.OpenAI, JSON: string(input)}, enc.Count)
	req.Budget = 700
	got := summarize(t, req)
	name := filepath.Join("testdata", "harbour.golden.md")
	if *update {
		if err := os.WriteFile(name, []byte(got+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got+"\n"); diff != "" {
		t.Errorf("-want +got (run with -update to accept)\n%s", diff)
	}
}

func TestHostileTextTakesLinearTime(t *testing.T) {
	const size = 256 << 10
	for _, unit := range []string{
		"a", "/", "a/", "a.", "=", "1", "{", "[", `{"a":`, `"`, "\\", "\n", "- [ ] x\n", "\x1b[", "<think>", "<memory>\n", "```\n", "é", "中", "👨‍👩‍👧", "\u0301",
		"a\u200d", "exit code ", "user: x\n", "error 1\n", "http://", "a b ", "\r", "|", "1. x\n", "x; ", "https://a.b/c?d=e&", "\x00", "A1_b-c.d/e:f=g ",
	} {
		s := strings.Repeat(unit, size/len(unit))
		req := request(user(s), assistant(s), calling("a", "bash", `{"command":`+conversation.Quote(s)+`}`), result("a", s))
		req.Previous, req.Round, req.Focus = s, 2, s
		if _, err := New().Summarize(context.Background(), req); err != nil && !errors.Is(err, summarizer.ErrNothingToSay) {
			t.Errorf("%q: %v", unit, err)
		}
	}
}

func FuzzSummarize(f *testing.F) {
	f.Add("Never touch a/b.go.", "Fixed. Next: x?", `{"path":"a/b.go"}`, `{"a":[1,{"b":"c\n"}]}`, "## Goal\n- [r1:2] user: \"x\"", "b", 100)
	f.Add("1. a\n2. b\n3. c", "<think>x", "not json", "exit code 1\nError: x", "- [x] y\n**Done:**\nz", "", 20)
	f.Add("必须。不要改。", "- [x] 完成\n- [ ] 次", `{"command":"cat x.y > z/w.q"}`, "\x1b[31mred\xff\x00", "", "完成", 50)
	s := New()
	f.Fuzz(func(t *testing.T, said, answer, input, output, previous, focus string, budget int) {
		req := request(user(said), assistant(answer), calling("a", "bash", input), result("a", output))
		req.Previous, req.Round, req.Focus, req.Budget = previous, 2, focus, budget%500
		resp, err := s.Summarize(context.Background(), req)
		if err != nil {
			if !errors.Is(err, summarizer.ErrBudgetTooSmall) && !errors.Is(err, summarizer.ErrNothingToSay) {
				t.Fatal(err)
			}
			return
		}
		checkShape(t, req, resp)
		again, err := s.Summarize(context.Background(), req)
		if err != nil || again.Text != resp.Text {
			t.Errorf("another run differs: %v", cmp.Diff(resp.Text, again.Text))
		}
	})
}
