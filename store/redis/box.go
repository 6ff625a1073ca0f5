package redis

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
)

// What a stored value begins with. A number has no such byte: Redis must be able to
// add to it.
const (
	plain     = 0x00
	encrypted = 0x01
)

// minKey is the shortest secret in bytes: 128 bits in hexadecimal.
const minKey = 32

// errKey is returned for a secret that is too short.
var errKey = errors.New("an encryption key has at least 32 characters")

// box encrypts values: AES-256 in Galois/counter mode, with the key of the entry as
// additional data, so that a value stands under its own key only. Numbers are left
// as they are. The zero value encrypts nothing.
type box struct{ ciphers []cipher.AEAD }

func newBox(secrets [][]byte) (box, error) {
	var b box
	for i, secret := range secrets {
		if len(secret) < minKey {
			return box{}, fmt.Errorf("key %d: %w", i+1, errKey)
		}
		key := sha256.Sum256(secret) // secrets are random texts of any length
		block, err := aes.NewCipher(key[:])
		if err != nil {
			return box{}, fmt.Errorf("key %d: %w", i+1, err)
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return box{}, fmt.Errorf("key %d: %w", i+1, err)
		}
		b.ciphers = append(b.ciphers, aead)
	}
	return b, nil
}

func (b box) seal(key string, value []byte) []byte {
	switch {
	case isNumber(value):
		return value
	case len(b.ciphers) == 0:
		return append([]byte{plain}, value...)
	}
	aead := b.ciphers[0]
	out := make([]byte, 1+aead.NonceSize(), 1+aead.NonceSize()+len(value)+aead.Overhead())
	out[0] = encrypted
	nonce := out[1:]
	_, _ = rand.Read(nonce) // never fails
	return aead.Seal(out, nonce, value, []byte(key))
}

// open returns the value, false for one that is not ours: another key's, another
// server's without the secret, or one that was changed.
func (b box) open(key string, stored []byte) ([]byte, bool) {
	switch {
	case isNumber(stored):
		return stored, true
	case len(stored) == 0:
		return nil, false
	case stored[0] == plain && len(b.ciphers) == 0:
		return append([]byte{}, stored[1:]...), true
	case stored[0] != encrypted:
		return nil, false
	}
	for _, aead := range b.ciphers {
		if len(stored) < 1+aead.NonceSize() {
			return nil, false
		}
		nonce, sealed := stored[1:1+aead.NonceSize()], stored[1+aead.NonceSize():]
		if value, err := aead.Open([]byte{}, nonce, sealed, []byte(key)); err == nil {
			return value, true
		}
	}
	return nil, false
}

// isNumber reports whether a value is a number as Redis writes it.
func isNumber(value []byte) bool {
	n, err := strconv.ParseInt(string(value), 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == string(value)
}
