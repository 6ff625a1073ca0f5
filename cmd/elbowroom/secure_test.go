package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/internal/testutil/pki"
)

// newToken runs the command that makes a token.
func newToken(t *testing.T, tenant string) (token, line string) {
	t.Helper()
	got := runArgs(t, "token", tenant)
	found := regexp.MustCompile(`(?s)(elbow_\S+).*\n  (\S+ [0-9a-f]{64})\n`).FindStringSubmatch(got.stdout)
	if got.code != exitOK || found == nil {
		t.Fatalf("token: %+v", got)
	}
	return found[1], found[2]
}

func TestATokenOpensAServerThatWantsOne(t *testing.T) {
	dir := t.TempDir()
	ca := pki.New(t)
	cert, key := ca.Issue(t, "server")
	token, line := newToken(t, "team-a")
	addr, b := serve(t,
		"--auth-tokens-file", pki.Write(t, dir, "tokens", []byte(line+"\n")),
		"--tls-cert-file", pki.Write(t, dir, "tls.crt", cert), "--tls-key-file", pki.Write(t, dir, "tls.key", key))
	defer b.stop()
	for _, want := range []string{"TLS: on\n", "Authentication: bearer tokens\n"} {
		if !strings.Contains(b.out.String(), want) {
			t.Errorf("serve does not say %q:\n%s", want, b.out)
		}
	}
	authority := pki.Write(t, dir, "ca.crt", ca.PEM())
	count := []string{"count", "--server", addr, "--ca-file", authority, "testdata/openai.json"}
	for _, c := range []struct {
		name    string
		args    []string
		environ []string
		ok      bool
	}{
		{"with it", count, []string{"ELBOWROOM_TOKEN=" + token}, true},
		{"in a file", count, []string{"ELBOWROOM_TOKEN_FILE=" + pki.Write(t, dir, "token", []byte(token+"\n"))}, true},
		{"without it", count, nil, false},
		{"another", count, []string{"ELBOWROOM_TOKEN=elbow_guess"}, false},
		{"without TLS", []string{"count", "--server", addr, "testdata/openai.json"}, []string{"ELBOWROOM_TOKEN=" + token}, false},
		{"by the system's authorities", []string{"count", "--server", addr, "--tls", "testdata/openai.json"}, []string{"ELBOWROOM_TOKEN=" + token}, false},
		{"the health check", []string{"healthcheck", "--server", addr, "--ca-file", authority}, nil, true},
	} {
		if got := runWith(t, process{environ: c.environ}, c.args...); (got.code == exitOK) != c.ok || strings.Contains(got.stderr, "elbow_") {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	environ := []string{"ELBOWROOM_GRPC_ADDR=" + addr, "ELBOWROOM_TLS_CERT_FILE=" + dir + "/tls.crt", "ELBOWROOM_TLS_KEY_FILE=" + dir + "/tls.key"}
	if got := runWith(t, process{environ: environ}, "healthcheck"); got.code != exitOK {
		t.Errorf("the health check of the container: %+v", got)
	}
}

func TestATokenIsForATenant(t *testing.T) {
	if got := runArgs(t, "token", "no tenant"); got.code != exitUsage || got.stdout != "" {
		t.Errorf("%+v", got)
	}
}

func TestServeRefusesBrokenCredentials(t *testing.T) {
	dir := t.TempDir()
	for want, args := range map[string][]string{
		"auth.tokens_file": {"--auth-tokens-file", pki.Write(t, dir, "tokens", []byte("team-a secret"))},
		"tls: read":        {"--tls-cert-file", dir + "/missing", "--tls-key-file", dir + "/missing"},
	} {
		got := runArgs(t, append([]string{"serve", "--grpc-addr", "127.0.0.1:0"}, args...)...)
		if got.code != exitUsage || !strings.Contains(got.stderr, want) || strings.Contains(got.stderr, "secret") {
			t.Errorf("%v: %+v", args, got)
		}
	}
}
