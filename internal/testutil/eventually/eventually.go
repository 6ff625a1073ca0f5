// Package eventually waits in tests for what other processes do, and cannot be told of.
package eventually

import (
	"testing"
	"time"
)

// True asks again and again until the answer is yes. It ends the test when limit has
// passed, with what did not come and why not, as far as why can tell.
func True(t testing.TB, limit time.Duration, what string, yes func() bool, why ...func() string) {
	t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	end := time.After(limit)
	for !yes() {
		select {
		case <-look.C:
		case <-end:
			text := ""
			for _, w := range why {
				text += ": " + w()
			}
			t.Fatalf("%s: it does not come%s", what, text)
		}
	}
}
