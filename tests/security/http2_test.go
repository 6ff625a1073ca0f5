package security

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// peer speaks HTTP/2 frame by frame, and keeps what the server answers.
type peer struct {
	*http2.Framer
	conn    *tls.Conn
	headers bytes.Buffer
	encoder *hpack.Encoder
	method  string // of the calls

	mu       sync.Mutex
	changed  chan struct{}
	statuses map[uint32]string // grpc-status of calls that have ended
	resets   map[http2.ErrCode]int
	goAway   string // the error of a GOAWAY
	acks     int    // of SETTINGS
	closed   bool
}

// greet opens a connection with the protocol's greeting. reading is whether anything is
// read.
func (s *service) greet(t *testing.T, reading bool) *peer {
	t.Helper()
	conn := tls.Client(open(t, s.process.GRPC), &tls.Config{RootCAs: s.ca.Pool(), ServerName: "localhost", NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12})
	if err := conn.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := &peer{
		Framer: http2.NewFramer(conn, conn), conn: conn, method: "CountTokens", changed: make(chan struct{}, 1),
		statuses: map[uint32]string{}, resets: map[http2.ErrCode]int{},
	}
	p.encoder = hpack.NewEncoder(&p.headers)
	p.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if _, err := conn.Write([]byte(http2.ClientPreface)); err != nil {
		t.Fatal(err)
	}
	if err := p.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	if reading {
		go p.read()
	}
	return p
}

// read keeps what comes until the connection ends.
func (p *peer) read() {
	for {
		frame, err := p.ReadFrame()
		p.mu.Lock()
		switch f := frame.(type) {
		case *http2.MetaHeadersFrame:
			for _, field := range f.Fields {
				if field.Name == "grpc-status" {
					p.statuses[f.StreamID] = field.Value
				}
			}
		case *http2.RSTStreamFrame:
			if _, answered := p.statuses[f.StreamID]; !answered {
				p.resets[f.ErrCode]++
			}
		case *http2.GoAwayFrame:
			p.goAway = f.ErrCode.String()
		case *http2.SettingsFrame:
			if f.IsAck() {
				p.acks++
			}
		}
		p.closed = err != nil
		p.mu.Unlock()
		select {
		case p.changed <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// until waits until what came is enough, or nothing more comes.
func (p *peer) until(t *testing.T, enough func(p *peer) bool) {
	t.Helper()
	limit := time.After(callLimit)
	for {
		p.mu.Lock()
		done := enough(p) || p.closed
		p.mu.Unlock()
		if done {
			return
		}
		select {
		case <-p.changed:
		case <-limit:
			t.Fatal("the server does not answer")
		}
	}
}

// block encodes the headers of a call of a method.
func (p *peer) block(s *service, token string, more ...hpack.HeaderField) []byte {
	p.headers.Reset()
	fields := append([]hpack.HeaderField{
		{Name: ":method", Value: "POST"}, {Name: ":scheme", Value: "https"},
		{Name: ":path", Value: "/elbowroom.v1.ContextService/" + p.method}, {Name: ":authority", Value: s.process.GRPC},
		{Name: "content-type", Value: "application/grpc"}, {Name: "te", Value: "trailers"},
		{Name: "authorization", Value: "Bearer " + token},
	}, more...)
	for _, f := range fields {
		_ = p.encoder.WriteField(f) // to memory
	}
	return bytes.Clone(p.headers.Bytes())
}

// begin sends the headers of a call. It returns false when the server has gone.
func (p *peer) begin(s *service, stream uint32, token string) bool {
	return p.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: p.block(s, token), EndHeaders: true}) == nil
}

// message is one on the wire: a flag and the length before it.
func message(flag byte, body []byte) []byte {
	n := len(body)
	return append([]byte{flag, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, body...)
}

// ask makes an ordinary call on the connection and says how it ended.
func (p *peer) ask(t *testing.T, s *service, stream uint32) string {
	t.Helper()
	if !p.begin(s, stream, s.a) || p.WriteData(stream, true, message(0, []byte("\x12\x02hi"))) != nil {
		return "closed"
	}
	p.until(t, func(p *peer) bool { return p.statuses[stream] != "" })
	return p.outcome(stream)
}

// outcome says what became of a stream.
func (p *peer) outcome(stream uint32) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := map[string]string{"0": "OK", "3": "INVALID_ARGUMENT", "4": "DEADLINE_EXCEEDED", "8": "RESOURCE_EXHAUSTED", "12": "UNIMPLEMENTED", "13": "INTERNAL", "16": "UNAUTHENTICATED"}
	switch code, ended := p.statuses[stream]; {
	case ended && names[code] != "":
		return names[code]
	case ended:
		return code
	case len(p.resets) > 0:
		for code := range p.resets {
			return "RST_STREAM " + code.String()
		}
		return ""
	case p.goAway != "":
		return "GOAWAY " + p.goAway
	case p.closed:
		return "closed"
	default:
		return fmt.Sprintf("nothing for stream %d", stream)
	}
}
