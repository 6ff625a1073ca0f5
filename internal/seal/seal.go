package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"strconv"
)

// Verdict is what opening a blob found out.
type Verdict string

// The verdicts. A blob that is not Verified or Unverified is ignored.
const (
	// None: there was no blob.
	None Verdict = "none"
	// Verified: its signature is that of one of the keys.
	Verified Verdict = "verified"
	// Unverified: there are no keys and its checksum is right.
	Unverified Verdict = "unverified"
	// Foreign: it is something else, or of another version.
	Foreign Verdict = "ignored: not a state of this version"
	// Broken: its check failed.
	Broken Verdict = "ignored: its check failed"
)

// Good reports whether the payload may be used.
func (v Verdict) Good() bool { return v == Verified || v == Unverified }

// Codec seals and opens the blobs of one kind: a byte that names kind and version,
// a checksum or signature of 32 bytes, then the payload.
type Codec struct {
	// Kind is the first byte. It tells kinds of state and their versions apart.
	Kind byte
	// Keys sign (the first) and verify (all). Without one blobs carry a checksum.
	Keys [][]byte
	// Tenant is whose blobs they are. Those of another tenant fail their check.
	Tenant string
}

// Seal wraps a payload.
func (c Codec) Seal(payload []byte) []byte {
	var key []byte
	if len(c.Keys) > 0 {
		key = c.Keys[0]
	}
	out := append(make([]byte, 0, 1+sha256.Size+len(payload)), c.Kind)
	return append(append(out, c.tag(key, payload)...), payload...)
}

// Open unwraps a blob. The payload is nil unless the verdict is good.
func (c Codec) Open(blob []byte) ([]byte, Verdict) {
	switch {
	case len(blob) == 0:
		return nil, None
	case len(blob) < 1+sha256.Size || blob[0] != c.Kind:
		return nil, Foreign
	}
	sum, payload := blob[1:1+sha256.Size], blob[1+sha256.Size:]
	for _, key := range c.Keys {
		if hmac.Equal(sum, c.tag(key, payload)) {
			return payload, Verified
		}
	}
	if len(c.Keys) == 0 && subtle.ConstantTimeCompare(sum, c.tag(nil, payload)) == 1 {
		return payload, Unverified
	}
	return nil, Broken
}

// tag signs the payload, or sums it where there is no key. The first kind, that of
// compression states, came before there were others and is not part of its tag.
func (c Codec) tag(key, payload []byte) []byte {
	prefix := []byte{c.Kind}
	if c.Kind == 1 {
		prefix = nil
	}
	if c.Tenant != "" {
		prefix = append(prefix, "tenant "+strconv.Itoa(len(c.Tenant))+" "+c.Tenant+" "...)
	}
	if len(key) == 0 {
		h := sha256.New()
		h.Write(prefix)
		h.Write(payload)
		return h.Sum(nil)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(prefix)
	mac.Write(payload)
	return mac.Sum(nil)
}
