package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

func native(format elbowroomv1.Format, text string) *elbowroomv1.Conversation {
	return &elbowroomv1.Conversation{Native: &elbowroomv1.NativeRequest{
		Format: format, Body: &elbowroomv1.NativeRequest_Json{Json: text},
	}}
}

func openai(text string) *elbowroomv1.Conversation {
	return native(elbowroomv1.Format_FORMAT_OPENAI_CHAT, text)
}

// odd is a conversation whose bytes no JSON encoder would write like that.
const odd = `[{"role":"user","content":"caf\u00e9 \ud83d\ude00 \ud800 <&> 日本","n":1.50e+2,"big":12345678901234567890,"z":null,"a":{}},` +
	"\n\t" + `{"content":null,"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"b\": 1 ,\"a\":2}"}}]},` +
	`{"role":"tool","tool_call_id":"1","content":"done"}]`

// call is one request of an RPC, and how each protocol makes it.
type call struct {
	method string
	req    proto.Message
	grpc   func(context.Context, elbowroomv1.ContextServiceClient) ([]proto.Message, error)
	web    func(ctx context.Context, c connect.HTTPClient, url string, o ...connect.ClientOption) ([]proto.Message, error)
	empty  func() proto.Message
}

// unary makes a call of an RPC with one answer.
func unary[Q, R any, PQ interface {
	*Q
	proto.Message
}, PR interface {
	*R
	proto.Message
}](method string, req PQ, invoke func(elbowroomv1.ContextServiceClient, context.Context, PQ) (PR, error)) call {
	return call{
		method: method, req: req,
		grpc: func(ctx context.Context, c elbowroomv1.ContextServiceClient) ([]proto.Message, error) {
			out, err := invoke(c, ctx, req)
			return []proto.Message{out}, err
		},
		web: func(ctx context.Context, c connect.HTTPClient, url string, o ...connect.ClientOption) ([]proto.Message, error) {
			out, err := connect.NewClient[Q, R](c, url, o...).CallUnary(ctx, connect.NewRequest((*Q)(req)))
			if err != nil {
				return nil, err
			}
			return []proto.Message{PR(out.Msg)}, nil
		},
		empty: func() proto.Message { return PR(new(R)) },
	}
}

// calls has every RPC, and every form of a conversation.
func calls() []call {
	type client = elbowroomv1.ContextServiceClient
	long := openai(talk(30, 60))
	typed := &elbowroomv1.Conversation{Messages: []*elbowroomv1.Message{{
		Role: elbowroomv1.Role_ROLE_USER, Blocks: []*elbowroomv1.Block{{Kind: &elbowroomv1.Block_Text{Text: "hi"}}},
	}}}
	compress := func(c client, ctx context.Context, r *elbowroomv1.CompressRequest) (*elbowroomv1.CompressResponse, error) {
		return c.Compress(ctx, r)
	}
	text := "hello"
	stream := &elbowroomv1.StreamCompressRequest{Request: &elbowroomv1.CompressRequest{Conversation: long, Model: "gpt-4o", Force: true}}
	return []call{
		unary("Compress", &elbowroomv1.CompressRequest{Conversation: long, Model: "gpt-4o", Force: true}, compress),
		unary("Compress", &elbowroomv1.CompressRequest{Conversation: long, Force: true, View: elbowroomv1.View_VIEW_EDITS}, compress),
		unary("Compress", &elbowroomv1.CompressRequest{Conversation: openai(odd)}, compress),
		unary("Compress", &elbowroomv1.CompressRequest{Conversation: &elbowroomv1.Conversation{Native: &elbowroomv1.NativeRequest{
			Format: elbowroomv1.Format_FORMAT_OPENAI_CHAT, Body: &elbowroomv1.NativeRequest_JsonBytes{JsonBytes: []byte(odd)},
		}}}, compress),
		unary("Compress", &elbowroomv1.CompressRequest{Conversation: typed}, compress),
		unary("ApplyCacheControl", &elbowroomv1.ApplyCacheControlRequest{Conversation: native(elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES,
			`{"model":"claude-sonnet-4-5","system":"Be terse.","messages":[{"role":"user","content":"hi"}]}`)},
			func(c client, ctx context.Context, r *elbowroomv1.ApplyCacheControlRequest) (*elbowroomv1.ApplyCacheControlResponse, error) {
				return c.ApplyCacheControl(ctx, r)
			}),
		unary("CountTokens", &elbowroomv1.CountTokensRequest{Text: &text, Model: "gpt-4o"},
			func(c client, ctx context.Context, r *elbowroomv1.CountTokensRequest) (*elbowroomv1.CountTokensResponse, error) {
				return c.CountTokens(ctx, r)
			}),
		unary("Prepare", &elbowroomv1.PrepareRequest{Conversation: openai(odd), Model: "anthropic/claude-sonnet-4.5"},
			func(c client, ctx context.Context, r *elbowroomv1.PrepareRequest) (*elbowroomv1.PrepareResponse, error) {
				return c.Prepare(ctx, r)
			}),
		unary("SimulateCache", &elbowroomv1.SimulateCacheRequest{Model: "claude-sonnet-4-5", Requests: []*elbowroomv1.SimulatedRequest{
			{Conversation: native(elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES, `{"system":"s","messages":[{"role":"user","content":"hi"}]}`)},
		}},
			func(c client, ctx context.Context, r *elbowroomv1.SimulateCacheRequest) (*elbowroomv1.SimulateCacheResponse, error) {
				return c.SimulateCache(ctx, r)
			}),
		unary("ListModels", &elbowroomv1.ListModelsRequest{Filter: "claude"},
			func(c client, ctx context.Context, r *elbowroomv1.ListModelsRequest) (*elbowroomv1.ListModelsResponse, error) {
				return c.ListModels(ctx, r)
			}),
		unary("ListModels", &elbowroomv1.ListModelsRequest{}, // no bytes at all in protobuf
			func(c client, ctx context.Context, r *elbowroomv1.ListModelsRequest) (*elbowroomv1.ListModelsResponse, error) {
				return c.ListModels(ctx, r)
			}),
		{
			method: "StreamCompress", req: stream,
			grpc: func(ctx context.Context, c client) (out []proto.Message, err error) {
				events, err := c.StreamCompress(ctx, stream)
				if err != nil {
					return nil, err
				}
				for {
					event, err := events.Recv()
					if err != nil {
						return out, ignoreEOF(err)
					}
					out = append(out, event)
				}
			},
			web: func(ctx context.Context, c connect.HTTPClient, url string, o ...connect.ClientOption) (out []proto.Message, err error) {
				events, err := connect.NewClient[elbowroomv1.StreamCompressRequest, elbowroomv1.StreamCompressResponse](c, url, o...).
					CallServerStream(ctx, connect.NewRequest(stream))
				if err != nil {
					return nil, err
				}
				defer func() { _ = events.Close() }()
				for events.Receive() {
					out = append(out, proto.Clone(events.Msg()))
				}
				return out, events.Err()
			},
		},
	}
}

func ignoreEOF(err error) error {
	if err.Error() == "EOF" {
		return nil
	}
	return err
}

// Every protocol gives the answer that gRPC gives.
func TestTheAnswerIsTheSameInEveryProtocol(t *testing.T) {
	f := start(t, func(o *options) { o.server.Compressor = newEngine(t, false) })
	protocols := map[string][]connect.ClientOption{
		"Connect, protobuf":               nil,
		"Connect, JSON":                   {connect.WithProtoJSON()},
		"Connect, JSON, gzip":             {connect.WithProtoJSON(), connect.WithSendGzip()},
		"Connect, protobuf, gzip":         {connect.WithSendGzip()},
		"gRPC-Web, protobuf":              {connect.WithGRPCWeb()},
		"gRPC-Web, JSON":                  {connect.WithGRPCWeb(), connect.WithProtoJSON()},
		"gRPC-Web, protobuf, gzip":        {connect.WithGRPCWeb(), connect.WithSendGzip()},
		"gRPC-Web, JSON, gzip":            {connect.WithGRPCWeb(), connect.WithProtoJSON(), connect.WithSendGzip()},
		"Connect, JSON, nothing unzipped": {connect.WithProtoJSON(), connect.WithAcceptCompression("gzip", nil, nil)},
	}
	for i, c := range calls() {
		want, err := c.grpc(t.Context(), f.client)
		if err != nil || len(want) == 0 {
			t.Fatalf("%s over gRPC: %d answers, %v", c.method, len(want), err)
		}
		for name, o := range protocols {
			t.Run(fmt.Sprintf("%d %s %s", i, c.method, name), func(t *testing.T) {
				got, err := c.web(t.Context(), f.http, f.url+service+c.method, o...)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
					t.Errorf("-gRPC +%s:\n%s", name, diff)
				}
			})
		}
		if c.empty == nil {
			continue
		}
		// As curl does it: no header but the content type.
		for name, o := range map[string]protojson.MarshalOptions{"lowerCamelCase": {}, "proto names": {UseProtoNames: true}} {
			t.Run(fmt.Sprintf("%d %s plain JSON, %s", i, c.method, name), func(t *testing.T) {
				body, err := o.Marshal(c.req)
				if err != nil {
					t.Fatal(err)
				}
				r := f.post(service+c.method, jsonType, string(body))
				got := c.empty()
				if err := protojson.Unmarshal([]byte(r.body), got); r.status != http.StatusOK || err != nil {
					t.Fatalf("%d %s: %v", r.status, r.body, err)
				}
				if diff := cmp.Diff(want[0], got, protocmp.Transform()); diff != "" {
					t.Errorf("-gRPC +JSON:\n%s", diff)
				}
			})
		}
	}
	if log := f.log.String(); strings.Contains(log, `"level":"ERROR"`) || strings.Contains(log, `"level":"WARN"`) {
		t.Errorf("the log complains:\n%s", log)
	}
}

// A native conversation is carried as a string and comes back byte for byte.
func TestNativeBytesSurviveJSON(t *testing.T) {
	f := start(t, nil)
	body, err := json.Marshal(map[string]any{"conversation": map[string]any{"native": map[string]any{"format": "FORMAT_OPENAI_CHAT", "json": odd}}})
	if err != nil {
		t.Fatal(err)
	}
	r := f.post(service+"Compress", jsonType, string(body))
	var out struct {
		Conversation struct {
			Native struct {
				JSON string `json:"json"`
			} `json:"native"`
		} `json:"conversation"`
	}
	if err := json.Unmarshal([]byte(r.body), &out); err != nil || out.Conversation.Native.JSON != odd {
		t.Errorf("%v\n%s", err, r.body)
	}
}

// Every protocol gives the error that gRPC gives, with its details.
func TestTheErrorIsTheSameInEveryProtocol(t *testing.T) {
	f := start(t, nil)
	for name, req := range map[string]*elbowroomv1.CompressRequest{
		"broken JSON in the conversation": {Conversation: openai(`[{"role":"user","content":"x"},]`)},
		"no conversation":                 {},
		"a pin out of range":              {Conversation: openai(`[{"role":"user","content":"x"}]`), Pinned: []int32{9}},
	} {
		_, err := f.client.Compress(t.Context(), req)
		want := status.Convert(err)
		for protocol, o := range map[string][]connect.ClientOption{
			"Connect": nil, "Connect, JSON": {connect.WithProtoJSON()}, "gRPC-Web": {connect.WithGRPCWeb()},
		} {
			_, err := connect.NewClient[elbowroomv1.CompressRequest, elbowroomv1.CompressResponse](f.http, f.url+service+"Compress", o...).
				CallUnary(t.Context(), connect.NewRequest(req))
			var got *connect.Error
			if !errors.As(err, &got) {
				t.Fatalf("%s, %s: %v", name, protocol, err)
			}
			if uint32(got.Code()) != uint32(want.Code()) || got.Message() != want.Message() || len(got.Details()) != len(want.Proto().GetDetails()) {
				t.Errorf("%s, %s: %v with %d details, want %v with %d", name, protocol, got, len(got.Details()), want, len(want.Proto().GetDetails()))
				continue
			}
			for i, d := range want.Proto().GetDetails() {
				gotDetail, err := got.Details()[i].Value()
				wantDetail, errWant := d.UnmarshalNew()
				if err = errors.Join(err, errWant); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(wantDetail, gotDetail, protocmp.Transform()); diff != "" {
					t.Errorf("%s, %s: detail %d (-gRPC):\n%s", name, protocol, i, diff)
				}
			}
		}
	}
	plain := f.post(service+"Compress", jsonType, `{"conversation":{"native":{"format":"FORMAT_OPENAI_CHAT","json":"[{\"role\":\"user\"},]"}}}`)
	e := plain.failure(t)
	if plain.status != http.StatusBadRequest || e.Code != "invalid_argument" || e.field() != "conversation.native.json" || e.fact("byte_offset") != "17" {
		t.Errorf("%d %+v", plain.status, e)
	}
}

func TestBrokenJSONIsRefusedWithTheByte(t *testing.T) {
	f := start(t, nil)
	for body, offset := range map[string]string{
		``:                                    "0",
		`{"text":"a"`:                         "11",
		`{"text":"a",}`:                       "12",
		"{\n \"text\":\"日本\", \"x\": 1}":      "20",
		"{\"text\":\"a\xffb\"}":               "10",
		`{"text":"ab\ud800"}`:                 "11",
		`{"text":5}`:                          "8",
		`{"text":"a","method":"NO"}`:          "21",
		`{"text":"a","text":"b"}`:             "12",
		`[]`:                                  "0",
		`{"lastUsage":{"promptTokens":1e40}}`: "29",
	} {
		r := f.post(service+"CountTokens", jsonType, body)
		e := r.failure(t)
		if r.status != http.StatusBadRequest || e.Code != "invalid_argument" || e.fact("byte_offset") != offset {
			t.Errorf("%q: %d %s at byte %q, want %s", body, r.status, e.Message, e.fact("byte_offset"), offset)
		}
	}
	deep := strings.Repeat(`{"request":{"conversation":{"messages":[`, 1) + strings.Repeat(`{"blocks":[{"toolResult":`, 5000)
	if e := f.post(service+"Compress", jsonType, deep).failure(t); e.Code != "invalid_argument" {
		t.Errorf("%+v", e)
	}
	// A fault of the caller is none of the server's.
	envelope := func(text string) string {
		return string(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(text)))) + text
	}
	for _, body := range []string{envelope(`{"request":`), envelope(`{"request":{}}`)[:9], "\x00\x00"} {
		r := f.post(service+"StreamCompress", "application/connect+json", body)
		if !strings.Contains(r.body, `"error":{"code":"`) {
			t.Errorf("%q: %d %q", body, r.status, r.body)
		}
	}
	if log := f.log.String(); strings.Contains(log, `"level":"ERROR"`) {
		t.Errorf("the log complains:\n%s", log)
	}
}

func TestWhatIsNoCallIsRefused(t *testing.T) {
	f := start(t, nil)
	for _, c := range []struct {
		name, method, path, contentType string
		header                          []string
		status                          int
		code                            string
	}{
		{"an unknown path", "GET", "/", "", nil, 404, "unimplemented"},
		{"an unknown method of the service", "POST", service + "Recall", jsonType, nil, 404, "unimplemented"},
		{"reflection", "POST", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "application/connect+json", nil, 404, "unimplemented"},
		{"GET", "GET", service + "ListModels", "", nil, 405, "unimplemented"},
		{"a form", "POST", service + "ListModels", "application/x-www-form-urlencoded", nil, 415, "unimplemented"},
		{"plain text, which pages may send", "POST", service + "ListModels", "text/plain", nil, 415, "unimplemented"},
		{"no content type", "POST", service + "ListModels", "", nil, 415, "unimplemented"},
		{"another charset", "POST", service + "ListModels", "application/json; charset=latin1", nil, 415, "unimplemented"},
		{"gRPC", "POST", service + "ListModels", "application/grpc", nil, 415, "unimplemented"},
		{"a stream asked for as one answer", "POST", service + "StreamCompress", jsonType, nil, 415, "unimplemented"},
		{"one answer asked for as a stream", "POST", service + "ListModels", "application/connect+json", nil, 415, "unimplemented"},
		{"another version of Connect", "POST", service + "ListModels", jsonType, []string{"Connect-Protocol-Version", "2"}, 400, "invalid_argument"},
		{"another compression", "POST", service + "ListModels", jsonType, []string{"Content-Encoding", "br"}, 415, "unimplemented"},
		{"no gzip", "POST", service + "ListModels", jsonType, []string{"Content-Encoding", "gzip"}, 400, "invalid_argument"},
		{"retrieval", "GET", "/v1/retrieve/0123456789abcdef01234567", "", nil, 404, "not_found"},
	} {
		header := c.header
		if c.contentType != "" {
			header = append(header, "Content-Type", c.contentType)
		}
		r := f.send(c.method, c.path, strings.NewReader("{}"), header...)
		if e := r.failure(t); r.status != c.status || e.Code != c.code || e.Message == "" {
			t.Errorf("%s: %d %+v, want %d %s", c.name, r.status, e, c.status, c.code)
		}
	}
	if r := f.post(service+"ListModels", "Application/JSON; charset=UTF-8", `{"filter":"gpt-4o"}`); r.status != http.StatusOK || !strings.Contains(r.body, "gpt-4o") {
		t.Errorf("%+v", r)
	}
	if r := f.post("/grpc.health.v1.Health/Check", jsonType, `{}`); r.status != http.StatusOK || !strings.Contains(r.body, `"SERVING"`) {
		t.Errorf("%+v", r)
	}
}

func zip(t *testing.T, text []byte) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(text)
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestBodiesAreBounded(t *testing.T) {
	const limit = 100_000
	f := start(t, func(o *options) {
		o.server.Limits.MaxMessageBytes, o.edge.MaxMessageBytes = limit, limit
	})
	fits := `{"text":"` + strings.Repeat("x", limit-100) + `"}`
	large := `{"text":"` + strings.Repeat("x", limit) + `"}`
	bomb := zip(t, bytes.Repeat([]byte{' '}, 200*limit))
	message := func(flags byte, data string) string {
		return string(binary.BigEndian.AppendUint32([]byte{flags}, uint32(len(data)))) + data
	}
	if r := f.post(service+"CountTokens", jsonType, fits); r.status != http.StatusOK {
		t.Errorf("a body that fits: %d %s", r.status, r.body)
	}
	if r := f.post(service+"CountTokens", jsonType, zip(t, []byte(fits)), "Content-Encoding", "gzip"); r.status != http.StatusOK {
		t.Errorf("a compressed body that fits: %d %s", r.status, r.body)
	}
	for _, c := range []struct{ name, path, contentType, body, encoding string }{
		{"Connect", service + "CountTokens", jsonType, large, ""},
		{"Connect, gzip", service + "CountTokens", jsonType, zip(t, []byte(large)), "gzip"},
		{"Connect, bomb", service + "CountTokens", jsonType, bomb, "gzip"},
		{"gateway", "/v1/compress", jsonType, large, ""},
		{"gateway, bomb", "/v1/compress", jsonType, bomb, "gzip"},
	} {
		r := f.post(c.path, c.contentType, c.body, "Content-Encoding", c.encoding)
		if e := r.failure(t); r.status != http.StatusRequestEntityTooLarge || e.Code != "resource_exhausted" {
			t.Errorf("%s: %d %+v", c.name, r.status, e)
		}
	}
	// Without a Content-Length.
	r := f.send(http.MethodPost, service+"CountTokens", struct{ *strings.Reader }{strings.NewReader(large)}, "Content-Type", jsonType)
	if e := r.failure(t); r.status != http.StatusRequestEntityTooLarge || e.Code != "resource_exhausted" {
		t.Errorf("chunked: %d %+v", r.status, e)
	}
	for _, c := range []struct{ name, contentType, header, body string }{
		{"a stream", "application/connect+json", "X-None", message(0, large)},
		{"a bomb in a stream", "application/connect+json", "Connect-Content-Encoding", message(1, bomb)},
	} {
		r := f.post(service+"StreamCompress", c.contentType, c.body, c.header, "gzip")
		if !strings.Contains(r.body, `"resource_exhausted"`) {
			t.Errorf("%s: %d %q", c.name, r.status, r.body)
		}
	}
	for _, contentType := range []string{"application/grpc-web+json", "application/grpc-web+proto"} {
		r := f.post(service+"CountTokens", contentType, message(1, bomb), "Grpc-Encoding", "gzip")
		if got := r.header.Get("Grpc-Status") + r.body; !strings.Contains(got, "8") || strings.Contains(got, "tokens") {
			t.Errorf("a bomb in %s: %d %v %q", contentType, r.status, r.header, r.body)
		}
	}
	if r := f.post(service+"CountTokens", jsonType, `{"text":"still here"}`); r.status != http.StatusOK {
		t.Errorf("afterwards: %d %s", r.status, r.body)
	}
}
