package redact

import "strings"

// maxUserinfo bounds the credentials before the host of an address, in bytes.
const maxUserinfo = 512

// address looks for credentials after the "://" at i: scheme://user:PASSWORD@host,
// scheme://TOKEN@host, or the path of a webhook.
func (sc *scanner) address(i int) int {
	s := sc.src
	start := i + len("://")
	if next := sc.webhook(start); next > start {
		return next
	}
	at, colon := -1, -1
	_, _, width := parsePlaceholder(s[start:])
	p := start + width
scan:
	for ; p < len(s) && p < start+maxUserinfo; p++ {
		switch s[p] {
		case '@':
			at = p
		case ':':
			if colon < 0 {
				colon = p
			}
		case '/', '?', '#':
			// A password may hold these, the path after a port may hold an '@'.
			if at >= 0 || colon < 0 || colon+1 == p || allDigits(s[colon+1:p]) || p > start && s[p-1] == '/' {
				break scan
			}
		case ' ', '\t', '\n', '\r', '"', '\'', '`', '<', '>', '\\', ')', ',', '|':
			break scan
		}
	}
	sc.work += p - start
	switch {
	case at < 0 || at == start:
		return start
	case colon >= 0 && colon < at:
		pass := s[colon+1 : at]
		if pass == "" || lookUpInAddress(pass) || withoutPlaceholders(pass) != pass || colon == start && strings.HasPrefix(pass, "/") {
			return at
		}
		return sc.named(colon+1, at, KindURLPassword)
	case at-start >= 16 && random(s[start:at]) && !wordy(s[start:at]) && withoutPlaceholders(s[start:at]) == s[start:at]:
		if strings.Contains(s[at:min(len(s), at+60)], "sentry") {
			return sc.replace(start, at, kindSentryDSN, true)
		}
		return sc.named(start, at, KindURLPassword)
	}
	return start
}

// lookUpInAddress reports whether a password in an address is a template.
func lookUpInAddress(pass string) bool {
	switch pass[0] {
	case '$':
		return lookUp(pass)
	case '{', '<', '[':
		return true
	case '%':
		return len(pass) <= 3 || strings.HasSuffix(pass, "%") && len(pass) > 1 && isUpper(pass[1])
	}
	return all(pass, func(c byte) bool { return c == '*' || c == 'x' || c == 'X' || c == '.' })
}

// webhook replaces the secret path of an address that may be called by all who
// know it. It returns where to go on, start for no match.
func (sc *scanner) webhook(start int) int {
	s := sc.src
	rest := s[start:min(len(s), start+maxBare)]
	for _, hook := range [...]struct{ host, path, kind string }{
		{"hooks.slack.com", "/services/", kindSlackWebhook},
		{"hooks.slack.com", "/workflows/", kindSlackWebhook},
		{"hooks.slack.com", "/triggers/", kindSlackWebhook},
		{"discord.com", "/api/webhooks/", kindDiscordWebhook},
		{"discordapp.com", "/api/webhooks/", kindDiscordWebhook},
		{"hooks.zapier.com", "/hooks/catch/", kindZapierWebhook},
		{".webhook.office.com", "/webhookb2/", kindTeamsWebhook},
		{"outlook.office.com", "/webhook/", kindTeamsWebhook},
	} {
		at := 0
		if hook.host[0] == '.' {
			at = span(rest, 64, isWord)
		}
		if !strings.HasPrefix(rest[at:], hook.host) || !strings.HasPrefix(rest[at+len(hook.host):], hook.path) {
			continue
		}
		begin := start + at + len(hook.host) + len(hook.path)
		end := begin
		for end < len(s) && (isWord(s[end]) || s[end] == '/' || s[end] == '@' || s[end] == '.') {
			end++
		}
		for end > begin && (s[end-1] == '.' || s[end-1] == '/') {
			end--
		}
		sc.work += end - begin
		if end-begin < 16 || !random(s[begin:end]) {
			return start
		}
		return sc.replace(begin, end, hook.kind, true)
	}
	return start
}

// queryValue reports whether a parameter of an address holds a secret. Short
// values of names as common as key and code do not.
func queryValue(fam family, v string) bool {
	if lookUp(v) {
		return false
	}
	switch fam {
	case famPassword, famSecret:
		return len(v) >= 3
	case famQuery:
		return len(v) >= 8 && random(v) && !wordy(v) || len(v) >= 12 && hasDigit(v) && !allDigits(v) && strings.Trim(v, "0123456789.-_") != "" && mixed(v)
	default:
		return len(v) >= 6 && (random(v) || len(v) >= 16)
	}
}
