package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// member is one key of an object and the bytes of its value.
type member struct {
	key   string
	value []byte
}

// object is a JSON object taken apart without losing a byte: glue[i] stands
// before value i (brace or comma, white space, key, colon), the last glue after
// the last value.
type object struct {
	members []member
	glue    [][]byte
}

// get returns the bytes of a value, nil when the key is absent.
func (o *object) get(key string) []byte {
	for i := range o.members {
		if o.members[i].key == key {
			return o.members[i].value
		}
	}
	return nil
}

// text returns a string value, "" when it is absent or no string.
func (o *object) text(key string) string {
	s, _ := decodeString(o.get(key))
	return s
}

// array is a JSON array taken apart in the same way.
type array struct {
	elements [][]byte
	glue     [][]byte
}

// splitObject takes an object apart. Repeated keys are an error: nobody can say
// which of the values counts.
func splitObject(raw []byte) (object, error) {
	var o object
	seen := make(map[string]bool)
	err := split(raw, '{', func(dec *json.Decoder) error {
		token, err := dec.Token()
		if err != nil {
			return err
		}
		key := token.(string) // the decoder accepts nothing else here
		if seen[key] {
			return fmt.Errorf("the key %q occurs twice", key)
		}
		seen[key] = true
		o.members = append(o.members, member{key: key})
		return nil
	}, func(glue, value []byte) {
		o.glue = append(o.glue, glue)
		if value != nil {
			o.members[len(o.members)-1].value = value
		}
	})
	return o, err
}

// splitArray takes an array apart.
func splitArray(raw []byte) (array, error) {
	var a array
	err := split(raw, '[', func(*json.Decoder) error { return nil }, func(glue, value []byte) {
		a.glue = append(a.glue, glue)
		if value != nil {
			a.elements = append(a.elements, value)
		}
	})
	return a, err
}

// split walks the values one level deep. The last call of emit carries no value.
func split(raw []byte, open json.Delim, key func(*json.Decoder) error, emit func(glue, value []byte)) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	token, err := dec.Token()
	if err != nil {
		return err
	}
	if token != open {
		return fmt.Errorf("want %v, have %s", open, excerpt(raw))
	}
	at := 0
	for dec.More() {
		if err := key(dec); err != nil {
			return err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		end := int(dec.InputOffset())
		start := end - len(value)
		if start < at || !bytes.Equal(raw[start:end], value) {
			return fmt.Errorf("lost the place at byte %d of %s", end, excerpt(raw))
		}
		emit(raw[at:start], raw[start:end])
		at = end
	}
	if _, err := dec.Token(); err != nil {
		return err
	}
	if rest := bytes.TrimSpace(raw[dec.InputOffset():]); len(rest) > 0 {
		return fmt.Errorf("text after the value: %s", excerpt(rest))
	}
	emit(raw[at:], nil)
	return nil
}

// decodeString decodes a JSON string literal and reports whether raw is one.
func decodeString(raw []byte) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", false
	}
	return s, true
}

// isNull reports whether a value is absent or null.
func isNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }

// sameGlue reports whether two values of one shape have the same bytes between
// their values.
func sameGlue(a, b [][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

// loneSurrogates counts \u escapes of a JSON text that are half of a pair.
func loneSurrogates(raw []byte) int {
	lone := 0
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		if raw[i+1] != 'u' {
			i++
			continue
		}
		switch unit := hexUnit(raw, i); {
		case unit >= 0xD800 && unit < 0xDC00 && isLowSurrogate(raw, i+6):
			i += 11
		case unit >= 0xD800 && unit < 0xE000:
			lone++
			i += 5
		default:
			i += 5
		}
	}
	return lone
}

func isLowSurrogate(raw []byte, at int) bool {
	unit := hexUnit(raw, at)
	return unit >= 0xDC00 && unit < 0xE000
}

// hexUnit reads a \uXXXX escape, -1 when there is none.
func hexUnit(raw []byte, at int) int {
	if at+6 > len(raw) || raw[at] != '\\' || raw[at+1] != 'u' {
		return -1
	}
	unit := 0
	for _, c := range raw[at+2 : at+6] {
		switch {
		case c >= '0' && c <= '9':
			unit = unit<<4 | int(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			unit = unit<<4 | int(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return unit
}
