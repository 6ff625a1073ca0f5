package plugin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/elbowroom/elbowroom/summarizer"
)

// maxRetryAfter bounds what is believed of a RetryInfo.
const maxRetryAfter = 24 * time.Hour

// explain makes the error that the backend returns. The plug-in's message is not
// in its text: it may quote the prompt.
func (b *Backend) explain(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil {
		if errors.Is(ended, context.DeadlineExceeded) {
			return &summarizer.BackendError{Failure: summarizer.FailureTimeout, Err: ended}
		}
		return ended
	}
	said := status.Convert(err)
	failed := &summarizer.BackendError{
		Failure: b.failure(said), Status: int(said.Code()),
		Err: fmt.Errorf("the plug-in's call ended with %s", said.Code()),
	}
	for _, detail := range said.Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			failed.RetryAfter = min(max(info.GetRetryDelay().AsDuration(), 0), maxRetryAfter)
		}
	}
	return failed
}

func (b *Backend) failure(said *status.Status) summarizer.Failure {
	switch said.Code() {
	case codes.Unauthenticated, codes.PermissionDenied:
		return summarizer.FailureAuth
	case codes.NotFound, codes.Unimplemented:
		return summarizer.FailureNotFound
	case codes.OutOfRange:
		return summarizer.FailureTooLarge
	case codes.InvalidArgument, codes.FailedPrecondition, codes.AlreadyExists:
		return summarizer.FailureBadRequest
	case codes.ResourceExhausted:
		return b.exhausted(said.Message())
	case codes.DeadlineExceeded:
		return summarizer.FailureTimeout
	case codes.Unavailable, codes.Canceled:
		return summarizer.FailureNetwork
	default: // Unknown, Aborted, Internal, DataLoss: what a program that failed reports.
		return summarizer.FailureOverloaded
	}
}

// exhausted tells the three meanings of RESOURCE_EXHAUSTED apart. gRPC reports a
// message above a limit with it, on either side and with the limit in the text.
func (b *Backend) exhausted(message string) summarizer.Failure {
	text := strings.ToLower(message)
	switch {
	case !strings.Contains(text, "message") || !strings.Contains(text, "larger than max"):
		return summarizer.FailureRateLimited
	case strings.Contains(text, "received") && strings.HasSuffix(text, fmt.Sprintf("vs. %d)", b.maxBytes)):
		return summarizer.FailureBadResponse
	default:
		return summarizer.FailureTooLarge
	}
}
