package tokens

// Class is the kind of text a token stands for. Other families' tokenizers differ from the OpenAI encodings by a
// factor that depends mostly on this kind, so the counts by class carry the estimates.
type Class uint8

// The classes. A word takes the class of its most distant script: one Han character makes it ClassCJK.
const (
	ClassLatin       Class = iota // words of ASCII letters, with the space or sign before them
	ClassDigits                   // runs of up to three digits
	ClassCJK                      // words with Han, Kana, Hangul or Bopomofo
	ClassPunctuation              // signs and symbols, with the newlines after them
	ClassDiacritic                // Latin words with letters beyond ASCII or with combining marks
	ClassOtherScript              // words of any other alphabet
	ClassSpace                    // white space that belongs to no word

	classCount
)

// Classes is the number of tokens of a text in each class.
type Classes struct {
	Tokens [classCount]int
	// Digits is the number of bytes in the ClassDigits tokens: some families give every digit its own token.
	Digits int
}

// Total is the number of tokens of the text.
func (c Classes) Total() int {
	total := 0
	for _, n := range c.Tokens {
		total += n
	}
	return total
}

// Add returns the sums, class by class.
func (c Classes) Add(other Classes) Classes {
	for i := range c.Tokens {
		c.Tokens[i] += other.Tokens[i]
	}
	c.Digits += other.Digits
	return c
}
