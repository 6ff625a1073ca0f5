package elbowroom_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// conformanceDir holds the cases that every client runs. Its README has the format.
const conformanceDir = "../conformance"

// conformanceCase is one case.
type conformanceCase struct {
	Name    string          `json:"name"`
	Call    string          `json:"call"`
	Before  []step          `json:"before,omitempty"`
	Carry   []string        `json:"carry,omitempty"`
	Request json.RawMessage `json:"request"`
	Expect  *expectation    `json:"expect,omitempty"`
}

// step is a request that is sent before the one that is judged.
type step struct {
	Call    string          `json:"call"`
	Request json.RawMessage `json:"request"`
}

type expectation struct {
	Response json.RawMessage `json:"response,omitempty"`
	JSON     *string         `json:"json,omitempty"`
	Error    *expectedError  `json:"error,omitempty"`
}

type expectedError struct {
	Code       string `json:"code"`
	Reason     string `json:"reason,omitempty"`
	Index      *int   `json:"index,omitempty"`
	Field      string `json:"field,omitempty"`
	ByteOffset *int   `json:"byte_offset,omitempty"`
}

type caseFile struct {
	path  string
	cases []*conformanceCase
}

func readCases(t *testing.T) []caseFile {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(conformanceDir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(paths)
	var files []caseFile
	seen := make(map[string]bool)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f := caseFile{path: path}
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&f.cases); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, c := range f.cases {
			if c.Name == "" || seen[c.Name] {
				t.Errorf("%s: the name %q is empty or taken", path, c.Name)
			}
			seen[c.Name] = true
		}
		files = append(files, f)
	}
	if len(seen) == 0 {
		t.Fatalf("no cases in %s", conformanceDir)
	}
	return files
}

// write stores the cases again, with the expectations that were recorded.
func (f caseFile) write(t *testing.T) {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(f.cases); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.path, out.Bytes(), 0o644); err != nil { //nolint:gosec // a file of the repository
		t.Fatal(err)
	}
}

// failure is what an error tells, in the words of the cases.
func failure(err error) *expectedError {
	st := status.Convert(err)
	out := &expectedError{Code: codeName(st.Code())}
	number := func(text string) *int {
		if n, err := strconv.Atoi(text); err == nil {
			return &n
		}
		return nil
	}
	for _, detail := range st.Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			out.Reason = d.GetReason()
			out.Index = number(d.GetMetadata()["message_index"])
			out.ByteOffset = number(d.GetMetadata()["byte_offset"])
		case *errdetails.BadRequest:
			if v := d.GetFieldViolations(); len(v) > 0 && out.Field == "" {
				out.Field = v[0].GetField()
			}
		}
	}
	return out
}

// codeName is the name of a code as the specification of gRPC spells it.
func codeName(c codes.Code) string {
	names := map[codes.Code]string{
		codes.OK: "OK", codes.Canceled: "CANCELLED", codes.Unknown: "UNKNOWN", codes.InvalidArgument: "INVALID_ARGUMENT",
		codes.DeadlineExceeded: "DEADLINE_EXCEEDED", codes.PermissionDenied: "PERMISSION_DENIED",
		codes.ResourceExhausted: "RESOURCE_EXHAUSTED", codes.FailedPrecondition: "FAILED_PRECONDITION",
		codes.Unimplemented: "UNIMPLEMENTED", codes.Internal: "INTERNAL", codes.Unavailable: "UNAVAILABLE",
		codes.Unauthenticated: "UNAUTHENTICATED",
	}
	if name, ok := names[c]; ok {
		return name
	}
	return c.String()
}

// mismatch says how an error differs from the one that is expected.
func (e *expectedError) mismatch(got *expectedError) string {
	optional := func(n *int) string {
		if n == nil {
			return "none"
		}
		return strconv.Itoa(*n)
	}
	switch {
	case e.Code != got.Code:
		return fmt.Sprintf("code %s, want %s", got.Code, e.Code)
	case e.Reason != "" && e.Reason != got.Reason:
		return fmt.Sprintf("reason %q, want %q", got.Reason, e.Reason)
	case e.Field != "" && e.Field != got.Field:
		return fmt.Sprintf("field %q, want %q", got.Field, e.Field)
	case e.Index != nil && optional(e.Index) != optional(got.Index):
		return fmt.Sprintf("index %s, want %s", optional(got.Index), optional(e.Index))
	case e.ByteOffset != nil && optional(e.ByteOffset) != optional(got.ByteOffset):
		return fmt.Sprintf("byte offset %s, want %s", optional(got.ByteOffset), optional(e.ByteOffset))
	}
	return ""
}

// asJSON is a message's protobuf JSON with the names of the proto, decoded.
func asJSON(t *testing.T, m proto.Message) any {
	t.Helper()
	text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, text)
}

func decode(t *testing.T, text []byte) any {
	t.Helper()
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return out
}

// subset returns the first place at which want is not part of got, or "".
func subset(path string, want, got any) string {
	if got == nil && isDefault(want) {
		return ""
	}
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s: got %v, want an object", path, got)
		}
		for _, key := range sortedKeys(w) {
			if why := subset(path+"."+key, w[key], g[key]); why != "" {
				return why
			}
		}
		return ""
	case []any:
		g, _ := got.([]any)
		if len(g) != len(w) {
			return fmt.Sprintf("%s: %d elements, want %d: %v", path, len(g), len(w), got)
		}
		for i := range w {
			if why := subset(fmt.Sprintf("%s[%d]", path, i), w[i], g[i]); why != "" {
				return why
			}
		}
		return ""
	default:
		if want != got {
			return fmt.Sprintf("%s: got %v, want %v", path, got, want)
		}
		return ""
	}
}

// isDefault reports whether protobuf JSON leaves a value out.
func isDefault(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case float64:
		return v == 0
	case string:
		return v == "" || strings.HasSuffix(v, "_UNSPECIFIED")
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	default:
		return false
	}
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
