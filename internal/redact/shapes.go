package redact

import (
	"encoding/base64"
	"strings"
)

// shapeAt reports the kind and the end of a key that has a form rather than a
// prefix and begins at i, in a run that ends at end; the kind "" for none. escaped
// says that what stands before it is an escape.
func (sc *scanner) shapeAt(i, end int, escaped bool) (kind string, stop int) {
	s := sc.src
	run, rest := s[i:end], s[end:]
	if len(run) > maxJudged {
		run = run[:maxJudged]
	}
	dot := strings.HasPrefix(rest, ".")
	switch {
	case strings.HasPrefix(run, "eyJ"):
		return sc.jwt(i, end)
	case strings.HasPrefix(run, "LS0tL"):
		return sc.encodedKey(i)
	case isDigit(run[0]):
		if kind, stop := sc.cardAt(i, escaped); kind != "" {
			return kind, stop
		}
	}
	switch {
	case dot && run == "SG":
		if n := dotted(rest, 2); n >= 30 {
			return kindSendGrid, end + n
		}
	case dot && run == "sl":
		if n := span(rest[1:], maxJudged, dottedSet.has); n >= 100 {
			return kindDropbox, end + len(strings.TrimRight(rest[:1+span(rest[1:], len(rest), dottedSet.has)], "."))
		}
	case dot && len(run) == 32 && isHex(run):
		if n := dotted(rest, 1); n >= 13 && random(rest[:n]) {
			return kindZhipu, end + n
		}
	case dot && len(run) == 14 && strings.HasPrefix(rest, ".atlasv1."):
		if n := dotted(rest, 2); n >= 60 {
			return kindTerraform, end + n
		}
	case dot && len(run) == 17 && strings.HasPrefix(run, "pat"):
		if n := dotted(rest, 1); n == 65 && isHex(rest[1:n]) {
			return kindAirtable, end + n
		}
	case dot && len(run) >= 23 && len(run) <= 28 && (run[0] == 'M' || run[0] == 'N' || run[0] == 'O'):
		id, err := base64.RawStdEncoding.DecodeString(run)
		if n := dotted(rest, 2); err == nil && allDigits(string(id)) && n >= 30 {
			return kindDiscordToken, end + n
		}
	case len(run) == 50 && run[32] == '-' && run[41] == '-' && isHex(run[:32]) && isHex(run[33:41]) && isHex(run[42:]):
		return kindMailgun, end
	case len(run) >= 36 && len(run) <= 37 && run[32:35] == "-us" && isHex(run[:32]) && allDigits(run[35:]):
		return kindMailchimp, end
	case strings.HasPrefix(rest, ":"):
		id := strings.TrimPrefix(run, "bot")
		if len(id) >= 8 && len(id) <= 10 && allDigits(id) {
			if n := span(rest[1:], 41, isWord); n >= 30 && n <= 40 && random(rest[1:1+n]) {
				return kindTelegram, end + 1 + n
			}
		}
	}
	return "", 0
}

// jwt reports a JSON web token: the beginning of a JSON object in base64, and more
// parts after it. A header that is nothing but a header counts too, for its
// token may go on on the next line.
func (sc *scanner) jwt(i, end int) (kind string, stop int) {
	s := sc.src
	n := dotted(s[end:], 4)
	sc.work += n
	if end-i < 15 {
		return "", 0
	}
	head := n > 0
	for _, h := range [...]string{"eyJhbGci", "eyJ0eXAi", "eyJraWQi", "eyJlbmMi"} {
		head = head || strings.HasPrefix(s[i:], h)
	}
	if !head {
		return "", 0
	}
	return KindJWT, sc.lines(i, end+n)
}

// lines extends a long token that ends at end over the lines it was wrapped to.
func (sc *scanner) lines(start, end int) int {
	s := sc.src
	for {
		at := end + lineBreak(s, end)
		if at == end {
			return end
		}
		stop := at
		for stop < len(s) && (isWord(s[stop]) || s[stop] == '.') {
			stop++
		}
		sc.work += stop - at
		// A full line before it, and a line of its own that is no word.
		if end-start < 40 || stop-at < 12 || !random(s[at:min(stop, at+maxJudged)]) || wordy(s[at:min(stop, at+maxJudged)]) ||
			stop < len(s) && !isSpace(s[stop]) && s[stop] != '"' && s[stop] != '\\' && s[stop] != '\'' && s[stop] != '`' {
			return end
		}
		start, end = at, stop
	}
}

// dotted is the length of the ".part.part" that s begins with, at most most parts.
func dotted(s string, most int) int {
	end := 0
	for range most {
		if end >= len(s) || s[end] != '.' {
			break
		}
		next := end + 1
		for next < len(s) && classes[s[next]] == word {
			next++
		}
		if next == end+1 && (next >= len(s) || s[next] != '.') {
			break
		}
		end = next
	}
	return end
}

// cardAt reports a payment card number that begins at i: in one piece or in
// groups, of an issuer's range and length, with the right check digit.
func (sc *scanner) cardAt(i int, escaped bool) (kind string, stop int) {
	s := sc.src
	if i > 0 && !escaped && (isAlnum(s[i-1]) || strings.IndexByte("._-$#@/", s[i-1]) >= 0) {
		return "", 0
	}
	var digits [20]byte
	var groups [6]int
	n, g, at := 0, 0, i
	var joint byte
	for at < len(s) && n < len(digits) {
		c := s[at]
		switch {
		case isDigit(c):
			digits[n] = c - '0'
			n++
			groups[g]++
		case (c == ' ' || c == '-') && (joint == 0 || joint == c) && at+1 < len(s) && isDigit(s[at+1]) && g < len(groups)-1 && n < 16:
			joint = c
			g++
		default:
			goto end
		}
		at++
	}
end:
	sc.work += at - i
	if n < 14 || n > 16 || at < len(s) && (isWord(s[at]) || s[at] == '.' && at+1 < len(s) && isDigit(s[at+1])) {
		return "", 0
	}
	switch groups {
	case [6]int{n}, [6]int{4, 4, 4, 4}, [6]int{4, 6, 5}, [6]int{4, 6, 4}:
	default:
		return "", 0
	}
	four := int(digits[0])*1000 + int(digits[1])*100 + int(digits[2])*10 + int(digits[3])
	two := four / 100
	ok := false
	switch n {
	case 16: // Visa, Mastercard, Discover, JCB
		ok = four/1000 == 4 || two >= 51 && two <= 55 || four >= 2221 && four <= 2720 || four == 6011 || two == 65 ||
			four/10 >= 644 && four/10 <= 649 || four >= 3528 && four <= 3589
	case 15: // American Express
		ok = two == 34 || two == 37
	case 14: // Diners Club
		ok = two == 36 || two == 38 || four/10 >= 300 && four/10 <= 305
	}
	if !ok || !luhn(digits[:n]) {
		return "", 0
	}
	return KindCardNumber, at
}

// luhn checks the last digit of a card number.
func luhn(digits []byte) bool {
	sum := 0
	for i := range digits {
		d := int(digits[len(digits)-1-i])
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// azure replaces the client secret whose sixth character is the '~' at i.
func (sc *scanner) azure(i int) int {
	if stop := sc.azureAt(i); stop > i {
		return sc.replace(i-5, stop, kindAzureSecret, true)
	}
	return i + 1
}

// azureAt returns where the client secret ends whose sixth character is the '~' at
// i, as in abc8Q~ and more than thirty others, and i for none.
func (sc *scanner) azureAt(i int) int {
	s := sc.src
	if i < 5 || s[i-1] != 'Q' || !isDigit(s[i-2]) || !all(s[i-5:i-2], isSecretByte) || i > 5 && isAlnum(s[i-6]) && !afterEscape(s, i-5) && !(s[i-6] == 'm' && i > 6 && isDigit(s[i-7])) {
		return i
	}
	n := span(s[i+1:], 41, isSecretByte)
	for n > 0 && s[i+n] == '.' {
		n--
	}
	sc.work += n
	if n < 30 || n > 40 {
		return i
	}
	return i + 1 + n
}

func isSecretByte(c byte) bool { return isWord(c) || c == '.' || c == '~' }

// awsSecret looks for the secret that stands beside an AWS key id which ended at
// i: forty characters of base64 on the same line or the next.
func (sc *scanner) awsSecret(i int) {
	s := sc.src
	limit := min(len(s), i+120)
	sc.work += limit - i
	for at := i; at < limit; {
		n := span(s[at:], 64, isAWSSecretByte)
		if n == 40 && mixed(s[at:at+n]) {
			sc.replace(at, at+n, kindAWSSecret, true)
			return
		}
		at += n + 1
	}
}

func isAWSSecretByte(c byte) bool { return isAlnum(c) || c == '/' || c == '+' }

// mixed reports whether s has digits, small letters and capitals.
func mixed(s string) bool {
	var digit, small, capital bool
	for i := range len(s) {
		c := s[i]
		digit = digit || isDigit(c)
		capital = capital || isUpper(c)
		small = small || c >= 'a' && c <= 'z'
	}
	return digit && small && capital
}

// hash replaces the password hash of crypt(3) that begins with the '$' at i.
func (sc *scanner) hash(i int) int {
	if stop := sc.hashAt(i); stop > i {
		return sc.replace(i, stop, KindPasswordHash, true)
	}
	return i + 1
}

// hashAt returns where the password hash ends that begins at i, i for none.
func (sc *scanner) hashAt(i int) int {
	s := sc.src
	rest := s[i:]
	for _, prefix := range [...]string{
		"$2a$", "$2b$", "$2y$", "$5$", "$6$", "$y$", "$7$", "$1$", "$apr1$", "$argon2id$", "$argon2i$", "$argon2d$", "$scrypt$", "$pbkdf2-sha256$",
	} {
		if !strings.HasPrefix(rest, prefix) {
			continue
		}
		n := span(rest, 400, isHashByte)
		sc.work += n
		last := strings.LastIndexByte(rest[:n], '$')
		n = last + len(strings.TrimRight(rest[last:n], ".,=-"))
		if comma := strings.IndexByte(rest[last:n], ','); comma >= 0 { // only parameters have commas
			n = last + comma
		}
		if n >= len(prefix)+26 && random(rest[len(prefix):n]) {
			return i + n
		}
	}
	return i
}

func isHashByte(c byte) bool {
	return isAlnum(c) || c == '.' || c == '/' || c == '$' || c == '=' || c == ',' || c == '+' || c == '-' || c == '_'
}
