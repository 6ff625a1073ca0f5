package httpapi

import (
	"net/http"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/elbowroom/elbowroom/gen/openapi"
)

const (
	pathCompress = "/v1/compress"
	pathRetrieve = "/v1/retrieve/"
	pathOpenAPI  = "/openapi.json"
)

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if len(r.TransferEncoding) > 0 {
		// It may have had a length too, which net/http drops without a word. A proxy that goes
		// by the length takes what follows the chunks for a part of this request, so nothing
		// may follow (RFC 9112, 6.1).
		w.Header().Set("Connection", "close")
	}
	out := newPacedWriter(w, s.pace)
	if e := s.browsers.check(out, r); e != nil {
		e.write(out)
		return
	}
	switch {
	case r.Method == http.MethodOptions:
		if r.Header.Get("Origin") == "" {
			wrongMethod("GET, POST").write(out)
			return
		}
		preflight(out)
	case r.URL.Path == pathCompress:
		s.compress(out, r)
	case strings.HasPrefix(r.URL.Path, pathRetrieve):
		refuse(codes.NotFound, 0, "nothing to retrieve: this server's compressions carry no hashes and keep no originals").write(out)
	case r.URL.Path == pathOpenAPI:
		s.document(out, r)
	default:
		s.call(out, r)
	}
}

// call answers an RPC.
func (s *Server) call(w http.ResponseWriter, r *http.Request) {
	p, e := s.rpc.check(r)
	if e != nil {
		e.write(w)
		return
	}
	if r, e = s.recognize(w, r, r.URL.Path); e != nil {
		s.rpc.refuse(w, r, p, e)
		return
	}
	b, e := s.readBody(w, r, p == connectUnary)
	defer b.Close()
	if e != nil {
		s.rpc.refuse(w, r, p, e)
		return
	}
	if len(b.data) == 0 && r.Header.Get("Content-Type") == "application/json" {
		invalid("", "invalid JSON: the body is empty, an empty request is {}", 0).write(w)
		return
	}
	if p != connectUnary {
		if e := checkEnvelope(r.Header.Get("Content-Type"), b.data); e != nil {
			s.rpc.refuse(w, r, p, e)
			return
		}
	}
	s.rpc.serve(w, r, b.data)
}

// document answers with the OpenAPI document.
func (s *Server) document(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		wrongMethod("GET, HEAD").write(w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(openapi.Document) // nobody is left to tell
}
