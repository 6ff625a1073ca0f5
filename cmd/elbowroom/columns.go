package main

import (
	"strings"
	"unicode"
)

// accent is for bars.
func (p page) accent(s string) string {
	if !p.colour || s == "" {
		return s
	}
	return "\x1b[36m" + s + "\x1b[0m"
}

// printable makes one line of a text that somebody else wrote, at most width columns wide: white space becomes one space,
// what a terminal would obey becomes nothing.
func printable(text string, width int) string {
	var line strings.Builder
	columns, space := 0, false
	for _, c := range text[:min(len(text), 64*width)] {
		switch {
		case unicode.IsSpace(c):
			space = line.Len() > 0
			continue
		case !unicode.IsPrint(c):
			continue
		}
		need := columnsOf(c)
		if space {
			need++
		}
		if columns+need > width {
			// Room for the dots: what was written last gives way.
			cut := []rune(line.String())
			for columns+1 > width && len(cut) > 0 {
				columns -= columnsOf(cut[len(cut)-1])
				cut = cut[:len(cut)-1]
			}
			return string(cut) + "…"
		}
		if space {
			line.WriteByte(' ')
		}
		line.WriteRune(c)
		columns, space = columns+need, false
	}
	return line.String()
}

// padded is a text of exactly width columns, cut if it has more.
func padded(text string, width int) string {
	text = printable(text, width)
	columns := 0
	for _, c := range text {
		columns += columnsOf(c)
	}
	return text + strings.Repeat(" ", width-columns)
}

// columnsOf is how many columns of a terminal a character takes: two for East Asian wide characters and pictographs, none
// for marks that combine.
func columnsOf(c rune) int {
	switch {
	case unicode.In(c, unicode.Mn, unicode.Me):
		return 0
	case c < 0x1100:
		return 1
	case c <= 0x115f, c >= 0x2e80 && c <= 0xa4cf, c >= 0xac00 && c <= 0xd7a3, c >= 0xf900 && c <= 0xfaff,
		c >= 0xfe30 && c <= 0xfe6f, c >= 0xff00 && c <= 0xff60, c >= 0xffe0 && c <= 0xffe6,
		c >= 0x1f300 && c <= 0x1faff, c >= 0x20000 && c <= 0x3fffd:
		return 2
	default:
		return 1
	}
}
