package planted

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
)

// The alphabets of generated secrets.
const (
	Lowers      = "abcdefghijklmnopqrstuvwxyz"
	uppers      = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	Digits      = "0123456789"
	Letters     = Lowers + uppers
	AnyChar     = Letters + Digits
	Hexes       = Digits + "abcdef"
	TokenChars  = AnyChar + "-_"
	Base64Chars = AnyChar + "+/"
	base32      = uppers + "234567"
)

// Maker builds secrets, so that none stands whole in a file.
type Maker struct{ *rand.Rand }

// NewMaker returns a maker whose secrets depend on the seed only.
func NewMaker(seed uint64) Maker { return Maker{rand.New(rand.NewPCG(seed, 7))} }

// Of returns n random characters. The first is neither a sign nor a digit and
// the second a digit, as a key without any digit could be a word.
func (m Maker) Of(alphabet string, n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = alphabet[m.IntN(len(alphabet))]
	}
	if n >= 2 && strings.ContainsAny(alphabet, "b") {
		out[0], out[1] = "abcdef"[m.IntN(6)], "23456789"[m.IntN(8)]
	}
	return string(out)
}

// Token returns n characters that begin and end with a letter or digit.
func (m Maker) Token(n int) string {
	return m.Of(AnyChar, 4) + m.Of(TokenChars, n-8) + m.Of(AnyChar, 4)
}

// Base64 encodes n random bytes.
func (m Maker) Base64(n int) string {
	raw := make([]byte, n)
	for i := range raw {
		raw[i] = byte(m.IntN(256))
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// Block returns a block in the armour of PEM.
func (m Maker) Block(label string) string {
	var sb strings.Builder
	sb.WriteString("-----BEGIN " + label + "-----\n")
	for range 6 {
		sb.WriteString(m.Base64(48) + "\n")
	}
	sb.WriteString(m.Base64(20) + "\n-----END " + label + "-----")
	return sb.String()
}

func (m Maker) jwt() string {
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	return part(`{"alg":"HS256","typ":"JWT"}`) + "." + part(fmt.Sprintf(`{"sub":"%d"}`, m.IntN(1e9))) + "." + m.Token(43)
}

func (m Maker) card(prefix string, n int) string {
	digit := make([]byte, n)
	for i := range digit {
		digit[i] = byte(m.IntN(10))
		if i < len(prefix) {
			digit[i] = prefix[i] - '0'
		}
	}
	for last := range byte(10) {
		digit[n-1] = last
		if luhn(digit) {
			break
		}
	}
	for i := range digit {
		digit[i] += '0'
	}
	return string(digit)
}

// luhn reports whether the last digit is the check digit of the others.
func luhn(digits []byte) bool {
	sum := 0
	for i, double := len(digits)-1, false; i >= 0; i, double = i-1, !double {
		d := int(digits[i])
		if double {
			d = 2*d/10 + 2*d%10
		}
		sum += d
	}
	return sum%10 == 0
}
