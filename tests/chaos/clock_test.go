package chaos

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	client "github.com/elbowroom/elbowroom/clients/go"
	"github.com/elbowroom/elbowroom/compressor"
	"github.com/elbowroom/elbowroom/internal/agentdouble"
	"github.com/elbowroom/elbowroom/server"
	"github.com/elbowroom/elbowroom/store"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/extractive"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
	"github.com/elbowroom/elbowroom/tokens"
)

// TestEntriesOfTheEmbeddedStoreEnd lets the clock go on in the middle of sessions: bodies
// for deltas end after an hour, summaries after a day, compressions after a week, and
// nothing else changes.
func TestEntriesOfTheEmbeddedStoreEnd(t *testing.T) {
	t.Parallel()
	list := talks(t)
	synctest.Test(t, func(t *testing.T) {
		conn, stop := embedded(t)
		defer stop()
		c := &caller{load: &load{}}
		session := int64(0)
		for _, pause := range []time.Duration{61 * time.Minute, 25 * time.Hour, 8 * 24 * time.Hour} {
			hits, deltas := 0, 0
			for i := range list {
				session++
				h, d := c.interrupted(t, conn, &list[i], session, pause)
				hits, deltas = hits+h, deltas+d
			}
			if hits == 0 || deltas == 0 {
				t.Errorf("%v: %d compressions were found again and %d deltas sent", pause, hits, deltas)
			}
		}
		for _, b := range c.broken {
			t.Error(b)
		}
	})
}

// interrupted has a session with a pause in its middle, and counts what was found again
// of the turns before.
func (c *caller) interrupted(t *testing.T, conn *client.Client, k *talk, session int64, pause time.Duration) (hits, deltas int) {
	t.Helper()
	var before, loopBefore agentdouble.Judge
	loop := conn.NewConversation(&elbowroomv1.PrepareRequest{
		Model: k.model, ContextWindow: contextWindow, Policy: policy(),
	}, client.WithConversationFormat(k.format))
	for turn := range k.turns {
		late := turn == len(k.turns)/2
		if late {
			<-time.After(pause)
		}
		body := k.body(turn, session)
		resp, err := conn.Service().Compress(t.Context(), k.request(body))
		if err != nil {
			t.Fatal(err)
		}
		c.judge("Compress", k, body, resp)
		c.follow("Compress", k, &before, textOf(resp.GetConversation()))
		if resp.GetReport().GetContinuity().GetResult() == elbowroomv1.ContinuityResult_CONTINUITY_RESULT_HIT {
			hits++
			if late && pause > 7*24*time.Hour {
				t.Errorf("%s: a compression was found after %v", k.name, pause)
			}
		}
		sent, err := loop.BeforeRequest(t.Context(), body)
		if err != nil {
			t.Fatal(err)
		}
		c.follow("Prepare with deltas", k, &loopBefore, sent)
		if loop.Last().Delta {
			deltas++
			if late {
				t.Errorf("%s: a body was held for %v", k.name, pause)
			}
		}
	}
	return hits, deltas
}

// embedded is a service of this process, with the memory that it has by default.
func embedded(t *testing.T) (*client.Client, func()) {
	t.Helper()
	fail := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	counter := tokens.NewCounter()
	registry, err := tokens.NewRegistry()
	fail(err)
	memory, err := store.NewMemory(store.MemoryOptions{})
	fail(err)
	steps, err := ladder.New(ladder.Options{Rungs: []summarizer.Summarizer{extractive.New()}, Store: memory})
	fail(err)
	engine, err := compressor.New(compressor.Options{Counter: counter, Ladder: steps, Store: memory, Continuity: true})
	fail(err)
	s, err := server.New(server.Options{Compressor: engine, Counter: counter, Registry: registry, Log: slog.New(slog.DiscardHandler)})
	fail(err)
	lis := bufconn.Listen(1 << 20)
	served := make(chan error, 1)
	go func() { served <- s.Serve(lis) }()
	conn, err := client.Connect("passthrough:///embedded", client.WithTimeout(-1), client.WithDialOptions(
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return lis.Dial() })))
	fail(err)
	return conn, func() {
		_ = conn.Close()
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		steps.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}
