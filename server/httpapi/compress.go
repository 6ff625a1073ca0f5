package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conversation"
)

// The gateways' wire contract that this is.
const (
	contractHeader  = "X-Agw-Compression-Version"
	contractVersion = "1"
)

// nativeField is how the server names the JSON of a native conversation in errors.
const nativeField = "conversation.native.json_bytes"

// compress answers POST /v1/compress: a gateway's list of messages comes back
// shorter, in the same form, each kept message byte for byte.
func (s *Server) compress(w http.ResponseWriter, r *http.Request) {
	if e := checkCompress(r); e != nil {
		e.write(w)
		return
	}
	r, e := s.recognize(w, r, elbowroomv1.ContextService_Compress_FullMethodName)
	if e != nil {
		e.write(w)
		return
	}
	b, e := s.readBody(w, r, true)
	defer b.Close()
	if e != nil {
		e.write(w)
		return
	}
	text := string(b.data)
	req, list, e := readCompress(text)
	if e != nil {
		e.write(w)
		return
	}
	// The list goes to the server where it stands, with blanks in place of what is
	// before it: offsets in errors and edits are then those of the body.
	padded := b.data[:list.End]
	for i := range padded[:list.Start] {
		padded[i] = ' '
	}
	req.Conversation.Native.Body = &elbowroomv1.NativeRequest_JsonBytes{JsonBytes: padded}
	req.View = elbowroomv1.View_VIEW_EDITS
	out := &elbowroomv1.CompressResponse{}
	if st := s.invoke(r, elbowroomv1.ContextService_Compress_FullMethodName, req, out); st != nil {
		(&refusal{status: inBody(st)}).write(w)
		return
	}
	writeCompressed(w, text, list, out)
}

// checkCompress says whether a request can be answered, before its body is read.
func checkCompress(r *http.Request) *refusal {
	if r.Method != http.MethodPost {
		return wrongMethod(http.MethodPost)
	}
	if _, contentType := protocolOf(r.Header.Get("Content-Type")); contentType != "application/json" {
		return unsupported("use application/json")
	}
	if v := r.Header.Get(contractHeader); v != "" && v != contractVersion {
		return refuse(codes.Unimplemented, http.StatusBadRequest, "%s: version %s of the contract is spoken here", contractHeader, contractVersion)
	}
	return nil
}

// readCompress reads the body of the call: the request without its conversation, and
// where the list of messages stands. Fields that it does not know are the gateway's.
func readCompress(text string) (*elbowroomv1.CompressRequest, conversation.Span, *refusal) {
	fields, err := conversation.ReadObject(text, 0)
	if err != nil {
		var fault *conversation.Error
		if errors.As(err, &fault) {
			return nil, conversation.Span{}, invalid("", "invalid JSON: "+fault.Reason+" at byte "+strconv.Itoa(fault.Offset), fault.Offset)
		}
		return nil, conversation.Span{}, invalid("", "invalid JSON: "+err.Error(), -1)
	}
	named := map[string]conversation.Member{}
	for _, f := range fields {
		switch f.Key {
		case "messages", "model", "context_window", "session_id", "elbowroom":
			if _, twice := named[f.Key]; twice {
				return nil, conversation.Span{}, invalid(f.Key, "is there twice, again at byte "+strconv.Itoa(f.At.Start), f.At.Start)
			}
			named[f.Key] = f
		}
	}
	list, ok := named["messages"]
	switch {
	case !ok:
		return nil, conversation.Span{}, invalid("messages", "is missing", -1)
	case list.Value[0] != '[':
		return nil, conversation.Span{}, invalid("messages", "is not a list, at byte "+strconv.Itoa(list.At.Start), list.At.Start)
	}
	req := &elbowroomv1.CompressRequest{}
	if e := readOptions(named, req); e != nil {
		return nil, conversation.Span{}, e
	}
	if req.GetLayer() == elbowroomv1.Layer_LAYER_UNSPECIFIED {
		req.Layer = elbowroomv1.Layer_LAYER_GATEWAY
	}
	format := elbowroomv1.Format_FORMAT_OPENAI_CHAT
	if conversation.DetectFormat(text) == conversation.FormatAnthropicMessages {
		format = elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES
	}
	req.Conversation = &elbowroomv1.Conversation{Native: &elbowroomv1.NativeRequest{Format: format}}
	return req, list.At, nil
}

// readOptions reads the optional fields. elbowroom is a CompressRequest without its
// conversation; the fields beside it win, because gateways set them.
func readOptions(named map[string]conversation.Member, req *elbowroomv1.CompressRequest) *refusal {
	wrong := func(key, want string) *refusal {
		at := named[key].At.Start
		return invalid(key, "is not "+want+", at byte "+strconv.Itoa(at), at)
	}
	given := func(key string) (conversation.Member, bool) {
		m, ok := named[key]
		return m, ok && m.Value != "null"
	}
	if m, ok := given("elbowroom"); ok {
		if e := readJSON([]byte(m.Value), req); e != nil {
			return moved(e, "elbowroom", m.At.Start)
		}
		if req.GetConversation() != nil || req.GetView() != elbowroomv1.View_VIEW_UNSPECIFIED {
			return wrong("elbowroom", "without conversation and view, which this call sets itself")
		}
	}
	if m, ok := given("model"); ok {
		if !m.IsString {
			return wrong("model", "a string")
		}
		req.Model = m.Text
	}
	if m, ok := given("session_id"); ok {
		if !m.IsString {
			return wrong("session_id", "a string")
		}
		req.SessionId = m.Text
	}
	if m, ok := given("context_window"); ok {
		n, err := strconv.ParseInt(m.Value, 10, 32)
		if err != nil {
			return wrong("context_window", "a whole number of tokens")
		}
		req.ContextWindow = int32(n)
	}
	return nil
}

// moved turns an error about a part of the body into one about the body.
func moved(e *refusal, field string, by int) *refusal {
	reason, offset := e.status.Message(), -1
	for _, d := range e.status.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			if n, err := strconv.Atoi(info.GetMetadata()["byte_offset"]); err == nil {
				offset = n + by
				reason = strings.TrimSuffix(reason, "at byte "+strconv.Itoa(n)) + "at byte " + strconv.Itoa(offset)
			}
		}
	}
	return invalid(field, reason, offset)
}

// inBody names the conversation as the body of the call does.
func inBody(st *status.Status) *status.Status {
	rename := func(text string) string {
		return strings.Replace(strings.Replace(text, nativeField+": messages", "messages", 1), nativeField, "messages", 1)
	}
	var details []proto.Message
	for _, packed := range st.Proto().GetDetails() {
		m, err := packed.UnmarshalNew()
		if err != nil {
			continue // a type that this binary does not know
		}
		if bad, ok := m.(*errdetails.BadRequest); ok {
			for _, v := range bad.GetFieldViolations() {
				v.Field = rename(v.GetField())
			}
		}
		details = append(details, m)
	}
	return withDetails(status.New(st.Code(), rename(st.Message())), details...)
}

// compressed is the answer beside its messages.
type compressed struct {
	TokensBefore int32 `json:"tokens_before"`
	TokensAfter  int32 `json:"tokens_after"`
	// CompressionRatio is tokens_after / tokens_before: 1 when nothing changed.
	CompressionRatio float64         `json:"compression_ratio"`
	Outcome          string          `json:"outcome"`
	Report           json.RawMessage `json:"report"`
}

// writeCompressed writes the answer. The messages are the body's own bytes with the
// splices applied; they pass through no JSON encoder.
func writeCompressed(w http.ResponseWriter, text string, list conversation.Span, in *elbowroomv1.CompressResponse) {
	splices := make([]conversation.Splice, len(in.GetSplices()))
	for i, sp := range in.GetSplices() {
		splices[i] = conversation.Splice{Offset: int(sp.GetOffset()) - list.Start, Length: int(sp.GetLength()), Text: sp.GetText()}
	}
	messages := conversation.ApplySplices(text[list.Start:list.End], splices)
	report, err := writeJSON(nil, in.GetReport())
	if err != nil {
		refuse(codes.Internal, 0, "the report cannot be encoded").write(w)
		return
	}
	rest := compressed{
		TokensBefore: in.GetReport().GetTokensBefore(), TokensAfter: in.GetReport().GetTokensAfter(), CompressionRatio: 1,
		Outcome: in.GetOutcome().String(), Report: report,
	}
	if rest.TokensBefore > 0 {
		rest.CompressionRatio = float64(rest.TokensAfter) / float64(rest.TokensBefore)
	}
	tail, err := json.Marshal(rest)
	if err != nil {
		refuse(codes.Internal, 0, "the report cannot be encoded").write(w)
		return
	}
	out := make([]byte, 0, len(messages)+len(tail)+len(`{"messages":,`)+1)
	out = append(out, `{"messages":`...)
	out = append(out, messages...)
	out = append(out, ',')
	out = append(out, tail[1:]...) // without its brace
	out = append(out, '\n')
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(out)))
	_, _ = w.Write(out) // nobody is left to tell
}
