package tokens

import (
	"context"
	"testing"
)

func TestShortTextsPauseByTheirBytesAndSeeEveryEnd(t *testing.T) {
	var w worker
	ctx, cancel := context.WithCancel(t.Context())
	pauses := 0
	for range 3 * ctxInterval / 1024 {
		before := w.unpaused
		if err := w.pauseAfter(ctx, 1024); err != nil {
			t.Fatal(err)
		}
		if w.unpaused < before {
			pauses++
		}
	}
	if pauses != 3 {
		t.Errorf("%d pauses in three intervals", pauses)
	}
	cancel()
	if w.pauseAfter(ctx, 1) == nil {
		t.Error("the end of the context is not seen between two pauses")
	}
}
