package server_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// The grpcurl calls that the docs show are calls that succeed.
func TestDocumentedCallsSucceed(t *testing.T) {
	f := start(t, nil)
	call := regexp.MustCompile(`(?s)grpcurl -plaintext -d '(.*?)' \\\n  127\.0\.0\.1:50051 elbowroom\.v1\.ContextService/(\w+)`)
	for _, path := range []string{"../docs/api.md", "../docs/getting-started.md"} {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found := call.FindAllStringSubmatch(string(page), -1)
		if len(found) == 0 || len(found) != strings.Count(string(page), "grpcurl -plaintext") {
			t.Errorf("%s: %d calls can be read of %d", path, len(found), strings.Count(string(page), "grpcurl -plaintext"))
		}
		for _, m := range found {
			req, ok := map[string]proto.Message{
				"Compress": &elbowroomv1.CompressRequest{}, "CountTokens": &elbowroomv1.CountTokensRequest{},
				"Prepare": &elbowroomv1.PrepareRequest{}, "ApplyCacheControl": &elbowroomv1.ApplyCacheControlRequest{},
			}[m[2]]
			if !ok {
				t.Errorf("%s: no call %s", path, m[2])
				continue
			}
			if err := protojson.Unmarshal([]byte(m[1]), req); err != nil {
				t.Errorf("%s: %v in %s", path, err, m[1])
				continue
			}
			if _, err := send(t.Context(), f, req); err != nil {
				t.Errorf("%s: %v for %s", path, err, m[1])
			}
		}
	}
}
