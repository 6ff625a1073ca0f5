package elbowroom

import (
	"context"
	"regexp"
	"strconv"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Error is what all errors of calls have in common. Reach it, or one of the types
// that wrap it, with [errors.As]. The gRPC status stays reachable with
// [status.FromError], a context's error with [errors.Is].
type Error struct {
	// Code is the gRPC code.
	Code codes.Code
	// Message says what is wrong, in the service's words.
	Message string
	// Advice says what to do about it, in one sentence.
	Advice string
	// cause is the gRPC error, nil for what the client itself finds wrong.
	cause error
}

// Error implements error.
func (e *Error) Error() string {
	return "elbowroom: " + e.Code.String() + ": " + e.Message + " (" + e.Advice + ")"
}

// Unwrap leads to the gRPC error, and to the context's error that it stands for.
func (e *Error) Unwrap() []error {
	var causes []error
	if e.cause != nil {
		causes = append(causes, e.cause)
	}
	switch e.Code {
	case codes.DeadlineExceeded:
		causes = append(causes, context.DeadlineExceeded)
	case codes.Canceled:
		causes = append(causes, context.Canceled)
	}
	return causes
}

// InvalidRequestError is a request that cannot be read as it stands
// (INVALID_ARGUMENT). Sending it again does not help.
type InvalidRequestError struct {
	Err *Error
	// Field is the path of the field in the request, empty if none is meant.
	Field string
	// ByteOffset is where in the body the JSON is broken, -1 if it is not.
	ByteOffset int64
	// Index is the position of the message concerned, -1 if none is meant.
	Index int
}

// RefusedError is a conversation that the service understands and does not touch
// (FAILED_PRECONDITION).
type RefusedError struct {
	Err *Error
	// Reason is a stable word in capitals, for example DUPLICATE_CALL_ID,
	// TOO_MANY_MARKS, TTL_ORDER or BASE_UNKNOWN.
	Reason string
	// Index is the position of the message concerned, -1 if none is meant.
	Index int
}

// OverloadedError is a server that has too much to do, or a request above its limits
// (RESOURCE_EXHAUSTED). A call that may come back within two seconds has been tried four
// times.
type OverloadedError struct {
	Err *Error
	// RetryAfter is how long to wait, 0 where the server names no time.
	RetryAfter time.Duration
}

// UnavailableError is a server that cannot be reached or is shutting down, or a
// summarizer that failed under FAILURE_POLICY_ABORT (UNAVAILABLE). The call has been
// tried four times.
type UnavailableError struct {
	Err *Error
	// Reason is SUMMARIZER_FAILED for the latter, else empty.
	Reason string
	// RetryAfter is how long to wait, 0 where the server names no time.
	RetryAfter time.Duration
}

// DeadlineExceededError is a call that took too long (DEADLINE_EXCEEDED).
type DeadlineExceededError struct{ Err *Error }

// UnauthenticatedError is a call without valid credentials (UNAUTHENTICATED).
type UnauthenticatedError struct{ Err *Error }

// PermissionDeniedError is a caller who may not do this (PERMISSION_DENIED).
type PermissionDeniedError struct{ Err *Error }

// InternalError is a fault of the server (INTERNAL).
type InternalError struct {
	Err *Error
	// ErrorID is under which the server logged it, empty if unknown.
	ErrorID string
}

// The types above are errors that unwrap to the Error they hold.

func (e *InvalidRequestError) Error() string   { return e.Err.Error() }
func (e *RefusedError) Error() string          { return e.Err.Error() }
func (e *OverloadedError) Error() string       { return e.Err.Error() }
func (e *UnavailableError) Error() string      { return e.Err.Error() }
func (e *DeadlineExceededError) Error() string { return e.Err.Error() }
func (e *UnauthenticatedError) Error() string  { return e.Err.Error() }
func (e *PermissionDeniedError) Error() string { return e.Err.Error() }
func (e *InternalError) Error() string         { return e.Err.Error() }

func (e *InvalidRequestError) Unwrap() error   { return e.Err }
func (e *RefusedError) Unwrap() error          { return e.Err }
func (e *OverloadedError) Unwrap() error       { return e.Err }
func (e *UnavailableError) Unwrap() error      { return e.Err }
func (e *DeadlineExceededError) Unwrap() error { return e.Err }
func (e *UnauthenticatedError) Unwrap() error  { return e.Err }
func (e *PermissionDeniedError) Unwrap() error { return e.Err }
func (e *InternalError) Unwrap() error         { return e.Err }

// details are the facts that a status carries.
type details struct {
	reason     string
	index      int
	byteOffset int64
	field      string
	retryAfter time.Duration
}

var errorIDPattern = regexp.MustCompile(`logged as ([0-9a-f]+)`)

// typed gives a gRPC error its type. nil stays nil.
func typed(err error) error {
	if err == nil {
		return nil
	}
	st := status.Convert(err)
	d := detailsOf(st)
	base := &Error{Code: st.Code(), Message: st.Message(), Advice: advice(st.Code(), d.reason), cause: err}
	switch st.Code() {
	case codes.InvalidArgument:
		return &InvalidRequestError{Err: base, Field: d.field, ByteOffset: d.byteOffset, Index: d.index}
	case codes.FailedPrecondition:
		return &RefusedError{Err: base, Reason: d.reason, Index: d.index}
	case codes.ResourceExhausted:
		return &OverloadedError{Err: base, RetryAfter: d.retryAfter}
	case codes.Unavailable:
		return &UnavailableError{Err: base, Reason: d.reason, RetryAfter: d.retryAfter}
	case codes.DeadlineExceeded:
		return &DeadlineExceededError{Err: base}
	case codes.Unauthenticated:
		return &UnauthenticatedError{Err: base}
	case codes.PermissionDenied:
		return &PermissionDeniedError{Err: base}
	case codes.Internal:
		e := &InternalError{Err: base}
		if found := errorIDPattern.FindStringSubmatch(st.Message()); found != nil {
			e.ErrorID = found[1]
		}
		return e
	default:
		return base
	}
}

func detailsOf(st *status.Status) details {
	d := details{index: -1, byteOffset: -1}
	for _, detail := range st.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			d.reason = detail.GetReason()
			if n, err := strconv.Atoi(detail.GetMetadata()["message_index"]); err == nil {
				d.index = n
			}
			if n, err := strconv.ParseInt(detail.GetMetadata()["byte_offset"], 10, 64); err == nil {
				d.byteOffset = n
			}
		case *errdetails.BadRequest:
			if v := detail.GetFieldViolations(); len(v) > 0 && d.field == "" {
				d.field = v[0].GetField()
			}
		case *errdetails.RetryInfo:
			d.retryAfter = detail.GetRetryDelay().AsDuration()
		}
	}
	return d
}

// advice is what to do about an error.
func advice(code codes.Code, reason string) string {
	switch reason {
	case "TOO_MANY_MARKS", "TTL_ORDER":
		return "remove breakpoints, or let the service place them with EXISTING_MARKS_REPLACE"
	case "DUPLICATE_CALL_ID":
		return "give each tool call of a turn an id of its own"
	case "BASE_UNKNOWN":
		return "send the conversation in full"
	case "SUMMARIZER_FAILED":
		return "send the conversation as it is, or try again after the time that is named"
	}
	switch code {
	case codes.InvalidArgument:
		return "correct the request; sending it again does not help"
	case codes.FailedPrecondition:
		return "change the conversation as the reason says, or send it as it is"
	case codes.ResourceExhausted:
		return "wait and try again, or send less; requests may have 64 MiB unless the server says otherwise"
	case codes.Unavailable:
		return "check that the server runs at this address; until then send the conversation as it is"
	case codes.DeadlineExceeded:
		return "allow more time with WithTimeout or the context, or send the conversation as it is"
	case codes.Canceled:
		return "the caller ended the call"
	case codes.Unauthenticated:
		return "give valid credentials with WithToken or a client certificate"
	case codes.PermissionDenied:
		return "ask the server's operator for access"
	case codes.Unimplemented:
		return "the server is older than this client, or the address is that of another service"
	case codes.Internal:
		return "look up the error id in the server's log; until then send the conversation as it is"
	default:
		return "send the conversation as it is"
	}
}
