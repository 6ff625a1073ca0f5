package fuzzwire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/elbowroom/elbowroom/conformance"
	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// web asks over HTTP.
type web struct {
	url    string
	client *http.Client
}

// post returns the number of the answer and what is in it.
func (w *web) post(ctx context.Context, path string, body []byte) (int, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := w.client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, text, err
}

// refusal is an error of Connect.
type refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Details []struct {
		Type string `json:"type"`
	} `json:"details"`
}

// answered notes how a request ended and reports whether there is an answer to judge.
func (v *verdict) answered(code int, text []byte, err error, good bool) bool {
	if err != nil {
		v.code = "Unavailable"
		v.complain("no answer: %v", err)
		return false
	}
	if code == http.StatusOK {
		v.code = "OK"
		return true
	}
	var e refusal
	if err := json.Unmarshal(text, &e); err != nil || e.Message == "" {
		v.complain("%d, and no error of Connect: %.200s", code, text)
		return false
	}
	v.code = map[string]string{"invalid_argument": "InvalidArgument", "failed_precondition": "FailedPrecondition"}[e.Code]
	if v.code == "" || code != http.StatusBadRequest || len(e.Details) == 0 {
		v.complain("%d %s with %d details: %s", code, e.Code, len(e.Details), e.Message)
	}
	if good {
		v.complain("refused, and there is nothing wrong with it: %s", e.Message)
	}
	return false
}

// overHTTP makes a call in JSON and compares with the same one over gRPC.
func (c *caller) overHTTP(ctx context.Context, d *draw, v *verdict, conv *pb.Conversation, messages int) {
	req, plain := d.compress(conv, messages)
	v.call, v.req = "Connect", req
	body, err := protojson.Marshal(req)
	if err != nil { // a string that is no UTF-8
		body = fmt.Appendf(nil, `{"conversation":{"native":{"format":"FORMAT_OPENAI_CHAT","json":"%s"}}}`, d.text)
		plain = false
	}
	damaged := d.Once(6)
	if damaged {
		body, plain = []byte(d.Mutate(string(body))), false
	}
	code, text, err := c.web.post(ctx, "/elbowroom.v1.ContextService/Compress", body)
	if !v.answered(code, text, err, plain && d.legal) || damaged {
		return
	}
	resp := &pb.CompressResponse{}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(text, resp); err != nil {
		v.complain("the answer cannot be read: %v", err)
		return
	}
	// JSON has no unknown fields: what the server read is what is read from the same text.
	sent := &pb.CompressRequest{}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(body, sent); err != nil {
		v.complain("taken, and it is not the request in JSON: %v", err)
		return
	}
	v.compressed(d, sent, resp)
	over, err := c.Compress(ctx, sent)
	if err != nil || !same(over.GetConversation(), resp.GetConversation()) || !proto.Equal(over.GetReport(), resp.GetReport()) {
		v.complain("gRPC answers otherwise (%v)", err)
	}
}

// gateway makes the call of gateways: a list of messages in a body of its own.
func (c *caller) gateway(ctx context.Context, d *draw, v *verdict) {
	v.call = "/v1/compress"
	list := d.text
	if i := strings.Index(list, `"messages"`); i >= 0 && !strings.HasPrefix(strings.TrimSpace(list), "[") {
		if at := strings.IndexByte(list[i:], '['); at >= 0 {
			list = strings.TrimRight(list[i+at:], " }\n,")
			list = list[:strings.LastIndexByte(list, ']')+1]
		}
	}
	window := []int{400, 2_000, 16_000}[d.Roll(3)]
	model := d.Pick("gpt-4o", "claude-sonnet-4-5")
	body := fmt.Sprintf(`{"model":%q,"context_window":%d,"messages":%s,"elbowroom":{"force":true}}`, model, window, list)
	v.text = body
	code, text, err := c.web.post(ctx, "/v1/compress", []byte(body))
	if !v.answered(code, text, err, false) {
		return
	}
	var fields struct {
		Messages json.RawMessage `json:"messages"`
		Outcome  string          `json:"outcome"`
		Report   json.RawMessage `json:"report"`
	}
	report := &pb.CompressionReport{}
	if err := json.Unmarshal(text, &fields); err != nil {
		v.complain("the answer cannot be read: %v", err)
		return
	}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(fields.Report, report); err != nil {
		v.complain("the report cannot be read: %v", err)
		return
	}
	var sent struct {
		Messages json.RawMessage `json:"messages"`
	}
	if json.Unmarshal([]byte(body), &sent) != nil || !utf8.ValidString(body) {
		v.complain("taken, and it is not JSON")
		return
	}
	// Offsets are those of the whole body.
	blanks := strings.Repeat(" ", strings.Index(body, string(sent.Messages)))
	// By which dialect it was read is the service's own choice.
	for _, dialect := range []conformance.Dialect{d.dialect, conformance.OpenAI + conformance.Anthropic - d.dialect} {
		if d.dialect != dialect {
			d.dialect, d.in = dialect, nil
		}
		req := &pb.CompressRequest{Conversation: d.native(blanks+string(sent.Messages), true), Model: model, ContextWindow: int32(window), Force: true, Layer: pb.Layer_LAYER_GATEWAY}
		over, err := c.Compress(ctx, req)
		if err != nil || !bytes.Equal(bytes.TrimLeft(textOf(over.GetConversation()), " "), fields.Messages) {
			continue
		}
		if !proto.Equal(over.GetReport(), report) {
			continue
		}
		v.compressed(d, req, over)
		return
	}
	v.complain("gRPC answers otherwise")
}
