package compressor

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
)

// stateVersion is the first byte of every compression state.
const stateVersion = 1

// state is what a compression state carries.
type state struct {
	// Round counts the compressions so far.
	Round int `json:"round"`
	// Digest is that of the summary's body, in hexadecimal.
	Digest string `json:"summary_sha256"`
}

// matches reports whether the state belongs to the summary in the conversation.
func (s state) matches(body string) bool { return s.Round > 0 && s.Digest == digest(body) }

func digest(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])
}

// stateCodec writes and reads compression states: a version byte, a checksum or
// signature of 32 bytes, then JSON.
type stateCodec struct{ keys [][]byte }

func (c stateCodec) seal(s state) []byte {
	payload, err := json.Marshal(s)
	if err != nil {
		return nil // a struct of an int and a string always encodes
	}
	key := []byte(nil)
	if len(c.keys) > 0 {
		key = c.keys[0]
	}
	out := append([]byte{stateVersion}, tag(key, payload)...)
	return append(out, payload...)
}

// open returns the state and what became of it. A blob that fails is ignored.
func (c stateCodec) open(blob []byte) (state, string) {
	if len(blob) == 0 {
		return state{}, "none"
	}
	if len(blob) < 1+sha256.Size || blob[0] != stateVersion {
		return state{}, "ignored: not a compression state of this version"
	}
	sum, payload := blob[1:1+sha256.Size], blob[1+sha256.Size:]
	verdict := ""
	for _, key := range c.keys {
		if hmac.Equal(sum, tag(key, payload)) {
			verdict = "verified"
		}
	}
	if len(c.keys) == 0 && subtle.ConstantTimeCompare(sum, tag(nil, payload)) == 1 {
		verdict = "unverified"
	}
	var s state
	if verdict == "" || json.Unmarshal(payload, &s) != nil {
		return state{}, "ignored: its check failed"
	}
	return s, verdict
}

// tag signs the payload, or sums it where there is no key.
func tag(key, payload []byte) []byte {
	if len(key) == 0 {
		sum := sha256.Sum256(payload)
		return sum[:]
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(payload)
	return mac.Sum(nil)
}
