package watched

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestChangedSeesEveryChangeOnce(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write := func(path, text string, at time.Time) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Unix(1_700_000_000, 0)
	write(a, "1", now)
	f := newAt(func() time.Time { return now }, a, "", b)
	step := func(what string, want bool) {
		t.Helper()
		now = now.Add(Interval)
		if got := f.Changed(); got != want {
			t.Errorf("%s: changed %v, want %v", what, got, want)
		}
	}
	step("nothing", false)
	write(a, "2", now)
	step("another time", true)
	step("the same again", false)
	write(b, "new", now)
	step("a file that was not there", true)
	if err := os.Remove(a); err != nil {
		t.Fatal(err)
	}
	step("a file that is gone", true)
	step("a file that is still gone", false)

	other := filepath.Join(dir, "other")
	write(other, "3", now.Add(-time.Minute))
	if err := os.Symlink(other, a); err != nil {
		t.Fatal(err)
	}
	step("a link in its place", true)

	write(a, "4", now)
	if f.Changed() {
		t.Error("it looked again within the interval")
	}
	step("after the interval", true)

	if err := os.Chmod(a, 0o640); err != nil {
		t.Fatal(err)
	}
	step("another mode", true)
	write(a, "", now.Add(Interval))
	step("a file that is being written", false)
	write(a, "5", now.Add(Interval))
	step("more of it", false)
	step("an interval later", true)
	step("and then", false)
	write(a, "6", now.Add(time.Hour))
	step("a file of another clock, which may be being written", false)
	step("and is not", true)
	write(a, "7", now.Add(Interval))
	step("a file that is being written", false)
	now = now.Add(time.Hour)
	step("long after", true)
	now = now.Add(time.Hour)
	write(a, "8", now.Add(Interval))
	step("a file that is being written when it was not looked at for long", false)
	step("an interval later", true)
}

func TestFilesThatNeverStandStillAreReadNowAndThen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	now := time.Unix(1_700_000_000, 0)
	f := newAt(func() time.Time { return now }, path)
	told := 0
	for range 4 * (patience/Interval + 1) {
		now = now.Add(Interval)
		if err := os.WriteFile(path, []byte(now.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now, now); err != nil {
			t.Fatal(err)
		}
		if f.Changed() {
			told++
		}
	}
	if told != 4 {
		t.Errorf("told %d times of changes in every interval, want 4", told)
	}
}
