package compressor

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/elbowroom/elbowroom/internal/seal"
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

// stateCodec writes and reads compression states: JSON under a seal.
type stateCodec struct{ keys [][]byte }

func (c stateCodec) codec(tenant string) seal.Codec {
	return seal.Codec{Kind: stateVersion, Keys: c.keys, Tenant: tenant}
}

func (c stateCodec) seal(tenant string, s state) []byte {
	payload, err := json.Marshal(s)
	if err != nil {
		return nil // a struct of an int and a string always encodes
	}
	return c.codec(tenant).Seal(payload)
}

// open returns the state and what became of it. A blob that fails is ignored.
func (c stateCodec) open(tenant string, blob []byte) (state, string) {
	payload, verdict := c.codec(tenant).Open(blob)
	switch {
	case verdict == seal.Foreign:
		return state{}, "ignored: not a compression state of this version"
	case !verdict.Good():
		return state{}, string(verdict)
	}
	var s state
	if json.Unmarshal(payload, &s) != nil {
		return state{}, string(seal.Broken)
	}
	return s, string(verdict)
}
