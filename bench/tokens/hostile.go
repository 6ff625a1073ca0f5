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
func measureHostile(ctx context.Context, out io.Writer, name string, python *oracle) (equal bool, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	encoding, err := loaded(ctx, name)
	if err != nil {
		return false, err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "%s, hostile texts\ttokens\tPython\t200 KB, ms\t2 MB, ms\tgrowth\tMB/s\n", name)
	equal = true
	for _, h := range hostileTexts() {
		var best [2]time.Duration
		var count int
		texts := []string{prefix(h.text, hostileSmall), prefix(h.text, hostileLarge)}
		for i, text := range texts {
			for round := range hostileRounds {
				n, used, err := counted(ctx, encoding, text)
				if err != nil {
					return false, err
				}
				if round == 0 || used < best[i] {
					best[i] = used
				}
				count = n
			}
		}
		answers, err := python.count(texts[1:])
		if err != nil {
			return false, err
		}
		equal = equal && answers[0].tokens == count
		small, large := best[0].Seconds(), best[1].Seconds()
		fmt.Fprintf(table, "%s\t%d\t%d\t%.1f\t%.1f\t%.1fx\t%.0f\n", h.name, count, answers[0].tokens, small*1e3, large*1e3, large/small,
			min(float64(len(texts[0]))/small, float64(len(texts[1]))/large)/1e6)
	}
	if err := table.Flush(); err != nil {
		return false, err
	}
	fmt.Fprintln(out)
	return equal, nil
}

// prefix returns the first size bytes of a text, less the character that would be cut.
func prefix(text string, size int) string {
	for !utf8.RuneStart(text[size]) {
		size--
	}
	return text[:size]
}
