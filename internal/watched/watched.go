// Package watched notices that files have changed, by looking at them now and then.
// Unlike notifications of the file system it sees what containers do: a mounted
// secret is a link to a folder that is replaced as a whole.
package watched

import (
	"os"
	"slices"
	"sync"
	"time"
)

// Interval is how often files are looked at, at most.
const Interval = time.Second

// patience is how long files that do not stand still are left alone: who writes them all
// the time, as often as tokens come and go, is heard nevertheless.
const patience = 5 * Interval

// Files are files that belong together. The zero value watches nothing.
type Files struct {
	paths []string
	now   func() time.Time

	mu     sync.Mutex
	looked time.Time
	// since is when the first change was seen that has not been reported.
	since time.Time
	// told are the files as they were when a change was last reported, seen as they were
	// at the last look.
	told, seen []stamp
}

// stamp is what is seen of a file; the zero value is a file that cannot be read. The mode
// is part of it for files that become readable.
type stamp struct {
	changed time.Time
	size    int64
	mode    os.FileMode
}

// New watches files as they are now. Empty paths are left out.
func New(paths ...string) *Files { return newAt(time.Now, paths...) }

func newAt(now func() time.Time, paths ...string) *Files {
	f := &Files{now: now, looked: now()}
	for _, p := range paths {
		if p != "" {
			f.paths = append(f.paths, p)
		}
	}
	f.seen = f.look()
	f.told = f.seen
	return f
}

// Changed reports whether a file has changed since the last time it said so, and has
// been left alone for an [Interval] since, or not for five of them: what is being written
// can look whole and say something else. It looks once an [Interval]; between, nothing has. It is safe for
// concurrent use, and one caller alone is told of a change.
func (f *Files) Changed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	if now.Sub(f.looked) < Interval {
		return false
	}
	f.looked = now
	before := f.seen
	f.seen = f.look()
	if slices.Equal(f.seen, f.told) {
		f.since = time.Time{}
		return false
	}
	if f.since.IsZero() {
		f.since = now
	}
	if !slices.Equal(f.seen, before) && !f.old(now) && now.Sub(f.since) < patience {
		return false
	}
	f.told, f.since = f.seen, time.Time{}
	return true
}

// old reports whether the files were written an [Interval] ago, for those who look seldom.
func (f *Files) old(now time.Time) bool {
	return !slices.ContainsFunc(f.seen, func(s stamp) bool { return now.Sub(s.changed) < Interval })
}

func (f *Files) look() []stamp {
	seen := make([]stamp, len(f.paths))
	for i, p := range f.paths {
		if info, err := os.Stat(p); err == nil {
			seen[i] = stamp{info.ModTime(), info.Size(), info.Mode()}
		}
	}
	return seen
}
