package auth

import (
	"context"
	"errors"
	"fmt"
)

// maxTenant bounds the name of a tenant in bytes.
const maxTenant = 128

// ErrTenant is returned for a name that no tenant may have.
var ErrTenant = errors.New("a tenant's name has 1 to 128 letters, digits, dots, dashes, underscores, colons, at signs or slashes")

// Identity is who makes a call.
type Identity struct {
	// Tenant is for whom. Empty only where nobody is authenticated.
	Tenant string
	// Method says how it is known: token, jwt or certificate.
	Method string
}

type identityKey struct{}

// NewContext returns a context of a call by id.
func NewContext(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, id)
}

// FromContext returns who makes the call, the zero value where nobody is
// authenticated.
func FromContext(ctx context.Context) Identity {
	id, _ := ctx.Value(identityKey{}).(Identity)
	return id
}

// CheckTenant returns an error that wraps [ErrTenant] for a name that is too long or
// holds other characters: names stand in logs, metrics and keys of the store.
func CheckTenant(name string) error {
	ok := name != "" && len(name) <= maxTenant
	for i := 0; ok && i < len(name); i++ {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '.', c == '-', c == '_', c == ':', c == '@', c == '/':
		default:
			ok = false
		}
	}
	if !ok {
		return fmt.Errorf("%w: %.140q", ErrTenant, name)
	}
	return nil
}
