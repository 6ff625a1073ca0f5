package redact

import "strings"

// vendor is a published key form: a prefix and what follows it.
type vendor struct {
	prefix string
	// least is the least number of characters after the prefix, most the largest, 0
	// for no limit.
	least, most int
	set         charset
	kind        string
}

// vendors lists the known prefixes. The lengths are those of real keys, or somewhat
// less where only a part of the vendor's keys has been seen. What follows the
// prefix must look generated, see [random].
var vendors = [...]vendor{
	// Clouds.
	{"AKIA", 16, 16, upper, kindAWSKey},
	{"ASIA", 16, 16, upper, kindAWSKey},
	{"ABIA", 16, 16, upper, kindAWSKey},
	{"ACCA", 16, 16, upper, kindAWSKey},
	{"IQoJb3JpZ2lu", 60, 0, base64Set, kindAWSSession},
	{"FwoGZXIvYXdz", 60, 0, base64Set, kindAWSSession},
	{"FQoGZXIvYXdz", 60, 0, base64Set, kindAWSSession},
	{"ABSKQmVkcm9ja0FQSUtleS", 40, 0, base64Set, "bedrock-key"},
	{"AIza", 30, 0, tokenSet, "google-key"},
	{"GOCSPX-", 20, 0, tokenSet, "google-client-secret"},
	{"ya29.", 20, 0, dottedSet, "google-oauth-token"},
	{"dop_v1_", 20, 0, alnum, "digitalocean-token"},
	{"doo_v1_", 20, 0, alnum, "digitalocean-token"},
	{"dor_v1_", 20, 0, alnum, "digitalocean-token"},
	{"LTAI", 16, 24, alnum, "alibaba-key"},
	{"AKID", 32, 40, alnum, "tencent-key"},
	{"AKLT", 40, 60, alnum, "volcengine-key"},
	{"bce-v3/ALTAK-", 30, 0, pathSet, "baidu-key"},
	{"y0_", 40, 0, tokenSet, "yandex-token"},
	{"AQVN", 34, 40, tokenSet, "yandex-token"},
	{"HRKU-", 30, 0, tokenSet, kindHeroku},
	{"CFPAT-", 40, 0, tokenSet, "contentful-token"},
	{"cfut_", 36, 0, alnum, kindCloudflare},
	{"nfp_", 30, 0, alnum, "netlify-token"},
	{"vercel_blob_rw_", 20, 0, tokenSet, "vercel-token"},
	{"vcp_", 24, 0, alnum, "vercel-token"},
	{"fo1_", 40, 0, tokenSet, "fly-token"},
	{"fm2_", 60, 0, base64Set, "fly-token"},
	{"rnd_", 28, 40, alnum, "render-key"},
	{"sbp_", 40, 0, hexSet, "supabase-key"},
	{"sb_secret_", 20, 0, tokenSet, "supabase-key"},
	{"pscale_tkn_", 20, 0, dottedSet, "planetscale-token"},
	{"pscale_pw_", 20, 0, dottedSet, "planetscale-token"},
	{"pscale_oauth_", 20, 0, dottedSet, "planetscale-token"},
	{"napi_", 40, 0, alnum, "neon-key"},
	{"mdb_sa_sk_", 30, 0, tokenSet, "mongodb-secret"},
	{"tskey-", 20, 0, tokenSet, "tailscale-key"},

	// Code, builds and packages.
	{"ghp_", 16, 0, alnum, "github-token"},
	{"gho_", 16, 0, alnum, "github-token"},
	{"ghu_", 16, 0, alnum, "github-token"},
	{"ghs_", 16, 0, dottedSet, "github-token"},
	{"ghr_", 16, 0, alnum, "github-token"},
	{"github_pat_", 20, 0, tokenSet, "github-token"},
	{"glpat-", 12, 0, dottedSet, "gitlab-token"},
	{"gldt-", 12, 0, tokenSet, "gitlab-token"},
	{"glrt-", 12, 0, dottedSet, "gitlab-token"},
	{"glrtr-", 12, 0, tokenSet, "gitlab-token"},
	{"glcbt-", 12, 0, tokenSet, "gitlab-token"},
	{"glptt-", 12, 0, tokenSet, "gitlab-token"},
	{"glft-", 12, 0, tokenSet, "gitlab-token"},
	{"glsoat-", 12, 0, tokenSet, "gitlab-token"},
	{"glimt-", 12, 0, tokenSet, "gitlab-token"},
	{"glagent-", 12, 0, tokenSet, "gitlab-token"},
	{"glffct-", 12, 0, tokenSet, "gitlab-token"},
	{"npm_", 30, 0, alnum, "npm-token"},
	{"pypi-", 40, 0, tokenSet, "pypi-token"},
	{"rubygems_", 40, 0, hexSet, "rubygems-key"},
	{"oy2", 43, 43, alnum, "nuget-key"},
	{"CLOJARS_", 50, 0, alnum, "clojars-token"},
	{"dckr_pat_", 20, 0, tokenSet, "docker-token"},
	{"dckr_oat_", 20, 0, tokenSet, "docker-token"},
	{"sqp_", 40, 40, hexSet, "sonar-token"},
	{"squ_", 40, 40, hexSet, "sonar-token"},
	{"sqa_", 40, 40, hexSet, "sonar-token"},
	{"CCIPAT_", 30, 0, tokenSet, "circleci-token"},
	{"CCIPRJ_", 30, 0, tokenSet, "circleci-token"},
	{"bkua_", 40, 0, alnum, "buildkite-token"},
	{"AKCp", 60, 0, alnum, "jfrog-key"},
	{"PMAK-", 50, 0, tokenSet, "postman-key"},
	{"pul-", 40, 40, hexSet, "pulumi-token"},
	{"pnu_", 30, 0, alnum, "prefect-key"},
	{"pnb_", 30, 0, alnum, "prefect-key"},
	{"ico-", 32, 32, alnum, "infracost-key"},
	{"snyk_uat.", 40, 0, dottedSet, "snyk-token"},
	{"snyk_sat.", 40, 0, dottedSet, "snyk-token"},

	// Secret stores.
	{"hvs.", 20, 0, tokenSet, "vault-token"},
	{"hvb.", 20, 0, tokenSet, "vault-token"},
	{"hvr.", 20, 0, tokenSet, "vault-token"},
	{"dp.pt.", 36, 0, alnum, "doppler-token"},
	{"dp.st.", 36, 0, dottedSet, "doppler-token"},
	{"dp.ct.", 36, 0, alnum, "doppler-token"},
	{"dp.sa.", 36, 0, alnum, "doppler-token"},
	{"ops_eyJ", 40, 0, base64Set, "onepassword-token"},
	{"AGE-SECRET-KEY-", 20, 0, upper, KindPrivateKey},
	{"gAAAA", 60, 0, base64Set, "fernet-token"},
	{"xprv", 100, 110, alnum, KindPrivateKey},

	// Models.
	{"sk-ant-", 16, 0, tokenSet, "anthropic-key"},
	{"sk-proj-", 16, 0, tokenSet, "openai-key"},
	{"sk-svcacct-", 16, 0, tokenSet, "openai-key"},
	{"sk-admin-", 16, 0, tokenSet, "openai-key"},
	{"sess-", 40, 40, alnum, "openai-key"},
	{"sk-or-", 16, 0, tokenSet, "openrouter-key"},
	{"sk-lf-", 16, 0, tokenSet, "langfuse-key"},
	{"pk-lf-", 16, 0, tokenSet, "langfuse-key"},
	{"lsv2_pt_", 20, 0, tokenSet, "langsmith-key"},
	{"lsv2_sk_", 20, 0, tokenSet, "langsmith-key"},
	{"sk-", 16, 0, tokenSet, KindAPIKey},
	{"sk_", 40, 64, hexSet, "elevenlabs-key"},
	{"csk-", 40, 0, alnum, "cerebras-key"},
	{"hf_", 20, 0, alnum, "huggingface-token"},
	{"api_org_", 30, 0, alnum, "huggingface-token"},
	{"r8_", 20, 0, alnum, "replicate-token"},
	{"gsk_", 20, 0, alnum, "groq-key"},
	{"xai-", 20, 0, alnum, "xai-key"},
	{"pplx-", 20, 0, alnum, "perplexity-key"},
	{"fw_", 20, 0, alnum, "fireworks-key"},
	{"fpk_", 20, 0, alnum, "fireworks-key"},
	{"tgp_v1_", 30, 0, tokenSet, "together-key"},
	{"nvapi-", 20, 0, tokenSet, "nvidia-key"},
	{"tvly-", 16, 0, tokenSet, "tavily-key"},
	{"exa_", 20, 0, alnum, "exa-key"},
	{"fc-", 32, 32, hexSet, "firecrawl-key"},
	{"fal_", 20, 0, alnum, "fal-key"},
	{"pcsk_", 30, 0, tokenSet, "pinecone-key"},
	{"wandb_v1_", 30, 0, tokenSet, "wandb-key"},
	{"am_", 24, 0, alnum, "agentmail-key"},

	// Messages and mail.
	{"xoxb-", 10, 0, tokenSet, "slack-token"},
	{"xoxa-", 10, 0, tokenSet, "slack-token"},
	{"xoxp-", 10, 0, tokenSet, "slack-token"},
	{"xoxr-", 10, 0, tokenSet, "slack-token"},
	{"xoxs-", 10, 0, tokenSet, "slack-token"},
	{"xoxe-", 10, 0, tokenSet, "slack-token"},
	{"xoxc-", 10, 0, tokenSet, "slack-token"},
	{"xoxd-", 10, 0, escapedSet, "slack-token"},
	{"xapp-", 10, 0, tokenSet, "slack-token"},
	{"SK", 32, 32, hexSet, kindTwilio},
	{"key-", 32, 32, hexSet, kindMailgun},
	{"xkeysib-", 60, 0, tokenSet, "brevo-key"},
	{"mlsn.", 60, 0, alnum, "mailersend-key"},
	{"re_", 24, 40, tokenSet, "resend-key"},

	// Money and shops.
	{"sk_live_", 10, 0, alnum, "stripe-key"},
	{"sk_test_", 10, 0, alnum, "stripe-key"},
	{"rk_live_", 10, 0, alnum, "stripe-key"},
	{"rk_test_", 10, 0, alnum, "stripe-key"},
	{"whsec_", 16, 0, base64Set, "stripe-webhook-secret"},
	{"shpat_", 20, 0, alnum, "shopify-token"},
	{"shpss_", 20, 0, alnum, "shopify-token"},
	{"shpca_", 20, 0, alnum, "shopify-token"},
	{"shppa_", 20, 0, alnum, "shopify-token"},
	{"sq0atp-", 20, 0, tokenSet, "square-token"},
	{"sq0csp-", 20, 0, tokenSet, "square-token"},
	{"EAAAE", 55, 0, tokenSet, "square-token"},
	{"EAAAl", 55, 0, tokenSet, "square-token"},
	{"EAAC", 80, 0, alnum, "facebook-token"},
	{"EAAG", 80, 0, alnum, "facebook-token"},
	{"rzp_live_", 14, 0, alnum, "razorpay-key"},
	{"FLWSECK", 20, 0, tokenSet, "flutterwave-key"},
	{"EZAK", 54, 54, alnum, "easypost-key"},
	{"EZTK", 54, 54, alnum, "easypost-key"},
	{"shippo_live_", 30, 0, hexSet, "shippo-token"},
	{"duffel_live_", 30, 0, tokenSet, "duffel-token"},
	{"access-production-", 36, 36, tokenSet, "plaid-token"},
	{"access-sandbox-", 36, 36, tokenSet, "plaid-token"},

	// Work.
	{"lin_api_", 20, 0, alnum, "linear-key"},
	{"lin_oauth_", 20, 0, alnum, "linear-key"},
	{"ntn_", 20, 0, alnum, "notion-token"},
	{"secret_", 43, 43, alnum, "notion-token"},
	{"ATATT3", 60, 0, tokenEqualsSet, "atlassian-token"},
	{"ATCTT3", 60, 0, tokenEqualsSet, "atlassian-token"},
	{"ATBB", 28, 40, alnum, "atlassian-token"},
	{"figd_", 36, 0, tokenSet, "figma-token"},
	{"figo_", 36, 0, tokenSet, "figma-token"},
	{"rdme_", 40, 0, alnum, "readme-key"},
	{"tfp_", 40, 0, tokenSet, "typeform-token"},
	{"fio-u-", 40, 0, tokenSet, "frameio-token"},
	{"aio_", 28, 28, alnum, "adafruit-key"},

	// Watching.
	{"glsa_", 30, 0, tokenSet, "grafana-token"},
	{"glc_", 32, 0, base64Set, "grafana-token"},
	{"NRAK-", 24, 0, alnum, kindNewRelic},
	{"NRII-", 24, 0, tokenSet, kindNewRelic},
	{"NRRA-", 24, 0, hexSet, kindNewRelic},
	{"NRAA-", 24, 0, hexSet, kindNewRelic},
	{"sntrys_", 20, 0, base64Set, "sentry-token"},
	{"sntryu_", 20, 0, hexSet, "sentry-token"},
	{"ddapp_", 30, 0, alnum, kindDatadog},
	{"dt0c01.", 60, 0, dottedSet, "dynatrace-token"},
	{"dapi", 32, 34, hexDashSet, "databricks-token"},
	{"dkea", 32, 32, hexSet, "databricks-token"},
}

// charset is a set of the characters that may follow a prefix.
type charset uint8

const (
	alnum charset = iota
	tokenSet
	hexSet
	hexDashSet
	upper
	dottedSet
	tokenEqualsSet
	base64Set
	pathSet
	escapedSet
)

// has reports whether c belongs to the set.
func (set charset) has(c byte) bool {
	switch set {
	case alnum:
		return isAlnum(c)
	case tokenSet:
		return isWord(c)
	case hexSet:
		return isHexDigit(c)
	case hexDashSet:
		return isHexDigit(c) || c == '-'
	case upper:
		return isUpper(c) || isDigit(c)
	case dottedSet:
		return isWord(c) || c == '.'
	case tokenEqualsSet:
		return isWord(c) || c == '='
	case base64Set:
		return isWord(c) || c == '+' || c == '/' || c == '='
	case escapedSet:
		return isWord(c) || c == '+' || c == '/' || c == '=' || c == '%'
	default:
		return isWord(c) || c == '/'
	}
}

// byFirst groups the prefixes by their first byte. It is never written to.
var byFirst = func() (t [128][]vendor) {
	for _, v := range vendors {
		t[v.prefix[0]] = append(t[v.prefix[0]], v)
	}
	return t
}()

// spanning are the prefixes of keys with other characters than those of a run, by
// their first byte. It is never written to.
var spanning = func() (t [128][]string) {
	for _, v := range vendors {
		if v.set >= dottedSet || strings.ContainsAny(v.prefix, "./") {
			t[v.prefix[0]] = append(t[v.prefix[0]], v.prefix)
		}
	}
	return t
}()

// maxJudged is how much of a key is looked at to see whether it is one, in bytes;
// the longest least length fits in it.
const maxJudged = 112

// vendorAt reports the kind and the end of the vendor key that begins at i, the
// kind "" for none.
func (sc *scanner) vendorAt(i int) (kind string, end int) {
	s := sc.src
	if s[i] >= 128 {
		return "", 0
	}
	for _, v := range byFirst[s[i]] {
		if !strings.HasPrefix(s[i:], v.prefix) {
			continue
		}
		start := i + len(v.prefix)
		end := start
		for end < len(s) && end < start+maxJudged && v.set.has(s[end]) {
			end++
		}
		n := end - start
		sc.work += n
		if n < v.least {
			missing := max(v.least, v.full()) - n
			if more := sc.wrapped(end, missing); n >= 8 && more > end && (v.set == upper || random(s[start:more])) {
				return v.kind, more
			}
			continue
		}
		if v.most > 0 && (n > v.most || end < len(s) && isAlnum(s[end])) || v.set != upper && !random(s[start:end]) || v.set == tokenSet && wordy(s[start:end]) {
			continue
		}
		for end < len(s) && v.set.has(s[end]) {
			end++
		}
		if n < v.full() {
			return v.kind, sc.wrapped(end, v.full()-n)
		}
		for end > start+v.least && s[end-1] == '.' { // the end of a sentence
			end--
		}
		return v.kind, end
	}
	return "", 0
}

// full is the exact length after the prefix where it is known and larger than the
// least, 0 elsewhere: the rest may stand on the next line.
func (v vendor) full() int {
	switch v.prefix {
	case "ghp_", "gho_", "ghu_", "ghs_", "npm_":
		return 36
	case "AIza":
		return 35
	case "hf_":
		return 34
	case "glpat-":
		return 20
	case "shpat_", "shpss_", "shpca_", "shppa_":
		return 32
	case "dop_v1_", "doo_v1_", "dor_v1_":
		return 64
	default:
		return 0
	}
}

// wrapped returns the end of a key that was cut by a line break at end and lacks
// exactly n characters, which stand at the beginning of the next line.
func (sc *scanner) wrapped(end, n int) int {
	s := sc.src
	at := end + lineBreak(s, end)
	if strings.HasPrefix(s[end:], "\\\n") {
		at = end + 2
	}
	if at == end {
		return end
	}
	for at < len(s) && at < end+12 && s[at] == ' ' {
		at++
	}
	stop := at
	for stop < len(s) && stop < at+n && isWord(s[stop]) {
		stop++
	}
	if stop-at < n || stop < len(s) && isWord(s[stop]) {
		return end
	}
	return stop
}

// wordy reports whether s consists of words and small numbers with joints, as
// names do and keys do not: spinner-three-bounce-v2, getUserName_2.
func wordy(s string) bool {
	for i := 0; i < len(s); {
		if !isAlnum(s[i]) {
			i++
			continue
		}
		letters, capitals := 0, 0
		start := i
		for i < len(s) && isAlnum(s[i]) && !isDigit(s[i]) {
			letters++
			if isUpper(s[i]) {
				capitals++
			}
			i++
		}
		digits := 0
		for i < len(s) && isDigit(s[i]) {
			digits++
			i++
		}
		switch {
		case i < len(s) && isAlnum(s[i]): // letters after digits
			return false
		case letters > 40, letters > 0 && digits > 2, digits > 6:
			return false
		case capitals > 0 && capitals < letters && letters < 3*capitals && i-start > 2:
			return false
		}
	}
	return true
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
