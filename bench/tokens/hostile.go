package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"
)

const (
	hostileSmall  = 200_000
	hostileLarge  = 2_000_000
	hostileRounds = 3
)

// hostileText is a text on which implementations slow down, hostileLarge bytes of it.
type hostileText struct{ name, text string }

func hostileTexts() []hostileText {
	r := rand.New(rand.NewPCG(3, 0))
	letters, data := make([]byte, hostileLarge), make([]byte, hostileLarge)
	for i := range letters {
		letters[i] = byte('a' + r.IntN(26))
		data[i] = byte(r.IntN(256))
	}
	var ideographs strings.Builder
	for ideographs.Len() < hostileLarge {
		ideographs.WriteRune(0x4e00 + r.Int32N(0x5000))
	}
	repeated := func(unit string) string { return strings.Repeat(unit, hostileLarge/len(unit)+1) }
	return []hostileText{
		{"one letter", repeated("a")},
		{"spaces", repeated(" ")},
		{"line breaks", repeated("\n")},
		{"indented empty lines", repeated(strings.Repeat(" ", 40) + "\n")},
		{"one ideograph", repeated("漢")},
		{"random ideographs", ideographs.String()},
		{"random letters", string(letters)},
		{"base64", base64.StdEncoding.EncodeToString(data)},
		{"emoji joined by ZWJ", repeated("👩\u200d👧\u200d")},
		{"underscores", repeated("_")},
	}
}

// measureHostile prints how the time grows when the text is ten times as long, and whether the Python package counts
// the same. The npm package is left out: its time is quadratic here.
func measureHostile(ctx context.Context, out io.Writer, name string, python *oracle) (bool, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "%s, hostile texts, cold\tMB/s, 200 KB\tMB/s, 2 MB\ttime, 2 MB to 200 KB\ttokens\tPython\t(its MB/s, 200 KB)\n", name)
	equal := true
	for _, h := range hostileTexts() {
		texts := []string{prefix(h.text, hostileSmall), prefix(h.text, hostileLarge)}
		theirs, err := python.count(texts)
		if err != nil {
			return false, err
		}
		var best [2]time.Duration
		var counts, said [2]string
		for i, text := range texts {
			n, used, err := shortestCold(ctx, name, text)
			if err != nil {
				return false, err
			}
			best[i] = used
			counts[i], said[i] = fmt.Sprint(n), fmt.Sprint(theirs[i].tokens)
			if theirs[i].tokens == failed {
				said[i] = "fails"
			}
			equal = equal && (counts[i] == said[i] || theirs[i].tokens == failed)
		}
		fmt.Fprintf(table, "%s\t%.0f\t%.0f\t%.1fx\t%s\t%s\t%.1f\n", h.name, rate(texts[0], best[0]), rate(texts[1], best[1]),
			best[1].Seconds()/best[0].Seconds(), strings.Join(counts[:], ", "), strings.Join(said[:], ", "), rate(texts[0], theirs[0].cpu))
	}
	if err := table.Flush(); err != nil {
		return false, err
	}
	fmt.Fprintln(out)
	return equal, nil
}

// shortestCold counts a text hostileRounds times, each time with an empty cache, and returns the shortest CPU time.
func shortestCold(ctx context.Context, name, text string) (count int, best time.Duration, err error) {
	for round := range hostileRounds {
		encoding, err := loaded(ctx, name)
		if err != nil {
			return 0, 0, err
		}
		n, used, err := counted(ctx, encoding, text)
		if err != nil {
			return 0, 0, err
		}
		count = n
		if round == 0 || used < best {
			best = used
		}
	}
	return count, best, nil
}

// rate is in MB a second.
func rate(text string, used time.Duration) float64 { return float64(len(text)) / 1e6 / used.Seconds() }

// prefix returns the first size bytes of a text, less the character that would be cut.
func prefix(text string, size int) string {
	for size < len(text) && !utf8.RuneStart(text[size]) {
		size--
	}
	return text[:size]
}
