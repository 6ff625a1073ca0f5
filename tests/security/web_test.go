package security

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// request makes one on a connection of its own and returns the number of the answer.
func (s *service) request(t *testing.T, method, path, body string, headers ...string) (status string, header http.Header, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "https://"+s.process.HTTP+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.ca.Pool(), MinVersion: tls.VersionTLS12}, DisableCompression: true}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport, Timeout: callLimit}).Do(r)
	if err != nil {
		return "closed", nil, ""
	}
	defer func() { _ = resp.Body.Close() }()
	data, _ := io.ReadAll(resp.Body) // the number says it
	return strconv.Itoa(resp.StatusCode), resp.Header, string(data)
}

const pathCompress = "/v1/compress"

// post compresses a body and returns the number of the answer.
func (s *service) post(t *testing.T, token, body string, headers ...string) string {
	t.Helper()
	status, _, _ := s.request(t, http.MethodPost, pathCompress, body, append([]string{"Authorization", "Bearer " + token}, headers...)...)
	return status
}

func webPost(token, body string) func(*testing.T, *service) string {
	return func(t *testing.T, s *service) string { return s.post(t, token, body) }
}

func webHeaders(t *testing.T, s *service) string {
	return s.post(t, s.a, plainBody, "X-Large", strings.Repeat("x", 100<<10))
}

// overTLS is a connection to the HTTP address.
func (s *service) overTLS(t *testing.T) net.Conn {
	t.Helper()
	conn := tls.Client(open(t, s.process.HTTP), &tls.Config{RootCAs: s.ca.Pool(), ServerName: "localhost", MinVersion: tls.VersionTLS12})
	if err := conn.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return conn
}

// answers lists the numbers of the answers to a text, and whether the connection was
// closed behind them.
func (s *service) answers(t *testing.T, text string) (numbers []string, closed bool) {
	t.Helper()
	conn := s.overTLS(t)
	if _, err := io.WriteString(conn, text); err != nil {
		return nil, true
	}
	reader := bufio.NewReader(conn)
	for {
		resp, err := http.ReadResponse(reader, nil)
		if err != nil {
			return numbers, true
		}
		_, _ = io.Copy(io.Discard, resp.Body) // the number says it
		_ = resp.Body.Close()
		numbers = append(numbers, strconv.Itoa(resp.StatusCode))
		if resp.Close {
			return numbers, true
		}
	}
}

// webRaw sends a text as it stands.
func webRaw(text string) func(*testing.T, *service) string {
	return func(t *testing.T, s *service) string {
		numbers, _ := s.answers(t, text)
		if len(numbers) == 0 {
			return "closed"
		}
		return strings.Join(numbers, " and ")
	}
}

func (s *service) head(more string) string {
	return "POST " + pathCompress + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + s.a + "\r\nContent-Type: application/json\r\n" + more + "\r\n"
}

// thenClosed lists the answers to what never ends.
func (s *service) thenClosed(t *testing.T, text string) string {
	t.Helper()
	numbers, closed := s.answers(t, text)
	if !closed {
		return "kept open"
	}
	return strings.Join(numbers, " and ") + ", then closed"
}

func webSlowHeaders(t *testing.T, s *service) string {
	return s.thenClosed(t, "POST "+pathCompress+" HTTP/1.1\r\nHost: localhost\r\nX-")
}

func webSlowBody(t *testing.T, s *service) string {
	return s.thenClosed(t, s.head("Content-Length: 1000\r\n")+`{"messages":`)
}

func webStranger(t *testing.T, s *service) string {
	return s.thenClosed(t, "POST "+pathCompress+" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
		"Content-Length: 1000000\r\n\r\n"+`{"messages":`)
}

// webSmuggle hides a request in the body of another: a proxy that goes by the length
// sees one, one that goes by the chunks two.
func webSmuggle(t *testing.T, s *service) string {
	hidden := "0\r\n\r\nGET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
	numbers, closed := s.answers(t, s.head("Content-Length: "+strconv.Itoa(len(hidden))+"\r\nTransfer-Encoding: chunked\r\n")+hidden)
	if len(numbers) == 1 && closed {
		return "one answer, then closed"
	}
	return strings.Join(numbers, " and ")
}

func webLarge(t *testing.T, s *service) string {
	return s.post(t, s.a, `{"messages":[{"role":"user","content":"`+strings.Repeat("x", maxMessage)+`"}]}`)
}

func webBomb(t *testing.T, s *service) string {
	return s.post(t, s.a, string(bomb()), "Content-Encoding", "gzip")
}

func webEnvelopeBomb(t *testing.T, s *service) string {
	status, header, text := s.request(t, http.MethodPost, "/elbowroom.v1.ContextService/CountTokens", string(message(1, bomb())),
		"Authorization", "Bearer "+s.a, "Content-Type", "application/grpc-web+proto", "Grpc-Encoding", "gzip")
	if header.Get("Grpc-Status") == "8" || bytes.Contains([]byte(strings.ToLower(text)), []byte("grpc-status: 8")) {
		return "RESOURCE_EXHAUSTED"
	}
	return status + " " + header.Get("Grpc-Status") + " " + text
}

func webEncoding(t *testing.T, s *service) string {
	return s.post(t, s.a, plainBody, "Content-Encoding", "br")
}

func webOrigin(t *testing.T, s *service) string {
	return s.post(t, s.a, plainBody, "Origin", "https://evil.example")
}

func webHost(t *testing.T, s *service) string {
	return s.post(t, s.a, plainBody, "Host", "evil.example")
}

func webForm(t *testing.T, s *service) string {
	status, _, _ := s.request(t, http.MethodPost, "/elbowroom.v1.ContextService/CountTokens", plainBody, "Authorization", "Bearer "+s.a, "Content-Type", "text/plain")
	return status
}

func webMethods(t *testing.T, s *service) string {
	outcomes := map[string]bool{}
	for _, method := range []string{http.MethodDelete, http.MethodPut, http.MethodTrace} {
		for _, path := range []string{pathCompress, "/elbowroom.v1.ContextService/CountTokens"} {
			status, _, _ := s.request(t, method, path, "", "Authorization", "Bearer "+s.a)
			outcomes[status] = true
		}
	}
	return strings.Join(keys(outcomes), " and ")
}

func webNested(t *testing.T, s *service) string { return s.post(t, s.a, nestedBody(1_000_000)) }

func webUTF8(t *testing.T, s *service) string {
	return s.post(t, s.a, "{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}")
}
