package security

import (
	"os"
	"strings"
	"testing"
)

// attack is a row of the table.
type attack struct {
	name string
	// do makes the attack and returns what it got: a status code of gRPC, a number of
	// HTTP, an error of HTTP/2, or that the connection was closed.
	do   func(t *testing.T, s *service) string
	want string
	// setting is what moves the bound, "" where there is nothing to move.
	setting string
}

// callers are those who are not who they should be.
var callers = []attack{
	{"no token", strangers(""), "UNAUTHENTICATED", "auth.tokens_file"},
	{"a wrong token", strangers("elbow_guess"), "UNAUTHENTICATED", "auth.tokens_file"},
	{"a token of 20 KB", strangers(strings.Repeat("x", 20_000)), "UNAUTHENTICATED", ""},
	{"an expired JWT", withClaims("exp", int64(1_000_000_000)), "UNAUTHENTICATED", "auth.jwt_issuer"},
	{"a JWT for another audience", withClaims("aud", "another-service"), "UNAUTHENTICATED", "auth.jwt_audience"},
	{"a JWT of another issuer", withClaims("iss", "https://else.example"), "UNAUTHENTICATED", "auth.jwt_issuer"},
	{"a JWT without a signature", unsigned, "UNAUTHENTICATED", ""},
	{"a JWT whose key is not the issuer's", forged, "UNAUTHENTICATED", "auth.jwt_keys_url"},
	{"no client certificate where one is required", certificate(none), "closed", "tls.client_auth"},
	{"a client certificate of another authority", certificate(strangersOwn), "closed", "tls.client_ca_file"},
	{"a certificate of a stranger beside a good token", strangersCertificate, "closed", "tls.client_ca_file"},
	{"TLS 1.1", oldTLS, "closed", ""},
	{"no TLS", withoutTLS, "closed", "tls.cert_file"},
	{"another tenant's held body", anothersBody, "FAILED_PRECONDITION BASE_UNKNOWN", ""},
	{"another tenant's compression state", anothersState, "OK, state ignored", ""},
	{"another tenant's cache state", anothersCacheState, "OK, state ignored", ""},
	{"another tenant's session", anothersSession, "OK, nothing found", ""},
	{"reflection without a token", reflects, "UNAUTHENTICATED", "auth.reflection"},
	{"a service that does not exist", unknownService, "UNIMPLEMENTED", ""},
	{"a body of 64 MiB without a token", strangersBody, "UNAUTHENTICATED", ""},
}

// connections are made to cost the server, not to ask it anything.
var connections = []attack{
	{"metadata of 70 KiB", bigMetadata, "RST_STREAM FRAME_SIZE_ERROR", ""},
	{"headers without end (CONTINUATION flood)", continuationFlood, "closed", ""},
	{"TLS that is never begun", silent, "closed", "limits.handshake_timeout"},
	{"half a greeting", halfPreface, "closed", "limits.handshake_timeout"},
	{"HTTP/1.1 on the gRPC address", http1, "closed", ""},
	{"half the headers of a call", halfHeaders, "closed", "keepalive.time"},
	{"calls that send no message", slow("CountTokens", nil), "DEADLINE_EXCEEDED", "limits.receive_timeout"},
	{"calls that send half a message", slow("CountTokens", half), "DEADLINE_EXCEEDED", "limits.receive_timeout"},
	{"half a message to a call that answers with a stream", slow("StreamCompress", half), "DEADLINE_EXCEEDED", "limits.receive_timeout"},
	{"connections that do nothing", idle, "GOAWAY NO_ERROR", "keepalive.max_connection_idle"},
	{"more connections than there may be", tooManyConnections, "closed", "limits.max_connections"},
	{"rapid reset: 10,000 calls, each cancelled at once", rapidReset, "OK for the next call", "limits.max_concurrent_streams"},
	{"10,000 calls at one time", manyStreams, "RST_STREAM REFUSED_STREAM beyond the bound", "limits.max_concurrent_streams"},
	{"ping flood", pingFlood, "GOAWAY ENHANCE_YOUR_CALM", "keepalive.min_time"},
	{"SETTINGS flood from a peer that does not read", settingsFlood, "not read any further", ""},
	{"10,000 SETTINGS", manySettings, "OK for the next call", ""},
	{"a stream number that only servers use", evenStream, "GOAWAY PROTOCOL_ERROR", ""},
	{"a frame larger than agreed", largeFrame, "closed", ""},
}

// bodies are requests of an honest caller's token that would cost too much.
var bodies = []attack{
	{"decompression bomb: gzip of 256 MiB, 16 at one time", gzipBomb, "RESOURCE_EXHAUSTED", "limits.max_message_bytes"},
	{"an encoding that nobody has", unknownEncoding, "UNIMPLEMENTED", ""},
	{"a message larger than it may be", tooLarge, "RESOURCE_EXHAUSTED", "limits.max_message_bytes"},
	{"a message that says it has 4 GiB", fourGiB, "RESOURCE_EXHAUSTED", "limits.max_message_bytes"},
	{"bytes that are no message", garbage, "INTERNAL, from gRPC itself", ""},
	{"JSON 1,000,000 values deep", nested(1_000_000), "INVALID_ARGUMENT", "limits.max_depth"},
	{"100,001 messages where 50,000 may be", manyBlocks, "INVALID_ARGUMENT", "limits.max_blocks"},
	{"invalid UTF-8", invalidUTF8, "INVALID_ARGUMENT", ""},
	{"a number of 1,000,000 digits", longNumber, "OK", ""},
	{"100,000 equal keys", equalKeys, "INVALID_ARGUMENT", ""},
	{"more requests than the tenant may make", overQuota, "RESOURCE_EXHAUSTED", "limits.tenant_rate"},
}

// web are attacks on the HTTP address.
var web = []attack{
	{"no token over HTTP", webPost("", plainBody), "401", "auth.tokens_file"},
	{"half a body over HTTP without a token", webStranger, "401, then closed", ""},
	{"headers of 100 KiB over HTTP", webHeaders, "431", ""},
	{"headers that never end", webSlowHeaders, "400, then closed", "limits.handshake_timeout"},
	{"a body that never ends", webSlowBody, "400, then closed", "limits.receive_timeout"},
	{"a body larger than it may be", webLarge, "413", "limits.max_message_bytes"},
	{"decompression bomb over HTTP", webBomb, "413", "limits.max_message_bytes"},
	{"decompression bomb in a gRPC-Web message", webEnvelopeBomb, "RESOURCE_EXHAUSTED", "limits.max_message_bytes"},
	{"a Content-Encoding that nobody has", webEncoding, "415", ""},
	{"a web page of a foreign origin", webOrigin, "403", "http.allowed_origins"},
	{"a foreign Host on a loopback address (DNS rebinding)", webHost, "403", ""},
	{"a form, which pages may send without asking", webForm, "415", ""},
	{"DELETE, PUT and TRACE", webMethods, "405", ""},
	{"two lengths", webRaw("POST /v1/compress HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"), "400", ""},
	{"a length and chunks (request smuggling)", webSmuggle, "one answer, then closed", ""},
	{"an unknown Transfer-Encoding", webRaw("POST /v1/compress HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n"), "501", ""},
	{"a space before the colon of a header", webRaw("POST /v1/compress HTTP/1.1\r\nHost: localhost\r\nContent-Length : 5\r\n\r\nhello"), "400", ""},
	{"two hosts", webRaw("POST /v1/compress HTTP/1.1\r\nHost: localhost\r\nHost: else\r\n\r\n"), "400", ""},
	{"an HTTP/2 greeting", webRaw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "404", ""},
	{"JSON 1,000,000 values deep over HTTP", webNested, "400", "limits.max_depth"},
	{"invalid UTF-8 over HTTP", webUTF8, "400", ""},
}

// TestAttacks is the security table.
func TestAttacks(t *testing.T) {
	s := start(t)
	for _, group := range [][]attack{callers, connections, bodies, web} {
		for _, a := range group {
			t.Run(a.name, func(t *testing.T) {
				if got := a.do(t, s); got != a.want {
					t.Errorf("got %q, want %q", got, a.want)
				}
				s.servesTheHonest(t)
				s.settles(t)
			})
		}
	}
	if strings.Contains(s.process.Log(), "panic") {
		t.Errorf("a panic:\n%s", s.process.Log())
	}
}

// Readers find the same table in the documentation.
func TestTheDocumentationHasTheTable(t *testing.T) {
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range [][]attack{callers, connections, bodies, web} {
		for _, a := range group {
			setting := ""
			if a.setting != "" {
				setting = "`" + a.setting + "`"
			}
			if row := "| " + a.name + " | " + a.want + " | " + setting + " |\n"; !strings.Contains(string(page), row) {
				t.Errorf("docs/security.md lacks the row\n%s", row)
			}
		}
	}
}
