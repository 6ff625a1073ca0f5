package httpapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/server/interceptors/auth"
)

// oneToken admits the bearer of one token.
type oneToken string

func (o oneToken) Verify(_ context.Context, token string) (auth.Identity, error) {
	if token != string(o) {
		return auth.Identity{}, auth.ErrRejected
	}
	return auth.Identity{Tenant: "team-a"}, nil
}

// Whoever gRPC keeps out is kept out here.
func TestCallersAreAuthenticatedAsOverGRPC(t *testing.T) {
	f := start(t, func(o *options) {
		o.server.Auth = &auth.Gate{Verifiers: []auth.Verifier{oneToken("secret")}}
	})
	envelope := "\x00\x00\x00\x00\x02{}"
	for _, c := range []struct{ path, contentType, body string }{
		{service + "ListModels", jsonType, `{}`},
		{service + "Compress", jsonType, greeting},
		{"/v1/compress", jsonType, `{"messages":[{"role":"user","content":"hi"}]}`},
	} {
		for _, header := range [][]string{nil, {"Authorization", "Bearer guess"}, {"Authorization", "Basic c2VjcmV0"}} {
			r := f.post(c.path, c.contentType, c.body, header...)
			if e := r.failure(t); r.status != http.StatusUnauthorized || e.Code != "unauthenticated" {
				t.Errorf("%s with %v: %d %+v", c.path, header, r.status, e)
			}
		}
		if r := f.post(c.path, c.contentType, c.body, "Authorization", "Bearer secret"); r.status != http.StatusOK {
			t.Errorf("%s with the token: %d %s", c.path, r.status, r.body)
		}
	}
	if r := f.post(service+"StreamCompress", "application/connect+json", envelope); !strings.Contains(r.body, `"unauthenticated"`) {
		t.Errorf("a stream: %q", r.body)
	}
	if r := f.post(service+"ListModels", "application/grpc-web+json", envelope); !strings.Contains(r.body+r.header.Get("Grpc-Status"), "16") {
		t.Errorf("gRPC-Web: %q %v", r.body, r.header)
	}
	if r := f.post("/grpc.health.v1.Health/Check", jsonType, `{}`); r.status != http.StatusOK {
		t.Errorf("health: %d %s", r.status, r.body)
	}
	if !strings.Contains(f.log.String(), "team-a") || strings.Contains(f.log.String(), "secret") {
		t.Errorf("the log:\n%s", f.log.String())
	}
}
