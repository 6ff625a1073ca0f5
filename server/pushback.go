package server

import (
	"slices"
	"strconv"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// pushbackKey is the trailer that gRPC's own retry asks (gRFC A6): how many
// milliseconds to wait before the call is made again, or -1 for not at all.
const pushbackKey = "grpc-retry-pushback-ms"

// longestPushback is how long a call is worth holding back: the largest backoff of the
// clients in this repository. Who is told to wait longer should know it at once.
const longestPushback = 2 * time.Second

// pushback is the trailer of a call that ended with err, nil where clients go by their
// own backoff. Without it they would make a call again at once that has to become
// smaller, or to wait for minutes. A message over the size limit is out of its reach:
// gRPC refuses it while reading, and has sent the status before anybody is asked.
func pushback(err error) metadata.MD {
	st, ms := status.Convert(err), int64(-1)
	switch st.Code() {
	case codes.ResourceExhausted:
		for _, d := range st.Details() {
			if retry, is := d.(*errdetails.RetryInfo); is && retry.GetRetryDelay().AsDuration() <= longestPushback {
				// The next whole millisecond: earlier there may be no place yet.
				ms = int64((max(retry.GetRetryDelay().AsDuration(), 0) + time.Millisecond - 1) / time.Millisecond)
			}
		}
	case codes.Unavailable:
		if !slices.ContainsFunc(st.Details(), func(d any) bool {
			info, is := d.(*errdetails.ErrorInfo)
			return is && info.GetReason() == reasonSummarizerFailed // which the server has tried often enough
		}) {
			return nil
		}
	default:
		return nil
	}
	return metadata.Pairs(pushbackKey, strconv.FormatInt(ms, 10))
}
