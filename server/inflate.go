package server

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"runtime"
)

// inflater unpacks requests that come with grpc-encoding gzip. A few KB can stand for
// as much as a request may have, and gRPC unpacks them before anybody has counted them,
// all that arrive at one time. Here no more are unpacked at one time than there are
// processors, which is as fast, and beyond the limit nothing is.
type inflater struct {
	limit   int64 // bytes of an unpacked request
	workers chan *gzip.Reader
}

func newInflater(limit int) *inflater {
	i := &inflater{limit: int64(limit), workers: make(chan *gzip.Reader, runtime.GOMAXPROCS(0))}
	for range cap(i.workers) {
		i.workers <- nil // made when it is first needed
	}
	return i
}

// Type is the name in grpc-encoding.
func (i *inflater) Type() string { return "gzip" }

// Do unpacks a request. It returns one byte more than the limit of a request that is
// larger, which gRPC then refuses with RESOURCE_EXHAUSTED.
func (i *inflater) Do(packed io.Reader) ([]byte, error) {
	worker := <-i.workers
	defer func() { i.workers <- worker }()
	if worker == nil {
		worker = new(gzip.Reader)
	}
	if err := worker.Reset(packed); err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	var out bytes.Buffer
	if _, err := out.ReadFrom(io.LimitReader(worker, i.limit+1)); err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	return out.Bytes(), nil
}
