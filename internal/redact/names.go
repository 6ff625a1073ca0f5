package redact

import "strings"

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
	famCookie // Cookie: many names and values
	famQuery  // sensitive only as a parameter of an address
	famSSN
	famMnemonic
	famKeyLines // Private-Lines of a PuTTY key: a number, then the lines
)

// maxName is the longest name looked at, in bytes.
const maxName = 64

// kindOf is the kind of what stands under a name.
func kindOf(f family, name string) string {
	if f == famAPIKey || f == famToken || f == famSecret {
		if kind := vendorOfName(name); kind != "" {
			return kind
		}
	}
	switch f {
	case famPassword:
		return KindPassword
	case famToken:
		return KindToken
	case famAPIKey:
		return KindAPIKey
	case famPrivateKey, famKeyLines:
		return KindPrivateKey
	case famCredential:
		return KindCredential
	case famHeader:
		return KindAuthorization
	case famCookie:
		return KindCookie
	case famQuery:
		return KindQueryParam
	case famSSN:
		return KindSSN
	case famMnemonic:
		return kindMnemonic
	default:
		return KindSecret
	}
}

// vendorOfName is the kind of keys that have no form of their own and are known by
// the vendor's name in theirs: AWS_SECRET_ACCESS_KEY, DD-API-KEY.
func vendorOfName(name string) string {
	var buf [maxName]byte
	n := 0
	for i := 0; i < len(name) && n < len(buf); i++ {
		if c := name[i]; !isJoint(c) {
			if isUpper(c) {
				c |= 0x20
			}
			buf[n] = c
			n++
		}
	}
	flat := string(buf[:n])
	switch {
	case strings.HasSuffix(flat, "awssecretaccesskey"), flat == "secretaccesskey", strings.HasSuffix(flat, "awssecretkey"):
		return kindAWSSecret
	case strings.HasSuffix(flat, "awssessiontoken"):
		return kindAWSSession
	case flat == "accountkey", flat == "sharedaccesskey", flat == "azurestoragekey":
		return kindAzureStorage
	}
	for _, v := range [...]struct{ name, kind string }{
		{"ddapi", kindDatadog},
		{"ddapp", kindDatadog},
		{"datadog", kindDatadog},
		{"heroku", kindHeroku},
		{"algolia", kindAlgolia},
		{"twilio", kindTwilio},
		{"cloudflare", kindCloudflare},
		{"newrelic", kindNewRelic},
		{"mailgun", kindMailgun},
		{"mailchimp", kindMailchimp},
		{"sendgrid", kindSendGrid},
	} {
		if strings.HasPrefix(flat, v.name) {
			return v.kind
		}
	}
	return ""
}

// familyOf judges a name such as DB_PASSWORD, apiKey, x-api-key or
// spring.datasource.password by its last words. Names that merely contain a
// sensitive word (tokenizer, secretary, token_count) belong to no family.
func familyOf(name string) family {
	if len(name) < 2 {
		return famNone
	}
	// Every sensitive last word ends in one of these letters; digits after it do
	// not count.
	end := len(name)
	for end > 0 && (isDigit(name[end-1]) || isJoint(name[end-1])) {
		end--
	}
	if end == 0 {
		return famNone
	}
	switch name[end-1] | 0x20 {
	case 'd', 't', 'n', 'y', 'e', 's', 'l', 'h', 'g', 'w', 'c', 'p', 'a':
	default:
		return famNone
	}
	var buf [maxName]byte
	last, at := lastWord(name, buf[:])
	before := func() string {
		var prev [maxName]byte
		w, _ := lastWord(name[:at], prev[:])
		return string(w)
	}
	switch string(last) {
	case "password", "passwd", "pwd", "passphrase", "passcode", "userpassword", "dbpassword", "dbpass", "dbpasswd", "userpass", "authpass",
		"pgpassword", "mypwd", "pw", "passw", "requirepass", "masterauth", "passwort", "kennwort", "wachtwoord", "senha", "contrasena", "storepass", "keypass":
		return famPassword
	case "pass": // alone it is a test's more often than a user's: see secretValue
		return famPassword
	case "secret", "clientsecret", "secretkey", "appsecret", "apisecret", "sharedsecret", "consumersecret", "webhooksecret", "secretkeybase":
		return famSecret
	case "token", "accesstoken", "refreshtoken", "authtoken", "apitoken", "idtoken", "sessiontoken", "bearertoken", "bottoken", "usertoken", "csrftoken",
		"jwt", "pat", "phpsessid", "jsessionid", "aspsessionid":
		if !ordinaryToken(before()) {
			return famToken
		}
	case "sessionid":
		if b := before(); b == "net" || b == "asp" {
			return famToken
		}
	case "sid":
		if before() == "connect" {
			return famToken
		}
	case "apikey", "accesskey", "authkey", "appkey", "accountkey", "sharedaccesskey", "secretaccesskey", "masterkey", "encryptionkey", "signingkey", "licensekey":
		return famAPIKey
	case "privatekey":
		return famPrivateKey
	case "authorization":
		return famHeader
	case "cookie", "cookie2":
		return famCookie
	case "credential", "credentials", "creds":
		return famCredential
	case "auth":
		if at > 0 || len(name) == 4 {
			return famCredential
		}
	case "key":
		switch before() {
		case "api", "access", "secret", "auth", "subscription", "account", "storage", "license", "service", "admin", "master", "encryption",
			"signing", "shared", "app", "webhook", "application", "consumer", "decryption", "hmac", "jwt", "session", "write", "ingest", "functions",
			"shared_access", "rest", "server", "deploy", "integration", "routing", "personal":
			return famAPIKey
		case "private", "priv":
			return famPrivateKey
		}
		return famQuery
	case "data":
		if before() == "key" { // client-key-data
			return famPrivateKey
		}
	case "base":
		if before() == "key" { // secret_key_base
			return famSecret
		}
	case "lines":
		if before() == "private" {
			return famKeyLines
		}
	case "mnemonic":
		return famMnemonic
	case "phrase":
		if b := before(); b == "seed" || b == "recovery" || b == "mnemonic" {
			return famMnemonic
		}
	case "id":
		if before() == "key" {
			return famQuery
		}
	case "ssn":
		return famSSN
	case "number":
		if before() == "security" {
			return famSSN
		}
	case "webhook":
		return famNone
	case "code", "signature", "sig", "sas", "hash", "otp":
		return famQuery
	}
	return famNone
}

// foreignFamily is the family of a name in another script or of several words, by
// the end of s.
func foreignFamily(s string) family {
	for _, verb := range [...]string{"是", "为", "為", "は", "는"} { // "密码是：..."
		s = strings.TrimSuffix(s, verb)
	}
	for _, w := range [...]string{
		"密码", "密碼", "口令", "パスワード", "비밀번호", "암호", "пароль", "Пароль", "hasło", "Hasło", "salasana", "ontraseña", "ot de passe",
	} {
		if strings.HasSuffix(s, w) {
			return famPassword
		}
	}
	for _, w := range [...]string{"令牌", "トークン", "토큰", "токен", "密钥", "密鑰", "秘钥", "秘密鍵", "キー"} {
		if strings.HasSuffix(s, w) {
			return famToken
		}
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

func isJoint(c byte) bool { return c == '_' || c == '-' || c == '.' || c == ' ' }

// allCaps reports whether a name is written like an environment variable.
func allCaps(name string) bool {
	for i := range len(name) {
		if c := name[i]; !isUpper(c) && !isDigit(c) && c != '_' {
			return false
		}
	}
	return true
}
