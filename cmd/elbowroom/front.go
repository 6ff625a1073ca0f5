package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/elbowroom/elbowroom/internal/config"
	"github.com/elbowroom/elbowroom/server"
	"github.com/elbowroom/elbowroom/server/admin"
	"github.com/elbowroom/elbowroom/server/httpapi"
)

// front is a service with the ports that it is served on.
type front struct {
	service *service
	edge    *httpapi.Server
	grpc    net.Listener
	http    net.Listener // nil when the HTTP edge is off
	// admin answers on adminPort, both nil when the admin port is off.
	admin     *admin.Server
	adminPort net.Listener
}

// newFront listens where the configuration says.
func newFront(ctx context.Context, c *config.Config, s *service, secured security, log *slog.Logger) (*front, error) {
	edge, err := httpapi.New(httpapi.Options{
		GRPC: s.Handler(), Recognize: s.Recognize, Log: log, AllowedOrigins: c.HTTP.AllowedOrigins,
		MaxMessageBytes: int(c.Limits.MaxMessageBytes), MaxInFlightBytes: int64(c.Limits.MaxInFlightBytes),
		HeaderTimeout: c.Limits.HandshakeTimeout, ReceiveTimeout: c.Limits.ReceiveTimeout,
	})
	if err != nil {
		return nil, err
	}
	f := &front{service: s, edge: edge}
	var listen net.ListenConfig
	if f.grpc, err = listen.Listen(ctx, "tcp", c.GRPCAddr); err != nil {
		return nil, fmt.Errorf("grpc_addr: %w", err)
	}
	f.grpc = server.BoundConnections(f.grpc, c.Limits.MaxConnections, log)
	if c.HTTPAddr == "" {
		return f, nil
	}
	if f.http, err = listen.Listen(ctx, "tcp", c.HTTPAddr); err != nil {
		_ = f.grpc.Close()
		return nil, fmt.Errorf("http_addr: %w (another address: --http-addr; none: --http-addr '')", err)
	}
	f.http = server.BoundConnections(f.http, c.Limits.MaxConnections, log)
	if config := secured.tls("http/1.1"); config != nil { //nolint:contextcheck // each handshake brings its own
		f.http = tls.NewListener(f.http, config)
	}
	return f, nil
}

// addAdmin adds the admin port where the configuration wants one.
func (f *front) addAdmin(ctx context.Context, c *config.Config, metrics http.Handler, log *slog.Logger) error {
	if c.AdminAddr == "" {
		return nil
	}
	var listen net.ListenConfig
	lis, err := listen.Listen(ctx, "tcp", c.AdminAddr)
	if err == nil {
		host, _, _ := net.SplitHostPort(lis.Addr().String())
		f.admin, err = admin.New(admin.Options{Metrics: metrics, Ready: f.service.Ready, Profiles: config.IsLoopback(host), Log: log})
	}
	if err != nil {
		_ = f.grpc.Close()
		if f.http != nil {
			_ = f.http.Close()
		}
		return fmt.Errorf("admin_addr: %w (another address: --admin-addr; none: --admin-addr '')", err)
	}
	f.adminPort = lis
	return nil
}

func (f *front) adminAddr() string {
	if f.adminPort == nil {
		return "off"
	}
	return f.adminPort.Addr().String()
}

func (f *front) httpAddr() string {
	if f.http == nil {
		return "off"
	}
	return f.http.Addr().String()
}

// serve answers calls on all ports until ctx ends or one of them breaks, and then
// drains them within the time of grace. stopping is called before that.
func (f *front) serve(ctx context.Context, grace time.Duration, stopping func()) error {
	ports, ctx := errgroup.WithContext(ctx)
	ports.Go(func() error { return f.service.Serve(f.grpc) })
	if f.http != nil {
		ports.Go(func() error { return f.edge.Serve(f.http) })
	}
	if f.admin != nil {
		ports.Go(func() error { return f.admin.Serve(f.adminPort) })
	}
	ports.Go(func() error {
		<-ctx.Done()
		stopping()
		left, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		return f.shutdown(left)
	})
	return ports.Wait()
}

// reconfigure gives requests that begin from now on the reloadable settings of c.
func (f *front) reconfigure(ctx context.Context, c *config.Config) error {
	if err := f.service.reconfigure(ctx, c); err != nil {
		return err
	}
	f.edge.SetMaxInFlightBytes(int64(c.Limits.MaxInFlightBytes))
	return nil
}

// lastPart is the share of the time of grace that is kept for calls to go on without the
// language models they have been waiting for.
const lastPart = 4

// shutdown drains the ports. HTTP comes first: its calls run in the gRPC server,
// which would break them off. Calls that wait for a language model to the end go on with
// the embedded summarizer before they would be broken off. The admin port tells of all of
// it and goes last.
func (f *front) shutdown(ctx context.Context) error {
	f.service.Drain()
	if end, limited := ctx.Deadline(); limited {
		left := time.Until(end)
		hurry := time.AfterFunc(left-left/lastPart, f.service.ladder.Close)
		defer hurry.Stop()
	}
	var err error
	if f.http != nil {
		err = f.edge.Shutdown(ctx)
	}
	err = errors.Join(err, f.service.Shutdown(ctx))
	if f.admin != nil {
		err = errors.Join(err, f.admin.Shutdown(ctx))
	}
	return err
}
