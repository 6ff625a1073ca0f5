package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/elbowroom/elbowroom/internal/testutil/hostile"
	"github.com/elbowroom/elbowroom/tokens"
)

const (
	invalidTexts = 2_000
	// shownDifferences is how many differences are printed for an encoding and an oracle.
	shownDifferences = 10
)

var errDifferent = errors.New("token counts differ")

// pair is a text for our counter and the same for an oracle: they differ where the text is not valid UTF-8, which
// counts as one U+FFFD for each bad byte.
type pair struct{ ours, theirs string }

func compare(ctx context.Context, out io.Writer, dir, data string, seed uint64) error {
	sets, err := comparedSets(data, seed)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "encoding\toracle\tstrings\tdifferences")
	total := 0
	for _, encoding := range []string{tokens.O200kBase, tokens.CL100kBase} {
		different, err := compareEncoding(ctx, out, table, dir, encoding, sets.pairs)
		if err != nil {
			return err
		}
		total += different
	}
	fmt.Fprintf(out, "strings: %s (seed %d)\n\n", strings.Join(sets.parts, ", "), seed)
	if err := table.Flush(); err != nil {
		return err
	}
	if total > 0 {
		return errDifferent
	}
	return nil
}

type compared struct {
	pairs []pair
	parts []string // what the pairs consist of, for the report
}

func comparedSets(data string, seed uint64) (compared, error) {
	var c compared
	add := func(name string, texts []string) {
		for _, text := range texts {
			c.pairs = append(c.pairs, pair{ours: text, theirs: replaceInvalid(text)})
		}
		c.parts = append(c.parts, fmt.Sprintf("%d %s", len(texts), name))
	}
	for _, set := range hostile.Sets(seed) {
		add(set.Name, set.Texts)
	}
	add("invalid UTF-8", hostile.Invalid(seed, invalidTexts))
	recorded, err := recordedTexts(data)
	if err != nil {
		return compared{}, err
	}
	if len(recorded) == 0 && os.Getenv("CI") == "true" {
		return compared{}, fmt.Errorf("no recorded texts in %s and CI=true", data)
	}
	if len(recorded) == 0 {
		c.parts = append(c.parts, "skipped: recorded ("+data+" does not exist)")
		return c, nil
	}
	add("recorded", recorded)
	return c, nil
}

func compareEncoding(ctx context.Context, out, table io.Writer, dir, name string, pairs []pair) (int, error) {
	encoding, err := tokens.NewEncoding(name)
	if err != nil {
		return 0, err
	}
	ours := make([]int, len(pairs))
	theirs := make([]string, len(pairs))
	for i, p := range pairs {
		if ours[i], err = encoding.Count(ctx, p.ours); err != nil {
			return 0, err
		}
		theirs[i] = p.theirs
	}
	oracles, err := startOracles(ctx, dir, name)
	if err != nil {
		return 0, err
	}
	total := 0
	for _, o := range oracles {
		answers, err := o.count(theirs)
		if err != nil {
			return 0, err
		}
		different := 0
		for i, answer := range answers {
			if answer.tokens == ours[i] {
				continue
			}
			if different++; different <= shownDifferences {
				fmt.Fprintf(out, "%s: %d tokens, %s says %d: %.300q\n", name, ours[i], o.version, answer.tokens, pairs[i].ours)
			}
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\n", name, o.version, len(answers), different)
		total += different
		if err := o.stop(); err != nil {
			return 0, err
		}
	}
	return total, nil
}

// replaceInvalid writes U+FFFD for every byte that is not part of a valid character.
func replaceInvalid(text string) string {
	return string([]rune(text))
}
