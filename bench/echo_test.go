package bench

import (
	"context"
	"fmt"
	"math"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/tokens"
)

// echo answers ApplyCacheControl with the request itself: what a call of the same
// bytes costs when nothing is done. It has the service's transport and limits, gRPC's
// own codec, and no interceptors.
type echo struct{}

const echoMethod = "/elbowroom.bench.Echo/Echo"

// serve is the handler that generated code would be.
func (echo) serve(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) { //nolint:revive // gRPC's signature
	in := &elbowroomv1.ApplyCacheControlRequest{}
	if err := decode(in); err != nil {
		return nil, err
	}
	return in, nil
}

// dialEcho starts an echo on a free loopback port and connects to it.
func dialEcho(b *testing.B) grpc.ClientConnInterface {
	b.Helper()
	const window = 2 << 20 // as server.New has it
	srv := grpc.NewServer(
		grpc.MaxRecvMsgSize(messageLimit), grpc.MaxSendMsgSize(min(2*messageLimit, math.MaxInt32)),
		grpc.InitialWindowSize(window), grpc.InitialConnWindowSize(2*window),
		grpc.NumStreamWorkers(uint32(runtime.GOMAXPROCS(0))))
	srv.RegisterService(&grpc.ServiceDesc{
		ServiceName: "elbowroom.bench.Echo", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Echo", Handler: echo{}.serve}},
	}, echo{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() { _ = srv.Serve(listener) }()
	conn, err := grpc.NewClient(listener.Addr().String(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageLimit), grpc.MaxCallSendMsgSize(messageLimit)))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = conn.Close()
		srv.Stop()
	})
	return conn
}

// contestant is one way to send the same conversation.
type contestant struct {
	name string
	call func(context.Context) error
	took []time.Duration
}

// BenchmarkApplyCacheControl compares the call over a loopback connection with a
// bare echo of the same bytes. Each round sends one of each, in turns, so that a
// noisy machine disturbs all of them alike. Reported are medians, and the fastest
// of each, in milliseconds and as a multiple of the echo's; ns/op is one round.
func BenchmarkApplyCacheControl(b *testing.B) {
	const megabyte = 1 << 20
	recorded, format := largest(b)
	conversations := []struct {
		name   string
		format elbowroomv1.Format
		json   string
	}{
		{"recorded/" + recorded.Name, format, recorded.JSON},
		{"made/long results", elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES, sessionOf(megabyte, 20)},
		{"made/short results", elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES, sessionOf(megabyte, 1)},
	}
	strategies := []struct {
		name     string
		strategy elbowroomv1.Strategy
	}{
		{"SYSTEM_AND_3", elbowroomv1.Strategy_STRATEGY_SYSTEM_AND_3},
		{"ANCHORED", elbowroomv1.Strategy_STRATEGY_ANCHORED},
	}
	client, bare := dial(b, tokens.NewCounter()), dialEcho(b)
	for _, c := range conversations {
		for _, s := range strategies {
			request := func(view elbowroomv1.View) *elbowroomv1.ApplyCacheControlRequest {
				return &elbowroomv1.ApplyCacheControlRequest{
					Conversation: native(c.format, c.json), Model: "claude-sonnet-4-5", Strategy: s.strategy, View: view,
				}
			}
			apply := func(view elbowroomv1.View) func(context.Context) error {
				in := request(view)
				return func(ctx context.Context) error {
					_, err := client.ApplyCacheControl(ctx, in)
					return err
				}
			}
			in := request(elbowroomv1.View_VIEW_FULL)
			b.Run(fmt.Sprintf("%s/%s", c.name, s.name), func(b *testing.B) {
				race(b, []contestant{
					{name: "echo", call: func(ctx context.Context) error {
						return bare.Invoke(ctx, echoMethod, in, &elbowroomv1.ApplyCacheControlRequest{})
					}},
					{name: "full", call: apply(elbowroomv1.View_VIEW_FULL)},
					{name: "edits", call: apply(elbowroomv1.View_VIEW_EDITS)},
				})
			})
		}
	}
}

// race runs one round of all contestants at a time, beginning with another one in each, and
// compares them with the first.
func race(b *testing.B, field []contestant) {
	for i := range field { // connects, and fills the pools of buffers
		if err := field[i].call(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	for round := 0; b.Loop(); round++ {
		for k := range field {
			c := &field[(round+k)%len(field)]
			start := time.Now()
			if err := c.call(b.Context()); err != nil {
				b.Fatal(err)
			}
			c.took = append(c.took, time.Since(start))
		}
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	for i := range field {
		slices.Sort(field[i].took)
		median, least := field[i].took[len(field[i].took)/2], field[i].took[0]
		b.ReportMetric(ms(median), field[i].name+"-ms")
		b.ReportMetric(ms(least), field[i].name+"-min-ms")
		if i > 0 {
			first := field[0].took
			b.ReportMetric(float64(median)/float64(first[len(first)/2]), field[i].name+"-x-"+field[0].name)
			b.ReportMetric(float64(least)/float64(first[0]), field[i].name+"-min-x-"+field[0].name)
		}
	}
}

// sessionOf is an invented coding session of about that many bytes, in which a tool
// result holds a function of 200 bytes so many times: 20 is what a session of today
// has, with 1 there is a message every 270 bytes.
func sessionOf(bytes, functions int) string {
	const function = `package importer\n\n`
	grow := strings.NewReplacer(function, strings.Repeat(`func check(rows []Row) error {\n\tif len(rows) == 0 {\n\t\treturn errors.New(\"no rows\")\n\t}\n\tfor _, row := range rows {\n\t\tif row.ID == \"\" {\n\t\t\treturn errEmpty\n\t\t}\n\t}\n\treturn nil\n}\n\n`, functions-1)+function)
	const sample = 1_001
	n := bytes * sample / len(grow.Replace(agentSession(sample)))
	return grow.Replace(agentSession(n | 1)) // ends with a result
}
