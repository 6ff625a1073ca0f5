package chaos

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/internal/serverprocess"
	"github.com/elbowroom/elbowroom/internal/testutil/pki"
	"github.com/elbowroom/elbowroom/internal/wiredouble"
)

// bounded is a context that ends when nothing can be hoped for any more.
func bounded(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), limit)
}

// processFaults end the process. Another one takes its address.
func processFaults() []fault {
	return []fault{
		{
			name: "the server is killed", allowed: []failure{unreachable}, cut: true,
			inject: func(_ *testing.T, s *stand) { s.server.Kill() },
			expect: func(t *testing.T, s *stand) { s.load.failures(t, len(s.load.clients)) },
			heal: func(t *testing.T, s *stand) {
				// The next one is to have calls when it drains.
				s.start(t, serverprocess.Options{Args: []string{"--summarizer-attempt-timeout", "1m", "--shutdown-timeout", "4s"}})
			},
		},
		{
			name: "the server drains while the model hangs", allowed: []failure{unreachable, draining, summarizerFailed}, cut: true,
			inject: drain,
			heal: func(t *testing.T, s *stand) {
				s.model.Script(good())
				s.start(t, serverprocess.Options{})
			},
		},
	}
}

// drain holds calls in the model's hands and asks the server to end.
func drain(t *testing.T, s *stand) {
	ctx, cancel := bounded(t)
	defer cancel()
	conn, err := grpc.NewClient(s.addr, grpc.WithTransportCredentials(credentials.NewTLS(s.trust())))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	health, err := healthv1.NewHealthClient(conn).Watch(ctx, &healthv1.HealthCheckRequest{Service: "elbowroom.v1.ContextService"})
	if err != nil {
		t.Fatal(err)
	}
	if first, err := health.Recv(); first.GetStatus() != healthv1.HealthCheckResponse_SERVING {
		t.Fatalf("health %v, %v", first.GetStatus(), err)
	}
	s.model.Script(wiredouble.Hang())
	k := &s.load.talks[0]
	body := k.body(len(k.turns)-1, s.load.session.Add(1))
	stream, err := elbowroomv1.NewContextServiceClient(conn).StreamCompress(ctx, &elbowroomv1.StreamCompressRequest{Request: k.request(body)})
	for err == nil {
		var event *elbowroomv1.StreamCompressResponse
		if event, err = stream.Recv(); event.GetProgress().GetPhase() == elbowroomv1.CompressPhase_COMPRESS_PHASE_SUMMARIZING {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the model's call", func() bool { return s.model.Active() > 0 })

	if err := s.server.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if next, err := health.Recv(); next.GetStatus() != healthv1.HealthCheckResponse_NOT_SERVING {
		t.Errorf("health %v, %v", next.GetStatus(), err)
	}
	_, err = healthv1.NewHealthClient(conn).Check(ctx, &healthv1.HealthCheckRequest{})
	if f, _ := failureOf(err); err != nil && f != unreachable {
		t.Errorf("a health check: %v", err)
	}
	text := "too late"
	_, err = elbowroomv1.NewContextServiceClient(conn).CountTokens(ctx, &elbowroomv1.CountTokensRequest{Text: &text})
	if f, _ := failureOf(err); f != unreachable && f != draining {
		t.Errorf("a new call: %v", err)
	}

	// The call that waits for the model has its answer by the next rung, and in time.
	var result *elbowroomv1.CompressResponse
	for {
		event, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the call that was under way: %v", err)
		}
		result = event.GetResult()
	}
	c := &caller{load: s.load}
	c.judge("StreamCompress", k, body, result)
	if r := result.GetReport(); r.GetRung() != elbowroomv1.Rung_RUNG_EXTRACTIVE || len(r.GetFailedRungs()) != 1 {
		t.Errorf("rung %v after %v", r.GetRung(), r.GetFailedRungs())
	}
	select {
	case <-s.server.Ended():
	case <-ctx.Done():
		t.Fatal("the server does not end")
	}
	if code := s.server.ExitCode(); code != 0 {
		log := s.server.Log()
		t.Errorf("exit code %d\n%s", code, log[max(0, len(log)-4<<10):])
	}
}

// redisFaults leave the service with its own memory, and every call with an answer.
func redisFaults() []fault {
	degraded := func(t *testing.T, s *stand) {
		await(t, "the store to be away", func() bool { return s.metric(t, "elbowroom_store_degraded") == 1 })
	}
	back := func(t *testing.T, s *stand) {
		was := s.metric(t, "elbowroom_store_operations_total", `result="ok"`)
		s.grows(t, was, "elbowroom_store_operations_total", `result="ok"`)
		await(t, "the store to be back", func() bool { return s.metric(t, "elbowroom_store_degraded") == 0 })
	}
	return []fault{
		{
			name:   "Redis is killed",
			inject: func(_ *testing.T, s *stand) { s.redis.Kill() },
			expect: degraded, heal: func(t *testing.T, s *stand) { s.redis.Restart(t) }, after: back,
		},
		{
			name:   "Redis hangs",
			inject: func(_ *testing.T, s *stand) { s.redis.Pause() },
			expect: degraded, heal: func(_ *testing.T, s *stand) { s.redis.Continue() }, after: back,
		},
		{
			name:   "Redis is flushed",
			inject: func(t *testing.T, s *stand) { s.ask(t, "FLUSHALL") },
			after:  back,
		},
		{
			name: "Redis is full", long: true, inject: func(t *testing.T, s *stand) { s.ask(t, "CONFIG", "SET", "maxmemory", "1") },
			expect: degraded, heal: func(t *testing.T, s *stand) { s.ask(t, "CONFIG", "SET", "maxmemory", "0") }, after: back,
		},
		{
			name: "a week passes for all entries in Redis", inject: func(t *testing.T, s *stand) {
				s.ask(t, "EVAL", `for _, k in ipairs(redis.call('KEYS', '*')) do
					if redis.call('PTTL', k) < 0 then return redis.error_reply(k .. ' has no end') end
					redis.call('PEXPIRE', k, 1)
				end`, "0")
			},
			after: back,
		},
	}
}

// ask sends a command to the Redis.
func (s *stand) ask(t *testing.T, words ...string) {
	t.Helper()
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{s.redis.Addr()}, DisableCache: true, ForceSingleClient: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Do(t.Context(), c.B().Arbitrary(words...).Build()).Error(); err != nil && !rueidis.IsRedisNil(err) {
		t.Fatal(err)
	}
}

// modelFaults make the embedded summarizer take over, with the reason in the metrics.
func modelFaults() []fault {
	failing := func(long bool, name, code string, harm func(*testing.T, *stand), heal func(*testing.T, *stand)) fault {
		var was float64
		return fault{
			name: name, long: long, allowed: []failure{summarizerFailed},
			inject: func(t *testing.T, s *stand) {
				was = s.metric(t, "elbowroom_summarizer_failures_total", `code="`+code+`"`)
				harm(t, s)
			},
			expect: func(t *testing.T, s *stand) {
				s.grows(t, was, "elbowroom_summarizer_failures_total", `code="`+code+`"`)
			},
			heal: func(t *testing.T, s *stand) {
				heal(t, s)
				// Until the circuit breaker tries the model again, calls fail as before.
				s.load.modelAnswers(t, summarizerFailed)
			},
		}
	}
	answers := func(steps ...wiredouble.Step) func(*testing.T, *stand) {
		return func(_ *testing.T, s *stand) { s.model.Script(steps...) }
	}
	mend := answers(good())
	return []fault{
		failing(false, "the model is down", "network",
			func(_ *testing.T, s *stand) { s.way.shut() }, func(t *testing.T, s *stand) { s.way.open(t) }),
		failing(false, "the model hangs", "timeout", answers(wiredouble.Hang()), mend),
		failing(true, "the model answers garbage", "bad_response", answers(wiredouble.Garbage()), mend),
		failing(true, "the model writes without end", "timeout", answers(wiredouble.Drip(10*time.Millisecond)), mend),
		failing(true, "the model is overloaded", "overloaded", answers(wiredouble.Status(503)), mend),
		failing(true, "the model breaks off", "network", answers(wiredouble.ResetMidway("## Goal\n- Half of")), mend),
	}
}

// fileFaults are files that the running server reads.
func fileFaults() []fault {
	reloads := func(t *testing.T, s *stand, result string) float64 {
		return s.metric(t, "elbowroom_config_reloads_total", `result="`+result+`"`)
	}
	shown := func(t *testing.T, s *stand) {
		await(t, "certificate "+s.name(), func() bool { return s.certificate(t) == s.name() })
	}
	var refused int64
	write := func(t *testing.T, s *stand, text string) { pki.Write(t, s.dir, "elbowroom.yaml", []byte(text)) }
	hangup := func(t *testing.T, s *stand) {
		if err := s.server.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	// broken is a file that is no good, and what asks for its being read.
	broken := func(long bool, name, text string, ask func(*testing.T, *stand)) fault {
		var refused, applied float64
		return fault{
			name: name, long: long,
			inject: func(t *testing.T, s *stand) {
				refused, applied = reloads(t, s, "refused"), reloads(t, s, "applied")
				write(t, s, text)
				ask(t, s)
			},
			expect: func(t *testing.T, s *stand) {
				s.grows(t, refused, "elbowroom_config_reloads_total", `result="refused"`)
				if n := reloads(t, s, "applied"); n != applied {
					t.Errorf("%v reloads of a broken file were applied", n-applied)
				}
				// The settings in force stay: it still compresses.
				was := s.metric(t, "elbowroom_compressions_total", `outcome="compressed"`)
				s.grows(t, was, "elbowroom_compressions_total", `outcome="compressed"`)
			},
			heal: func(t *testing.T, s *stand) {
				write(t, s, settings)
				ask(t, s)
			},
			after: func(t *testing.T, s *stand) {
				s.grows(t, applied, "elbowroom_config_reloads_total", `result="applied"`)
			},
		}
	}
	nothing := func(*testing.T, *stand) {}
	return []fault{
		{
			name: "the certificate is renewed", long: true,
			inject: func(t *testing.T, s *stand) { s.issue(t) },
			expect: shown,
		},
		{
			name: "the certificate is half a file",
			inject: func(t *testing.T, s *stand) {
				refused = s.log.refused.Load()
				pki.Write(t, s.dir, "tls.crt", []byte("-----BEGIN CERT"))
			},
			expect: func(t *testing.T, s *stand) {
				await(t, "a line about it", func() bool {
					if name := s.certificate(t); name != s.name() { // which makes the server look
						t.Fatalf("the certificate of %q", name)
					}
					return s.log.refused.Load() > refused
				})
			},
			heal:  func(t *testing.T, s *stand) { s.issue(t) },
			after: shown,
		},
		broken(false, "the configuration is broken and found by itself", "compression: {enabled: false, threshold: [", nothing),
		broken(true, "the configuration is wrong and a signal asks for it", "compression: {enabled: false, threshold: 7}\n", hangup),
	}
}

// lost reports whether lines of the log have been lost.
func (s *stand) lost(t *testing.T) bool { return s.metric(t, "elbowroom_log_lost_lines_total") > 0 }

// logFaults cost lines of the log and nothing else. They come last: a dead reader stays
// dead.
func logFaults() []fault {
	// flood makes calls until lines are lost.
	flood := func(t *testing.T, s *stand) {
		conn, err := grpc.NewClient(s.addr, grpc.WithTransportCredentials(credentials.NewTLS(s.trust())))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		was, text := s.metric(t, "elbowroom_log_lost_lines_total"), "hello"
		await(t, "lines of the log to be lost", func() bool {
			var group errgroup.Group
			for range 8 {
				group.Go(func() error {
					for range 50 {
						ctx, cancel := bounded(t)
						_, err := elbowroomv1.NewContextServiceClient(conn).CountTokens(ctx, &elbowroomv1.CountTokensRequest{Text: &text})
						cancel()
						if err != nil {
							return err
						}
					}
					return nil
				})
			}
			if err := group.Wait(); err != nil {
				t.Fatal(err)
			}
			return s.metric(t, "elbowroom_log_lost_lines_total") > was
		})
	}
	return []fault{
		{
			name: "nobody reads the log", long: true,
			inject: func(_ *testing.T, s *stand) { s.log.stall() }, expect: flood,
			heal: func(_ *testing.T, s *stand) { s.log.resume() },
			after: func(t *testing.T, s *stand) {
				was := int64(-1)
				await(t, "lines to be written again", func() bool {
					now := int64(s.metric(t, "elbowroom_log_lost_lines_total"))
					same := now == was
					was = now
					return same
				})
			},
		},
		{name: "the reader of the log dies", inject: func(_ *testing.T, s *stand) { s.log.die() }, expect: flood},
	}
}

// closing is an output whose reader dies when it has read where the server is.
type closing struct{}

func (closing) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("\nLimits: ")) {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

// TestAFullDiskForLogs has both outputs fail from the start.
func TestAFullDiskForLogs(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	defer func() { _ = full.Close() }()
	s := newStand(t)
	s.start(t, serverprocess.Options{Log: full, Out: closing{}})
	s.load = newLoad(t, s.addr, s.trust(), *clients)
	s.happen(t, fault{inject: func(*testing.T, *stand) {}, expect: func(t *testing.T, s *stand) {
		await(t, "lines to be counted", func() bool { return s.lost(t) })
	}})
	s.load.stop()
	ctx, cancel := bounded(t)
	defer cancel()
	// It says that it stops to a pipe without a reader.
	if code, err := s.server.Stop(ctx); code != 0 || err != nil {
		t.Errorf("exit code %d, error %v", code, err)
	}
}
