package tokens

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/internal/testutil/hostile"
)

// Every cut of every text is tried alone: both parts must add up to the whole, class by class.
func TestCountsOfPartsAddUpAtEverySafeCut(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	texts := slices.Concat(hostile.Joints(), hostile.Mixed(11, 6_000), hostile.Alphabets(11, 6_000), hostile.Runs())
	for range 14_000 {
		// What the rules are about, side by side.
		var b strings.Builder
		for range 2 + r.IntN(12) {
			b.WriteString([]string{
				" ", " ", "\n", "\n", "\r", "\t", "\u0085", "\u00a0", "\u3000", "\u2028", "/", "'", "s", "'s", "A", "é", "漢", "7", "!", ".", "\u0301", "\u200b", "\ufeff", "🚢",
			}[r.IntN(24)])
		}
		texts = append(texts, b.String())
	}
	for _, name := range []string{O200kBase, CL100kBase} {
		e, cuts := newEncoding(t, name), 0
		for _, text := range texts {
			whole := countClasses(t, e, text)
			for at := e.split.nextCut(text, 0); at < len(text); at = e.split.nextCut(text, at+1) {
				cuts++
				got := countClasses(t, e, text[:at]).Add(countClasses(t, e, text[at:]))
				if got != whole {
					t.Fatalf("%s: %q | %q: %v, whole %v", name, text[:at], text[at:], got, whole)
				}
			}
		}
		t.Logf("%s: %d cuts in %d texts", name, cuts, len(texts))
		if cuts < 20_000 {
			t.Errorf("%s: only %d cuts tried", name, cuts)
		}
	}
}

func countClasses(t testing.TB, e *Encoding, text string) Classes {
	t.Helper()
	classes, err := e.CountClasses(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return classes
}

func TestLongTextsCountTheSameOnManyProcessors(t *testing.T) {
	texts := map[string]string{
		"one run":       strings.Repeat("漢", parallelLength),
		"no cuts":       strings.Repeat("x1", parallelLength),
		"spaces":        strings.Repeat(" ", 2*parallelLength),
		"indented":      strings.Repeat(strings.Repeat(" ", 40)+"\n", parallelLength/20),
		"invalid UTF-8": strings.Repeat("tide \xff\n", parallelLength/3),
		"hostile":       strings.Join(hostile.Mixed(9, 40_000), " "),
	}
	for _, name := range []string{O200kBase, CL100kBase} {
		alone, many := newEncodingOn(t, name, 1), newEncodingOn(t, name, 4)
		for label, text := range texts {
			if diff := cmp.Diff(countClasses(t, alone, text), countClasses(t, many, text)); diff != "" {
				t.Errorf("%s: %s: one processor and four differ (-one +four):\n%s", name, label, diff)
			}
		}
		if got := len(many.helpers); got != 0 {
			t.Errorf("%s: %d helpers at work after the last call", name, got)
		}
	}
}

// newEncodingOn returns an encoding that counts as on a machine with that many processors.
func newEncodingOn(t testing.TB, name string, processors int) *Encoding {
	t.Helper()
	before := runtime.GOMAXPROCS(processors)
	defer runtime.GOMAXPROCS(before)
	e := newEncoding(t, name)
	count(t, e, "load")
	return e
}

func TestCountOfALongTextStopsWhenTheContextEnds(t *testing.T) {
	e := newEncodingOn(t, O200kBase, 4)
	text := strings.Repeat("The harbour is closed.\n", 100_000)
	// The bubble ends when every goroutine made in it has ended, and fails the test if one waits for ever.
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := e.Count(ctx, text); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want context.Canceled", err)
		}
	})
	if got := len(e.helpers); got != 0 {
		t.Errorf("%d helpers at work after the call", got)
	}
}
