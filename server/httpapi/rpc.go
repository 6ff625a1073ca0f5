package httpapi

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"strings"

	"connectrpc.com/connect"
	"connectrpc.com/vanguard"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// rpcHandler answers the RPCs in the protocols of the web by translating them to
// gRPC. Requests come with their whole body in memory.
type rpcHandler struct {
	transcoder http.Handler
	streaming  map[string]bool // by path: whether the response is a stream
	errors     *connect.ErrorWriter
}

func newRPCHandler(grpc http.Handler, maxMessageBytes int) (*rpcHandler, error) {
	// A response may be twice a request, and JSON escapes what protobuf copies.
	mostBuffered := uint32(min(8*int64(maxMessageBytes), math.MaxUint32))
	options := []vanguard.ServiceOption{
		vanguard.WithTargetProtocols(vanguard.ProtocolGRPC),
		vanguard.WithTargetCodecs(vanguard.CodecProto),
		vanguard.WithNoTargetCompression(),
		vanguard.WithMaxMessageBufferBytes(mostBuffered),
	}
	context, health := elbowroomv1.ContextService_ServiceDesc, healthv1.Health_ServiceDesc
	transcoder, err := vanguard.NewTranscoder(
		[]*vanguard.Service{
			vanguard.NewService(context.ServiceName, grpc, options...),
			vanguard.NewService(health.ServiceName, grpc, options...),
		},
		vanguard.WithCodec(func(vanguard.TypeResolver) vanguard.Codec { return jsonCodec{} }),
		vanguard.WithCompression(vanguard.CompressionGzip,
			func() connect.Compressor { return gzip.NewWriter(io.Discard) },
			func() connect.Decompressor { return &boundedGunzip{limit: maxMessageBytes} }))
	if err != nil {
		return nil, err
	}
	h := &rpcHandler{transcoder: transcoder, streaming: map[string]bool{}, errors: connect.NewErrorWriter()}
	for _, m := range context.Methods {
		h.streaming["/"+context.ServiceName+"/"+m.MethodName] = false
	}
	for _, m := range context.Streams {
		h.streaming["/"+context.ServiceName+"/"+m.StreamName] = true
	}
	h.streaming["/"+health.ServiceName+"/Check"] = false
	return h, nil
}

// protocol is how a request speaks.
type protocol int

const (
	unknownProtocol protocol = iota
	connectUnary
	connectStream
	grpcWeb
)

// protocolOf tells the protocol from the content type. contentType is its spelling
// without parameters.
func protocolOf(header string) (p protocol, contentType string) {
	contentType, params, err := mime.ParseMediaType(header)
	charset := params["charset"]
	if err != nil || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return unknownProtocol, ""
	}
	switch contentType {
	case "application/json", "application/proto":
		return connectUnary, contentType
	case "application/connect+json", "application/connect+proto":
		return connectStream, contentType
	case "application/grpc-web", "application/grpc-web+proto", "application/grpc-web+json":
		return grpcWeb, contentType
	default:
		return unknownProtocol, ""
	}
}

// check says whether a request is a call of an RPC, before its body is read.
func (h *rpcHandler) check(r *http.Request) (protocol, *refusal) {
	streaming, known := h.streaming[r.URL.Path]
	if !known {
		return unknownProtocol, refuse(codes.Unimplemented, http.StatusNotFound, "there is nothing at this path: /openapi.json lists what there is")
	}
	if r.Method != http.MethodPost {
		return unknownProtocol, wrongMethod(http.MethodPost)
	}
	p, contentType := protocolOf(r.Header.Get("Content-Type"))
	version := r.Header.Get("Connect-Protocol-Version")
	switch {
	case p == unknownProtocol && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc"):
		return p, unsupported("gRPC itself is served on a port of its own (grpc_addr)")
	case p == connectUnary && streaming:
		return p, unsupported("this call answers with a stream: use application/connect+json or gRPC-Web")
	case p == connectStream && !streaming, p == unknownProtocol:
		return p, unsupported("use application/json, or another encoding of Connect or gRPC-Web")
	case p != grpcWeb && version != "" && version != "1":
		return p, refuse(codes.InvalidArgument, 0, "Connect-Protocol-Version: only 1 is known")
	}
	r.Header.Set("Content-Type", contentType)
	if p != grpcWeb {
		r.Header.Set("Connect-Protocol-Version", "1") // curl does not send it
	}
	return p, nil
}

func unsupported(advice string) *refusal {
	return refuse(codes.Unimplemented, http.StatusUnsupportedMediaType, "Content-Type: %s", advice)
}

// serve answers a request that check let pass.
func (h *rpcHandler) serve(w http.ResponseWriter, r *http.Request, body []byte) {
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	r.Header.Del("Content-Encoding") // it was undone
	h.transcoder.ServeHTTP(w, r)
}

// refuse writes an error the way the request's protocol wants it.
func (h *rpcHandler) refuse(w http.ResponseWriter, r *http.Request, p protocol, e *refusal) {
	if p == connectStream || p == grpcWeb {
		_ = h.errors.Write(w, r, e.connect()) // nobody is left to tell
		return
	}
	e.write(w)
}

// checkEnvelope looks at the one message of an enveloped request ahead of the gRPC
// server, which takes one that cannot be read for a fault of its own and logs it as
// that.
func checkEnvelope(contentType string, body []byte) *refusal {
	if len(body) < envelope {
		return refuse(codes.InvalidArgument, 0, "the body holds no message: before it stand a byte of flags and four of its length")
	}
	size := binary.BigEndian.Uint32(body[1:])
	if int64(size) != int64(len(body)-envelope) {
		return refuse(codes.InvalidArgument, 0, "the envelope says that the message has %d bytes, and it has %d", size, len(body)-envelope)
	}
	if contentType != "application/connect+json" || body[0] != 0 {
		return nil // in protobuf, or compressed: the transcoder says what is wrong
	}
	return readJSON(body[envelope:], &elbowroomv1.StreamCompressRequest{})
}

// connect is the refusal as Connect's own type.
func (e *refusal) connect() *connect.Error {
	out := connect.NewError(connect.Code(e.status.Code()), errors.New(e.status.Message()))
	for _, packed := range e.status.Proto().GetDetails() {
		if m, err := packed.UnmarshalNew(); err == nil {
			if d, err := connect.NewErrorDetail(m); err == nil {
				out.AddDetail(d)
			}
		}
	}
	return out
}

// jsonCodec is [readJSON] and [writeJSON] for the transcoder.
type jsonCodec struct{}

func (jsonCodec) Name() string { return vanguard.CodecJSON }

func (jsonCodec) MarshalAppend(base []byte, m proto.Message) ([]byte, error) {
	return writeJSON(base, m)
}

func (jsonCodec) Unmarshal(text []byte, into proto.Message) error {
	if e := readJSON(text, into); e != nil {
		return e.connect()
	}
	return nil
}

// boundedGunzip decompresses no more than a message may have: a few kilobytes can
// hold gigabytes of zeros.
type boundedGunzip struct {
	gzip.Reader
	limit, read int
}

func (b *boundedGunzip) Reset(src io.Reader) error {
	b.read = 0
	return b.Reader.Reset(src)
}

func (b *boundedGunzip) Read(into []byte) (int, error) {
	n, err := b.Reader.Read(into)
	if b.read += n; b.read > b.limit {
		return n, connect.NewError(connect.CodeResourceExhausted, fmt.Errorf("the message is larger than %d bytes (limits.max_message_bytes)", b.limit))
	}
	return n, err
}
