package server

import (
	"errors"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/elbowroom/elbowroom/compressor"
)

func TestPushbackSaysWhenACallIsMadeAgain(t *testing.T) {
	after := func(wait time.Duration) *errdetails.RetryInfo {
		return &errdetails.RetryInfo{RetryDelay: durationpb.New(wait)}
	}
	for _, c := range []struct {
		name string
		err  error
		want string // "": no trailer
	}{
		{"success", nil, ""},
		{"no status", errors.New("broken"), ""},
		{"another status", status.Error(codes.InvalidArgument, "bad"), ""},
		{"another status with a time", detailed(codes.Aborted, "later", after(time.Second)).Err(), ""},
		{"a place soon", detailed(codes.ResourceExhausted, "busy", after(50*time.Millisecond)).Err(), "50"},
		{"between two milliseconds", detailed(codes.ResourceExhausted, "busy", after(50*time.Millisecond+1)).Err(), "51"},
		{"a place now", detailed(codes.ResourceExhausted, "busy", after(0)).Err(), "0"},
		{"a time that has passed", detailed(codes.ResourceExhausted, "busy", after(-time.Second)).Err(), "0"},
		{"the longest backoff", detailed(codes.ResourceExhausted, "busy", after(2*time.Second)).Err(), "2000"},
		{"beyond it", detailed(codes.ResourceExhausted, "busy", after(2*time.Second+1)).Err(), "-1"},
		{"too large", status.Error(codes.ResourceExhausted, "too large"), "-1"},
		{"a quota, soon", detailed(codes.ResourceExhausted, "quota", &errdetails.QuotaFailure{}, after(time.Second)).Err(), "1000"},
		{"a failed summarizer", statusOf(&compressor.SummarizerError{Err: errors.New("down")}).Err(), "-1"},
		{"draining", detailed(codes.Unavailable, "shutting down", after(time.Second)).Err(), ""},
		{"unavailable for another reason", detailed(codes.Unavailable, "elsewhere", info("ELSEWHERE")).Err(), ""},
	} {
		got := pushback(c.err).Get(pushbackKey)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || got[0] != c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
