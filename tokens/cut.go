package tokens

import "unicode/utf8"

// nextCut returns the first place at or after at where text can be cut so that the counts of both parts add up to the count
// of the whole, in every class and both encodings; len(text) if there is none. Two rules are used:
//
//   - before an ASCII space whose left neighbour is not white space: a space is inside a piece only in a run of white
//     space, and no alternative looks further ahead than the end of such a run;
//   - after a line feed when neither white space nor a slash follows: only CR, LF and the slash can follow a line feed in
//     its piece.
func (p *splitter) nextCut(text string, at int) int {
	for at = max(at, 1); at < len(text); at++ {
		switch {
		case text[at] == ' ':
			if r, _ := utf8.DecodeLastRuneInString(text[:at]); !p.runes.isSpace(r) {
				return at
			}
		case text[at-1] == '\n' && text[at] != '/':
			if properties, _ := p.runes.at(text, at); properties&space == 0 {
				return at
			}
		}
	}
	return len(text)
}
