package hostile

import "strings"

// Runs returns one unit repeated up to 63 to 4,000 times, alone and between words. Lengths stand at the limits where
// implementations change their way of merging, and far beyond. Most of these are one piece each, so implementations
// whose merging is quadratic need milliseconds for some.
func Runs() []string {
	units := []string{
		"a", "A", "z", "ab", "aA", "the", " ", "\t", "\n", "\r\n", " \n", "  \n", "\u00a0", "\u0085", "\u3000",
		"0", "9", "½", "_", "-", "=", "*", "^", "(", ")", "/", "\\", "'", "'s", ".", "…",
		"é", "e\u0301", "\u0301", "д", "漢", "的一是", "한", "カ", "ا", "ก", "🚢", "👩\u200d", "\ufe0f", "\ufeff", "\u200b",
		"\u0000", "\u007f", "<|endoftext|>",
	}
	var out []string
	for _, unit := range units {
		for _, times := range []int{63, 64, 65, 127, 128, 129, 499, 500, 1000, 2048, 4000} {
			// A unit of several characters has fewer repeats, so that the longest text is about 12 KB.
			run := strings.Repeat(unit, max(2, times/len([]rune(unit))))
			out = append(out, run)
			if times < 200 {
				out = append(out, "tide"+run+"pier", " "+run+" ", run+"\n1")
			}
		}
	}
	return out
}
