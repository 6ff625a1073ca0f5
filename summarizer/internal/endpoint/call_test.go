package endpoint

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/elbowroom/elbowroom/summarizer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestABodyIsReadToItsBoundAndNoFurther(t *testing.T) {
	for _, test := range []struct {
		name  string
		bytes int
		want  bool
	}{{"below", 99, true}, {"at the bound", 100, true}, {"above", 101, false}, {"far above", 1 << 20, false}} {
		t.Run(test.name, func(t *testing.T) {
			source := strings.NewReader(strings.Repeat("x", test.bytes))
			body := &boundedBody{ctx: t.Context(), body: io.NopCloser(source), left: 100}
			text, err := io.ReadAll(body)
			if test.want {
				if err != nil || len(text) != test.bytes {
					t.Errorf("got %d bytes, %v", len(text), err)
				}
				return
			}
			var failed *summarizer.BackendError
			if !errors.As(err, &failed) || failed.Failure != summarizer.FailureBadResponse {
				t.Errorf("got %v", err)
			}
			if rest := source.Len(); rest != test.bytes-101 {
				t.Errorf("%d bytes are unread, want %d", rest, test.bytes-101)
			}
			if _, err := body.Read(make([]byte, 10)); err == nil {
				t.Error("a read after the bound succeeds")
			}
		})
	}
}

func TestAServerThatSaysNothingIsLeftAfterTheHeaderTimeout(t *testing.T) {
	gone := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		close(gone)
	}))
	defer server.Close()
	client := NewClient(Settings{HeaderTimeout: 20 * time.Millisecond})
	defer client.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	call := &Call{MaxBytes: client.MaxBytes}
	response, err := call.Middleware(request, client.HTTP.Do)
	if response != nil {
		_ = response.Body.Close()
	}
	var failed *summarizer.BackendError
	if !errors.As(err, &failed) || failed.Failure != summarizer.FailureTimeout {
		t.Errorf("got %v", err)
	}
	if strings.Contains(err.Error(), server.URL) {
		t.Errorf("the error has the URL: %v", err)
	}
	<-gone
}

func TestTheCallersClientIsCopiedAndFollowsNoRedirect(t *testing.T) {
	given := &http.Client{Timeout: time.Minute}
	client := NewClient(Settings{HTTPClient: given, MaxResponseBytes: 7})
	if client.HTTP == given || given.CheckRedirect != nil {
		t.Error("the caller's client was changed")
	}
	if client.HTTP.Timeout != time.Minute || client.MaxBytes != 7 {
		t.Error("the settings are lost")
	}
	if err := client.HTTP.CheckRedirect(nil, nil); !errors.Is(err, http.ErrUseLastResponse) {
		t.Errorf("a redirect ends in %v", err)
	}
}

func TestExplainKeepsWhatIsKnownAndQuotesNothing(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	past, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if err := Explain(ended, errors.New("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	kind := func(err error) summarizer.Failure {
		var failed *summarizer.BackendError
		if !errors.As(err, &failed) {
			t.Fatalf("got %v", err)
		}
		return failed.Failure
	}
	for name, test := range map[string]struct {
		err  error
		want summarizer.Failure
	}{
		"past its deadline": {Explain(past, errors.New("x")), summarizer.FailureTimeout},
		"the SDK's timeout": {Explain(t.Context(), context.DeadlineExceeded), summarizer.FailureTimeout},
		"known":             {Explain(t.Context(), BrokenOff()), summarizer.FailureNetwork},
		"a decoder's":       {Explain(t.Context(), errors.New("SECRET")), summarizer.FailureBadResponse},
		"refused":           {transportError(t.Context(), &net.OpError{Op: "dial", Err: errors.New("refused")}), summarizer.FailureNetwork},
		"resolver timeout":  {transportError(t.Context(), &net.DNSError{IsTimeout: true}), summarizer.FailureTimeout},
	} {
		if got := kind(test.err); got != test.want || strings.Contains(test.err.Error(), "SECRET") {
			t.Errorf("%s: %v, want %s", name, test.err, test.want)
		}
	}
}
