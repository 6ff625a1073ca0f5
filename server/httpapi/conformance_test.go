package httpapi_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conversation"
)

// clientCases is where the conformance cases of the clients lie.
const clientCases = "../../clients/conformance"

// step is a request of a case.
type step struct {
	Call    string          `json:"call"`
	Request json.RawMessage `json:"request"`
}

// clientCase is a case as clients/conformance/README.md describes it.
type clientCase struct {
	Name string `json:"name"`
	step
	Before []step   `json:"before"`
	Carry  []string `json:"carry"`
	Expect struct {
		Response json.RawMessage `json:"response"`
		JSON     *string         `json:"json"`
		Error    *struct {
			Code       string `json:"code"`
			Reason     string `json:"reason"`
			Index      *int   `json:"index"`
			Field      string `json:"field"`
			ByteOffset *int   `json:"byte_offset"`
		} `json:"error"`
	} `json:"expect"`
}

// answers are the methods and what they answer with, by the names of the cases.
var answers = map[string]struct {
	method string
	empty  func() proto.Message
}{
	"compress":            {"Compress", func() proto.Message { return &elbowroomv1.CompressResponse{} }},
	"stream_compress":     {"StreamCompress", func() proto.Message { return &elbowroomv1.StreamCompressResponse{} }},
	"apply_cache_control": {"ApplyCacheControl", func() proto.Message { return &elbowroomv1.ApplyCacheControlResponse{} }},
	"count_tokens":        {"CountTokens", func() proto.Message { return &elbowroomv1.CountTokensResponse{} }},
	"prepare":             {"Prepare", func() proto.Message { return &elbowroomv1.PrepareResponse{} }},
	"simulate_cache":      {"SimulateCache", func() proto.Message { return &elbowroomv1.SimulateCacheResponse{} }},
	"list_models":         {"ListModels", func() proto.Message { return &elbowroomv1.ListModelsResponse{} }},
}

// The cases that every client runs over gRPC hold over HTTP too.
func TestTheClientsCasesHoldOverHTTP(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(clientCases, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no cases in %s and CI=true", clientCases)
		}
		t.Skipf("skipped: no cases in %s", clientCases)
	}
	f := start(t, nil)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var cases []clientCase
		if err := json.Unmarshal(text, &cases); err != nil || len(cases) == 0 {
			t.Fatalf("%s: %d cases, %v", file, len(cases), err)
		}
		for _, c := range cases {
			t.Run(c.Name, func(t *testing.T) { f.run(t, c) })
		}
	}
}

func (f *fixture) run(t *testing.T, c clientCase) {
	request := decoded(t, c.Request)
	for i, s := range c.Before {
		out, fault := f.ask(t, s.Call, s.Request)
		if fault != "" {
			t.Fatalf("before %d: %s", i, fault)
		}
		if i < len(c.Before)-1 {
			continue
		}
		last, into := named(t, out), request.(map[string]any)
		for _, name := range c.Carry {
			into[name] = last[name]
		}
	}
	text, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Carry) == 0 {
		text = c.Request // to the byte
	}
	out, fault := f.ask(t, c.Call, text)
	if want := c.Expect.Error; want != nil {
		checkFailure(t, fault, want.Code, want.Reason, want.Field, want.Index, want.ByteOffset)
		return
	}
	if fault != "" {
		t.Fatal(fault)
	}
	got := named(t, out)
	if len(c.Expect.Response) > 0 {
		if why := missing("response", decoded(t, c.Expect.Response), got); why != "" {
			t.Error(why)
		}
	}
	if c.Expect.JSON != nil {
		if text := resulting(t, c.Request, out); text != *c.Expect.JSON {
			t.Errorf("json:\n%s\nwant\n%s", text, *c.Expect.JSON)
		}
	}
}

// ask posts a request as Connect in JSON. fault is the body of an error.
func (f *fixture) ask(t *testing.T, call string, request []byte) (out proto.Message, fault string) {
	t.Helper()
	a, known := answers[call]
	if !known {
		t.Fatalf("no call %q", call)
	}
	out = a.empty()
	if call == "stream_compress" {
		envelope := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(request)))
		r := f.post(service+a.method, "application/connect+json", string(envelope)+string(request))
		return lastEvent(t, r)
	}
	r := f.post(service+a.method, jsonType, string(request))
	if r.status != http.StatusOK {
		return nil, r.body
	}
	if err := protojson.Unmarshal([]byte(r.body), out); err != nil {
		t.Fatalf("%v: %s", err, r.body)
	}
	return out, ""
}

// lastEvent takes a stream apart: the result, or the error at its end.
func lastEvent(t *testing.T, r reply) (out proto.Message, fault string) {
	t.Helper()
	for rest := []byte(r.body); len(rest) >= 5; {
		size := 5 + int(binary.BigEndian.Uint32(rest[1:]))
		message := rest[5:size]
		if rest[0]&2 != 0 {
			var end struct {
				Error json.RawMessage `json:"error"`
			}
			if err := json.Unmarshal(message, &end); err != nil {
				t.Fatal(err)
			}
			return out, string(end.Error)
		}
		event := &elbowroomv1.StreamCompressResponse{}
		if err := protojson.Unmarshal(message, event); err != nil {
			t.Fatal(err)
		}
		out, rest = event.GetResult(), rest[size:]
	}
	t.Fatalf("the stream has no end: %d %q", r.status, r.body)
	return nil, ""
}

func checkFailure(t *testing.T, fault, code, reason, field string, index, offset *int) {
	t.Helper()
	if fault == "" {
		t.Fatalf("no error, want %s", code)
	}
	var got failure
	if err := json.Unmarshal([]byte(fault), &got); err != nil {
		t.Fatal(err)
	}
	var gotReason string
	for _, d := range got.Details {
		gotReason += d.Debug.Reason
	}
	if got.Code != strings.ToLower(code) || reason != "" && gotReason != reason || field != "" && got.field() != field {
		t.Errorf("%s, reason %q, field %q; want %s, %q, %q", got.Code, gotReason, got.field(), code, reason, field)
	}
	for key, want := range map[string]*int{"message_index": index, "byte_offset": offset} {
		if want != nil && got.fact(key) != strconv.Itoa(*want) {
			t.Errorf("%s %q, want %d", key, got.fact(key), *want)
		}
	}
}

// resulting is the native body that an answer leads to.
func resulting(t *testing.T, request []byte, out proto.Message) string {
	t.Helper()
	type answer interface {
		GetConversation() *elbowroomv1.Conversation
		GetSplices() []*elbowroomv1.Splice
	}
	a, ok := out.(answer)
	if !ok {
		t.Fatalf("%T has no conversation", out)
	}
	if n := a.GetConversation().GetNative(); n != nil {
		return n.GetJson() + string(n.GetJsonBytes())
	}
	var in struct {
		Request      json.RawMessage `json:"request"` // of a stream
		Conversation struct {
			Native struct {
				JSON      string `json:"json"`
				JSONBytes string `json:"json_bytes"`
			} `json:"native"`
		} `json:"conversation"`
	}
	if err := json.Unmarshal(request, &in); err != nil {
		t.Fatal(err)
	}
	if in.Request != nil {
		return resulting(t, in.Request, out)
	}
	text := in.Conversation.Native.JSON
	if in.Conversation.Native.JSONBytes != "" {
		plain, err := base64.StdEncoding.DecodeString(in.Conversation.Native.JSONBytes)
		if err != nil {
			t.Fatal(err)
		}
		text = string(plain)
	}
	var splices []conversation.Splice
	for _, sp := range a.GetSplices() {
		splices = append(splices, conversation.Splice{Offset: int(sp.GetOffset()), Length: int(sp.GetLength()), Text: sp.GetText()})
	}
	return conversation.ApplySplices(text, splices)
}

func decoded(t *testing.T, text []byte) any {
	t.Helper()
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// named is a message as JSON with the names of the proto.
func named(t *testing.T, m proto.Message) map[string]any {
	t.Helper()
	text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	out, ok := decoded(t, text).(map[string]any)
	if !ok {
		t.Fatalf("no object: %s", text)
	}
	return out
}

// missing says where want is no part of got, "" where it is one.
func missing(path string, want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		fields, _ := got.(map[string]any)
		for name, w := range want {
			if why := missing(path+"."+name, w, fields[name]); why != "" {
				return why
			}
		}
		return ""
	case []any:
		list, _ := got.([]any)
		if len(list) != len(want) {
			return fmt.Sprintf("%s has %d elements, want %d", path, len(list), len(want))
		}
		for i, w := range want {
			if why := missing(fmt.Sprintf("%s[%d]", path, i), w, list[i]); why != "" {
				return why
			}
		}
		return ""
	default:
		if got == want || got == nil && isDefault(want) {
			return ""
		}
		return fmt.Sprintf("%s is %v, want %v", path, got, want)
	}
}

// isDefault reports whether a value is one that the JSON of protobuf leaves out.
func isDefault(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case float64:
		return v == 0
	case string:
		return v == "" || v == "0" || strings.HasSuffix(v, "_UNSPECIFIED")
	default:
		return false
	}
}
