package httpapi_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
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

// counted is a verifier that counts how often it is asked.
type counted struct {
	oneToken
	asked atomic.Int32
}

func (c *counted) Verify(ctx context.Context, token string) (auth.Identity, error) {
	c.asked.Add(1)
	return c.oneToken.Verify(ctx, token)
}

// A stranger is answered without waiting for a body, of which nothing is taken in, and
// the refusal is logged as any other.
func TestNothingOfAStrangersBodyIsRead(t *testing.T) {
	verifier := &counted{oneToken: "secret"}
	f := start(t, func(o *options) { o.server.Auth = &auth.Gate{Verifiers: []auth.Verifier{verifier}} })
	for _, c := range []struct{ path, contentType, want string }{
		{"/v1/compress", jsonType, `"unauthenticated"`},
		{service + "Compress", jsonType, `"unauthenticated"`},
		{service + "StreamCompress", "application/connect+json", `"unauthenticated"`},
		{service + "Compress", "application/grpc-web+proto", "16"},
	} {
		conn := f.raw("POST " + c.path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer guess\r\nContent-Type: " + c.contentType +
			"\r\nContent-Length: 1000000\r\n\r\nhalf")
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if got := string(text) + resp.Header.Get("Grpc-Status"); !strings.Contains(got, c.want) || !resp.Close {
			t.Errorf("%s as %s: %d %q, closed %v", c.path, c.contentType, resp.StatusCode, got, resp.Close)
		}
		if !strings.Contains(f.log.String(), `"grpc.code":"Unauthenticated"`) {
			t.Errorf("%s: the log does not say it:\n%s", c.path, f.log.String())
		}
	}
	verifier.asked.Store(0)
	if r := f.post("/v1/compress", jsonType, `{"messages":[{"role":"user","content":"hi"}]}`, "Authorization", "Bearer secret"); r.status != http.StatusOK {
		t.Errorf("with the token: %d %s", r.status, r.body)
	}
	if n := verifier.asked.Load(); n != 1 {
		t.Errorf("the token was checked %d times", n)
	}
}
