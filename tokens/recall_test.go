package tokens

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/elbowroom/elbowroom/conversation"
)

// crowd is a conversation that is worth counting on several processors.
func crowd(t testing.TB) *conversation.Conversation {
	t.Helper()
	var messages []string
	for i := range 300 {
		messages = append(messages, fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"%d %s"},{"type":"mystery"}]}`, i, strings.Repeat("kelp forest ", 20+i)))
	}
	conv := anthropic(t, "["+strings.Join(messages, ",")+"]")
	if n := len(conv.Source); n < 4*parallelLeast {
		t.Fatalf("%d bytes are too few", n)
	}
	return conv
}

func TestMessagesCountAlikeOnAnyNumberOfProcessors(t *testing.T) {
	defer goleak.VerifyNone(t)
	conv, gpt := crowd(t), newRegistry(t).Lookup("gpt-4o")
	count := func(processors int) []Cost {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		costs, err := NewCounter().CountMessages(t.Context(), conv.Messages, gpt)
		if err != nil {
			t.Fatal(err)
		}
		return costs
	}
	want := count(1)
	for i, cost := range want {
		if len(cost.Warnings) != 1 || cost.Warnings[0].Message != i {
			t.Fatalf("message %d: warnings %+v", i, cost.Warnings)
		}
	}
	for range 5 {
		if diff := cmp.Diff(want, count(4)); diff != "" {
			t.Fatalf("(-one processor +four):\n%s", diff)
		}
	}
}

// expiring is a context that ends when it has been looked at often enough.
type expiring struct {
	context.Context //nolint:containedctx // it is one
	looks           atomic.Int64
	after           int64
}

func (c *expiring) Err() error {
	if c.looks.Add(1) > c.after {
		return context.Canceled
	}
	return nil
}

func TestCountingOnSeveralProcessorsStopsWithTheContext(t *testing.T) {
	defer goleak.VerifyNone(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	conv, gpt := crowd(t), newRegistry(t).Lookup("gpt-4o")
	for _, after := range []int64{0, 1, 2, 50, 150} {
		c, ctx := NewCounter(), &expiring{Context: t.Context(), after: after}
		r, err := c.Count(ctx, conv, gpt)
		if !errors.Is(err, context.Canceled) || r.Tokens != 0 {
			t.Errorf("after %d looks: %d tokens, error %v", after, r.Tokens, err)
		}
		if late := ctx.looks.Load() - after; late > 4 {
			t.Errorf("after %d looks: the context was looked at %d times when it had ended, by at most 4 processors", after, late)
		}
	}
	// What was counted before is remembered, and what was not is counted now.
	c := NewCounter()
	if _, err := c.Count(&expiring{Context: t.Context(), after: 100}, conv, gpt); err == nil {
		t.Fatal("no error")
	}
	if n := remembered(c); n == 0 || n == len(conv.Messages) {
		t.Errorf("%d of %d messages are remembered", n, len(conv.Messages))
	}
	if diff := cmp.Diff(report(t, NewCounter(), conv, gpt), report(t, c, conv, gpt)); diff != "" {
		t.Errorf("(-fresh +after a cancelled count):\n%s", diff)
	}
}
