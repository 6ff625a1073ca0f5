package elbowroom_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	elbowroom "github.com/elbowroom/elbowroom/clients/go"
	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"github.com/elbowroom/elbowroom/internal/testutil/localserver"
)

var update = flag.Bool("update", false, "record the expectations of clients/conformance anew; read the difference before you commit it")

// calls are the words for the RPCs and what they take.
var calls = map[string]func() proto.Message{
	"compress":            func() proto.Message { return &pb.CompressRequest{} },
	"stream_compress":     func() proto.Message { return &pb.StreamCompressRequest{} },
	"apply_cache_control": func() proto.Message { return &pb.ApplyCacheControlRequest{} },
	"count_tokens":        func() proto.Message { return &pb.CountTokensRequest{} },
	"prepare":             func() proto.Message { return &pb.PrepareRequest{} },
	"simulate_cache":      func() proto.Message { return &pb.SimulateCacheRequest{} },
	"list_models":         func() proto.Message { return &pb.ListModelsRequest{} },
}

// runBinary starts the real server until the test ends and returns its address.
func runBinary(t *testing.T, binary string) string {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), binary, "serve", "--grpc-addr", "127.0.0.1:0", "--http-addr", "", "--admin-addr", "") //nolint:gosec // the test's own
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_, _ = io.Copy(io.Discard, out)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if addr, ok := strings.CutPrefix(lines.Text(), "gRPC: "); ok {
			return addr
		}
	}
	t.Fatal("the server did not say where it listens")
	return ""
}

// TestConformance sends every case through the generated stub and through the
// client, and compares both with what the case expects.
func TestConformance(t *testing.T) {
	addr := os.Getenv("ELBOWROOM_ADDR")
	switch binary := os.Getenv("ELBOWROOM_BIN"); {
	case addr != "":
	case binary != "":
		addr = runBinary(t, binary)
	default:
		addr = localserver.Start(t)
	}
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	stub := pb.NewContextServiceClient(conn)
	client, err := elbowroom.Connect(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	for _, f := range readCases(t) {
		for _, c := range f.cases {
			t.Run(c.Name, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				req := c.prepared(ctx, t, stub)
				got, err := send(ctx, stub, req)
				if *update {
					c.record(t, req, got, err)
				}
				c.judge(t, req, got, err)
				if takesBody(req) {
					c.judgeWrapped(ctx, t, client, req, got)
				}
			})
		}
		if *update {
			f.write(t)
		}
	}
}

// prepared sends what goes before and returns the request that is judged.
func (c *conformanceCase) prepared(ctx context.Context, t *testing.T, stub pb.ContextServiceClient) proto.Message {
	t.Helper()
	text := c.Request
	var last proto.Message
	for i, s := range c.Before {
		got, err := send(ctx, stub, parseRequest(t, s.Call, s.Request))
		if err != nil {
			t.Fatalf("before[%d]: %v", i, err)
		}
		last = got
	}
	if len(c.Carry) > 0 {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		answer, _ := asJSON(t, last).(map[string]any)
		for _, name := range c.Carry {
			value, err := json.Marshal(answer[name])
			if err != nil || answer[name] == nil {
				t.Fatalf("carry %s: it is %v (%v)", name, answer[name], err)
			}
			fields[name] = value
		}
		var err error
		if text, err = json.Marshal(fields); err != nil {
			t.Fatal(err)
		}
	}
	return parseRequest(t, c.Call, text)
}

func parseRequest(t *testing.T, call string, text []byte) proto.Message {
	t.Helper()
	empty, ok := calls[call]
	if !ok {
		t.Fatalf("unknown call %q, want one of %v", call, slices.Sorted(maps.Keys(calls)))
	}
	req := empty()
	if err := protojson.Unmarshal(text, req); err != nil {
		t.Fatal(err)
	}
	return req
}

// send makes the call that takes the request. Of a stream it returns the result.
func send(ctx context.Context, stub pb.ContextServiceClient, req proto.Message) (proto.Message, error) {
	switch req := req.(type) {
	case *pb.CompressRequest:
		return stub.Compress(ctx, req)
	case *pb.ApplyCacheControlRequest:
		return stub.ApplyCacheControl(ctx, req)
	case *pb.CountTokensRequest:
		return stub.CountTokens(ctx, req)
	case *pb.PrepareRequest:
		return stub.Prepare(ctx, req)
	case *pb.SimulateCacheRequest:
		return stub.SimulateCache(ctx, req)
	case *pb.ListModelsRequest:
		return stub.ListModels(ctx, req)
	case *pb.StreamCompressRequest:
		stream, err := stub.StreamCompress(ctx, req)
		if err != nil {
			return nil, err
		}
		var result *pb.CompressResponse
		for {
			event, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return result, nil
			}
			if err != nil {
				return nil, err
			}
			result = event.GetResult()
		}
	default:
		return nil, errors.New("no such call")
	}
}

// judge compares an answer with the expectation.
func (c *conformanceCase) judge(t *testing.T, req, got proto.Message, err error) {
	t.Helper()
	switch want := c.Expect; {
	case want == nil:
		t.Error("it expects nothing; record it with -update")
	case want.Error != nil && err == nil:
		t.Errorf("no error, want %s", want.Error.Code)
	case want.Error != nil:
		if why := want.Error.mismatch(failure(err)); why != "" {
			t.Errorf("%s: %v", why, err)
		}
	case err != nil:
		t.Error(err)
	default:
		if want.Response != nil {
			if why := subset("response", decode(t, want.Response), asJSON(t, got)); why != "" {
				t.Error(why)
			}
		}
		if want.JSON != nil {
			if text := resultingJSON(t, req, got); text != *want.JSON {
				t.Errorf("the resulting JSON differs:\n got %s\nwant %s", text, *want.JSON)
			}
		}
	}
}

// conversationOf returns the conversation that a request carries.
func conversationOf(req proto.Message) *pb.Conversation {
	if stream, ok := req.(*pb.StreamCompressRequest); ok {
		return stream.GetRequest().GetConversation()
	}
	if r, ok := req.(interface{ GetConversation() *pb.Conversation }); ok {
		return r.GetConversation()
	}
	return nil
}

func nativeText(c *pb.Conversation) string {
	if b := c.GetNative().GetJsonBytes(); b != nil {
		return string(b)
	}
	return c.GetNative().GetJson()
}

// resultingJSON is the native body that an answer leads to.
func resultingJSON(t *testing.T, req, got proto.Message) string {
	t.Helper()
	answer, ok := got.(interface {
		GetConversation() *pb.Conversation
		GetSplices() []*pb.Splice
	})
	if !ok {
		t.Fatalf("%T carries no conversation", got)
	}
	if answer.GetConversation() != nil {
		return nativeText(answer.GetConversation())
	}
	input := nativeText(conversationOf(req))
	var out strings.Builder
	at := int64(0)
	for _, s := range answer.GetSplices() {
		out.WriteString(input[at:s.GetOffset()])
		out.WriteString(s.GetText())
		at = s.GetOffset() + s.GetLength()
	}
	return out.String() + input[at:]
}

// record sets the expectation to what the server answered: for a new case the
// stable members, otherwise those that the case names.
func (c *conformanceCase) record(t *testing.T, req, got proto.Message, err error) {
	t.Helper()
	fresh := c.Expect == nil
	if fresh {
		c.Expect = &expectation{}
	}
	if err != nil {
		c.Expect = &expectation{Error: failure(err)}
		return
	}
	c.Expect.Error = nil
	answer := asJSON(t, got)
	var members any
	switch {
	case fresh:
		members = pick(answer, stablePaths(c.Call, answer))
	case c.Expect.Response != nil:
		members = refresh(decode(t, c.Expect.Response), answer)
	}
	if members != nil {
		if c.Expect.Response, err = json.Marshal(members); err != nil {
			t.Fatal(err)
		}
	}
	answered, carries := got.(interface{ GetConversation() *pb.Conversation })
	if native := conversationOf(req).GetNative(); carries && native != nil && (fresh || c.Expect.JSON != nil) &&
		(native.GetDelta() == nil || answered.GetConversation() != nil) {
		text := resultingJSON(t, req, got)
		c.Expect.JSON = &text
	}
}
