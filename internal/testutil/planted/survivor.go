package planted

import "strings"

// Survivor returns eight characters in a row of a secret that are left in a text,
// "" for none.
func Survivor(secret, text string) string {
	for i := 0; i+8 <= len(secret); i++ {
		part := secret[i : i+8]
		if strings.Contains(text, part) && !strings.Contains(part, "PRIVATE") && !strings.Contains(part, "----") && strings.ContainsAny(part, "23456789") {
			return part
		}
	}
	return ""
}
