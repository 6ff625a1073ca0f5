package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc/codes"
)

// Browsers let any page send requests to any address, this machine's own included.
// What keeps pages out: a request that names a foreign origin is refused; the
// content types that pages may send without asking first are none of ours; and on a
// loopback address the Host must name this machine, which it does not where a page
// has its own name resolved to it.
type browserPolicy struct {
	any     bool
	origins []string
	// localOnly is set when the server listens on loopback.
	localOnly atomic.Bool
}

func newBrowserPolicy(origins []string) *browserPolicy {
	p := &browserPolicy{}
	for _, origin := range origins {
		p.any = p.any || origin == "*"
		p.origins = append(p.origins, strings.ToLower(origin))
	}
	return p
}

// What a page may send and see. The lists are those of Connect and gRPC-Web, with
// the caller's token and trace.
const (
	allowedMethods = "GET, POST"
	allowedHeaders = "Authorization, Content-Type, Connect-Protocol-Version, Connect-Timeout-Ms, Grpc-Timeout, " +
		"X-Grpc-Web, X-User-Agent, Traceparent, Tracestate"
	exposedHeaders = "Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin, Retry-After"
	preflightAge   = "7200"
)

// check refuses requests that a web page makes without permission. With a
// permitted origin it sets what the browser wants to see.
func (p *browserPolicy) check(w http.ResponseWriter, r *http.Request) *refusal {
	if p.localOnly.Load() && !namesThisMachine(r.Host) {
		return refuse(codes.PermissionDenied, 0, "this address is for callers on this machine: call it as localhost or by its IP address")
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	w.Header().Add("Vary", "Origin")
	if !p.any && !slices.Contains(p.origins, strings.ToLower(origin)) {
		return refuse(codes.PermissionDenied, 0, "web pages of this origin may not call: the setting http.allowed_origins does not list it")
	}
	w.Header().Set("Access-Control-Allow-Origin", origin)
	w.Header().Set("Access-Control-Expose-Headers", exposedHeaders)
	return nil
}

// preflight answers the question that a browser asks before a request.
func preflight(w http.ResponseWriter) {
	w.Header().Set("Access-Control-Allow-Methods", allowedMethods)
	w.Header().Set("Access-Control-Allow-Headers", allowedHeaders)
	w.Header().Set("Access-Control-Max-Age", preflightAge)
	w.WriteHeader(http.StatusNoContent)
}

// namesThisMachine reports whether a Host header can only mean this machine.
func namesThisMachine(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if host == "" || host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true // HTTP/1.0 has no Host, and browsers always send one
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
