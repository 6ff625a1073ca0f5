package httpapi

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
)

// envelope is the length of what stands before a message on the wire: a flag and the
// length.
const envelope = 5

// invoke makes a unary call of the gRPC server in this process, on behalf of a
// request: with its headers, its peer and its context, through every interceptor.
func (s *Server) invoke(r *http.Request, method string, in, out proto.Message) *status.Status {
	message, err := proto.MarshalOptions{}.MarshalAppend(make([]byte, envelope, envelope+proto.Size(in)), in)
	if err != nil {
		return status.New(codes.Internal, "the request cannot be encoded")
	}
	binary.BigEndian.PutUint32(message[1:], uint32(len(message)-envelope)) //nolint:gosec // bodies are smaller than 2 GiB
	call := (&http.Request{
		Method: http.MethodPost, URL: &url.URL{Path: method}, Host: r.Host, RemoteAddr: r.RemoteAddr, TLS: r.TLS,
		Proto: "HTTP/2.0", ProtoMajor: 2, Header: metadata(r.Header),
		Body: io.NopCloser(bytes.NewReader(message)), ContentLength: int64(len(message)),
	}).WithContext(r.Context())
	reply := &recorder{header: http.Header{}}
	s.grpc.ServeHTTP(reply, call)
	return reply.read(out)
}

// recognize asks who makes a request, before its body is read. A stranger's call is made
// without the body, so that it is refused, logged and counted as over gRPC, and the
// connection closed behind it: nobody wants what the stranger is still sending.
func (s *Server) recognize(w http.ResponseWriter, r *http.Request, method string) (*http.Request, *refusal) {
	if s.whoCalls == nil {
		return r, nil
	}
	r, known := s.whoCalls(r, method)
	if known {
		return r, nil
	}
	w.Header().Set("Connection", "close")
	if st := s.invoke(r, method, &emptypb.Empty{}, &emptypb.Empty{}); st != nil {
		return r, &refusal{status: st}
	}
	return r, refuse(codes.Unauthenticated, 0, "it is not known who calls")
}

// metadata are the headers of a request that mean something to a call: not those of
// its body and connection.
func metadata(from http.Header) http.Header {
	out := http.Header{}
	for name, values := range from {
		switch name {
		case "Accept", "Accept-Encoding", "Connection", "Keep-Alive", "Origin", "Te", "Trailer", "Transfer-Encoding", "Upgrade":
		default:
			if !strings.HasPrefix(name, "Content-") && !strings.HasPrefix(name, "Grpc-") {
				out[name] = values
			}
		}
	}
	out.Set("Content-Type", "application/grpc+proto")
	out.Set("Te", "trailers")
	return out
}

// recorder keeps what a handler answers.
type recorder struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(code int) { r.code = code }

func (r *recorder) Write(data []byte) (int, error) { return r.body.Write(data) }

// Flush implements [http.Flusher], which the gRPC server insists on.
func (r *recorder) Flush() {}

// read takes the answer apart.
func (r *recorder) read(out proto.Message) *status.Status {
	code, err := strconv.Atoi(r.trailer("Grpc-Status"))
	if err != nil {
		return status.Newf(codes.Internal, "the gRPC server answered with HTTP status %d", r.code)
	}
	if code != int(codes.OK) {
		full := &spb.Status{}
		packed, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(r.trailer("Grpc-Status-Details-Bin"), "="))
		if err == nil && proto.Unmarshal(packed, full) == nil && int(full.GetCode()) == code {
			return status.FromProto(full)
		}
		message := r.trailer("Grpc-Message")
		if plain, err := url.PathUnescape(message); err == nil {
			message = plain
		}
		return status.New(codes.Code(code), message) //nolint:gosec // a code of gRPC's
	}
	if r.body.Len() < envelope || proto.Unmarshal(r.body.Bytes()[envelope:], out) != nil {
		return status.New(codes.Internal, "the answer cannot be decoded")
	}
	return nil
}

// trailer returns a trailer, in either of the forms that net/http has for them.
func (r *recorder) trailer(name string) string {
	if v := r.header.Get(name); v != "" {
		return v
	}
	return r.header.Get(http.TrailerPrefix + name)
}
