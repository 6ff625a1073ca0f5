package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
)

// A page whose name was made to resolve to this machine sends its own name.
func TestOnlyNamesOfThisMachineAreAnsweredOnLoopback(t *testing.T) {
	f := start(t, nil)
	port := f.url[strings.LastIndex(f.url, ":"):]
	for host, want := range map[string]int{
		"127.0.0.1" + port: 200, "localhost" + port: 200, "LOCALHOST.": 200, "app.localhost:1": 200, "[::1]" + port: 200, "127.3.2.1": 200,
		"evil.example" + port: 403, "evil.example": 403, "localhost.evil.example": 403, "10.0.0.1" + port: 403, "127.0.0.1.evil.example": 403,
	} {
		for _, path := range []string{service + "ListModels", "/v1/compress"} {
			body := `{}`
			if path == "/v1/compress" {
				body = `{"messages":[]}`
			}
			r := f.post(path, jsonType, body, "Host", host)
			if r.status != want {
				t.Errorf("Host %q: %d %s, want %d", host, r.status, r.body, want)
			}
			if want == http.StatusForbidden && r.failure(t).Code != "permission_denied" {
				t.Errorf("Host %q: %s", host, r.body)
			}
		}
	}
}

// allowed are the headers by which a browser lets a page see an answer.
func allowed(h http.Header) string {
	return h.Get("Access-Control-Allow-Origin") + h.Get("Access-Control-Allow-Headers") + h.Get("Access-Control-Allow-Methods")
}

func TestPagesMayNotCallUnlessTheirOriginIsListed(t *testing.T) {
	closed := start(t, nil)
	open := start(t, func(o *options) { o.edge.AllowedOrigins = []string{"https://App.example", "http://localhost:3000"} })
	anyone := start(t, func(o *options) { o.edge.AllowedOrigins = []string{"*"} })
	for _, c := range []struct {
		name   string
		f      *fixture
		origin string
		want   bool
	}{
		{"nothing is listed", closed, "https://app.example", false},
		{"nothing is listed, the page is local", closed, "http://localhost:3000", false},
		{"a file", closed, "null", false},
		{"listed", open, "https://app.example", true},
		{"listed with its port", open, "http://localhost:3000", true},
		{"another port", open, "http://localhost:3001", false},
		{"another scheme", open, "http://app.example", false},
		{"a name that begins alike", open, "https://app.example.evil.example", false},
		{"a file, where others are listed", open, "null", false},
		{"everyone", anyone, "https://app.example", true},
	} {
		asked := c.f.send(http.MethodOptions, service+"ListModels", http.NoBody, "Origin", c.origin,
			"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "content-type,connect-protocol-version")
		called := c.f.post(service+"ListModels", jsonType, `{}`, "Origin", c.origin)
		gateway := c.f.post("/v1/compress", jsonType, `{"messages":[]}`, "Origin", c.origin)
		if c.want {
			if asked.status != http.StatusNoContent || called.status != http.StatusOK || gateway.status != http.StatusOK {
				t.Errorf("%s: %d, %d, %d", c.name, asked.status, called.status, gateway.status)
			}
			if !strings.Contains(asked.header.Get("Access-Control-Allow-Headers"), "Connect-Protocol-Version") ||
				called.header.Get("Access-Control-Allow-Origin") != c.origin || called.header.Get("Vary") != "Origin" {
				t.Errorf("%s: %v, %v", c.name, asked.header, called.header)
			}
			continue
		}
		for _, r := range []reply{asked, called, gateway} {
			if r.status != http.StatusForbidden || allowed(r.header) != "" {
				t.Errorf("%s: %d %v", c.name, r.status, r.header)
			}
		}
	}
	if r := closed.post(service+"ListModels", jsonType, `{}`); r.status != http.StatusOK || allowed(r.header) != "" {
		t.Errorf("no page at all: %d %v", r.status, r.header)
	}
}
