package facts

import (
	"strconv"
	"strings"
)

// ExitCode finds the exit code a result names near its end or its beginning.
func ExitCode(text string) (int, bool) {
	for _, part := range [...]string{text[max(0, len(text)-400):], text[:min(len(text), 300)]} {
		if !strings.Contains(part, "xit") && !strings.Contains(part, "eturn") {
			continue
		}
		part = strings.ToLower(part)
		for _, mark := range [...]string{"exit code", "exit_code", "exitcode", "exit status", "returncode", "return code", "exited with"} {
			if !strings.Contains(part, mark) {
				continue // which is found out faster than where the last one stands
			}
			for at := strings.LastIndex(part, mark); at >= 0; at = strings.LastIndex(part[:at], mark) {
				rest := strings.TrimLeft(part[at+len(mark):], " \"'`:=>)*code")
				end := 0
				for end < len(rest) && end < 4 && (rest[end] >= '0' && rest[end] <= '9' || end == 0 && rest[end] == '-') {
					end++
				}
				if code, err := strconv.Atoi(rest[:end]); err == nil {
					return code, true
				}
			}
		}
	}
	return 0, false
}
