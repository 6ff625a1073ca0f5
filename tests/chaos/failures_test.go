package chaos

import (
	"fmt"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// failure is what a caller learns of a call that failed.
type failure struct {
	code   codes.Code
	reason string // of the ErrorInfo
	retry  bool   // a RetryInfo names a time
}

// The failures that a fault may cause. Everything else is a defect.
var (
	// busy is back-pressure, which is no fault's doing and allowed at all times.
	busy = failure{code: codes.ResourceExhausted, retry: true}
	// unreachable comes from the transport: there is no server, it is gone, or its health
	// says that it is not serving.
	unreachable = failure{code: codes.Unavailable}
	// draining is a server that is shutting down.
	draining = failure{code: codes.Unavailable, retry: true}
	// summarizerFailed is for callers with FAILURE_POLICY_ABORT alone.
	summarizerFailed = failure{code: codes.Unavailable, reason: "SUMMARIZER_FAILED", retry: true}
)

func (f failure) String() string {
	text := f.code.String()
	if f.reason != "" {
		text += " " + f.reason
	}
	if f.retry {
		text += " with RetryInfo"
	}
	return text
}

// failureOf reads an error, and how long to wait before the next try.
func failureOf(err error) (failure, time.Duration) {
	st, isStatus := status.FromError(err)
	if !isStatus {
		return failure{code: codes.Unknown, reason: fmt.Sprintf("%T", err)}, 0
	}
	f, wait := failure{code: st.Code()}, time.Duration(0)
	for _, d := range st.Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			f.reason = d.GetReason()
		case *errdetails.RetryInfo:
			f.retry, wait = true, d.GetRetryDelay().AsDuration()
		}
	}
	return f, wait
}
