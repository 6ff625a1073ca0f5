package extractive

import (
	"cmp"
	"slices"
)

// byScore puts the best note first; equal ones keep their order.
func byScore(notes []*note) {
	slices.SortStableFunc(notes, func(a, b *note) int { return cmp.Compare(b.score, a.score) })
}

// youngestFirst orders carried lines: the oldest give way first.
func youngestFirst(notes []*note) {
	slices.SortStableFunc(notes, func(a, b *note) int {
		if a.age != b.age {
			return cmp.Compare(a.age, b.age)
		}
		return cmp.Compare(b.seq, a.seq)
	})
}

// newestFirst orders notes by message, the newest first, in the order in which
// they were found within one.
func newestFirst(notes []*note) {
	slices.SortStableFunc(notes, func(a, b *note) int {
		if a.turn != b.turn {
			return cmp.Compare(b.turn, a.turn)
		}
		return cmp.Compare(a.seq, b.seq)
	})
}
