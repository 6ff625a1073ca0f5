package facts

// LooksEncoded recognizes base64 by its mixture: capitals, small letters and
// digits throughout, and none of what joins the words of a name or path.
func LooksEncoded(run string) bool {
	var upper, lower, digit, slash int
	for i := range len(run) {
		switch c := run[i]; {
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= 'a' && c <= 'z':
			lower++
		case c >= '0' && c <= '9':
			digit++
		case c == '/':
			slash++
		case c == '_' || c == '-':
			return false
		}
	}
	share := len(run) / 10
	return upper > share && lower > share && digit*2 > share && slash <= share
}
