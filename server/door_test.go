package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestAMessageThatDoesNotArriveIsNotWaitedFor(t *testing.T) {
	end := make(chan struct{})
	defer close(end)
	err := (&door{limit: time.Millisecond}).receive(func(any) error { <-end; return nil }, nil)
	if status.Code(err) != codes.DeadlineExceeded || !strings.Contains(err.Error(), "limits.receive_timeout") {
		t.Error(err)
	}
	if err := (&door{limit: time.Hour}).receive(func(any) error { return io.EOF }, nil); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

func TestADrainingServerWaitsForNoMessageLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended, end := make(chan struct{}), make(chan struct{})
		defer close(end)
		d := &door{limit: time.Minute, ended: ended}
		begun, got := time.Now(), make(chan error, 1)
		go func() { got <- d.receive(func(any) error { <-end; return nil }, nil) }()
		<-time.After(time.Second)
		close(ended)
		err := <-got
		if status.Code(err) != codes.Unavailable || len(status.Convert(err).Details()) == 0 {
			t.Errorf("%v, want UNAVAILABLE with RetryInfo", err)
		}
		if waited := time.Since(begun); waited != time.Second+lastArrivals {
			t.Errorf("it was waited for %v", waited)
		}
		// What is there in time is read, for health checks.
		slow := func(any) error { <-time.After(lastArrivals / 2); return io.EOF }
		if err := d.receive(slow, nil); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	})
}

// gate is a reader that tells when it is read, and gives nothing until it may.
type gate struct {
	read chan<- struct{}
	open <-chan struct{}
	io.Reader
	once sync.Once
}

func (g *gate) Read(into []byte) (int, error) {
	g.once.Do(func() { g.read <- struct{}{}; <-g.open })
	return g.Reader.Read(into)
}

func packed(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestNoMoreRequestsAreUnpackedThanThereAreProcessors(t *testing.T) {
	i := newInflater(100)
	processors := runtime.GOMAXPROCS(0)
	read, open := make(chan struct{}, 3*processors), make(chan struct{})
	var all sync.WaitGroup
	for range 3 * processors {
		all.Go(func() {
			if out, err := i.Do(&gate{read: read, open: open, Reader: bytes.NewReader(packed(t, "hello"))}); err != nil || string(out) != "hello" {
				t.Errorf("%q, %v", out, err)
			}
		})
	}
	for range processors {
		<-read
	}
	for range 100 {
		runtime.Gosched() // the others would come now
	}
	if n := len(read); n > 0 {
		t.Errorf("%d more than %d at one time", n, processors)
	}
	close(open)
	all.Wait()
}

func TestUnpackingEndsBehindTheLimit(t *testing.T) {
	i := newInflater(100)
	if out, err := i.Do(bytes.NewReader(packed(t, strings.Repeat("x", 1<<20)))); err != nil || len(out) != 101 {
		t.Errorf("%d bytes, %v", len(out), err)
	}
	if _, err := i.Do(strings.NewReader("no gzip at all")); err == nil {
		t.Error("what is no gzip was unpacked")
	}
	if out, err := i.Do(bytes.NewReader(packed(t, "after an error"))); err != nil || string(out) != "after an error" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = inner.Close() }()
	var log bytes.Buffer
	lis := BoundConnections(inner, 2, slog.New(slog.NewTextHandler(&log, nil)))
	accepted := make(chan net.Conn)
	go func() {
		for {
			conn, err := lis.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- conn
		}
	}()
	dial := func() net.Conn {
		conn, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	dial()
	dial()
	first := <-accepted
	<-accepted
	for range 3 {
		if _, err := dial().Read(make([]byte, 1)); err == nil {
			t.Error("one more is let in")
		}
	}
	_ = first.Close()
	_ = first.Close() // its place is given back once
	dial()
	<-accepted
	if _, err := dial().Read(make([]byte, 1)); err == nil {
		t.Error("one more is let in after another has gone")
	}
	_ = inner.Close()
	<-accepted
	if n := strings.Count(log.String(), "connections are refused"); n != 2 {
		t.Errorf("the log tells it %d times:\n%s", n, log.String())
	}
}
