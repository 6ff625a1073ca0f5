package conversation

// classify is [classifyPlainly] in the vector instructions of the processor, several
// times as fast: the time of reading a large conversation goes here.
//
//go:noescape
func classify(src *[64]byte) (slashes, stops, legal uint64)
