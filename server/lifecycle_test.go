package server_test

import (
	"context"
	"net"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/compressor"
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/server"
)

const serviceName = "elbowroom.v1.ContextService"

func TestHealthIsThereForTheServiceAndTheServer(t *testing.T) {
	f := start(t, nil)
	client := healthv1.NewHealthClient(f.conn)
	for _, service := range []string{"", serviceName} {
		out, err := client.Check(t.Context(), &healthv1.HealthCheckRequest{Service: service})
		if err != nil || out.GetStatus() != healthv1.HealthCheckResponse_SERVING {
			t.Errorf("health of %q: %v, %v", service, out, err)
		}
	}
	if _, err := client.Check(t.Context(), &healthv1.HealthCheckRequest{Service: "nobody"}); status.Code(err) != codes.NotFound {
		t.Errorf("health of an unknown service: %v", err)
	}
	if f.log.String() != "" {
		t.Errorf("health checks are logged:\n%s", f.log.String())
	}
}

func TestReflectionDescribesTheServiceInBothVersions(t *testing.T) {
	f := start(t, nil)
	v1, err := reflectionv1.NewServerReflectionClient(f.conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := v1.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}}); err != nil {
		t.Fatal(err)
	}
	got, err := v1.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range got.GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
	}
	for _, want := range []string{serviceName, "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among %v", want, names)
		}
	}
	if err := v1.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_FileContainingSymbol{
		FileContainingSymbol: serviceName,
	}}); err != nil {
		t.Fatal(err)
	}
	symbol, err := v1.Recv()
	if err != nil || len(symbol.GetFileDescriptorResponse().GetFileDescriptorProto()) == 0 {
		t.Errorf("the service is not described: %v, %v", symbol, err)
	}
}

// waiting is a compressor that says when it is at work and goes on when it may,
// or when its caller is gone.
type waiting struct {
	began, goOn chan struct{}
}

func (w *waiting) Compress(ctx context.Context, req compressor.Request) (*compressor.Result, error) {
	w.began <- struct{}{}
	select {
	case <-w.goOn:
		return &compressor.Result{Rewrite: conversation.NewRewrite(req.Conversation)}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func newWaiting() *waiting {
	return &waiting{began: make(chan struct{}, 8), goOn: make(chan struct{})}
}

func compressInBackground(t *testing.T, f *fixture) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := f.client.Compress(t.Context(), &elbowroomv1.CompressRequest{Conversation: openai(`[]`)})
		done <- err
	}()
	return done
}

func TestShutdownFinishesWhatIsBeingWorkedOn(t *testing.T) {
	w := newWaiting()
	f := start(t, func(o *server.Options) { o.Compressor = w })
	health := healthv1.NewHealthClient(f.conn)
	watch, err := health.Watch(t.Context(), &healthv1.HealthCheckRequest{Service: serviceName})
	if err != nil {
		t.Fatal(err)
	}
	if first, err := watch.Recv(); err != nil || first.GetStatus() != healthv1.HealthCheckResponse_SERVING {
		t.Fatalf("health before: %v, %v", first, err)
	}
	unknown, err := health.Watch(t.Context(), &healthv1.HealthCheckRequest{Service: "nobody"})
	if err != nil {
		t.Fatal(err)
	}
	if first, err := unknown.Recv(); err != nil || first.GetStatus() != healthv1.HealthCheckResponse_SERVICE_UNKNOWN {
		t.Fatalf("health of an unknown service: %v, %v", first, err)
	}
	reflection, err := reflectionv1.NewServerReflectionClient(f.conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := reflection.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}}); err != nil {
		t.Fatal(err)
	}
	if _, err := reflection.Recv(); err != nil {
		t.Fatal(err)
	}
	call := compressInBackground(t, f)
	<-w.began

	stopped := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	go func() { stopped <- f.server.Shutdown(ctx) }()
	if next, err := watch.Recv(); err != nil || next.GetStatus() != healthv1.HealthCheckResponse_NOT_SERVING {
		t.Fatalf("health while draining: %v, %v", next, err)
	}
	if _, err := f.client.ListModels(t.Context(), &elbowroomv1.ListModelsRequest{}); status.Code(err) != codes.Unavailable {
		t.Errorf("a new call while draining: %v, want UNAVAILABLE", err)
	}
	select {
	case err := <-stopped:
		t.Fatalf("Shutdown returned %v before the call was finished", err)
	default:
	}
	close(w.goOn)
	if err := <-call; err != nil {
		t.Errorf("the call that was being worked on: %v", err)
	}
	// The connection stays open: neither it nor what is open on it keeps the server.
	if _, err := reflection.Recv(); status.Code(err) != codes.Unavailable {
		t.Errorf("reflection ends with %v, want UNAVAILABLE", err)
	}
	if _, err := watch.Recv(); status.Code(err) != codes.Unavailable {
		t.Errorf("the watch ends with %v, want UNAVAILABLE", err)
	}
	if _, err := unknown.Recv(); status.Code(err) != codes.Unavailable {
		t.Errorf("the watch of an unknown service ends with %v, want UNAVAILABLE", err)
	}
	if err := <-stopped; err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	<-f.served
}

// Port scanners, probes and balancers open connections and say nothing.
func TestAConnectionThatSaysNothingDoesNotKeepTheServer(t *testing.T) {
	f := start(t, func(o *server.Options) { o.Limits.HandshakeTimeout = time.Hour })
	lis, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- f.server.Serve(lis) }()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", lis.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Read(make([]byte, 1)); err != nil { // the server's half of the greeting
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := f.server.Shutdown(ctx); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestShutdownHasAHardLimit(t *testing.T) {
	w := newWaiting()
	f := start(t, func(o *server.Options) { o.Compressor = w })
	call := compressInBackground(t, f)
	<-w.began
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.server.Shutdown(ctx); err == nil {
		t.Error("Shutdown broke a call off and returned no error")
	}
	if err := <-call; status.Code(err) != codes.Unavailable && status.Code(err) != codes.Canceled {
		t.Errorf("the call that was broken off: %v", err)
	}
	<-f.served
}

func TestTooManyBytesInFlightAreRefused(t *testing.T) {
	w := newWaiting()
	f := start(t, func(o *server.Options) {
		o.Compressor = w
		o.Limits = server.Limits{MaxMessageBytes: 100_000, MaxInFlightBytes: 100_000}
	})
	call := compressInBackground(t, f)
	<-w.began
	text := proto.String(string(make([]byte, 99_990)))
	_, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{Text: text})
	if d := detailsOf(err); status.Code(err) != codes.ResourceExhausted || d.retry <= 0 {
		t.Errorf("%v, details %+v, want RESOURCE_EXHAUSTED with a time to wait", err, d)
	}
	close(w.goOn)
	if err := <-call; err != nil {
		t.Error(err)
	}
	if _, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{Text: text}); err != nil {
		t.Errorf("the same call afterwards: %v", err)
	}
}

func TestAnExpiredDeadlineIsDeadlineExceeded(t *testing.T) {
	w := newWaiting()
	f := start(t, func(o *server.Options) { o.Compressor = w })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := f.client.Compress(ctx, &elbowroomv1.CompressRequest{Conversation: openai(`[]`)})
	if status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("%v, want DEADLINE_EXCEEDED", err)
	}
}

func TestAnUnknownMethodIsUnimplemented(t *testing.T) {
	f := start(t, nil)
	err := f.conn.Invoke(t.Context(), "/"+serviceName+"/Recall", &elbowroomv1.ListModelsRequest{}, &elbowroomv1.ListModelsResponse{})
	if status.Code(err) != codes.Unimplemented {
		t.Errorf("%v, want UNIMPLEMENTED", err)
	}
}

func TestNewNamesWhatIsMissing(t *testing.T) {
	if _, err := server.New(server.Options{}); err == nil {
		t.Error("a server without anything was made")
	}
}
