package wiredouble

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// Plugin starts a double of the SummarizerService. A [Status] step is the gRPC
// code nearest to it, with a RetryInfo where it has a Retry-After in seconds. What
// only HTTP has (raw bodies, tool calls, half an answer) fails the test.
func Plugin(tb testing.TB, steps ...Step) *Double {
	tb.Helper()
	d := newDouble(tb, steps)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(maxRequestBytes), grpc.MaxSendMsgSize(1<<30))
	elbowroomv1.RegisterSummarizerServiceServer(server, &pluginServer{double: d})
	healthpb.RegisterHealthServer(server, health.NewServer()) // SERVING
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // Ends with Stop.
	}()
	d.URL = listener.Addr().String()
	tb.Cleanup(func() {
		close(d.stop)
		server.Stop()
		<-done
	})
	return d
}

type pluginServer struct {
	elbowroomv1.UnimplementedSummarizerServiceServer
	double *Double
}

func (s *pluginServer) Summarize(ctx context.Context, sent *elbowroomv1.SummarizeRequest) (*elbowroomv1.SummarizeResponse, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	header := http.Header{}
	for name, values := range md {
		header[http.CanonicalHeaderKey(name)] = values
	}
	request := Request{
		Header: header, System: sent.GetSystem(), User: sent.GetPrompt(),
		MaxTokens: int(sent.GetMaxTokens()), LimitField: "max_tokens", Model: "plugin",
	}
	problems := request.gaps()
	request.Model = ""
	if key, ok := bearer(header); !ok || key != s.double.Key {
		problems = append(problems, "the token is missing or another one")
	}
	if len(problems) > 0 {
		s.double.tb.Errorf("wiredouble: the call is not what the service wants: %s", strings.Join(problems, "; "))
		return nil, status.Error(codes.InvalidArgument, "not what the service wants")
	}
	step := s.double.begin(request)
	defer s.double.end()
	return s.play(ctx, step, request)
}

func (s *pluginServer) play(ctx context.Context, step Step, request Request) (*elbowroomv1.SummarizeResponse, error) {
	if step.gate != nil {
		select {
		case <-step.gate:
		case <-ctx.Done():
			return nil, status.FromContextError(ctx.Err()).Err()
		case <-s.double.stop:
			return nil, status.Error(codes.Unavailable, "the test is over")
		}
	}
	switch step.kind {
	case plays:
		return s.answer(step.answer)
	case plainStatus:
		return nil, statusOf(step)
	case contextLength:
		return nil, status.Error(codes.OutOfRange, "the prompt does not fit: "+request.User)
	case reset:
		return nil, status.Error(codes.Unavailable, "connection reset")
	case hang:
		select {
		case <-ctx.Done():
		case <-s.double.stop:
		}
		return nil, status.Error(codes.Unavailable, "never answers")
	case huge:
		return &elbowroomv1.SummarizeResponse{Text: strings.Repeat("a", int(step.size))}, nil
	default:
		s.double.tb.Errorf("wiredouble: a step that gRPC does not have")
		return nil, status.Error(codes.Unimplemented, "no such step")
	}
}

func (s *pluginServer) answer(a answer) (*elbowroomv1.SummarizeResponse, error) {
	response := &elbowroomv1.SummarizeResponse{Text: a.text, Finish: elbowroomv1.SummaryFinish_SUMMARY_FINISH_STOP}
	switch {
	case a.called:
		s.double.tb.Errorf("wiredouble: a plug-in has no tool calls")
	case a.ending == endLength:
		response.Finish = elbowroomv1.SummaryFinish_SUMMARY_FINISH_LENGTH
	case a.ending == endRefusal, a.ending == endFilter:
		response.Finish = elbowroomv1.SummaryFinish_SUMMARY_FINISH_REFUSAL
	}
	if !a.silent {
		response.Model, response.PromptTokens, response.CompletionTokens = Model, int32(a.promptTokens()), int32(a.completionTokens())
	}
	return response, nil
}

// statusOf is the gRPC status of an HTTP one.
func statusOf(step Step) error {
	said := status.New(codeOf(step.status), "as scripted")
	if seconds, err := strconv.Atoi(step.header.Get("Retry-After")); err == nil {
		info := &errdetails.RetryInfo{RetryDelay: durationpb.New(time.Duration(seconds) * time.Second)}
		if with, err := said.WithDetails(info); err == nil {
			said = with
		}
	}
	return said.Err()
}

func codeOf(httpStatus int) codes.Code {
	switch httpStatus {
	case http.StatusUnauthorized:
		return codes.Unauthenticated
	case http.StatusForbidden:
		return codes.PermissionDenied
	case http.StatusNotFound:
		return codes.NotFound
	case http.StatusConflict:
		return codes.Aborted
	case http.StatusRequestEntityTooLarge:
		return codes.OutOfRange
	case http.StatusTooManyRequests:
		return codes.ResourceExhausted
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return codes.DeadlineExceeded
	case http.StatusInternalServerError:
		return codes.Internal
	}
	if httpStatus >= 500 {
		return codes.Unavailable
	}
	return codes.InvalidArgument
}
