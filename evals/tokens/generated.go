package main

import (
	"math/rand/v2"
	"strings"
	"unicode"
)

// generatedTexts returns n texts that are hard on a tokenizer: every kind of character next to every other, words in every
// case, white space and signs in runs, and snippets of code and markup. They depend on the seed only.
func generatedTexts(n int, seed uint64) []string {
	g := &generator{rand.New(rand.NewPCG(seed, 0))} //nolint:gosec // repeatable on purpose
	out := make([]string, 0, n)
	for c := rune(0x20); c < 0x10000 && len(out) < n/4; c += 1 + rune(g.IntN(8)) {
		if c < 0xD800 || c > 0xDFFF {
			out = append(out, g.frame(string(c)))
		}
	}
	for len(out) < n {
		var b strings.Builder
		for range 1 + g.IntN(14) {
			b.WriteString(g.part())
		}
		out = append(out, b.String())
	}
	return out
}

type generator struct{ *rand.Rand }

func (g *generator) one(list []string) string { return list[g.IntN(len(list))] }

// frame puts a character between others of every kind.
func (g *generator) frame(c string) string {
	around := []string{"", " ", "  ", "a", "A", "1", ".", "'", "\n", "\t", "文", "é", "²", "\u0301", "ヲ", "😀", "(", "’", "\u0BCD", "："}
	return g.one(around) + g.one(around) + c + g.one(around) + g.one(around) + c + c + g.one(around)
}

func (g *generator) part() string {
	switch g.IntN(14) {
	case 0:
		return g.one([]string{" ", " ", " ", "  ", "   ", "\n", "\n\n", "\t", " \n", "\n ", "\r\n", "\u00a0", "\u3000", "\u2028", "\x00", "\u200b"})
	case 1:
		return strings.Repeat(g.one([]string{" ", "\n", "\t", "=", "-", ".", "/", "*", "#", "a", "A", "0", "文", "ー", "\u0301", "😀", "'"}), 1+g.IntN(300))
	case 2:
		return g.one([]string{"'", "''", "'s", "'S", "'t", "'ll", "'LL", "'re", "'ve", "'d", "'m", "’s", "’t", "'x", "(’s)", "'s'", "\"'s"})
	case 3:
		return g.word()
	case 4, 5:
		return " " + g.word()
	case 6:
		var b strings.Builder
		for range 1 + g.IntN(6) {
			b.WriteByte(byte('!' + g.IntN(94)))
		}
		return b.String()
	case 7:
		return g.digits()
	case 8:
		return string(rune(0x80 + g.IntN(0x800)))
	case 9:
		return g.letters()
	case 10:
		return g.one([]string{"²", "²,", "².", "²}-.", "\u0BCD,", "：\"", "（", "）", "。", "、", "？", "々", "〆", "〇", "→", "…", "—", "√", "№", "½", "Ⅷ", "ⓐⒷ", "٣", "१", "⚖️", "👩‍👩‍👧", "🏳️", "\ufe0f", "\ufdd0", "\ue000", "\u0e4d\u0e32", "\u0301", "\u0730", "\u0711", "가\u11a8"})
	case 11:
		return g.one([]string{"func (s *Server) ", "x != nil {\n\t\treturn err\n\t}\n", "</div>\n<p class=\"a\">", "{\"id\": 17, \"ok\": true},", "https://example.com/a?b=c&d=1#e", "i++; j -= 2", "SELECT * FROM t WHERE a = 'b';", "```go\n", "--- a/x.go\n+++ b/x.go\n@@ -1,3 +1,4 @@\n", "2026-11-30T12:00:00Z", "0xDEADBEEF", "snake_case_name", "camelCaseName", "HTTPServerError", "C:\\Users\\x", "$HOME/.config"})
	case 12:
		var b strings.Builder
		for range 1 + g.IntN(4) {
			if c := rune(g.IntN(0x11000)); unicode.IsPrint(c) {
				b.WriteRune(c)
			}
		}
		return b.String()
	default:
		return string(rune(0x20 + g.IntN(0xD7E0)))
	}
}

func (g *generator) word() string {
	w := g.one([]string{"the", "tide", "harbor", "configuration", "internationalization", "élan", "naïve", "straße", "привет", "мир", "καλημέρα", "σοφός", "İstanbul", "ǆungla", "ẞharp", "ﬁne", "שלום", "שָׁלוֹם", "مرحبا", "مَرْحَبًا", "नमस्ते", "हिन्दी", "สวัสดี", "ขำ", "こんにちは", "カタカナー", "漢字仮名", "안녕하세요", "tiếng", "Việt", "e\u0301te\u0301", "ᏣᎳᎩ", "ꙗко", "gpt", "q", "abcdefghijklmnop"})
	switch g.IntN(6) {
	case 0:
		return strings.ToUpper(w)
	case 1, 2:
		return strings.ToUpper(w[:1]) + w[1:]
	case 3:
		var b strings.Builder
		for _, c := range w {
			if g.IntN(2) == 0 {
				c = unicode.ToUpper(c)
			}
			b.WriteRune(c)
		}
		return b.String()
	default:
		return w
	}
}

func (g *generator) digits() string {
	digits := g.one([]string{"0123456789", "0123456789", "٠١٢٣٤٥٦٧٨٩", "०१२३४५६७८९", "¹²³½¼", "0123456789abcdef"})
	list := []rune(digits)
	var b strings.Builder
	for range 1 + g.IntN(12) {
		b.WriteRune(list[g.IntN(len(list))])
	}
	return b.String()
}

// letters are characters of one script, its marks and signs included.
func (g *generator) letters() string {
	scripts := []rune{0x0370, 0x0400, 0x0530, 0x0590, 0x0600, 0x0700, 0x0900, 0x0B80, 0x0E00, 0x0E80, 0x0F00, 0x1000, 0x10A0, 0x1100, 0x13A0, 0x1780, 0x1E00, 0x1F00, 0x3040, 0x30A0, 0x4E00, 0xAC00, 0xA640, 0x10400, 0x1F600}
	script := scripts[g.IntN(len(scripts))]
	var b strings.Builder
	for range 1 + g.IntN(10) {
		b.WriteRune(script + rune(g.IntN(96)))
	}
	return b.String()
}
