package main

import (
	"crypto/tls"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/elbowroom/elbowroom/internal/testutil/pki"
)

// httpAddr is the address of the HTTP port that serve announced.
func httpAddr(t *testing.T, b background) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^HTTP/JSON: (\S+)$`).FindStringSubmatch(b.out.String())
	if found == nil {
		t.Fatalf("no HTTP port:\n%s", b.out.String())
	}
	return found[1]
}

// The HTTP port has the certificates and the tokens of the gRPC port.
func TestTheHTTPPortIsSecuredLikeTheOther(t *testing.T) {
	dir := t.TempDir()
	ca := pki.New(t)
	cert, key := ca.Issue(t, "server")
	token, line := newToken(t, "team-a")
	_, b := serve(t,
		"--auth-tokens-file", pki.Write(t, dir, "tokens", []byte(line+"\n")),
		"--tls-cert-file", pki.Write(t, dir, "tls.crt", cert), "--tls-key-file", pki.Write(t, dir, "tls.key", key))
	defer b.stop()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.Pool(), MinVersion: tls.VersionTLS12}}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 30 * time.Second}
	post := func(scheme, token string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, scheme+"://"+httpAddr(t, b)+"/v1/compress",
			strings.NewReader(`{"messages":[{"role":"user","content":"hi"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+token)
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	if code, text := post("https", token); code != http.StatusOK {
		t.Errorf("with the token: %d %s", code, text)
	}
	if code, text := post("https", "elbow_guess"); code != http.StatusUnauthorized || !strings.Contains(text, `"unauthenticated"`) {
		t.Errorf("with another: %d %s", code, text)
	}
	if code, _ := post("http", token); code == http.StatusOK {
		t.Error("the port answers without TLS")
	}
}

// A client certificate names its tenant over HTTP too.
func TestTheHTTPPortTakesClientCertificates(t *testing.T) {
	dir := t.TempDir()
	ca := pki.New(t)
	cert, key := ca.Issue(t, "server")
	_, b := serve(t, "--auth-certificates", "--tls-client-ca-file", pki.Write(t, dir, "ca.crt", ca.PEM()), "--tls-client-auth", "optional",
		"--tls-cert-file", pki.Write(t, dir, "tls.crt", cert), "--tls-key-file", pki.Write(t, dir, "tls.key", key))
	defer b.stop()
	shown, err := tls.X509KeyPair(ca.Issue(t, "team-a"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		show []tls.Certificate
		want int
	}{{"with a certificate", []tls.Certificate{shown}, http.StatusOK}, {"without one", nil, http.StatusUnauthorized}} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.Pool(), Certificates: c.show, MinVersion: tls.VersionTLS12}}
		client := &http.Client{Transport: transport, Timeout: 30 * time.Second}
		for path, body := range map[string]string{
			"/v1/compress": `{"messages":[]}`, "/elbowroom.v1.ContextService/ListModels": `{}`,
		} {
			resp, err := client.Post("https://"+httpAddr(t, b)+path, "application/json", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != c.want {
				t.Errorf("%s, %s: %d, want %d", c.name, path, resp.StatusCode, c.want)
			}
		}
		transport.CloseIdleConnections()
	}
}

func TestTheHTTPPortCanBeOff(t *testing.T) {
	addr, b := serve(t, "--http-addr", "")
	if got := runArgs(t, "healthcheck", "--server", addr); got.code != exitOK {
		t.Errorf("%+v", got)
	}
	if code := b.stop(); code != exitOK || !strings.Contains(b.out.String(), "HTTP/JSON: off\n") {
		t.Errorf("exit code %d:\n%s", code, b.out.String())
	}
}
