package redact

// family is what a name says about its value.
type family uint8

const (
	famNone     family = iota
	famPassword        // any text can be a password
	famSecret          // a secret that is usually, not always, random
	famToken           // random by nature
	famAPIKey
	famPrivateKey
	famCredential
	famHeader // Authorization: scheme and credential
	famQuery  // sensitive only as a parameter of an address
)

func (f family) kind() string {
	switch f {
	case famPassword:
		return KindPassword
	case famToken:
		return KindToken
	case famAPIKey:
		return KindAPIKey
	case famPrivateKey:
		return KindPrivateKey
	case famCredential:
		return KindCredential
	case famHeader:
		return KindAuthorization
	case famQuery:
		return KindQueryParam
	default:
		return KindSecret
	}
}

// maxName is the longest name looked at, in bytes.
const maxName = 64

// familyOf judges a name such as DB_PASSWORD, apiKey, x-api-key or
// spring.datasource.password by its last words. Names that merely contain a
// sensitive word (tokenizer, secretary, token_count) belong to no family.
func familyOf(name string) family {
	if len(name) < 2 {
		return famNone
	}
	// Every sensitive last word ends in one of these letters.
	switch name[len(name)-1] | 0x20 {
	case 'd', 't', 'n', 'y', 'e', 's', 'l', 'h', 'g':
	default:
		return famNone
	}
	var buf [maxName]byte
	end := len(name)
	last, at := lastWord(name[:end], buf[:])
	before := func() string {
		var prev [maxName]byte
		w, _ := lastWord(name[:at], prev[:])
		return string(w)
	}
	switch string(last) {
	case "password", "passwd", "pwd", "passphrase", "passcode", "userpassword", "dbpassword":
		return famPassword
	case "pass":
		if at > 0 {
			return famPassword
		}
	case "secret", "clientsecret", "secretkey", "appsecret":
		return famSecret
	case "token", "accesstoken", "refreshtoken", "authtoken", "apitoken", "idtoken", "sessiontoken", "bearertoken":
		if !ordinaryToken(before()) {
			return famToken
		}
	case "apikey", "accesskey", "authkey", "appkey":
		return famAPIKey
	case "privatekey":
		return famPrivateKey
	case "authorization":
		return famHeader
	case "credential", "credentials":
		return famCredential
	case "auth":
		if at > 0 || len(name) == 4 {
			return famCredential
		}
	case "key":
		switch before() {
		case "api", "access", "secret", "auth", "subscription", "account", "storage", "license", "service", "admin", "master", "encryption", "signing", "shared", "app", "webhook":
			return famAPIKey
		case "private":
			return famPrivateKey
		}
		return famQuery
	case "id":
		if before() == "key" {
			return famQuery
		}
	case "code", "signature", "sig", "sas", "hash", "otp":
		return famQuery
	}
	return famNone
}

// ordinaryToken reports whether a word before "token" makes it a thing that is
// no secret: a token of a text, or of a page.
func ordinaryToken(before string) bool {
	switch before {
	case "page", "next", "previous", "prev", "continuation", "cursor", "sync", "pagination", "resume",
		"max", "min", "num", "eos", "bos", "pad", "unk", "sep", "cls", "mask", "special", "start", "end", "stop",
		"first", "last", "current", "word", "sub", "per", "input", "output", "prompt", "completion", "total",
		"cached", "by", "each", "one", "new", "line", "string", "identifier", "lex", "syntax", "design", "cancellation":
		return true
	}
	return false
}

// lastWord lower-cases the last word of a compound name into buf and returns it
// with its place in the name. Words end at '_', '-', '.' and at a capital after
// a small letter; a trailing digit is not part of it.
func lastWord(name string, buf []byte) (w []byte, at int) {
	end := len(name)
	for end > 0 && (isDigit(name[end-1]) || isJoint(name[end-1])) {
		end--
	}
	at = end
	for at > 0 && !isJoint(name[at-1]) {
		at--
		if at > 0 && isUpper(name[at]) && !isUpper(name[at-1]) {
			break
		}
	}
	if end-at > len(buf) {
		return nil, at
	}
	for i := at; i < end; i++ {
		c := name[i]
		if isUpper(c) {
			c |= 0x20
		}
		buf[i-at] = c
	}
	return buf[:end-at], at
}

func isJoint(c byte) bool { return c == '_' || c == '-' || c == '.' }

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// allCaps reports whether a name is written like an environment variable.
func allCaps(name string) bool {
	for i := range len(name) {
		if c := name[i]; !isUpper(c) && !isDigit(c) && c != '_' {
			return false
		}
	}
	return true
}
