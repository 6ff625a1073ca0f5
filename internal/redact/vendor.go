package redact

import "strings"

// vendor is a published key form: a prefix and the least number of token
// characters after it.
type vendor struct {
	prefix string
	least  int
	kind   string
}

// vendors lists the known prefixes. A prefix that is also an ordinary beginning
// of words needs a digit after it, see [Redactor.vendor].
var vendors = [...]vendor{
	{"sk-ant-", 16, KindAPIKey},
	{"sk-proj-", 16, KindAPIKey},
	{"sk-or-", 16, KindAPIKey},
	{"sk-lf-", 16, KindAPIKey},
	{"sk-", 16, KindAPIKey},
	{"pk-lf-", 16, KindAPIKey},
	{"sk_live_", 10, KindStripeKey},
	{"sk_test_", 10, KindStripeKey},
	{"rk_live_", 10, KindStripeKey},
	{"rk_test_", 10, KindStripeKey},
	{"whsec_", 16, KindStripeKey},
	{"ghp_", 16, KindGitHubToken},
	{"gho_", 16, KindGitHubToken},
	{"ghu_", 16, KindGitHubToken},
	{"ghs_", 16, KindGitHubToken},
	{"ghr_", 16, KindGitHubToken},
	{"github_pat_", 20, KindGitHubToken},
	{"glpat-", 12, KindGitLabToken},
	{"gldt-", 12, KindGitLabToken},
	{"glrt-", 12, KindGitLabToken},
	{"glcbt-", 12, KindGitLabToken},
	{"glptt-", 12, KindGitLabToken},
	{"glft-", 12, KindGitLabToken},
	{"glsoat-", 12, KindGitLabToken},
	{"glimt-", 12, KindGitLabToken},
	{"glagent-", 12, KindGitLabToken},
	{"xoxb-", 10, KindSlackToken},
	{"xoxa-", 10, KindSlackToken},
	{"xoxp-", 10, KindSlackToken},
	{"xoxr-", 10, KindSlackToken},
	{"xoxs-", 10, KindSlackToken},
	{"xoxe-", 10, KindSlackToken},
	{"xapp-", 10, KindSlackToken},
	{"AIza", 30, KindGoogleKey},
	{"GOCSPX-", 20, KindGoogleKey},
	{"AKIA", 16, KindAWSKey},
	{"ASIA", 16, KindAWSKey},
	{"hf_", 20, KindAPIKey},
	{"r8_", 20, KindAPIKey},
	{"npm_", 20, KindAPIKey},
	{"pypi-", 20, KindAPIKey},
	{"dop_v1_", 20, KindAPIKey},
	{"doo_v1_", 20, KindAPIKey},
	{"dor_v1_", 20, KindAPIKey},
	{"pplx-", 20, KindAPIKey},
	{"fal_", 20, KindAPIKey},
	{"fc-", 20, KindAPIKey},
	{"tvly-", 16, KindAPIKey},
	{"exa_", 20, KindAPIKey},
	{"gsk_", 20, KindAPIKey},
	{"xai-", 20, KindAPIKey},
	{"ntn_", 20, KindAPIKey},
	{"fw-", 20, KindAPIKey},
	{"fw_", 20, KindAPIKey},
	{"fpk_", 20, KindAPIKey},
	{"am_", 20, KindAPIKey},
	{"gAAAA", 40, KindAPIKey},
	{"shpat_", 20, KindAPIKey},
	{"shpss_", 20, KindAPIKey},
	{"lin_api_", 20, KindAPIKey},
	{"sntrys_", 20, KindAPIKey},
	{"dapi", 30, KindAPIKey},
	{"nvapi-", 20, KindAPIKey},
	{"AGE-SECRET-KEY-", 20, KindPrivateKey},
}

// vendorIndex groups the prefixes by their first byte.
func vendorIndex() *[128][]vendor {
	var index [128][]vendor
	for _, v := range vendors {
		index[v.prefix[0]] = append(index[v.prefix[0]], v)
	}
	return &index
}

// vendor reports the kind of key that token is, "" for none, and how many bytes
// of rest belong to it too.
func (r *Redactor) vendor(token, rest string) (kind string, more int) {
	if token[0] >= 128 {
		return "", 0
	}
	for _, v := range r.vendors[token[0]] {
		if strings.HasPrefix(token, v.prefix) && len(token) >= len(v.prefix)+v.least && random(token[len(v.prefix):]) {
			return v.kind, 0
		}
	}
	switch {
	case strings.HasPrefix(token, "eyJ"):
		return KindJWT, dotted(rest)
	case token == "SG" && len(rest) > 0 && rest[0] == '.': // SendGrid
		if n := dotted(rest); n >= 30 {
			return KindAPIKey, n
		}
	case len(token) == 32 && len(rest) > 0 && rest[0] == '.' && isHex(token): // Zhipu
		if n := dotted(rest); n >= 13 {
			return KindAPIKey, n
		}
	}
	return "", 0
}

// dotted is the length of the ".part.part" that s begins with, at most two parts.
func dotted(s string) int {
	end := 0
	for range 2 {
		if end >= len(s) || s[end] != '.' {
			break
		}
		next := end + 1
		for next < len(s) && classes[s[next]] == word {
			next++
		}
		if next == end+1 {
			break
		}
		end = next
	}
	return end
}

// random reports whether s looks generated: it has a digit, or mixes cases
// without being made of words.
func random(s string) bool {
	upper, lower := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case isDigit(c):
			return true
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= 'a' && c <= 'z':
			lower++
		}
	}
	return upper >= 4 && lower >= 4
}

func isHex(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !isDigit(c) && !(c >= 'a' && c <= 'f') && !(c >= 'A' && c <= 'F') {
			return false
		}
	}
	return len(s) > 0
}

// bearer replaces the credential after the word Bearer in prose or a command.
func (sc *scanner) bearer(end int) int {
	s := sc.src
	if end >= len(s) || s[end] != ' ' {
		return end
	}
	stop := tokenEnd(s, end+1)
	if stop-end > 16 && random(s[end+1:stop]) {
		return sc.replace(end+1, stop, KindAuthorization, true)
	}
	return end
}

// telegramID reports whether s may be the number before a bot token's colon.
func telegramID(s string) bool {
	if len(s) < 8 || len(s) > 10 {
		return false
	}
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

func (sc *scanner) telegram(start, end int) int {
	s := sc.src
	if end >= len(s) || s[end] != ':' {
		return end
	}
	stop := end + 1
	for stop < len(s) && classes[s[stop]] == word {
		stop++
	}
	if stop-end-1 < 30 || stop-end-1 > 40 {
		return end
	}
	return sc.replace(start, stop, KindTelegramToken, true)
}

// tokenEnd is the end of a credential's characters, base64 included.
func tokenEnd(s string, i int) int {
	for i < len(s) && (classes[s[i]] == word || strings.IndexByte("./+=~", s[i]) >= 0) {
		i++
	}
	return i
}
