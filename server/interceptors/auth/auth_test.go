package auth_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/elbowroom/elbowroom/server/interceptors/auth"
)

const (
	issuer   = "https://issuer.example"
	audience = "elbowroom"
)

// signer makes JSON Web Tokens.
type signer struct{ key *ecdsa.PrivateKey }

func newSigner(t *testing.T) signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return signer{key}
}

func (s signer) sign(t *testing.T, header, claims map[string]any) string {
	t.Helper()
	part := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	signed := part(header) + "." + part(claims)
	digest := sha256.Sum256([]byte(signed))
	r, v, err := ecdsa.Sign(rand.Reader, s.key, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	sig := append(r.FillBytes(make([]byte, 32)), v.FillBytes(make([]byte, 32))...)
	return signed + "." + base64.RawURLEncoding.EncodeToString(sig)
}

func es256() map[string]any { return map[string]any{"alg": "ES256", "kid": "k1"} }

func claims(change func(c map[string]any)) map[string]any {
	c := map[string]any{"iss": issuer, "aud": audience, "sub": "team-a", "exp": time.Now().Add(time.Hour).Unix()}
	if change != nil {
		change(c)
	}
	return c
}

func TestJWTAdmitsOnlyWhatItsIssuerSignedForUs(t *testing.T) {
	s, stranger := newSigner(t), newSigner(t)
	j, err := auth.NewJWT(t.Context(), auth.JWTOptions{Issuer: issuer, Audience: audience, Keys: []crypto.PublicKey{s.key.Public()}})
	if err != nil {
		t.Fatal(err)
	}
	set := func(name string, v any) func(map[string]any) { return func(c map[string]any) { c[name] = v } }
	unsigned := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." +
		base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"`+issuer+`","aud":"elbowroom","sub":"team-a","exp":99999999999}`)) + "."
	for _, c := range []struct {
		name, token string
		tenant      string // empty: rejected
	}{
		{"good", s.sign(t, es256(), claims(nil)), "team-a"},
		{"several audiences", s.sign(t, es256(), claims(set("aud", []string{"other", audience}))), "team-a"},
		{"expired", s.sign(t, es256(), claims(set("exp", time.Now().Add(-time.Minute).Unix()))), ""},
		{"no expiry", s.sign(t, es256(), claims(func(c map[string]any) { delete(c, "exp") })), ""},
		{"not yet", s.sign(t, es256(), claims(set("nbf", time.Now().Add(time.Hour).Unix()))), ""},
		{"another audience", s.sign(t, es256(), claims(set("aud", "other"))), ""},
		{"no audience", s.sign(t, es256(), claims(func(c map[string]any) { delete(c, "aud") })), ""},
		{"another issuer", s.sign(t, es256(), claims(set("iss", "https://else.example"))), ""},
		{"no tenant", s.sign(t, es256(), claims(func(c map[string]any) { delete(c, "sub") })), ""},
		{"a tenant that is no text", s.sign(t, es256(), claims(set("sub", 7))), ""},
		{"a tenant with a line break", s.sign(t, es256(), claims(set("sub", "a\nb"))), ""},
		{"signed by a stranger", stranger.sign(t, es256(), claims(nil)), ""},
		{"signed by nobody", unsigned, ""},
		{"an algorithm with a shared secret", s.sign(t, map[string]any{"alg": "HS256"}, claims(nil)), ""},
		{"no token at all", "elbow_abc", ""},
		{"dots alone", "..", ""},
	} {
		id, err := j.Verify(t.Context(), c.token)
		if c.tenant == "" && !errors.Is(err, auth.ErrRejected) {
			t.Errorf("%s: %+v, %v; want it rejected", c.name, id, err)
		}
		if c.tenant != "" && (err != nil || id.Tenant != c.tenant) {
			t.Errorf("%s: %+v, %v", c.name, id, err)
		}
	}
}

func TestJWTReadsTheIssuersKeys(t *testing.T) {
	s := newSigner(t)
	coordinate := func(n *big.Int) string { return base64.RawURLEncoding.EncodeToString(n.FillBytes(make([]byte, 32))) }
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	defer srv.Close()
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{map[string]any{
			"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "k1", "x": coordinate(s.key.X), "y": coordinate(s.key.Y),
		}}})
	})
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": srv.URL, "jwks_uri": srv.URL + "/keys"})
	})
	token := s.sign(t, es256(), claims(func(c map[string]any) { c["iss"] = srv.URL; c["team"] = "billing" }))
	for name, url := range map[string]string{"by its address": srv.URL + "/keys", "by discovery": ""} {
		j, err := auth.NewJWT(t.Context(), auth.JWTOptions{Issuer: srv.URL, Audience: audience, KeysURL: url, TenantClaim: "team"})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if id, err := j.Verify(t.Context(), token); err != nil || id.Tenant != "billing" {
			t.Errorf("%s: %+v, %v", name, id, err)
		}
	}
}

func TestTokensAdmitWhatIsListed(t *testing.T) {
	token, line, err := auth.NewToken("team-a")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(line, token) {
		t.Fatal("the line holds the token itself")
	}
	tokens, err := auth.NewTokens([]byte("# the agents of team a\n\n  " + line + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if id, err := tokens.Verify(t.Context(), token); err != nil || id != (auth.Identity{Tenant: "team-a", Method: "token"}) {
		t.Errorf("%+v, %v", id, err)
	}
	for _, wrong := range []string{"", "elbow_", token + "x", token[:len(token)-1], strings.Fields(line)[1]} {
		if _, err := tokens.Verify(t.Context(), wrong); !errors.Is(err, auth.ErrRejected) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	other, otherLine, err := auth.NewToken("team-b")
	if err != nil {
		t.Fatal(err)
	}
	if err := tokens.Load([]byte("broken")); err == nil {
		t.Error("a broken list was taken")
	}
	if _, err := tokens.Verify(t.Context(), token); err != nil {
		t.Errorf("after a broken list: %v", err)
	}
	if err := tokens.Load(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.Verify(t.Context(), token); !errors.Is(err, auth.ErrRejected) {
		t.Errorf("after the last line was removed: %v", err)
	}
	if err := tokens.Load([]byte(otherLine)); err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.Verify(t.Context(), token); err == nil {
		t.Error("a token that is listed no more was accepted")
	}
	if _, err := tokens.Verify(t.Context(), other); err != nil {
		t.Error(err)
	}
}

func TestABrokenTokenFileSaysWhere(t *testing.T) {
	hash := strings.Repeat("ab", 32)
	for file, want := range map[string]string{
		"":                                    "no token",
		"# nothing\n":                         "no token",
		"a " + hash + "\nb":                   "line 2",
		"a b c":                               "line 1",
		"a " + hash[:60]:                      "line 1",
		"a " + hash + "00":                    "line 1",
		"a " + strings.Repeat("zz", 32):       "line 1",
		"te\x00am " + hash:                    "line 1",
		"a " + hash + "\n\nb " + hash:         "line 3",
		strings.Repeat("x", 129) + " " + hash: "line 1",
	} {
		if _, err := auth.NewTokens([]byte(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want it to say %q", file, err, want)
		}
	}
}

// call runs the gate on a call with the given metadata and certificate.
func call(t *testing.T, g *auth.Gate, authorization, commonName string) (auth.Identity, error) {
	t.Helper()
	ctx := t.Context()
	if authorization != "" {
		ctx = metadata.NewIncomingContext(ctx, metadata.Pairs("authorization", authorization))
	}
	if commonName != "" {
		cert := &x509.Certificate{Subject: pkix.Name{CommonName: commonName}}
		ctx = peer.NewContext(ctx, &peer.Peer{AuthInfo: credentials.TLSInfo{State: tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{cert}}}}})
	}
	got, err := g.Unary(ctx, nil, nil, func(ctx context.Context, _ any) (any, error) { return auth.FromContext(ctx), nil })
	id, _ := got.(auth.Identity)
	return id, err
}

func TestTheGateSaysWhoCalls(t *testing.T) {
	token, line, err := auth.NewToken("team-a")
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := auth.NewTokens([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	withTokens := &auth.Gate{Verifiers: []auth.Verifier{tokens}}
	withBoth := &auth.Gate{Verifiers: []auth.Verifier{tokens}, Certificates: true}
	for _, c := range []struct {
		name                      string
		gate                      *auth.Gate
		authorization, commonName string
		want                      auth.Identity // the zero value: refused
		open                      bool
	}{
		{"open", &auth.Gate{}, "", "", auth.Identity{}, true},
		{"a token", withTokens, "Bearer " + token, "", auth.Identity{Tenant: "team-a", Method: "token"}, false},
		{"no token", withTokens, "", "", auth.Identity{}, false},
		{"an empty token", withTokens, "Bearer ", "", auth.Identity{}, false},
		{"another scheme", withTokens, "Basic " + token, "", auth.Identity{}, false},
		{"a wrong token", withTokens, "Bearer nonsense", "", auth.Identity{}, false},
		{"a token of 20 KB", withTokens, "Bearer " + strings.Repeat("x", 20<<10), "", auth.Identity{}, false},
		{"a certificate where none count", withTokens, "", "team-c", auth.Identity{}, false},
		{"a certificate", withBoth, "", "team-c", auth.Identity{Tenant: "team-c", Method: "certificate"}, false},
		{"a certificate of no tenant", withBoth, "", "not a tenant", auth.Identity{}, false},
		{"a token beside a certificate", withBoth, "Bearer " + token, "team-c", auth.Identity{Tenant: "team-a", Method: "token"}, false},
		{"a wrong token beside a certificate", withBoth, "Bearer nonsense", "team-c", auth.Identity{}, false},
	} {
		id, err := call(t, c.gate, c.authorization, c.commonName)
		switch {
		case c.open || c.want != (auth.Identity{}):
			if err != nil || id != c.want {
				t.Errorf("%s: %+v, %v", c.name, id, err)
			}
		case status.Code(err) != codes.Unauthenticated || strings.Contains(err.Error(), "nonsense"):
			t.Errorf("%s: %v, want UNAUTHENTICATED without the token", c.name, err)
		}
	}
}
