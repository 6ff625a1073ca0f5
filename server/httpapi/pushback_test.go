package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/server/interceptors/quota"
)

// Refusals carry a trailer for gRPC's own retry, which is none of HTTP's business: the
// callers of the edge are told the time as ever, and a gRPC-Web caller finds the trailer
// beside the others.
func TestRefusalsLookTheSameWithATrailerForGRPC(t *testing.T) {
	f := start(t, func(o *options) {
		o.server.Limits.Tenant = quota.Limits{Rate: 1e-6, Burst: 1}
	})
	if r := f.post(service+"ListModels", jsonType, `{}`); r.status != http.StatusOK {
		t.Fatalf("%d %s", r.status, r.body)
	}
	for path, body := range map[string]string{
		service + "Compress": greeting,
		"/v1/compress":       `{"messages":[{"role":"user","content":"hi"}]}`,
	} {
		r := f.post(path, jsonType, body)
		if e := r.failure(t); r.status != http.StatusTooManyRequests || e.Code != "resource_exhausted" || len(e.Details) != 2 {
			t.Errorf("%s: %d %+v %v", path, r.status, e, r.header)
		}
	}
	r := f.post(service+"ListModels", "application/grpc-web+proto", "\x00\x00\x00\x00\x00")
	var text strings.Builder // the trailers stand in the body, or in the headers where they are all there is
	if err := r.header.Write(&text); err != nil {
		t.Fatal(err)
	}
	all := strings.ReplaceAll(strings.ToLower(text.String()+r.body), ": ", ":")
	for _, want := range []string{"grpc-status:8", "grpc-retry-pushback-ms:-1", "grpc-status-details-bin:"} {
		if r.status != http.StatusOK || !strings.Contains(all, want) {
			t.Errorf("gRPC-Web: no %q in %d %q", want, r.status, all)
		}
	}
}
