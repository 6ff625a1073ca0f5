package server

import (
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// healthService is grpc.health.v1 with watches that end when the server drains. The stock
// one leaves them open, and every client that watches would keep the server from stopping
// until its time is up.
type healthService struct {
	*health.Server
	once  sync.Once
	ended chan struct{}
}

func newHealthService() *healthService {
	return &healthService{Server: health.NewServer(), ended: make(chan struct{})}
}

// Shutdown makes every status NOT_SERVING, tells it to those who watch, and ends their
// watches. It may be called twice.
func (h *healthService) Shutdown() {
	h.Server.Shutdown()
	h.once.Do(func() { close(h.ended) })
}

// Watch implements healthv1.HealthServer. A status changes once, when the server drains.
func (h *healthService) Watch(req *healthv1.HealthCheckRequest, stream grpc.ServerStreamingServer[healthv1.HealthCheckResponse]) error {
	told := healthv1.HealthCheckResponse_UNKNOWN
	tell := func() error {
		now, err := h.Check(stream.Context(), req)
		if status.Code(err) == codes.NotFound {
			now = &healthv1.HealthCheckResponse{Status: healthv1.HealthCheckResponse_SERVICE_UNKNOWN}
		} else if err != nil {
			return err
		}
		if now.GetStatus() == told {
			return nil
		}
		told = now.GetStatus()
		return stream.Send(now)
	}
	if err := tell(); err != nil {
		return err
	}
	select {
	case <-h.ended:
	case <-stream.Context().Done():
		return status.FromContextError(stream.Context().Err()).Err()
	}
	if err := tell(); err != nil {
		return err
	}
	return status.Error(codes.Unavailable, "the server is shutting down")
}
