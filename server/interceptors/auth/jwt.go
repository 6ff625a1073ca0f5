package auth

import (
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// DefaultTenantClaim names the tenant in a JSON Web Token.
const DefaultTenantClaim = "sub"

// keysTimeout bounds the reading of a provider's keys.
const keysTimeout = 10 * time.Second

// asymmetric are the algorithms accepted: with others whoever can verify could sign.
func asymmetric() []string {
	return []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA}
}

// JWTOptions say which JSON Web Tokens are admitted.
type JWTOptions struct {
	// Issuer is who must have issued a token (iss). Required.
	Issuer string
	// Audience is for whom (aud). Required: without it tokens meant for others would do.
	Audience string
	// KeysURL is where the issuer's keys are read (JWKS). Empty: where the issuer's
	// OpenID configuration says.
	KeysURL string
	// TenantClaim is the claim that names the tenant. Default sub.
	TenantClaim string
	// Keys verify signatures in place of those at KeysURL.
	Keys []crypto.PublicKey
	// Now is the clock of expiry. Default time.Now.
	Now func() time.Time
}

// JWT admits tokens that an OpenID provider has signed. Keys are read when first
// needed, and again when a token names one that is not known.
type JWT struct {
	verifier *oidc.IDTokenVerifier
	claim    string
	now      func() time.Time
}

var _ Verifier = (*JWT)(nil)

// NewJWT returns a verifier. ctx bounds the reading of the OpenID configuration,
// where there is no KeysURL.
func NewJWT(ctx context.Context, o JWTOptions) (*JWT, error) {
	if o.Issuer == "" || o.Audience == "" {
		return nil, errors.New("issuer and audience are required")
	}
	if o.TenantClaim == "" {
		o.TenantClaim = DefaultTenantClaim
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	rules := &oidc.Config{ClientID: o.Audience, SupportedSigningAlgs: asymmetric(), Now: o.Now}
	// The key set outlives the call that makes it.
	keys := oidc.ClientContext(context.WithoutCancel(ctx), &http.Client{Timeout: keysTimeout})
	j := &JWT{claim: o.TenantClaim, now: o.Now}
	switch {
	case len(o.Keys) > 0:
		j.verifier = oidc.NewVerifier(o.Issuer, &oidc.StaticKeySet{PublicKeys: o.Keys}, rules)
	case o.KeysURL != "":
		j.verifier = oidc.NewVerifier(o.Issuer, oidc.NewRemoteKeySet(keys, o.KeysURL), rules)
	default:
		provider, err := oidc.NewProvider(keys, o.Issuer)
		if err != nil {
			return nil, fmt.Errorf("read the OpenID configuration: %w", err)
		}
		j.verifier = provider.Verifier(rules)
	}
	return j, nil
}

// Verify implements [Verifier].
func (j *JWT) Verify(ctx context.Context, token string) (Identity, error) {
	if strings.Count(token, ".") != 2 {
		return Identity{}, ErrRejected
	}
	t, err := j.verifier.Verify(ctx, token)
	if err != nil {
		if ctx.Err() != nil {
			return Identity{}, ctx.Err()
		}
		if expired := (*oidc.TokenExpiredError)(nil); errors.As(err, &expired) {
			return Identity{}, fmt.Errorf("%w: it has expired", ErrRejected)
		}
		return Identity{}, fmt.Errorf("%w: %w", ErrRejected, err)
	}
	var claims map[string]json.RawMessage
	if err := t.Claims(&claims); err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrRejected, err)
	}
	var tenant string
	if json.Unmarshal(claims[j.claim], &tenant) != nil || CheckTenant(tenant) != nil {
		return Identity{}, fmt.Errorf("%w: its claim %s names no tenant", ErrRejected, j.claim)
	}
	return Identity{Tenant: tenant, Method: "jwt"}, nil
}
