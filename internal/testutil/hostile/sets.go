package hostile

import "math/rand/v2"

// Set is a named group of texts.
type Set struct {
	Name  string
	Texts []string
}

// The number of random texts that [Sets] holds, chosen so that Mixed, Joints and Alphabets together are at least as many
// as the 30,919 of the survey that found the common mistakes of other tokenizers.
const (
	mixedTexts    = 8_000
	alphabetTexts = 20_000
)

// Sets returns every set of valid UTF-8 for one seed.
func Sets(seed uint64) []Set {
	return []Set{
		{Name: "mixed", Texts: Mixed(seed, mixedTexts)},
		{Name: "joints", Texts: Joints()},
		{Name: "alphabets", Texts: Alphabets(seed, alphabetTexts)},
		{Name: "runs", Texts: Runs()},
		{Name: "every character", Texts: EveryCharacter()},
	}
}

// source gives each set a stream of its own, so that a longer set leaves the others as they are.
func source(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// The streams of the sets.
const (
	mixedStream = iota
	alphabetStream
	invalidStream
)

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }
