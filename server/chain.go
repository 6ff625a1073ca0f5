package server

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/logging"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/selector"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/server/interceptors/auth"
	"github.com/elbowroom/elbowroom/server/interceptors/validation"
)

// link is one interceptor of the chain. stream is nil where streams need none.
type link struct {
	name   string
	unary  grpc.UnaryServerInterceptor
	stream grpc.StreamServerInterceptor
}

// links are the interceptors, outermost first. Logging stands outside recovery so
// that a panic is logged as the INTERNAL it becomes, with its duration. Strangers are
// turned away before anything is spent on them. Admission
// comes before validation, which costs time. Bodies that travelled as deltas are
// made whole when their request is known to be well formed, and conversations are put
// into the response last. Only logging and admission care
// which service is called: health checks and reflection are neither logged nor
// refused.
func (s *Server) links() ([]link, error) {
	validate, err := validation.NewUnary(
		&elbowroomv1.CompressRequest{}, &elbowroomv1.ApplyCacheControlRequest{}, &elbowroomv1.CountTokensRequest{},
		&elbowroomv1.PrepareRequest{}, &elbowroomv1.ListModelsRequest{}, &elbowroomv1.StreamCompressRequest{}, &elbowroomv1.SimulateCacheRequest{})
	if err != nil {
		return nil, err
	}
	ours := selector.MatchFunc(func(_ context.Context, c interceptors.CallMeta) bool {
		return c.Service == elbowroomv1.ContextService_ServiceDesc.ServiceName
	})
	guarded := selector.MatchFunc(func(_ context.Context, c interceptors.CallMeta) bool { return !s.isPublic(c.Service) })
	logger, options := s.callLogger()
	pay, admit := s.refusals("quota", s.quota.Unary), s.refusals("admission", s.gate.Unary)
	onPanic := recovery.WithRecoveryHandlerContext(s.recovered)
	return []link{
		{"logging", selector.UnaryServerInterceptor(logging.UnaryServerInterceptor(logger, options...), ours),
			selector.StreamServerInterceptor(logging.StreamServerInterceptor(logger, options...), ours)},
		{"recovery", recovery.UnaryServerInterceptor(onPanic), recovery.StreamServerInterceptor(onPanic)},
		{"auth", selector.UnaryServerInterceptor(s.refusals("auth", s.authenticate), guarded), selector.StreamServerInterceptor(s.authenticateStream, guarded)},
		{"quota", selector.UnaryServerInterceptor(pay, ours), streaming(pay)},
		{"admission", selector.UnaryServerInterceptor(admit, ours), streaming(admit)},
		{"validation", selector.UnaryServerInterceptor(s.convert(validate), ours), streaming(s.convert(validate))},
		{"bodies", selector.UnaryServerInterceptor(s.expand, ours), streaming(s.expand)},
		{"reply", selector.UnaryServerInterceptor(reply, ours), nil},
	}, nil
}

// refuseUnread turns calls away before their requests are read. Calls that are often
// tiny pass: their size is not known here.
func (s *Server) refuseUnread(ctx context.Context, method string) (context.Context, error) {
	switch method {
	case elbowroomv1.ContextService_Compress_FullMethodName, elbowroomv1.ContextService_StreamCompress_FullMethodName,
		elbowroomv1.ContextService_Prepare_FullMethodName, elbowroomv1.ContextService_ApplyCacheControl_FullMethodName,
		elbowroomv1.ContextService_SimulateCache_FullMethodName:
	default:
		return ctx, nil
	}
	in, err := s.gate.Door(ctx)
	if err != nil {
		s.telemetry.Refused(ctx, "admission", status.Code(err))
	}
	return in, err
}

// isPublic reports whether a service answers callers who say not who they are:
// health checks do, and reflection where it is open to all.
func (s *Server) isPublic(service string) bool {
	switch service {
	case healthv1.Health_ServiceDesc.ServiceName:
		return true
	case reflectionv1.ServerReflection_ServiceDesc.ServiceName, reflectionv1alpha.ServerReflection_ServiceDesc.ServiceName:
		return s.openReflection
	default:
		return false
	}
}

// authenticate lets callers in, and names their tenant in the log.
func (s *Server) authenticate(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	return s.auth.Unary(ctx, req, info, func(ctx context.Context, req any) (any, error) {
		logTenant(ctx)
		return handler(ctx, req)
	})
}

// refusals records the calls that an interceptor turns away.
func (s *Server) refusals(by string, inner grpc.UnaryServerInterceptor) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		passed := false
		resp, err := inner(ctx, req, info, func(ctx context.Context, req any) (any, error) {
			passed = true
			return handler(ctx, req)
		})
		if err != nil && !passed {
			s.telemetry.Refused(ctx, by, status.Code(err))
		}
		return resp, err
	}
}

func (s *Server) authenticateStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	passed := false
	err := s.auth.Stream(srv, stream, info, func(srv any, stream grpc.ServerStream) error {
		passed = true
		logTenant(stream.Context())
		return handler(srv, stream)
	})
	if err != nil && !passed {
		s.telemetry.Refused(stream.Context(), "auth", status.Code(err))
	}
	return err
}

func logTenant(ctx context.Context) {
	if tenant := auth.FromContext(ctx).Tenant; tenant != "" {
		logging.AddFields(ctx, logging.Fields{"tenant", tenant})
	}
}

// convert sees to it that what fails inside the validator leaves as a status.
func (s *Server) convert(inner grpc.UnaryServerInterceptor) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		resp, err := inner(ctx, req, info, handler)
		if _, isStatus := status.FromError(err); err != nil && !isStatus {
			return nil, s.fail(ctx, err)
		}
		return resp, err
	}
}

// callLogger writes one line for each finished call: method, code, duration,
// caller's address, and where the fault of a bad request lies. Error texts can
// quote the caller's keys and are left out.
func (s *Server) callLogger() (logging.Logger, []logging.Option) {
	logger := logging.LoggerFunc(func(ctx context.Context, level logging.Level, _ string, fields ...any) {
		kept := make([]any, 0, len(fields))
		for i := 0; i+1 < len(fields); i += 2 {
			if fields[i] != "grpc.error" {
				kept = append(kept, fields[i], fields[i+1])
			}
		}
		s.log.Log(ctx, slog.Level(level), "finished call", kept...)
	})
	return logger, []logging.Option{
		logging.WithLogOnEvents(logging.FinishCall),
		// The same in every line.
		logging.WithDisableLoggingFields(logging.SystemTag[0], logging.ComponentFieldKey, logging.ServiceFieldKey, logging.MethodTypeFieldKey),
		logging.WithDurationField(func(d time.Duration) logging.Fields {
			return logging.Fields{"grpc.time_ms", float64(d.Microseconds()) / 1000}
		}),
		logging.WithErrorFields(errorFields),
	}
}

// errorFields says what was wrong in the service's own words.
func errorFields(err error) logging.Fields {
	var out logging.Fields
	for _, d := range status.Convert(err).Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			out = append(out, "reason", d.GetReason())
		case *errdetails.BadRequest:
			if v := d.GetFieldViolations(); len(v) > 0 {
				out = append(out, "field", v[0].GetField())
			}
		}
	}
	return out
}

// recovered turns a panic into INTERNAL. The log gets the stack; the panic's own
// text only where it is the runtime's, which quotes no caller.
func (s *Server) recovered(ctx context.Context, p any) error {
	id := newErrorID()
	what := fmt.Sprintf("%T", p)
	if err, ok := p.(interface {
		error
		RuntimeError()
	}); ok {
		what = err.Error()
	}
	s.log.LogAttrs(ctx, slog.LevelError, "panic",
		slog.String("error_id", id), slog.String("panic", what), slog.String("stack", string(debug.Stack())))
	return internal(id)
}

// recognize looks who calls a service that is not for everybody.
func (s *Server) recognize(ctx context.Context, service string) context.Context {
	if s.isPublic(service) {
		return ctx
	}
	return s.auth.Recognize(ctx)
}

// interceptors chains the links, behind the door.
func (s *Server) interceptors(entry *door) ([]grpc.ServerOption, error) {
	links, err := s.links()
	if err != nil {
		return nil, err
	}
	var unary []grpc.UnaryServerInterceptor
	stream := []grpc.StreamServerInterceptor{entry.stream, s.endOpenStreams}
	for _, l := range links {
		unary = append(unary, l.unary)
		if l.stream != nil {
			stream = append(stream, l.stream)
		}
	}
	return []grpc.ServerOption{grpc.ChainUnaryInterceptor(unary...), grpc.ChainStreamInterceptor(stream...)}, nil
}
