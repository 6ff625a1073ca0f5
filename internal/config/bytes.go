package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes is a number of bytes. Its text form is a whole number with an optional
// unit: 1024, 64KiB, 64MiB, 2GiB.
type Bytes int64

// The units, largest first.
const (
	gib = 1 << 30
	mib = 1 << 20
	kib = 1 << 10
)

// UnmarshalText implements [encoding.TextUnmarshaler].
func (b *Bytes) UnmarshalText(text []byte) error {
	digits, unit := strings.TrimSpace(string(text)), int64(1)
	for _, u := range []struct {
		word string
		size int64
	}{{"GiB", gib}, {"MiB", mib}, {"KiB", kib}, {"B", 1}} {
		if head, ok := strings.CutSuffix(digits, u.word); ok {
			digits, unit = strings.TrimSpace(head), u.size
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return fmt.Errorf("%q is not a number of bytes such as 1024, 64KiB, 64MiB or 2GiB", text)
	}
	*b = Bytes(n * unit)
	return nil
}

// MarshalText implements [encoding.TextMarshaler].
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// String writes the number with the largest unit that divides it.
func (b Bytes) String() string {
	switch n := int64(b); {
	case n != 0 && n%gib == 0:
		return strconv.FormatInt(n/gib, 10) + "GiB"
	case n != 0 && n%mib == 0:
		return strconv.FormatInt(n/mib, 10) + "MiB"
	case n != 0 && n%kib == 0:
		return strconv.FormatInt(n/kib, 10) + "KiB"
	default:
		return strconv.FormatInt(n, 10)
	}
}
