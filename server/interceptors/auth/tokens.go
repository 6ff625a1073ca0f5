package auth

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
)

// tokenPrefix marks a token of this service, so that scanners for leaked secrets
// know it.
const tokenPrefix = "elbow_"

// ErrNoTokens is returned for a token file without a token.
var ErrNoTokens = errors.New("no token is listed")

// NewToken returns a fresh token for a tenant, 256 random bits, and the line that
// admits it in a token file.
func NewToken(tenant string) (token, line string, err error) {
	if err := CheckTenant(tenant); err != nil {
		return "", "", err
	}
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails
	token = tokenPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
	return token, tenant + " " + hashOf(token), nil
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Tokens admits the bearer tokens whose hashes are listed. It is safe for concurrent
// use, and can be given another list while it works.
type Tokens struct {
	tenants atomic.Pointer[map[[sha256.Size]byte]string]
}

var _ Verifier = (*Tokens)(nil)

// NewTokens reads a token file; see [Tokens.Load]. One that lists no token is refused
// with [ErrNoTokens]: whoever starts a server with it has made a mistake.
func NewTokens(file []byte) (*Tokens, error) {
	t := &Tokens{}
	if err := t.Load(file); err != nil {
		return nil, err
	}
	if len(*t.tenants.Load()) == 0 {
		return nil, ErrNoTokens
	}
	return t, nil
}

// Load takes another list: a line for each token with the tenant and the SHA-256 of
// the token in hexadecimal. Empty lines and lines that begin with # do not count. A
// list without a line lets nobody in. With an error the old list stays.
//
// A plain hash is enough because tokens are random: 256 bits cannot be guessed from
// their hash, as a password could.
func (t *Tokens) Load(file []byte) error {
	tenants := make(map[[sha256.Size]byte]string)
	lines := bufio.NewScanner(bytes.NewReader(file))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) != 2 {
			return fmt.Errorf("line %d: want a tenant and the SHA-256 of its token, found %d words", n, len(fields))
		}
		if err := CheckTenant(fields[0]); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		var sum [sha256.Size]byte
		decoded, err := hex.DecodeString(fields[1])
		if err != nil || copy(sum[:], decoded) != len(sum) || len(decoded) != len(sum) {
			return fmt.Errorf("line %d: the second word is no SHA-256 in hexadecimal", n)
		}
		if other, twice := tenants[sum]; twice {
			return fmt.Errorf("line %d: the token of %s is listed already", n, other)
		}
		tenants[sum] = fields[0]
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read the tokens: %w", err)
	}
	t.tenants.Store(&tenants)
	return nil
}

// Verify implements [Verifier]. The time it takes says nothing about the tokens
// listed: only their hashes are compared.
func (t *Tokens) Verify(_ context.Context, token string) (Identity, error) {
	tenant, listed := (*t.tenants.Load())[sha256.Sum256([]byte(token))]
	if !listed {
		return Identity{}, ErrRejected
	}
	return Identity{Tenant: tenant, Method: "token"}, nil
}
