package tokens

import (
	"encoding/base64"
	"io"
	"strings"

	"github.com/elbowroom/elbowroom/conversation"
)

// inlineData reads the bytes of inline media from the front, so that a header costs no more than its own length. It
// takes raw bytes, and base64 text however it was written: with the alphabet of URLs, without padding, wrapped in lines,
// or percent-encoded as in a data: URL; and percent-encoded bytes of a data: URL without base64. At the first character
// that fits none of these the data ends.
type inlineData struct {
	bytes []byte // what is left, if the media holds bytes
	text  string // what is left of the text
	plain bool   // text is percent-encoded bytes, not base64
	group uint32 // bits of a base64 group that was begun
	bits  int    // how many of them there are
	chunk []byte // a piece of text, for the library
	// foreign is set when the data ended at a character that is neither base64 nor its padding.
	foreign bool
}

// inline returns the data of a media block; it is empty if there is none.
func inline(m *conversation.Media) *inlineData {
	if len(m.Bytes) > 0 {
		return &inlineData{bytes: m.Bytes}
	}
	return &inlineData{text: m.Data, plain: percentEncoded(m.Data)}
}

// percentEncoded reports whether the text begins with the signature of a file format as it stands. In base64 none begins so.
func percentEncoded(text string) bool {
	for _, signature := range []string{"%89PNG", "GIF8", "%FF%D8%FF", "%ff%d8%ff", "RIFF", "%PDF-", "%25PDF-"} {
		if strings.HasPrefix(text, signature) {
			return true
		}
	}
	return false
}

// Read implements io.Reader. It never fails but at the end.
func (d *inlineData) Read(p []byte) (int, error) {
	switch {
	case len(p) == 0:
		return 0, nil
	case len(d.bytes) > 0:
		n := copy(p, d.bytes)
		d.bytes = d.bytes[n:]
		return n, nil
	case d.text == "":
		return 0, io.EOF
	}
	// Plain base64 goes through the library, which is several times faster; what it refuses is read byte by byte.
	if whole := min(len(d.text), len(p)/3*4) / 4 * 4; whole > 0 && d.bits == 0 && !d.plain {
		d.chunk = append(d.chunk[:0], d.text[:whole]...)
		if n, err := base64.StdEncoding.Decode(p, d.chunk); err == nil && n == whole/4*3 {
			d.text = d.text[whole:]
			return n, nil
		}
	}
	n := 0
	for n < len(p) {
		b, ok := d.next()
		if !ok {
			d.text = ""
			break
		}
		p[n] = b
		n++
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// next decodes one byte of text.
func (d *inlineData) next() (byte, bool) {
	for d.text != "" {
		c, size := d.text[0], 1
		if c == '%' && len(d.text) >= 3 {
			if high, low := hexDigit(d.text[1]), hexDigit(d.text[2]); high >= 0 && low >= 0 {
				c, size = byte(high<<4|low), 3
			}
		}
		d.text = d.text[size:]
		if d.plain {
			return c, true
		}
		value := base64Digit(c)
		switch {
		case value >= 0:
			d.group = d.group<<6 | uint32(value)
			d.bits += 6
		case c == '\n' || c == '\r' || c == ' ' || c == '\t':
			continue
		default: // padding, or not base64
			d.foreign = c != '='
			return 0, false
		}
		if d.bits >= 8 {
			d.bits -= 8
			return byte(d.group >> d.bits), true
		}
	}
	return 0, false
}

func base64Digit(c byte) int {
	switch {
	case c >= 'A' && c <= 'Z':
		return int(c - 'A')
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 26
	case c >= '0' && c <= '9':
		return int(c-'0') + 52
	case c == '+', c == '-':
		return 62
	case c == '/', c == '_':
		return 63
	default:
		return -1
	}
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	default:
		return -1
	}
}

// mediaHead returns up to n of the first bytes of inline data. It looks at no more text than plain base64 needs for them,
// or at a few kilobytes.
func mediaHead(m *conversation.Media, n int) []byte {
	head := make([]byte, min(n, mediaLength(m)+3))
	data := inline(m)
	data.text = data.text[:min(len(data.text), max(n/3*4, 4<<10))]
	read, _ := io.ReadFull(data, head) // short data is what there is
	return head[:read]
}

// mediaLength is about the size of inline data in bytes, 0 if there is none.
func mediaLength(m *conversation.Media) int {
	if len(m.Bytes) > 0 {
		return len(m.Bytes)
	}
	if percentEncoded(m.Data) {
		return len(m.Data)
	}
	return len(m.Data) / 4 * 3
}
