package redact

import (
	"slices"
	"strconv"
	"strings"
)

// The kinds of secret, as they stand in placeholders and counts.
const (
	KindAPIKey        = "api-key"       // vendor keys without a kind of their own, api_key fields, x-api-key headers
	KindAuthorization = "authorization" // the credential of an Authorization header; its scheme word stays
	KindAWSKey        = "aws-key"       // AKIA... and ASIA... identifiers
	KindCredential    = "credential"    // fields named credential or auth
	KindGitHubToken   = "github-token"
	KindGitLabToken   = "gitlab-token"
	KindGoogleKey     = "google-key"
	KindJWT           = "jwt"
	KindPassword      = "password"
	KindPrivateKey    = "private-key" // PEM blocks; fields named private_key
	KindQueryParam    = "query-param" // token, key, code, signature and the like in an address
	KindSecret        = "secret"
	KindSlackToken    = "slack-token"
	KindStripeKey     = "stripe-key"
	KindTelegramToken = "telegram-token"
	KindToken         = "token"
	KindURLPassword   = "url-password" // scheme://user:PASSWORD@host
)

const placeholderHead = "[SECRET:"

// Count says how many secrets of a kind were replaced.
type Count struct {
	Kind string
	// Distinct is the number of different secrets, Total the number of places.
	Distinct, Total int
}

// Redactor replaces secrets in any number of texts of one request. Placeholders
// are numbered by kind in order of appearance. The zero value is ready to use; a
// Redactor is not safe for concurrent use.
type Redactor struct {
	placeholders map[string]string // kind, a zero byte, the secret
	last         map[string]int    // highest number given, by kind
	counts       map[string]Count
	// known are secrets found under a name, by value: they are replaced where they
	// turn up again without it.
	known   map[string]string
	vendors *[128][]vendor
}

// New returns a Redactor for one request.
func New() *Redactor { return &Redactor{} }

// Text returns s with every secret replaced. Text without secrets is returned
// as it is, without copying. Placeholders are left alone, so a second pass
// changes nothing.
func (r *Redactor) Text(s string) string {
	r.open()
	sc := scanner{src: s, r: r}
	sc.run()
	return sc.finish()
}

// Reserve reads the placeholders that stand in a text redacted earlier, so that
// new ones get other numbers.
func (r *Redactor) Reserve(s string) {
	r.open()
	for {
		at := strings.Index(s, placeholderHead)
		if at < 0 {
			return
		}
		s = s[at+len(placeholderHead):]
		body, _, ok := strings.Cut(s[:min(len(s), 64)], "]")
		kind, digits, numbered := strings.Cut(body, "#")
		if n, err := strconv.Atoi(digits); ok && numbered && err == nil && n > r.last[kind] {
			r.last[kind] = n
		}
	}
}

// Counts lists what was replaced, by kind in alphabetical order.
func (r *Redactor) Counts() []Count {
	out := make([]Count, 0, len(r.counts))
	for _, c := range r.counts {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Count) int { return strings.Compare(a.Kind, b.Kind) })
	return out
}

func (r *Redactor) open() {
	if r.vendors != nil {
		return
	}
	r.placeholders = make(map[string]string)
	r.last = make(map[string]int)
	r.counts = make(map[string]Count)
	r.known = make(map[string]string)
	r.vendors = vendorIndex()
}

// placeholder names a secret. Secrets of eight bytes or more that were found by
// name are remembered by value.
func (r *Redactor) placeholder(kind, secret string, remember bool) string {
	if p, ok := r.known[secret]; ok {
		kind, _, _ = strings.Cut(p[len(placeholderHead):], "#")
		r.count(kind, false)
		return p
	}
	key := kind + "\x00" + secret
	p, ok := r.placeholders[key]
	if !ok {
		r.last[kind]++
		p = placeholderHead + kind + "#" + strconv.Itoa(r.last[kind]) + "]"
		r.placeholders[key] = p
		if remember && len(secret) >= 8 {
			r.known[secret] = p
		}
	}
	r.count(kind, !ok)
	return p
}

func (r *Redactor) count(kind string, distinct bool) {
	c := r.counts[kind]
	c.Kind = kind
	c.Total++
	if distinct {
		c.Distinct++
	}
	r.counts[kind] = c
}
