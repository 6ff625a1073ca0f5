package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/compressor"
	"github.com/elbowroom/elbowroom/server"
)

// fake answers Compress as it is told.
type fake func(ctx context.Context, req compressor.Request) (*compressor.Result, error)

func (f fake) Compress(ctx context.Context, req compressor.Request) (*compressor.Result, error) {
	return f(ctx, req)
}

func failing(err error) func(o *server.Options) {
	return func(o *server.Options) {
		o.Compressor = fake(func(context.Context, compressor.Request) (*compressor.Result, error) { return nil, err })
	}
}

func panicking(v any) func(o *server.Options) {
	return func(o *server.Options) {
		o.Compressor = fake(func(context.Context, compressor.Request) (*compressor.Result, error) { panic(v) })
	}
}

func TestFaultsInsideStayInside(t *testing.T) {
	index := 7
	for _, c := range []struct {
		name   string
		change func(o *server.Options)
		logged string // what the log must say, beside the id
		hidden string // what neither caller nor log may see
	}{
		{"an unknown error", failing(errors.New("the cellar is flooded")), "the cellar is flooded", ""},
		{"a result that failed its check", failing(fmt.Errorf("%w: message 3", compressor.ErrBroken)), "message 3", ""},
		{"a panic with a text", panicking("quoting " + canary), "stack", canary},
		{"a panic with an error", panicking(errors.New("quoting " + canary)), "stack", canary},
		{"a runtime panic", func(o *server.Options) {
			o.Compressor = fake(func(context.Context, compressor.Request) (*compressor.Result, error) {
				return []*compressor.Result{}[index], nil
			})
		}, "index out of range", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := start(t, c.change)
			for _, req := range []proto.Message{
				&elbowroomv1.CompressRequest{Conversation: openai(`[]`)},
				&elbowroomv1.PrepareRequest{Conversation: openai(`[]`)},
			} {
				_, err := send(t.Context(), f, req)
				st := status.Convert(err)
				id, found := strings.CutPrefix(st.Message(), "internal error, logged as ")
				if st.Code() != codes.Internal || !found || len(id) != 16 || len(st.Details()) != 0 {
					t.Fatalf("%v with %v, want INTERNAL with an id alone", err, st.Details())
				}
				if log := f.log.String(); !strings.Contains(log, id) || !strings.Contains(log, c.logged) {
					t.Errorf("the log names neither %s nor %q:\n%s", id, c.logged, log)
				}
			}
			if c.hidden != "" && strings.Contains(f.log.String(), c.hidden) {
				t.Errorf("the log quotes the caller:\n%s", f.log.String())
			}
			if _, err := f.client.ListModels(t.Context(), &elbowroomv1.ListModelsRequest{}); err != nil {
				t.Errorf("the server did not survive: %v", err)
			}
		})
	}
}

func TestDomainErrorsHaveTheirStatus(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		code   codes.Code
		field  string
		reason string
		retry  time.Duration
	}{
		{"argument", &compressor.ArgumentError{Field: "policy.threshold", Message: -1, Reason: "too high"}, codes.InvalidArgument, "policy.threshold", "", 0},
		{"refused", &compressor.RefusedError{Code: "ODD", Message: 4, Detail: "odd"}, codes.FailedPrecondition, "", "ODD", 0},
		{"summarizer", &compressor.SummarizerError{RetryAfter: 90 * time.Second, Err: errors.New(canary)}, codes.Unavailable, "", "SUMMARIZER_FAILED", 90 * time.Second},
		{"summarizer that ran out of its own time", &compressor.SummarizerError{Err: context.DeadlineExceeded}, codes.Unavailable, "", "SUMMARIZER_FAILED", time.Second},
		{"deadline", fmt.Errorf("summarize: %w", context.DeadlineExceeded), codes.DeadlineExceeded, "", "", 0},
		{"cancelled", context.Canceled, codes.Canceled, "", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := start(t, failing(fmt.Errorf("wrapped: %w", c.err)))
			_, err := f.client.Compress(t.Context(), &elbowroomv1.CompressRequest{Conversation: openai(`[]`)})
			d := detailsOf(err)
			if status.Code(err) != c.code || d.field != c.field || d.reason != c.reason || d.retry != c.retry {
				t.Errorf("%v, details %+v", err, d)
			}
			if strings.Contains(err.Error(), canary) {
				t.Errorf("the caller sees the backend's words: %v", err)
			}
		})
	}
}

// A failing summarizer under ABORT, through the real engine.
func TestASummarizerThatFailsUnderAbortIsUnavailable(t *testing.T) {
	f := start(t, func(o *server.Options) {
		o.Compressor = newEngine(t, outline{name: "outline", err: errors.New("backend down")})
	})
	abort := policy(func(p *elbowroomv1.CompressionPolicy) {
		p.FailurePolicy, p.ProtectLastN = elbowroomv1.FailurePolicy_FAILURE_POLICY_ABORT, proto.Int32(6)
	})
	_, err := f.client.Compress(t.Context(), &elbowroomv1.CompressRequest{
		Conversation: anthropic(anthropicBody()), ContextWindow: 8_000, SessionId: "s", Policy: abort,
	})
	if d := detailsOf(err); status.Code(err) != codes.Unavailable || d.retry != time.Minute || d.reason != "SUMMARIZER_FAILED" {
		t.Errorf("%v, details %+v, want UNAVAILABLE and a minute to wait", err, d)
	}
}

func TestTheLogHasOneLineForACall(t *testing.T) {
	f := start(t, nil)
	if _, err := f.client.Compress(t.Context(), &elbowroomv1.CompressRequest{Conversation: openai(`[{"role":"user","content":"` + canary + `"}]`)}); err != nil {
		t.Fatal(err)
	}
	_, err := f.client.Compress(t.Context(), &elbowroomv1.CompressRequest{Conversation: openai(canary), Focus: canary, PreviousSummary: canary})
	if status.Code(err) != codes.InvalidArgument {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(f.log.String()), "\n")
	if len(lines) != 2 || strings.Contains(f.log.String(), canary) {
		t.Fatalf("log:\n%s\nwant two lines that do not quote the caller", f.log.String())
	}
	want := []map[string]any{
		{"grpc.method": "Compress", "grpc.code": "OK", "level": "INFO"},
		{"grpc.method": "Compress", "grpc.code": "InvalidArgument", "level": "INFO", "field": "conversation.native.json", "reason": "INVALID_CONVERSATION"},
	}
	for i, line := range lines {
		var got map[string]any
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		for key, value := range want[i] {
			if got[key] != value {
				t.Errorf("line %d: %s is %v, want %v", i, key, got[key], value)
			}
		}
		if _, isNumber := got["grpc.time_ms"].(float64); !isNumber {
			t.Errorf("line %d: grpc.time_ms is %v", i, got["grpc.time_ms"])
		}
	}
}

// After a flood of hostile requests the server answers and holds no memory.
func TestTheServerSurvivesAndGivesMemoryBack(t *testing.T) {
	f := start(t, nil)
	large := strings.Repeat("x", 6<<20)
	flood := func() {
		for _, req := range []proto.Message{
			&elbowroomv1.CompressRequest{Conversation: anthropic(strings.Repeat("[", 6<<20))},
			&elbowroomv1.CompressRequest{Conversation: openai(`[{"role":"user","content":"` + large + `"}]`)},
			&elbowroomv1.ApplyCacheControlRequest{Conversation: openai(`[{"role":"user","content":"` + large)},
			&elbowroomv1.CountTokensRequest{Conversation: openai(`[` + strings.Repeat(`{"role":"user"},`, 1<<18) + `{"role":"user"}]`)},
			&elbowroomv1.CountTokensRequest{Conversation: nested(4_000)},
			&elbowroomv1.CountTokensRequest{Text: proto.String(strings.Repeat("y", 65<<20))},
		} {
			_, _ = send(t.Context(), f, req)
		}
	}
	flood() // fills pools and caches that stay
	base := heap()
	flood()
	// Buffers of calls that were refused half way are let go a little later.
	const allowed = 32 << 20
	after := heap()
	for tick, tries := time.NewTicker(50*time.Millisecond), 0; after > base+allowed; tries++ {
		if tries == 200 {
			t.Fatalf("the heap grew from %d to %d MiB", base>>20, after>>20)
		}
		<-tick.C
		after = heap()
	}
	if _, err := f.client.ListModels(t.Context(), &elbowroomv1.ListModelsRequest{}); err != nil {
		t.Errorf("the server did not survive: %v", err)
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC() // what pools held back goes with the second one
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
