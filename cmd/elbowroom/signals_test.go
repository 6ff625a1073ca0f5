package main

import (
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/elbowroom/elbowroom/internal/wiredouble"
)

func TestASecondSignalEndsTheServerAtOnce(t *testing.T) {
	model := wiredouble.OpenAI(t, wiredouble.Hang())
	environ := []string{"OPENAI_BASE_URL=" + model.URL, "OPENAI_API_KEY=" + model.Key}
	r, ended := beginProcess(t, environ, "--summarizers", "openai:m,extractive", "--shutdown-timeout", "1h")
	listening(t, r, ended)
	first := make(chan error, 1)
	go func() {
		_, err := r.Compress(t.Context(), about("a call that takes long", 60))
		first <- err
	}()
	await(t, "the model's call", func() bool { return model.Active() == 1 })

	r.signal(syscall.SIGTERM)
	await(t, "the drain", func() bool {
		_, err := r.Compress(t.Context(), about("a call that comes too late", 1))
		return status.Code(err) == codes.Unavailable
	})
	select {
	case code := <-ended:
		t.Fatalf("it ended with exit code %d and a call unanswered: %s", code, r.log.String())
	default:
	}
	r.signal(syscall.SIGTERM)
	select {
	case code := <-ended:
		if code != exitError {
			t.Errorf("exit code %d, want %d", code, exitError)
		}
	case <-time.After(callLimit):
		t.Fatal("it goes on after the second signal")
	}
	if err := <-first; status.Code(err) != codes.Unavailable {
		t.Errorf("the call that was broken off: %v, want UNAVAILABLE", err)
	}
}
