package conversation

// specials is [findSpecials] in the vector instructions of the processor: four times as
// fast, and where the time of reading a large conversation goes.
//
//go:noescape
func specials(src *[64]byte) uint64
