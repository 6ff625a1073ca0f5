package conversation

import (
	"math"
	"strconv"
	"strings"
)

// Canonical returns a JSON text in one spelling: without white space between its
// tokens, each character and each number written one way. The order of keys stays, it
// is part of what a model reads. Two texts have the same canonical form exactly when
// they have the same tokens. Text that is not one JSON value is returned as it is.
func Canonical(json string) string {
	s := newScanner(json, DefaultMaxDepth)
	if _, err := s.skip(); err != nil || s.end() != nil {
		return json
	}
	if out, changed := appendCanonical(nil, json); changed {
		return string(out)
	}
	return json
}

// appendCanonical adds the canonical form of valid JSON to dst, unless it is in that
// form already, as most is.
func appendCanonical(dst []byte, json string) (out []byte, changed bool) {
	s := newScanner(json, math.MaxInt)
	written := 0
	instead := func(at Span, text string) {
		dst = append(append(dst, json[written:at.Start]...), text...)
		written = at.End
	}
	for s.pos < len(json) {
		start := s.pos
		switch c := json[start]; {
		case c == '"':
			if at, err := s.str(); err == nil && s.uncommon {
				instead(at, Quote(unquote(json[at.Start:at.End])))
			}
		case c == '-' || c >= '0' && c <= '9':
			_ = s.number() // is valid
			if have := json[start:s.pos]; have != canonicalNumber(have) {
				instead(Span{start, s.pos}, canonicalNumber(have))
			}
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			s.space()
			instead(Span{start, s.pos}, "")
		default:
			s.pos++
		}
	}
	if written == 0 {
		return dst, false
	}
	return append(dst, json[written:]...), true
}

// plainDigits is how many digits a canonical number has at most on either side of its
// point; beyond, it is written with an exponent.
const plainDigits = 21

// canonicalNumber writes a JSON number by its exact value: 1.50, 15e-1 and 1.5 alike.
// An exponent of more than nine digits is left alone.
func canonicalNumber(n string) string {
	mantissa, power, hasPower := strings.Cut(strings.ToLower(n), "e")
	if len(power) > 10 {
		return n
	}
	digits, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	if !hasPower && len(whole) <= plainDigits && len(fraction) <= plainDigits && !strings.HasSuffix(fraction, "0") {
		return n
	}
	exponent, _ := strconv.Atoi(power) // 0 for none
	exponent -= len(fraction)
	digits = strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed)
	digits = trimmed
	sign := ""
	if negative {
		sign = "-"
	}
	point := len(digits) + exponent // where it stands in the digits
	switch {
	case digits == "":
		return sign + "0"
	case point > plainDigits || -exponent > plainDigits:
		return sign + digits + "e" + strconv.Itoa(exponent)
	case exponent >= 0:
		return sign + digits + strings.Repeat("0", exponent)
	case point > 0:
		return sign + digits[:point] + "." + digits[point:]
	default:
		return sign + "0." + strings.Repeat("0", -point) + digits
	}
}
