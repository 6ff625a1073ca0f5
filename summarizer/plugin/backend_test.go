package plugin_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"github.com/elbowroom/elbowroom/internal/wiredouble"
	"github.com/elbowroom/elbowroom/summarizer"
	"github.com/elbowroom/elbowroom/summarizer/plugin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var prompt = summarizer.Prompt{System: "Summarize.", User: "[USER]: the-user-secret", MaxTokens: 321}

func newBackend(tb testing.TB, double *wiredouble.Double) *plugin.Backend {
	tb.Helper()
	backend, err := plugin.New(plugin.Options{Target: double.URL, Token: double.Key})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = backend.Close() })
	return backend
}

func TestEveryAnswerOfTheServiceHasItsOutcome(t *testing.T) {
	const text = "## Goal\nShip it für Zoë 🙂"
	answered := func(text string, finish summarizer.Finish) summarizer.Completion {
		return summarizer.Completion{
			Text: text, Finish: finish, Model: wiredouble.Model,
			PromptTokens: wiredouble.PromptTokens, CompletionTokens: wiredouble.CompletionTokens,
		}
	}
	for _, test := range []struct {
		name     string
		step     wiredouble.Step
		deadline time.Duration
		want     summarizer.Completion
		failure  summarizer.Failure
		after    time.Duration
	}{
		{name: "a complete answer", step: wiredouble.Text(text), want: answered(text, summarizer.FinishStop)},
		{name: "an empty answer", step: wiredouble.Empty(), want: answered("", summarizer.FinishStop)},
		{name: "cut at the length limit", step: wiredouble.Length(text), want: answered(text, summarizer.FinishLength)},
		{name: "a refusal", step: wiredouble.Refusal(), want: answered("", summarizer.FinishRefusal)},
		{name: "no usage and no model", step: wiredouble.NoUsage(text), want: summarizer.Completion{Text: text, Finish: summarizer.FinishStop}},
		{name: "UNAUTHENTICATED", step: wiredouble.Status(401), failure: summarizer.FailureAuth},
		{name: "PERMISSION_DENIED", step: wiredouble.Status(403), failure: summarizer.FailureAuth},
		{name: "NOT_FOUND", step: wiredouble.Status(404), failure: summarizer.FailureNotFound},
		{name: "INVALID_ARGUMENT", step: wiredouble.Status(400), failure: summarizer.FailureBadRequest},
		{name: "OUT_OF_RANGE quotes the prompt", step: wiredouble.ContextLength(), failure: summarizer.FailureTooLarge},
		{name: "RESOURCE_EXHAUSTED", step: wiredouble.Status(429), failure: summarizer.FailureRateLimited},
		{
			name: "RESOURCE_EXHAUSTED, back in seconds", step: wiredouble.Status(429).With("Retry-After", "7"),
			failure: summarizer.FailureRateLimited, after: 7 * time.Second,
		},
		{name: "INTERNAL", step: wiredouble.Status(500), failure: summarizer.FailureOverloaded},
		{name: "ABORTED", step: wiredouble.Status(409), failure: summarizer.FailureOverloaded},
		{name: "UNAVAILABLE", step: wiredouble.Status(503), failure: summarizer.FailureNetwork},
		{name: "DEADLINE_EXCEEDED of its own", step: wiredouble.Status(504), failure: summarizer.FailureTimeout},
		{name: "silence", step: wiredouble.Hang(), deadline: 2 * time.Second, failure: summarizer.FailureTimeout},
		{name: "a hundred megabytes", step: wiredouble.Huge(100 << 20), failure: summarizer.FailureBadResponse},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			double := wiredouble.Plugin(t, test.step)
			backend := newBackend(t, double)
			deadline := test.deadline
			if deadline == 0 {
				deadline = 30 * time.Second
			}
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			defer cancel()
			var pieces string
			got, err := backend.Complete(ctx, prompt, func(piece string) { pieces += piece })
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("completion (-want +got), error %v:\n%s", err, diff)
			}
			if pieces != test.want.Text {
				t.Errorf("onText got %q", pieces)
			}
			var failed *summarizer.BackendError
			if errors.As(err, &failed) != (test.failure != "") {
				t.Fatalf("the error is %v (%T)", err, err)
			}
			if failed != nil && (failed.Failure != test.failure || failed.RetryAfter != test.after) {
				t.Errorf("the error is %v, to be retried after %v", err, failed.RetryAfter)
			}
			if err != nil && (strings.Contains(err.Error(), "the-user-secret") || strings.Contains(err.Error(), double.Key)) {
				t.Errorf("the error quotes a secret: %v", err)
			}
			requests := double.Requests()
			if len(requests) != 1 {
				t.Fatalf("%d calls were made, want 1", len(requests))
			}
			if r := requests[0]; r.System != prompt.System || r.User != prompt.User || r.MaxTokens != prompt.MaxTokens {
				t.Errorf("the call carried %q, %q, %d", r.System, r.User, r.MaxTokens)
			}
		})
	}
}

func TestACancelledCallEndsWithTheContextsErrorOnBothSides(t *testing.T) {
	double := wiredouble.Plugin(t, wiredouble.Hang())
	backend := newBackend(t, double)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for double.Active() == 0 && ctx.Err() == nil {
			<-time.After(time.Millisecond)
		}
		cancel()
	}()
	_, err := backend.Complete(ctx, prompt, nil)
	var failed *summarizer.BackendError
	if !errors.Is(err, context.Canceled) || errors.As(err, &failed) {
		t.Errorf("the error is %v (%T)", err, err)
	}
	for end := time.Now().Add(30 * time.Second); double.Active() > 0; {
		if time.Now().After(end) {
			t.Fatal("the plug-in is still working")
		}
		<-time.After(time.Millisecond)
	}
}

func TestThePromptIsTooLargeForThePluginsOwnLimit(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(1000))
	elbowroomv1.RegisterSummarizerServiceServer(server, elbowroomv1.UnimplementedSummarizerServiceServer{})
	backend := start(t, server, listener)
	_, err = backend.Complete(t.Context(), summarizer.Prompt{User: strings.Repeat("x", 2000), MaxTokens: 1}, nil)
	var failed *summarizer.BackendError
	if !errors.As(err, &failed) || failed.Failure != summarizer.FailureTooLarge {
		t.Errorf("got %v", err)
	}
}

// start serves and returns a backend for it.
func start(t *testing.T, server *grpc.Server, listener net.Listener) *plugin.Backend {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		server.Stop()
		<-done
	})
	backend, err := plugin.New(plugin.Options{Target: listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	return backend
}

// answering is a plug-in that answers at once.
type answering struct {
	elbowroomv1.UnimplementedSummarizerServiceServer
}

func (answering) Summarize(context.Context, *elbowroomv1.SummarizeRequest) (*elbowroomv1.SummarizeResponse, error) {
	return &elbowroomv1.SummarizeResponse{Text: "x"}, nil
}

func TestAnUnhealthyPluginIsNotCalled(t *testing.T) {
	for _, test := range []struct {
		status healthv1.HealthCheckResponse_ServingStatus
		want   summarizer.Failure
	}{
		{healthv1.HealthCheckResponse_SERVING, ""},
		{healthv1.HealthCheckResponse_NOT_SERVING, summarizer.FailureNetwork},
	} {
		t.Run(test.status.String(), func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			server := grpc.NewServer()
			elbowroomv1.RegisterSummarizerServiceServer(server, answering{})
			checks := health.NewServer()
			checks.SetServingStatus("", test.status)
			healthv1.RegisterHealthServer(server, checks)
			_, err = start(t, server, listener).Complete(t.Context(), prompt, nil)
			var failed *summarizer.BackendError
			if errors.As(err, &failed); test.want == "" && err != nil || test.want != "" && (failed == nil || failed.Failure != test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestTheTraceContextGoesAlong(t *testing.T) {
	double := wiredouble.Plugin(t, wiredouble.Text("x"))
	span := trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled,
	})
	if _, err := newBackend(t, double).Complete(trace.ContextWithSpanContext(t.Context(), span), prompt, nil); err != nil {
		t.Fatal(err)
	}
	const want = "00-01000000000000000000000000000000-0200000000000000-01"
	if got := double.Requests()[0].Header.Get("Traceparent"); got != want {
		t.Errorf("traceparent is %q, want %q", got, want)
	}
}

func TestPlainTextStaysOnTheMachine(t *testing.T) {
	for _, test := range []struct {
		target string
		tls    bool
		local  bool
	}{
		{target: "127.0.0.1:50051", local: true},
		{target: "127.8.9.1:1", local: true},
		{target: "[::1]:50051", local: true},
		{target: "localhost:50051", local: true},
		{target: "dns:///localhost:50051", local: true},
		{target: "unix:/run/summarizer.sock", local: true},
		{target: "10.0.0.7:50051"},
		{target: "0.0.0.0:50051"},
		{target: "summarizer.internal:50051"},
		{target: "localhost.example.com:443"},
		{target: "127.0.0.1.example.com:443"},
		{target: "dns:///summarizer:50051"},
		{target: "dns://10.0.0.1/localhost:50051"},
		{target: "summarizer.internal:443", tls: true, local: true},
	} {
		t.Run(test.target, func(t *testing.T) {
			options := plugin.Options{Target: test.target}
			if test.tls {
				options.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
			}
			backend, err := plugin.New(options)
			if test.local != (err == nil) || err != nil && !errors.Is(err, plugin.ErrPlaintext) {
				t.Errorf("got %v, want an error: %v", err, !test.local)
			}
			if err == nil {
				if got, want := backend.Name(), "plugin:"+test.target; got != want {
					t.Errorf("Name() = %q, want %q", got, want)
				}
				_ = backend.Close()
			}
		})
	}
}
