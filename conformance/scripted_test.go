package conformance

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/elbowroom/elbowroom/summarizer"
)

// scripted is a summarizer that answers as a test case says.
type scripted struct {
	reply string
	err   error
	// hang waits for the end of the call, and says so in ended.
	hang  bool
	ended chan struct{}
	once  sync.Once
	calls atomic.Int32
}

func (s *scripted) Name() string { return "scripted" }

func (s *scripted) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Response, error) {
	s.calls.Add(1)
	if s.hang {
		<-ctx.Done()
		s.once.Do(func() { close(s.ended) })
		return summarizer.Response{}, ctx.Err()
	}
	if s.err != nil {
		return summarizer.Response{}, s.err
	}
	n, err := req.Count(ctx, s.reply)
	return summarizer.Response{Text: s.reply, Tokens: n}, err
}

var errOverloaded = errors.New("529 overloaded")
