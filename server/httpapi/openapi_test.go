package httpapi_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"google.golang.org/protobuf/encoding/protojson"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// document fetches the OpenAPI document and checks it.
func (f *fixture) document() *openapi3.T {
	f.t.Helper()
	r := f.send(http.MethodGet, "/openapi.json", http.NoBody)
	if r.status != http.StatusOK || r.header.Get("Content-Type") != jsonType {
		f.t.Fatalf("%d %v", r.status, r.header)
	}
	doc, err := openapi3.NewLoader().LoadFromData([]byte(r.body))
	if err != nil {
		f.t.Fatal(err)
	}
	if err := doc.Validate(f.t.Context(), openapi3.EnableExamplesValidation(), openapi3.IsOpenAPI31OrLater()); err != nil {
		f.t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.0" {
		f.t.Errorf("OpenAPI %s", doc.OpenAPI)
	}
	return doc
}

// closed makes objects refuse what is not described, which the document leaves open
// for later versions.
func closed(doc *openapi3.T) {
	no := false
	for _, component := range doc.Components.Schemas {
		s := component.Value
		if len(s.Properties) > 0 && s.AdditionalProperties.Has == nil {
			s.AdditionalProperties.Has = &no
		}
	}
}

// conforms checks a JSON text against a schema.
func conforms(t *testing.T, name string, schema *openapi3.Schema, text string) {
	t.Helper()
	var value any
	d := json.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&value); err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if err := schema.VisitJSON(value, openapi3.EnableJSONSchema2020(), openapi3.MultiErrors()); err != nil {
		t.Errorf("%s: %v\n%s", name, err, text)
	}
}

func content(t *testing.T, c openapi3.Content, contentType string) *openapi3.Schema {
	t.Helper()
	m := c[contentType]
	if m == nil || m.Schema == nil {
		t.Fatalf("no schema for %s", contentType)
	}
	return m.Schema.Value
}

// Requests and answers of every RPC are what the document says.
func TestTheDocumentDescribesTheAnswers(t *testing.T) {
	f := start(t, nil)
	doc := f.document()
	closed(doc)
	failed := content(t, doc.Components.Responses["Error"].Value.Content, jsonType)
	seen := map[string]bool{}
	for _, c := range calls() {
		item := doc.Paths.Find(service + c.method)
		if item == nil || item.Post == nil || item.Post.Summary == "" {
			t.Errorf("%s is not in the document", c.method)
			continue
		}
		seen[c.method] = true
		request, err := protojson.Marshal(c.req)
		if err != nil {
			t.Fatal(err)
		}
		answers := item.Post.Responses.Status(200).Value.Content
		if c.method == "StreamCompress" {
			const stream = "application/connect+json"
			conforms(t, c.method+" request", content(t, item.Post.RequestBody.Value.Content, stream), string(request))
			events, err := c.grpc(t.Context(), f.client)
			if err != nil {
				t.Fatal(err)
			}
			for _, event := range events {
				text, err := protojson.Marshal(event)
				if err != nil {
					t.Fatal(err)
				}
				conforms(t, c.method, content(t, answers, stream), string(text))
			}
			continue
		}
		conforms(t, c.method+" request", content(t, item.Post.RequestBody.Value.Content, jsonType), string(request))
		r := f.post(service+c.method, jsonType, string(request))
		if r.status != http.StatusOK {
			t.Fatalf("%s: %d %s", c.method, r.status, r.body)
		}
		conforms(t, c.method, content(t, answers, jsonType), r.body)
		conforms(t, c.method+" error", failed, f.post(service+c.method, jsonType, `{"nonsense":1}`).body)
	}
	for _, m := range elbowroomv1.ContextService_ServiceDesc.Methods {
		if !seen[m.MethodName] {
			t.Errorf("%s was not tried", m.MethodName)
		}
	}
	compress := doc.Paths.Find("/v1/compress").Post
	body := `{"model":"gpt-4o","messages":` + talk(30, 60) + `,"context_window":4000,"session_id":"s","elbowroom":{"policy":{"threshold":0.5},"pinned":[3]}}`
	conforms(t, "/v1/compress request", content(t, compress.RequestBody.Value.Content, jsonType), body)
	r := f.post("/v1/compress", jsonType, body)
	if !strings.Contains(r.body, `"outcome":"OUTCOME_COMPRESSED"`) {
		t.Errorf("%d %s", r.status, r.body)
	}
	conforms(t, "/v1/compress", content(t, compress.Responses.Status(200).Value.Content, jsonType), r.body)
	conforms(t, "/v1/compress error", failed, f.post("/v1/compress", jsonType, `{"messages":3}`).body)
	check := doc.Paths.Find("/grpc.health.v1.Health/Check").Post
	conforms(t, "health", content(t, check.Responses.Status(200).Value.Content, jsonType), f.post("/grpc.health.v1.Health/Check", jsonType, `{}`).body)
}

// A schema that takes everything would take the right answers too.
func TestTheDocumentRefusesWhatIsWrong(t *testing.T) {
	f := start(t, nil)
	doc := f.document()
	for name, text := range map[string]string{
		"CompressRequest":     `{"model":"gpt-4o"}`,
		"CompressResponse":    `{"outcome":3}`,
		"NativeRequest":       `{"format":"FORMAT_OPENAI_CHAT","json":"[]","jsonBytes":"W10="}`,
		"Outcome":             `"OUTCOME_SPLENDID"`,
		"CountTokensResponse": `{"tokens":"many"}`,
		"Error":               `{"message":"x"}`,
		"CacheControl":        `{"ttl":5}`,
	} {
		schema := doc.Components.Schemas[name]
		if schema == nil {
			t.Errorf("no schema %s", name)
			continue
		}
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		if schema.Value.VisitJSON(value, openapi3.EnableJSONSchema2020()) == nil {
			t.Errorf("%s takes %s", name, text)
		}
	}
	if text := f.send(http.MethodGet, "/openapi.json", http.NoBody).body; !bytes.Contains([]byte(text), []byte("byte for byte")) {
		t.Error("the document has lost the comments of the proto files")
	}
}
