package security

import (
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// bigMetadata goes over the bound with its last piece, which ends the call and not the
// connection.
func bigMetadata(t *testing.T, s *service) string {
	p := s.greet(t, true)
	block := p.block(s, s.a)
	if err := p.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block}); err != nil {
		return "closed"
	}
	const pieces = 7
	for i := range pieces {
		p.headers.Reset()
		_ = p.encoder.WriteField(hpack.HeaderField{Name: "x-large", Value: strings.Repeat("~", 10<<10), Sensitive: true})
		if err := p.WriteContinuation(1, i == pieces-1, p.headers.Bytes()); err != nil {
			return "closed"
		}
	}
	p.until(t, func(p *peer) bool { return p.statuses[1] != "" || len(p.resets) > 0 })
	return p.outcome(1)
}

// continuationFlood sends as much as the server takes.
func continuationFlood(t *testing.T, s *service) string {
	p := s.greet(t, true)
	if err := p.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: p.block(s, s.a)}); err != nil {
		t.Fatal(err)
	}
	for range 10_000 {
		p.headers.Reset()
		_ = p.encoder.WriteField(hpack.HeaderField{Name: "x-more", Value: strings.Repeat("~", 12<<10), Sensitive: true})
		if p.WriteContinuation(1, false, p.headers.Bytes()) != nil {
			return "closed"
		}
	}
	return "taken in"
}

func silent(t *testing.T, s *service) string { return ends(open(t, s.process.GRPC)) }

// handshake is a connection with TLS and nothing said on it.
func (s *service) handshake(t *testing.T) net.Conn {
	t.Helper()
	conn := tls.Client(open(t, s.process.GRPC), &tls.Config{RootCAs: s.ca.Pool(), ServerName: "localhost", NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12})
	if err := conn.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return conn
}

// say sends a text on a fresh connection and waits for its end.
func (s *service) say(t *testing.T, text string) string {
	t.Helper()
	conn := s.handshake(t)
	if _, err := conn.Write([]byte(text)); err != nil {
		return "closed"
	}
	return ends(conn)
}

func halfPreface(t *testing.T, s *service) string { return s.say(t, http2.ClientPreface[:11]) }

func http1(t *testing.T, s *service) string {
	return s.say(t, "GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: none\r\n\r\n")
}

// halfHeaders begins a call and does not say that its headers have ended; it answers
// no ping, which would end them.
func halfHeaders(t *testing.T, s *service) string {
	p := s.greet(t, true)
	if err := p.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: p.block(s, s.a)}); err != nil {
		t.Fatal(err)
	}
	p.until(t, func(p *peer) bool { return p.closed })
	return "closed"
}

// half is the beginning of a message of 256 bytes.
var half = []byte{0, 0, 0, 1, 0, 'h', 'a', 'l', 'f'}

// slow begins as many calls as it may on several connections and sends each so much.
func slow(method string, part []byte) func(*testing.T, *service) string {
	return func(t *testing.T, s *service) string {
		var peers []*peer
		for range 8 {
			p := s.greet(t, true)
			p.method = method
			for i := range uint32(maxStreams) {
				if !p.begin(s, 2*i+1, s.a) || part != nil && p.WriteData(2*i+1, false, part) != nil {
					t.Fatal("the server does not take calls")
				}
			}
			peers = append(peers, p)
		}
		s.servesTheHonest(t) // while they wait
		outcomes := map[string]bool{}
		for _, p := range peers {
			p.until(t, func(p *peer) bool { return len(p.statuses) == maxStreams })
			for i := range uint32(maxStreams) {
				outcomes[p.outcome(2*i+1)] = true
			}
		}
		return strings.Join(keys(outcomes), " and ")
	}
}

func keys(of map[string]bool) []string {
	var out []string
	for key := range of {
		out = append(out, key)
	}
	return out
}

func idle(t *testing.T, s *service) string {
	p := s.greet(t, false)
	if got := p.answerPings(t); got != "" {
		return got
	}
	return "closed"
}

// answerPings does what keeps a connection alive until the server ends it.
func (p *peer) answerPings(t *testing.T) string {
	t.Helper()
	for {
		frame, err := p.ReadFrame()
		if err != nil {
			return "closed"
		}
		switch f := frame.(type) {
		case *http2.PingFrame:
			if !f.IsAck() {
				_ = p.WritePing(true, f.Data)
			}
		case *http2.GoAwayFrame:
			return "GOAWAY " + f.ErrCode.String()
		}
	}
}

// tooManyConnections opens all that there may be besides the honest caller's, and then
// asks for another.
func tooManyConnections(t *testing.T, s *service) string {
	for range maxConnections {
		open(t, s.process.GRPC)
	}
	conn := tls.Client(open(t, s.process.GRPC), &tls.Config{RootCAs: s.ca.Pool(), ServerName: "localhost", NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12})
	if conn.HandshakeContext(t.Context()) != nil {
		return "closed"
	}
	return "let in"
}

func rapidReset(t *testing.T, s *service) string {
	p := s.greet(t, true)
	next := uint32(1)
	for range 10_000 {
		if !p.begin(s, next, s.a) || p.WriteRSTStream(next, http2.ErrCodeCancel) != nil {
			return "closed"
		}
		next += 2
	}
	return p.ask(t, s, next) + " for the next call"
}

func manyStreams(t *testing.T, s *service) string {
	p := s.greet(t, true)
	const calls = 10_000
	for i := range uint32(calls) {
		if !p.begin(s, 2*i+1, s.a) {
			return "closed"
		}
	}
	p.until(t, func(p *peer) bool { return len(p.statuses)+p.resets[http2.ErrCodeRefusedStream] == calls })
	p.mu.Lock()
	defer p.mu.Unlock()
	// Those that wait are ended for their slowness, which makes room for as many again.
	if refused := p.resets[http2.ErrCodeRefusedStream]; refused < calls/2 || len(p.statuses) < maxStreams {
		t.Errorf("%d calls refused, %d others", refused, len(p.statuses))
	}
	return "RST_STREAM " + http2.ErrCodeRefusedStream.String() + " beyond the bound"
}

func pingFlood(t *testing.T, s *service) string {
	p := s.greet(t, true)
	for range 10_000 {
		if p.WritePing(false, [8]byte{}) != nil {
			break
		}
	}
	p.until(t, func(p *peer) bool { return p.goAway != "" })
	p.mu.Lock()
	defer p.mu.Unlock()
	return "GOAWAY " + p.goAway
}

// settingsFlood asks for answers that it does not read. When the server waits for it to
// read, so does the flood.
func settingsFlood(t *testing.T, s *service) string {
	p := s.greet(t, false)
	for range 2_000_000 {
		_ = p.conn.SetWriteDeadline(time.Now().Add(time.Second))
		if err := p.WriteSettings(); err != nil {
			return "not read any further"
		}
	}
	return "read to the end"
}

func manySettings(t *testing.T, s *service) string {
	p := s.greet(t, true)
	const times = 10_000
	for range times {
		if p.WriteSettings() != nil {
			return "closed"
		}
	}
	p.until(t, func(p *peer) bool { return p.acks >= times })
	return p.ask(t, s, 1) + " for the next call"
}

func evenStream(t *testing.T, s *service) string {
	p := s.greet(t, true)
	p.begin(s, 2, s.a)
	p.until(t, func(p *peer) bool { return p.goAway != "" })
	return p.outcome(2)
}

func largeFrame(t *testing.T, s *service) string {
	p := s.greet(t, true)
	p.begin(s, 1, s.a)
	_ = p.WriteRawFrame(http2.FrameData, 0, 1, make([]byte, 1<<20))
	p.until(t, func(p *peer) bool { return p.closed })
	return "closed"
}
