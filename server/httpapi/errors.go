package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// maxErrorText bounds what of a caller's text an error may quote, in bytes.
const maxErrorText = 300

// kind is how an error code looks over HTTP.
type kind struct {
	name string // Connect's name of the code
	http int
}

// kinds is Connect's table from codes to HTTP statuses.
var kinds = map[codes.Code]kind{
	codes.Canceled:           {"canceled", 499},
	codes.Unknown:            {"unknown", http.StatusInternalServerError},
	codes.InvalidArgument:    {"invalid_argument", http.StatusBadRequest},
	codes.DeadlineExceeded:   {"deadline_exceeded", http.StatusGatewayTimeout},
	codes.NotFound:           {"not_found", http.StatusNotFound},
	codes.AlreadyExists:      {"already_exists", http.StatusConflict},
	codes.PermissionDenied:   {"permission_denied", http.StatusForbidden},
	codes.ResourceExhausted:  {"resource_exhausted", http.StatusTooManyRequests},
	codes.FailedPrecondition: {"failed_precondition", http.StatusBadRequest},
	codes.Aborted:            {"aborted", http.StatusConflict},
	codes.OutOfRange:         {"out_of_range", http.StatusBadRequest},
	codes.Unimplemented:      {"unimplemented", http.StatusNotImplemented},
	codes.Internal:           {"internal", http.StatusInternalServerError},
	codes.Unavailable:        {"unavailable", http.StatusServiceUnavailable},
	codes.DataLoss:           {"data_loss", http.StatusInternalServerError},
	codes.Unauthenticated:    {"unauthenticated", http.StatusUnauthorized},
}

// wireError is an error as Connect writes it.
type wireError struct {
	Code    string       `json:"code"`
	Message string       `json:"message,omitempty"`
	Details []wireDetail `json:"details,omitempty"`
}

type wireDetail struct {
	Type  string          `json:"type"`
	Value string          `json:"value"`           // the message in protobuf, in base64 without padding
	Debug json.RawMessage `json:"debug,omitempty"` // the message in JSON, for people
}

// refusal is an error that HTTP is told of.
type refusal struct {
	status *status.Status
	http   int    // 0 is the one that belongs to the code
	allow  string // the methods that are allowed, where the method is what is wrong
}

func refuse(code codes.Code, http int, format string, args ...any) *refusal {
	return &refusal{status: status.Newf(code, format, args...), http: http}
}

// wrongMethod refuses a request for its method.
func wrongMethod(allow string) *refusal {
	out := refuse(codes.Unimplemented, http.StatusMethodNotAllowed, "this path is for %s", allow)
	out.allow = allow
	return out
}

// write writes the error as JSON.
func (e *refusal) write(w http.ResponseWriter) {
	st, httpStatus := e.status, e.http
	k, known := kinds[st.Code()]
	if !known {
		k = kinds[codes.Unknown]
	}
	if httpStatus == 0 {
		httpStatus = k.http
	}
	out := wireError{Code: k.name, Message: st.Message()}
	for _, packed := range st.Proto().GetDetails() {
		detail := wireDetail{
			Type:  string(packed.MessageName()),
			Value: base64.RawStdEncoding.EncodeToString(packed.GetValue()),
		}
		if m, err := packed.UnmarshalNew(); err == nil {
			if text, err := protojson.Marshal(m); err == nil {
				detail.Debug = text
			}
			if retry, ok := m.(*errdetails.RetryInfo); ok {
				seconds := (retry.GetRetryDelay().AsDuration().Milliseconds() + 999) / 1000
				w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
			}
		}
		out.Details = append(out.Details, detail)
	}
	text, err := json.Marshal(out)
	if err != nil { // cannot be: strings and valid JSON
		text = []byte(`{"code":"internal"}`)
	}
	if e.allow != "" {
		w.Header().Set("Allow", e.allow)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(httpStatus)
	_, _ = w.Write(append(text, '\n')) // nobody is left to tell
}

// invalid is an INVALID_ARGUMENT. offset is the byte of the body that is at fault,
// -1 when none is; field is empty when the fault is in no one field.
func invalid(field, reason string, offset int) *refusal {
	message := reason
	if field != "" {
		message = field + ": " + reason
	}
	details := []proto.Message{&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{{
		Field: clip(field), Description: clip(reason),
	}}}}
	if offset >= 0 {
		details = append(details, &errdetails.ErrorInfo{
			Reason: "INVALID_JSON", Domain: "elbowroom", Metadata: map[string]string{"byte_offset": strconv.Itoa(offset)},
		})
	}
	return &refusal{status: withDetails(status.New(codes.InvalidArgument, clip(message)), details...)}
}

// withDetails adds details to a status.
func withDetails(st *status.Status, details ...proto.Message) *status.Status {
	out := st.Proto()
	for _, d := range details {
		if packed, err := anypb.New(d); err == nil { // known messages always can be
			out.Details = append(out.Details, packed)
		}
	}
	return status.FromProto(out)
}

// clip shortens a text that ends up in an error and makes sure it is UTF-8.
func clip(s string) string {
	if len(s) > maxErrorText {
		cut := maxErrorText
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "..."
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
