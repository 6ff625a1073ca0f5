package conversation

// ReadObject lists the members of a JSON object in order, as [Members] does, and
// says what is wrong with a text that is none: where, and why. maxDepth is the
// deepest allowed nesting; 0 is [DefaultMaxDepth]. Errors are of type [*Error].
func ReadObject(json string, maxDepth int) ([]Member, error) {
	if at := invalidUTF8(json); at >= 0 {
		return nil, &Error{Offset: at, Message: -1, Reason: "invalid UTF-8"}
	}
	if maxDepth <= 0 {
		maxDepth = DefaultMaxDepth
	}
	var out []Member
	s := newScanner(json, maxDepth)
	err := s.object(func(key string, _ int) *Error {
		span, err := s.skip()
		if err == nil {
			out = append(out, newMember(json, key, span))
		}
		return err
	})
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// LoneSurrogate returns the offset of the first escape in a JSON text that is half
// of a surrogate pair, -1 when there is none before the text's end or first fault.
func LoneSurrogate(json string) int {
	s := newScanner(json, DefaultMaxDepth)
	_, _ = s.skip() // other faults are not asked for
	return s.surrogate
}
