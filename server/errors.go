package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/compressor"
	"github.com/elbowroom/elbowroom/conversation"
)

// errorDomain is the domain of every ErrorInfo.
const errorDomain = "elbowroom"

// The reasons of ErrorInfo that are not words of the domain.
const (
	reasonInvalidConversation = "INVALID_CONVERSATION"
	reasonTooManyMarks        = "TOO_MANY_MARKS"
	reasonTTLOrder            = "TTL_ORDER"
	reasonSummarizerFailed    = "SUMMARIZER_FAILED"
	reasonBaseUnknown         = "BASE_UNKNOWN"
)

// Errors travel in HTTP/2 trailers, which many clients bound at 8 KiB.
const maxErrorText = 300 // bytes

// requestError is a request that cannot be read as it stands.
type requestError struct {
	field   string // path of the field in the request
	message int    // index of the message concerned, -1 when none is
	reason  string
	err     error // the cause, nil when reason says everything
}

func (e *requestError) Error() string {
	if e.err != nil {
		return e.field + ": " + e.err.Error()
	}
	return e.field + ": " + e.reason
}

func (e *requestError) Unwrap() error { return e.err }

// statusOf is the table from errors to statuses. It returns nil for an error
// that is none of the caller's business.
func statusOf(err error) *status.Status {
	var (
		parse      *conversation.Error
		request    *requestError
		argument   *compressor.ArgumentError
		refused    *compressor.RefusedError
		summarizer *compressor.SummarizerError
		mark       *breakpoints.MarkError
		base       *baseUnknownError
		large      *tooLargeError
	)
	switch {
	case errors.As(err, &request) && errors.As(err, &parse):
		return detailed(codes.InvalidArgument, request.field+": "+parse.Error(),
			badField(request.field, parse.Error()),
			info(reasonInvalidConversation, known("byte_offset", parse.Offset), text("path", parse.Path), known("message_index", parse.Message)))
	case errors.As(err, &request):
		return detailed(codes.InvalidArgument, request.Error(),
			badField(request.field, request.reason),
			info(reasonInvalidConversation, known("message_index", request.message)))
	case errors.As(err, &argument):
		return detailed(codes.InvalidArgument, argument.Error(), badField(argument.Field, argument.Reason))
	case errors.As(err, &refused):
		return detailed(codes.FailedPrecondition, refused.Error(), info(refused.Code, known("message_index", refused.Message)))
	case errors.As(err, &mark):
		reason := reasonTooManyMarks
		if errors.Is(err, breakpoints.ErrTTLOrder) {
			reason = reasonTTLOrder
		}
		return detailed(codes.FailedPrecondition, mark.Error(), info(reason,
			text("section", sectionOf(mark.At.Section).String()), known("message_index", mark.At.Message), known("block_index", mark.At.Block)))
	case errors.Is(err, breakpoints.ErrLayoutMismatch), errors.Is(err, breakpoints.ErrUnsupportedLayout):
		return detailed(codes.InvalidArgument, "layout: "+err.Error(), badField("layout", err.Error()))
	case errors.As(err, &base):
		return detailed(codes.FailedPrecondition, base.Error(), info(reasonBaseUnknown))
	case errors.As(err, &large):
		return detailed(codes.ResourceExhausted, large.Error())
	case errors.As(err, &summarizer): // before the context: it may wrap a deadline of its own
		return detailed(codes.Unavailable, "the summarizer failed; the conversation is as it was",
			info(reasonSummarizerFailed), &errdetails.RetryInfo{RetryDelay: durationpb.New(max(summarizer.RetryAfter, time.Second))})
	case errors.Is(err, context.DeadlineExceeded):
		return status.New(codes.DeadlineExceeded, "the deadline passed before there was a result")
	case errors.Is(err, context.Canceled):
		return status.New(codes.Canceled, "the caller went away")
	default:
		return nil
	}
}

// fail turns an error into what the caller sees. What went wrong inside is
// logged under an id, and the caller gets the id alone.
func (s *Server) fail(ctx context.Context, err error) error {
	st := statusOf(err)
	switch {
	case st == nil:
		id := newErrorID()
		s.log.LogAttrs(ctx, slog.LevelError, "internal error", slog.String("error_id", id), slog.String("error", err.Error()))
		return internal(id)
	case st.Code() == codes.Unavailable:
		s.log.LogAttrs(ctx, slog.LevelWarn, "summarizer failed", slog.String("error", err.Error()))
	}
	return st.Err()
}

// internal is the whole of what a caller learns about a fault of the server.
func internal(id string) error {
	return status.Error(codes.Internal, "internal error, logged as "+id)
}

func newErrorID() string {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

// detailed makes a status of clipped texts.
func detailed(code codes.Code, message string, details ...protoadapt.MessageV1) *status.Status {
	st := status.New(code, clip(message))
	if with, err := st.WithDetails(details...); err == nil {
		return with
	}
	return st
}

func badField(field, description string) *errdetails.BadRequest {
	return &errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: clip(field), Description: clip(description)}}}
}

// fact is one entry of an ErrorInfo's metadata.
type fact struct{ key, value string }

// known is a number that is left out when it is negative.
func known(key string, n int) fact {
	if n < 0 {
		return fact{}
	}
	return fact{key, strconv.Itoa(n)}
}

// text is a text that is left out when it is empty.
func text(key, value string) fact { return fact{key, value} }

func info(reason string, facts ...fact) *errdetails.ErrorInfo {
	out := &errdetails.ErrorInfo{Reason: reason, Domain: errorDomain, Metadata: map[string]string{}}
	for _, f := range facts {
		if f.value != "" {
			out.Metadata[f.key] = clip(f.value)
		}
	}
	return out
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
