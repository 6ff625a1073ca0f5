package fuzzwire

import (
	"fmt"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// judgeError says what is wrong with a refusal: a code that no caller can act on, or
// that it does not say what is wrong and where.
func judgeError(err error) []string {
	st := status.Convert(err)
	var field, reason string
	for _, detail := range st.Details() {
		switch detail := detail.(type) {
		case *errdetails.BadRequest:
			for _, v := range detail.GetFieldViolations() {
				field += v.GetField() + v.GetDescription()
			}
		case *errdetails.ErrorInfo:
			reason = detail.GetReason()
		}
	}
	switch st.Code() {
	case codes.InvalidArgument:
		if field == "" {
			return []string{fmt.Sprintf("INVALID_ARGUMENT that names no field: %v", st.Message())}
		}
	case codes.FailedPrecondition:
		if reason == "" {
			return []string{fmt.Sprintf("FAILED_PRECONDITION without a reason: %v", st.Message())}
		}
	default:
		return []string{fmt.Sprintf("the code is %v: %s", st.Code(), st.Message())}
	}
	if st.Message() == "" {
		return []string{"no message"}
	}
	return nil
}
