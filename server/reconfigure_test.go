package server_test

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/server"
	"github.com/elbowroom/elbowroom/server/interceptors/quota"
)

func TestCallsFinishWithTheSettingsTheyBeganWith(t *testing.T) {
	before, after := newWaiting(), newWaiting()
	var o server.Options
	f := start(t, func(given *server.Options) {
		given.Compressor = before
		given.Limits = server.Limits{MaxMessageBytes: 100_000, MaxInFlightBytes: 100_000}
		o = *given
	})
	first := compressInBackground(t, f)
	<-before.began

	o.Compressor = after
	o.Limits.MaxConcurrentCalls = 2
	if err := f.server.Reconfigure(o); err != nil {
		t.Fatal(err)
	}
	second := compressInBackground(t, f)
	<-after.began
	// The first call counts although it began under other limits.
	_, err := f.client.ListModels(t.Context(), &elbowroomv1.ListModelsRequest{})
	if d := detailsOf(err); status.Code(err) != codes.ResourceExhausted || d.retry <= 0 {
		t.Errorf("a third call: %v, details %+v", err, d)
	}
	for name, goOn := range map[string]func(){"first": func() { close(before.goOn) }, "second": func() { close(after.goOn) }} {
		goOn()
		if err := <-map[string]<-chan error{"first": first, "second": second}[name]; err != nil {
			t.Errorf("the %s call: %v", name, err)
		}
	}
	if _, err := f.client.ListModels(t.Context(), &elbowroomv1.ListModelsRequest{}); err != nil {
		t.Errorf("a call after the others: %v", err)
	}
}

func TestReconfigureReachesEveryRPC(t *testing.T) {
	var o server.Options
	f := start(t, func(given *server.Options) { given.Compressor = newEngine(t, outline{name: "outline"}); o = *given })
	conversation := anthropic(`{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]}`)
	calls := map[string]func() error{
		"Compress": func() error {
			_, err := f.client.Compress(t.Context(), &elbowroomv1.CompressRequest{Conversation: conversation})
			return err
		},
		"StreamCompress": func() error {
			stream, err := f.client.StreamCompress(t.Context(), &elbowroomv1.StreamCompressRequest{Request: &elbowroomv1.CompressRequest{Conversation: conversation}})
			for err == nil {
				var event *elbowroomv1.StreamCompressResponse
				if event, err = stream.Recv(); event.GetResult() != nil {
					return nil
				}
			}
			return err
		},
		"ApplyCacheControl": func() error {
			_, err := f.client.ApplyCacheControl(t.Context(), &elbowroomv1.ApplyCacheControlRequest{Conversation: conversation})
			return err
		},
		"CountTokens": func() error {
			_, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{Conversation: conversation})
			return err
		},
		"Prepare": func() error {
			_, err := f.client.Prepare(t.Context(), &elbowroomv1.PrepareRequest{Conversation: conversation})
			return err
		},
		"SimulateCache": func() error {
			_, err := f.client.SimulateCache(t.Context(), &elbowroomv1.SimulateCacheRequest{Requests: []*elbowroomv1.SimulatedRequest{{Conversation: conversation}}})
			return err
		},
	}
	for name, call := range calls {
		if err := call(); err != nil {
			t.Errorf("%s before: %v", name, err)
		}
	}
	// No conversation has so few blocks.
	o.Limits.Conversation.MaxBlocks = 1
	if err := f.server.Reconfigure(o); err != nil {
		t.Fatal(err)
	}
	for name, call := range calls {
		if err := call(); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%s after: %v, want INVALID_ARGUMENT", name, err)
		}
	}
	if _, err := f.client.ListModels(t.Context(), &elbowroomv1.ListModelsRequest{}); err != nil {
		t.Errorf("ListModels after: %v", err)
	}
}

func TestReconfigureChangesQuotas(t *testing.T) {
	var o server.Options
	f := start(t, func(given *server.Options) { given.Compressor = newWaiting(); o = *given })
	text := &elbowroomv1.CountTokensRequest{Text: proto.String("hi")}
	if _, err := f.client.CountTokens(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	o.Limits.Tenant = quota.Limits{Rate: 1e-6, Burst: 1}
	if err := f.server.Reconfigure(o); err != nil {
		t.Fatal(err)
	}
	var codesSeen []codes.Code
	for range 2 {
		_, err := f.client.CountTokens(t.Context(), text)
		codesSeen = append(codesSeen, status.Code(err))
	}
	if codesSeen[0] != codes.OK || codesSeen[1] != codes.ResourceExhausted {
		t.Errorf("two calls under a quota of one: %v", codesSeen)
	}
}

func TestReconfigureRefusesWhatCannotWorkAndChangesNothing(t *testing.T) {
	var o server.Options
	f := start(t, func(given *server.Options) {
		given.Limits = server.Limits{MaxMessageBytes: 100_000, MaxInFlightBytes: 200_000}
		o = *given
	})
	bad := o
	bad.Compressor = nil
	narrow := o
	narrow.Compressor = newWaiting()
	narrow.Limits.MaxMessageBytes, narrow.Limits.MaxInFlightBytes = 1_000, 1_000
	narrow.Limits.Conversation = conversation.Limits{MaxBlocks: 1}
	for name, options := range map[string]server.Options{"no compressor": bad, "no room for a message": narrow} {
		if err := f.server.Reconfigure(options); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	_, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{Text: proto.String(prose(1, 5_000))})
	if err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
