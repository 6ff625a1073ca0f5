package security

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

func digest(body string) []byte {
	sum := sha256.Sum256([]byte(body))
	return sum[:]
}

// bomb is gzip of 256 MiB of zeros: 256 KiB.
var bomb = sync.OnceValue(func() []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	zeros := make([]byte, 1<<20)
	for range 256 {
		_, _ = w.Write(zeros) // to memory
	}
	_ = w.Close()
	return out.Bytes()
})

// send makes a call of a message as it stands and says how it ended.
func (s *service) send(t *testing.T, flag byte, body []byte, more ...hpack.HeaderField) string {
	t.Helper()
	p := s.greet(t, true)
	return p.send(t, s, message(flag, body), more...)
}

func (p *peer) send(t *testing.T, s *service, data []byte, more ...hpack.HeaderField) string {
	t.Helper()
	block := p.block(s, s.a, more...)
	if p.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block, EndHeaders: true}) != nil {
		return "closed"
	}
	for len(data) > 0 {
		piece := data[:min(len(data), 16<<10)]
		data = data[len(piece):]
		if p.WriteData(1, len(data) == 0, piece) != nil {
			break
		}
	}
	p.until(t, func(p *peer) bool { return len(p.statuses)+len(p.resets) > 0 })
	return p.outcome(1)
}

var gzipped = hpack.HeaderField{Name: "grpc-encoding", Value: "gzip"}

// gzipBomb sends many at one time, which would take 4 GiB together.
func gzipBomb(t *testing.T, s *service) string {
	body := bomb()
	var peers []*peer
	for range 16 {
		peers = append(peers, s.greet(t, true))
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	outcomes := map[string]bool{}
	for _, p := range peers {
		all.Go(func() {
			got := p.send(t, s, message(1, body), gzipped)
			mu.Lock()
			defer mu.Unlock()
			outcomes[got] = true
		})
	}
	all.Wait()
	return strings.Join(keys(outcomes), " and ")
}

func unknownEncoding(t *testing.T, s *service) string {
	return s.send(t, 1, []byte("anything"), hpack.HeaderField{Name: "grpc-encoding", Value: "snappy"})
}

func tooLarge(t *testing.T, s *service) string {
	text := strings.Repeat("x", maxMessage)
	_, err := s.client.CountTokens(as(t, s.a), &elbowroomv1.CountTokensRequest{Text: &text})
	return got(err)
}

func fourGiB(t *testing.T, s *service) string {
	p := s.greet(t, true)
	return p.send(t, s, []byte{0, 0xff, 0xff, 0xff, 0xff, 'x'})
}

func garbage(t *testing.T, s *service) string {
	return s.send(t, 0, []byte("\xff\xff\xff\xffno message")) + ", from gRPC itself"
}

// count asks for the size of a body.
func (s *service) count(t *testing.T, body string) string {
	t.Helper()
	c := native("")
	c.Native.Body = &elbowroomv1.NativeRequest_JsonBytes{JsonBytes: []byte(body)}
	_, err := s.client.CountTokens(as(t, s.a), &elbowroomv1.CountTokensRequest{Conversation: c})
	if err != nil && reasonOf(err) == "" {
		t.Errorf("no reason: %v", err)
	}
	return got(err)
}

func nestedBody(depth int) string {
	return `{"messages":[{"role":"user","content":"hi","x":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}]}`
}

func nested(depth int) func(*testing.T, *service) string {
	return func(t *testing.T, s *service) string { return s.count(t, nestedBody(depth)) }
}

func manyBlocks(t *testing.T, s *service) string {
	return s.count(t, `{"messages":[`+strings.Repeat(`{"role":"user","content":"a"},`, 100_000)+`{"role":"user","content":"a"}]}`)
}

func invalidUTF8(t *testing.T, s *service) string {
	return s.count(t, "{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}")
}

func longNumber(t *testing.T, s *service) string {
	return s.count(t, `{"temperature":1`+strings.Repeat("0", 1_000_000)+`,"messages":[{"role":"user","content":"hi"}]}`)
}

func equalKeys(t *testing.T, s *service) string {
	return s.count(t, `{"messages":[{"role":"user",`+strings.Repeat(`"content":"hi",`, 100_000)+`"content":"hi"}]}`)
}

func overQuota(t *testing.T, s *service) string {
	for range 5_000 {
		_, err := s.client.Compress(as(t, s.c), &elbowroomv1.CompressRequest{Conversation: native(plainBody)})
		if err == nil {
			continue
		}
		named := false
		for _, d := range status.Convert(err).Details() {
			if q, ok := d.(*errdetails.QuotaFailure); ok {
				named = q.GetViolations()[0].GetSubject() == "tenant:team-c"
			}
		}
		if status.Code(err) == codes.ResourceExhausted && !named {
			t.Errorf("the quota is not named: %v", err)
		}
		return got(err)
	}
	return "no end"
}
