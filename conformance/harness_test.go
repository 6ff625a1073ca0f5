package conformance

import (
	"context"
	"log/slog"
	"net"
	"os"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"github.com/elbowroom/elbowroom/internal/testdata"
	"github.com/elbowroom/elbowroom/server"
	"github.com/elbowroom/elbowroom/summarizer"
)

// wire is a real server on a loopback port and a real client of it.
type wire struct {
	pb.ContextServiceClient
	ctx context.Context
}

// largestMessage is the server's limit; stock clients take 4 MiB.
const largestMessage = 64 << 20

// dial starts a server with the ladder, by default the embedded summarizer.
func dial(t testing.TB, rungs ...summarizer.Summarizer) *wire {
	t.Helper()
	return serve(t, newBench(t, rungs...))
}

// serve starts a server of the bench's engine and connects to it.
func serve(t testing.TB, b *bench) *wire {
	t.Helper()
	s, err := server.New(server.Options{
		Compressor: b.engine, Counter: b.counter, Registry: b.registry, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(lis) }()
	conn, err := grpc.NewClient(lis.Addr().String(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(largestMessage), grpc.MaxCallSendMsgSize(largestMessage)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(func() {
		cancel()
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		stop, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Shutdown(stop); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return &wire{pb.NewContextServiceClient(conn), ctx}
}

func (w *wire) compress(t testing.TB, req *pb.CompressRequest) *pb.CompressResponse {
	t.Helper()
	resp, err := w.Compress(w.ctx, req)
	if err != nil {
		t.Fatalf("Compress: %v", err)
	}
	return resp
}

func (w *wire) mark(t testing.TB, req *pb.ApplyCacheControlRequest) *pb.ApplyCacheControlResponse {
	t.Helper()
	resp, err := w.ApplyCacheControl(w.ctx, req)
	if err != nil {
		t.Fatalf("ApplyCacheControl: %v", err)
	}
	return resp
}

func (w *wire) prepare(t testing.TB, req *pb.PrepareRequest) *pb.PrepareResponse {
	t.Helper()
	resp, err := w.Prepare(w.ctx, req)
	if err != nil {
		t.Fatalf("Prepare: %v", err)
	}
	return resp
}

func (w *wire) count(t testing.TB, req *pb.CountTokensRequest) *pb.CountTokensResponse {
	t.Helper()
	resp, err := w.CountTokens(w.ctx, req)
	if err != nil {
		t.Fatalf("CountTokens: %v", err)
	}
	return resp
}

// dialectOf and formatOf translate the word of a test file.
func dialectOf(word string) Dialect {
	if word == testdata.Anthropic {
		return Anthropic
	}
	return OpenAI
}

func formatOf(d Dialect) pb.Format {
	if d == Anthropic {
		return pb.Format_FORMAT_ANTHROPIC_MESSAGES
	}
	return pb.Format_FORMAT_OPENAI_CHAT
}

// full reports whether the environment asks for every combination instead of a
// fixed sample of them.
func fullProduct() bool { return os.Getenv("CONFORMANCE") == "full" }

// read takes a conversation of either form apart.
func read(t testing.TB, d Dialect, c *pb.Conversation, like *Transcript) *Transcript {
	t.Helper()
	var out *Transcript
	var err error
	if d == Typed {
		out, err = ReadTyped(c, like)
	} else {
		out, err = ReadLike(d, nativeBytes(c), like)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}
