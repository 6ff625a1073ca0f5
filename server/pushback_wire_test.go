package server_test

import (
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/server"
	"github.com/elbowroom/elbowroom/server/interceptors/quota"
)

// wantPushback checks what gRPC's retry is told by the trailers of a call.
func wantPushback(t *testing.T, name string, err error, code codes.Code, trailer metadata.MD, want ...string) {
	t.Helper()
	if got := trailer.Get("grpc-retry-pushback-ms"); status.Code(err) != code || !slices.Equal(got, want) {
		t.Errorf("%s: %v with %q, want %v with %q", name, err, got, code, want)
	}
}

func TestRefusalsTellGRPCWhenToTryAgain(t *testing.T) {
	var o server.Options
	waiting := newWaiting()
	f := start(t, func(given *server.Options) {
		given.Compressor = waiting
		given.Limits = server.Limits{MaxMessageBytes: 100_000, MaxInFlightBytes: 100_000}
		o = *given
	})
	var trailer metadata.MD
	count := func(text string) error {
		trailer = nil
		_, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{Text: &text}, grpc.Trailer(&trailer))
		return err
	}
	err := count("hi")
	wantPushback(t, "an answer", err, codes.OK, trailer)
	call := compressInBackground(t, f)
	<-waiting.began
	err = count(strings.Repeat("x", 99_990))
	wantPushback(t, "busy", err, codes.ResourceExhausted, trailer, "1000")
	stream := func(request *elbowroomv1.CompressRequest) (metadata.MD, error) {
		s, err := f.client.StreamCompress(t.Context(), &elbowroomv1.StreamCompressRequest{Request: request})
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = s.Recv()
		}
		return s.Trailer(), err
	}
	full := &elbowroomv1.StreamCompressRequest{Request: &elbowroomv1.CompressRequest{Conversation: openai("")}}
	body := full.GetRequest().GetConversation().GetNative()
	body.Body = &elbowroomv1.NativeRequest_Json{Json: strings.Repeat("x", 90_000)}
	body.Body = &elbowroomv1.NativeRequest_Json{Json: strings.Repeat("x", 90_000+100_000-proto.Size(full))}
	trailer, err = stream(full.GetRequest())
	wantPushback(t, "a stream", err, codes.ResourceExhausted, trailer, "1000")
	trailer, err = stream(&elbowroomv1.CompressRequest{ContextWindow: -1})
	wantPushback(t, "a stream that is wrong", err, codes.InvalidArgument, trailer)
	close(waiting.goOn)
	if err := <-call; err != nil {
		t.Error(err)
	}

	o.Limits.Tenant = quota.Limits{Rate: 1e-6, Burst: 1}
	if err := f.server.Reconfigure(o); err != nil {
		t.Fatal(err)
	}
	if err := count("hi"); err != nil {
		t.Error(err)
	}
	err = count("hi")
	wantPushback(t, "a quota for long", err, codes.ResourceExhausted, trailer, "-1")
}

func TestAFailedSummarizerIsNotTriedAgainByGRPC(t *testing.T) {
	f := start(t, func(o *server.Options) {
		o.Compressor = newEngine(t, outline{name: "outline", err: errors.New("backend down")})
	})
	abort := policy(func(p *elbowroomv1.CompressionPolicy) {
		p.FailurePolicy, p.ProtectLastN = elbowroomv1.FailurePolicy_FAILURE_POLICY_ABORT, proto.Int32(6)
	})
	request := &elbowroomv1.CompressRequest{Conversation: anthropic(anthropicBody()), ContextWindow: 8_000, SessionId: "s", Policy: abort}
	var trailer metadata.MD
	_, err := f.client.Compress(t.Context(), request, grpc.Trailer(&trailer))
	wantPushback(t, "failed", err, codes.Unavailable, trailer, "-1")

	f.server.Drain()
	trailer = nil
	_, err = f.client.Compress(t.Context(), request, grpc.Trailer(&trailer))
	wantPushback(t, "draining", err, codes.Unavailable, trailer)
}

// A delta is small, the body that it makes is not: the handler finds that out.
func TestABodyOverTheLimitIsNotTriedAgainByGRPC(t *testing.T) {
	f := start(t, func(o *server.Options) { o.Limits.MaxMessageBytes = 4 << 10 })
	body := turns(1)[0]
	kept := anthropic(body)
	kept.Native.Keep = true
	if _, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{Conversation: kept}); err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256([]byte(body))
	delta := sent(&elbowroomv1.NativeDelta{Base: digest[:], Splices: []*elbowroomv1.Splice{{Offset: 1, Text: strings.Repeat(" ", 4_000)}}}, false)
	var trailer metadata.MD
	_, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{Conversation: delta}, grpc.Trailer(&trailer))
	wantPushback(t, "too large", err, codes.ResourceExhausted, trailer, "-1")
}
