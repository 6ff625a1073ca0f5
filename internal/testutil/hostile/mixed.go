package hostile

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode"
)

// Mixed returns n random texts of many kinds: Unicode classes, contractions, base64, control-token text, code, JSON and
// prose cut anywhere, odd spaces, emoji sequences, combining marks, scripts that are new in Unicode.
func Mixed(seed uint64, n int) []string {
	kinds := []func(*rand.Rand) string{
		ofClasses, ofClasses, ofClasses, contraction, contraction, encoded, controlTokens, snippet, snippet,
		oddSpaces, emoji, marks, newScripts, anyCharacters, wordsAndRun, wordSalad,
	}
	r := source(seed, mixedStream)
	out := make([]string, 0, n)
	for len(out) < n {
		if text := pick(r, kinds)(r); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// ofClasses draws from one to four of Unicode's classes.
func ofClasses(r *rand.Rand) string {
	classes := []*unicode.RangeTable{
		unicode.Lu, unicode.Ll, unicode.Lt, unicode.Lm, unicode.Lo, unicode.Mn, unicode.Mc, unicode.Me, unicode.Nd,
		unicode.Nl, unicode.No, unicode.Pd, unicode.Po, unicode.Sm, unicode.Sk, unicode.So, unicode.Zs, unicode.Cc,
		unicode.Cf, unicode.Co,
	}
	chosen := make([]*unicode.RangeTable, 1+r.IntN(4))
	for i := range chosen {
		chosen[i] = pick(r, classes)
	}
	var b strings.Builder
	for range 1 + r.IntN(40) {
		b.WriteRune(runeOf(r, pick(r, chosen)))
	}
	return b.String()
}

func contraction(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(6) {
		b.WriteString(pick(r, []string{"we", "WE", "She", "l", "été", "漢", "д", "1", ")", "", " ", "\n", "e\u0301", "ǅ", "ª"}))
		b.WriteString(pick(r, []string{"'", "'", "'", "’", "ʼ", "‘", "`", "＇", "''", "' "}))
		b.WriteString(pick(r, []string{
			"s", "S", "ſ", "t", "T", "re", "RE", "rE", "ve", "VE", "Ve", "m", "M", "ll", "LL", "lL", "d", "D", "l", "r", "v", "x", "",
		}))
		b.WriteString(pick(r, []string{"", " ", "s", "S", "x", "\u0301", "1", "'", ".", "\n"}))
	}
	return b.String()
}

func encoded(r *rand.Rand) string {
	data := make([]byte, 1+r.IntN(400))
	for i := range data {
		data[i] = byte(r.IntN(256))
	}
	switch r.IntN(4) {
	case 0:
		return hex.EncodeToString(data)
	case 1:
		return base64.URLEncoding.EncodeToString(data)
	case 2:
		return fmt.Sprintf("%q", data)
	default:
		return "data:image/png;base64," + base64.StdEncoding.EncodeToString(data)
	}
}

// controlTokens writes what looks like control tokens; as ordinary text each is several tokens.
func controlTokens(r *rand.Rand) string {
	names := []string{
		"<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|endofprompt|>", "<|im_start|>", "<|im_end|>",
		"<|start|>", "<|message|>", "<|channel|>", "<|return|>", "<|call|>", "<|constrain|>", "<|reserved_200013|>", "[INST]", "</s>",
	}
	var b strings.Builder
	for range 1 + r.IntN(5) {
		name := pick(r, names)
		if r.IntN(3) == 0 {
			name = name[r.IntN(len(name)):]
		}
		b.WriteString(name)
		b.WriteString(pick(r, []string{"", " ", "\n", "user", "漢", "'s"}))
	}
	return b.String()
}

// snippet cuts a piece out of text as it really occurs, at any character.
func snippet(r *rand.Rand) string {
	samples := []string{
		"The harbour master wrote down every boat that came in before the storm, and didn't sleep until dawn. \"Tide's out,\" he said -- twice.\n\n",
		"func main() {\n\tfmt.Println(\"hello, world\")\n\tfor i := 0; i < 10; i++ {\n\t\tdefer wg.Done()\n\t}\n}\n\n\n// HTTPServer serves xml2JSON.\n",
		"    def __init__(self, *args, **kwargs):\n        super().__init__()\n        self._cache: dict[str, int] = {}\n\n    @property\n",
		"SELECT id, name FROM harbour WHERE tide >= 3.25 AND pier IN (1, 22, 333, 4444) ORDER BY name DESC; -- done\r\n",
		"{\"id\":\"a1b2c3\",\"values\":[1,22,333,4444,55555,3.14159,-2.5e10],\"ok\":true,\"none\":null,\"path\":\"C:\\\\dir\\n\",\"u\":\"\\u00e9\"}",
		"2026-11-30T04:05:06.789Z ERROR [worker-12] pkg/store/memory.go:214: key \"7f3a\" not found (attempt 3/5, 1.25s)\n",
		"https://example.org/a/b/c?x=1&y=%20z#frag/ment//end\n/\n//\r\n/x ../../lib/node_modules/@scope/pkg/index.d.ts:10:2",
		"<div class=\"a b\"><p>caf&eacute;</p></div>\n<!-- x -->\n| a | b |\n|---|:-:|\n| `x` | **y** |\n- [ ] todo\n1. one\n",
		"潮汐表显示，今天的高水位是3.2米。请在下午5点之前离开码头！（重要）漢字仮名交じり文とカタカナ、ひらがなの混ざった文章です。",
		"조수 간만의 차가 오늘은 매우 큽니다. Прилив сегодня выше обычного на тридцать сантиметров. المد اليوم أعلى من المعتاد",
		"Thủy triều hôm nay cao hơn bình thường. L'été, à Orléans, où les élèves fêtent Noël: ça coûte 1 234,56 €. ज्वार आज ऊँचा है। น้ำขึ้นสูง",
		"diff --git a/x b/x\n@@ -1,4 +1,4 @@\n-\told  \n+\tnew\n \n\x1b[31mFAIL\x1b[0m\t100% |████▌   | 4.5/10 [00:01<00:01]\r",
	}
	text := []rune(pick(r, samples))
	from := r.IntN(len(text))
	return string(text[from : from+1+r.IntN(len(text)-from)])
}

// oddSpaces mixes characters that are white space in one standard and not in another.
func oddSpaces(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(20) {
		b.WriteString(pick(r, []string{
			"\ufeff", "\u0085", "\u200b", "\u180e", "\u00a0", "\u1680", "\u2000", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f",
			"\u3000", "\u2060", "\u00ad", "\v", "\f", "\x1c", "\x1f", " ", "  ", "\n", "\r", "\t", "x", "1", ".", "é",
		}))
	}
	return b.String()
}

func emoji(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(12) {
		b.WriteString(pick(r, []string{
			"👩\u200d👩\u200d👧\u200d👦", "👨🏽\u200d💻", "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", "🇳🇴", "1\ufe0f\u20e3", "❤\ufe0f\u200d🔥",
			"🚢", "⚓\ufe0e", "🧑🏿", "\u200d", "\ufe0f", "🫩", "🪿", " ", "ok",
		}))
	}
	return b.String()
}

func marks(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(16) {
		b.WriteString(pick(r, []string{"a", "A", "ǅ", "漢", "1", " ", "(", "\n", "'", "'s", "/", ""}))
		for range r.IntN(4) {
			b.WriteRune(pick(r, []rune{0x301, 0x308, 0x327, 0x489, 0x20dd, 0x93e, 0x94d, 0x5b0, 0x64b, 0xe34, 0xfe0f, 0x1d165, 0xe0100}))
		}
	}
	return b.String()
}

// newScripts draws from blocks that came late into Unicode, some later than the tables of many programs.
func newScripts(r *rand.Rand) string {
	blocks := [][2]rune{
		{0x1e900, 0x1e95f}, {0x104b0, 0x104ff}, {0x16e40, 0x16e9f}, {0x1e2c0, 0x1e2ff}, {0x1e4d0, 0x1e4ff}, {0x11f00, 0x11f59},
		{0x10d40, 0x10d8f}, {0x105c0, 0x105ff}, {0x11bc0, 0x11bff}, {0x16100, 0x1613f}, {0x16d40, 0x16d7f}, {0x1e5d0, 0x1e5ff},
		{0x11380, 0x113ff}, {0x10940, 0x1095f}, {0x16ea0, 0x16edf}, {0x11db0, 0x11def}, {0x1e6c0, 0x1e6ff}, {0x30000, 0x3347f},
		{0x1fa70, 0x1faff}, {0xa7c0, 0xa7ff}, {0x1c80, 0x1c8f}, {0x0870, 0x089f},
	}
	block := pick(r, blocks)
	var b strings.Builder
	for range 1 + r.IntN(20) {
		if r.IntN(4) == 0 {
			b.WriteString(pick(r, []string{" ", "'s", "a", "1", "/", "\n", "."}))
		}
		b.WriteRune(block[0] + r.Int32N(block[1]-block[0]+1))
	}
	return b.String()
}

func anyCharacters(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(16) {
		b.WriteRune(anyRune(r))
	}
	return b.String()
}

func wordsAndRun(r *rand.Rand) string {
	unit := pick(r, []string{"a", " ", "\n", "0", "_", "=", "é", "漢", "🚢", "ab", "\t", "\u0301", "-", "Z"})
	times := 1 + r.IntN(80)
	if r.IntN(20) == 0 {
		times = 100 + r.IntN(500)
	}
	return words(r, 1) + strings.Repeat(unit, times) + words(r, 1)
}

func wordSalad(r *rand.Rand) string { return words(r, 1+r.IntN(14)) }

// words writes n words and bits of text, some of them glued together.
func words(r *rand.Rand, n int) string {
	list := []string{
		"the", "The", "THE", "don't", "I'LL", "camelCase", "HTTPServer", "x", "\n\n", "  ", "\t", "function", "é", "naïve",
		"漢字", "ひらがな", "Привет", "سلام", "12345", "3.14", "->", "();\n", "</div>", "<|endoftext|>", "\\n", "\"key\": ", "…",
		"_", "__init__", "0x7f", "\u007f", "\x00", "\u00ad", "tide's", "'", "''s", "a'b", "\r\n", "\n \n", "antidisestablishmentarianism",
	}
	var b strings.Builder
	for range n {
		b.WriteString(pick(r, list))
		if r.IntN(2) == 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}
