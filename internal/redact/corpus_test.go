package redact

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The alphabets of generated secrets.
const (
	lowers  = "abcdefghijklmnopqrstuvwxyz"
	uppers  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
	letters = lowers + uppers
	anyChar = letters + digits
	hexes   = digits + "abcdef"
	tokens  = anyChar + "-_"
	b64     = anyChar + "+/"
	base32  = uppers + "234567"
)

// maker builds secrets, so that none stands whole in this file.
type maker struct{ *rand.Rand }

func newMaker(seed uint64) maker { return maker{rand.New(rand.NewPCG(seed, 7))} }

// of returns n random characters. The first is neither a sign nor a digit and
// the second a digit, as a key without any digit could be a word.
func (m maker) of(alphabet string, n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = alphabet[m.IntN(len(alphabet))]
	}
	if n >= 2 && strings.ContainsAny(alphabet, "b") {
		out[0], out[1] = "abcdef"[m.IntN(6)], "23456789"[m.IntN(8)]
	}
	return string(out)
}

// token returns n characters that begin and end with a letter or digit.
func (m maker) token(n int) string {
	return m.of(anyChar, 4) + m.of(tokens, n-8) + m.of(anyChar, 4)
}

func (m maker) base64(n int) string {
	raw := make([]byte, n)
	for i := range raw {
		raw[i] = byte(m.IntN(256))
	}
	return base64.StdEncoding.EncodeToString(raw)
}

func (m maker) block(label string) string {
	var sb strings.Builder
	sb.WriteString("-----BEGIN " + label + "-----\n")
	for range 6 {
		sb.WriteString(m.base64(48) + "\n")
	}
	sb.WriteString(m.base64(20) + "\n-----END " + label + "-----")
	return sb.String()
}

func (m maker) jwt() string {
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	return part(`{"alg":"HS256","typ":"JWT"}`) + "." + part(fmt.Sprintf(`{"sub":"%d"}`, m.IntN(1e9))) + "." + m.token(43)
}

func (m maker) card(prefix string, n int) string {
	digit := make([]byte, n)
	for i := range digit {
		digit[i] = byte(m.IntN(10))
		if i < len(prefix) {
			digit[i] = prefix[i] - '0'
		}
	}
	for last := range byte(10) {
		digit[n-1] = last
		if luhn(digit) {
			break
		}
	}
	for i := range digit {
		digit[i] += '0'
	}
	return string(digit)
}

// planted is one kind of secret. Those with a name are secrets only where it
// stands: text holds %s in its place. The others are found wherever they are.
type planted struct {
	name, kind string
	make       func(m maker) string
	text       string
}

// prefixed makes the secrets of a vendor.
func prefixed(kind, prefix, alphabet string, n int) planted {
	return planted{name: kind + " " + prefix, kind: kind, make: func(m maker) string {
		if alphabet == tokens {
			return prefix + m.token(n)
		}
		return prefix + m.of(alphabet, n)
	}}
}

// byForm are found wherever they stand.
func byForm() []planted {
	list := []planted{
		prefixed("aws-key", "AKIA", base32, 16), prefixed("aws-key", "ASIA", base32, 16),
		prefixed("aws-session-token", "IQoJb3JpZ2lu", b64, 200),
		prefixed("bedrock-key", "ABSKQmVkcm9ja0FQSUtleS", b64, 80),
		prefixed("google-key", "AIza", tokens, 35), prefixed("google-client-secret", "GOCSPX-", tokens, 28), prefixed("google-oauth-token", "ya29.", tokens, 60),
		prefixed("digitalocean-token", "dop_v1_", hexes, 64), prefixed("alibaba-key", "LTAI", anyChar, 20), prefixed("tencent-key", "AKID", anyChar, 32),
		prefixed("volcengine-key", "AKLT", anyChar, 44), prefixed("heroku-key", "HRKU-", tokens, 60), prefixed("netlify-token", "nfp_", anyChar, 40),
		prefixed("vercel-token", "vcp_", anyChar, 56), prefixed("fly-token", "fm2_", b64, 100), prefixed("render-key", "rnd_", anyChar, 28),
		prefixed("supabase-key", "sbp_", hexes, 40), prefixed("supabase-key", "sb_secret_", tokens, 31), prefixed("planetscale-token", "pscale_tkn_", tokens, 43),
		prefixed("neon-key", "napi_", lowers+digits, 64), prefixed("mongodb-secret", "mdb_sa_sk_", tokens, 40), prefixed("tailscale-key", "tskey-auth-", tokens, 40),
		prefixed("cloudflare-token", "cfut_", anyChar, 40), prefixed("contentful-token", "CFPAT-", tokens, 43), prefixed("yandex-token", "y0_", tokens, 55),
		prefixed("github-token", "ghp_", anyChar, 36), prefixed("github-token", "gho_", anyChar, 36), prefixed("github-token", "ghs_", anyChar, 36),
		prefixed("github-token", "github_pat_", anyChar, 82), prefixed("gitlab-token", "glpat-", tokens, 20), prefixed("gitlab-token", "glrt-", tokens, 20),
		prefixed("npm-token", "npm_", anyChar, 36), prefixed("pypi-token", "pypi-AgEIcHlwaS5vcmc", tokens, 120), prefixed("rubygems-key", "rubygems_", hexes, 48),
		prefixed("nuget-key", "oy2", lowers+digits, 43), prefixed("clojars-token", "CLOJARS_", hexes, 60), prefixed("docker-token", "dckr_pat_", tokens, 27),
		prefixed("sonar-token", "sqp_", hexes, 40), prefixed("circleci-token", "CCIPAT_", tokens, 60), prefixed("buildkite-token", "bkua_", hexes, 40),
		prefixed("jfrog-key", "AKCp", anyChar, 69), prefixed("postman-key", "PMAK-", hexes, 59), prefixed("pulumi-token", "pul-", hexes, 40),
		prefixed("prefect-key", "pnu_", anyChar, 36), prefixed("infracost-key", "ico-", anyChar, 32), prefixed("snyk-token", "snyk_uat.", tokens, 60),
		prefixed("vault-token", "hvs.", tokens, 90), prefixed("vault-token", "hvb.", tokens, 130), prefixed("doppler-token", "dp.pt.", anyChar, 43),
		prefixed("onepassword-token", "ops_eyJ", anyChar, 250), prefixed("private-key", "AGE-SECRET-KEY-1", uppers+digits, 58),
		prefixed("fernet-token", "gAAAA", tokens, 90), prefixed("private-key", "xprv9", anyChar, 105),
		prefixed("anthropic-key", "sk-ant-api03-", tokens, 95), prefixed("openai-key", "sk-proj-", tokens, 120), prefixed("openai-key", "sk-svcacct-", tokens, 60),
		prefixed("api-key", "sk-", anyChar, 48), prefixed("openrouter-key", "sk-or-v1-", hexes, 64), prefixed("langfuse-key", "sk-lf-", hexes, 36),
		prefixed("langsmith-key", "lsv2_pt_", hexes, 32), prefixed("elevenlabs-key", "sk_", hexes, 48), prefixed("cerebras-key", "csk-", anyChar, 48),
		prefixed("huggingface-token", "hf_", anyChar, 34), prefixed("replicate-token", "r8_", anyChar, 37), prefixed("groq-key", "gsk_", anyChar, 52),
		prefixed("xai-key", "xai-", anyChar, 80), prefixed("perplexity-key", "pplx-", anyChar, 48), prefixed("fireworks-key", "fw_", anyChar, 24),
		prefixed("together-key", "tgp_v1_", tokens, 43), prefixed("nvidia-key", "nvapi-", tokens, 64), prefixed("tavily-key", "tvly-dev-", anyChar, 32),
		prefixed("exa-key", "exa_", anyChar, 32), prefixed("firecrawl-key", "fc-", hexes, 32), prefixed("fal-key", "fal_", anyChar, 40),
		prefixed("pinecone-key", "pcsk_", tokens, 70), prefixed("wandb-key", "wandb_v1_", tokens, 60), prefixed("agentmail-key", "am_", hexes, 64),
		prefixed("slack-token", "xoxb-", digits, 12), prefixed("slack-token", "xoxp-", tokens, 60), prefixed("slack-token", "xapp-1-", tokens, 80),
		prefixed("twilio-key", "SK", hexes, 32), prefixed("mailgun-key", "key-", hexes, 32), prefixed("brevo-key", "xkeysib-", hexes, 81),
		prefixed("mailersend-key", "mlsn.", hexes, 64), prefixed("resend-key", "re_", anyChar, 32),
		prefixed("stripe-key", "sk_live_", anyChar, 24), prefixed("stripe-key", "rk_live_", anyChar, 24), prefixed("stripe-webhook-secret", "whsec_", anyChar, 32),
		prefixed("shopify-token", "shpat_", hexes, 32), prefixed("square-token", "sq0atp-", tokens, 22), prefixed("square-token", "EAAAE", tokens, 60),
		prefixed("facebook-token", "EAAG", anyChar, 160), prefixed("razorpay-key", "rzp_live_", anyChar, 14), prefixed("flutterwave-key", "FLWSECK-", tokens, 34),
		prefixed("easypost-key", "EZAK", anyChar, 54), prefixed("shippo-token", "shippo_live_", hexes, 40), prefixed("duffel-token", "duffel_live_", tokens, 43),
		prefixed("plaid-token", "access-production-", hexes, 36), prefixed("linear-key", "lin_api_", anyChar, 40), prefixed("notion-token", "ntn_", anyChar, 46),
		prefixed("notion-token", "secret_", anyChar, 43), prefixed("atlassian-token", "ATATT3xFfGF0", tokens, 180), prefixed("atlassian-token", "ATBB", anyChar, 32),
		prefixed("figma-token", "figd_", tokens, 40), prefixed("readme-key", "rdme_", lowers+digits, 70), prefixed("typeform-token", "tfp_", tokens, 59),
		prefixed("frameio-token", "fio-u-", tokens, 64), prefixed("adafruit-key", "aio_", anyChar, 28), prefixed("grafana-token", "glsa_", anyChar, 41),
		prefixed("grafana-token", "glc_", b64, 120), prefixed("newrelic-key", "NRAK-", uppers+digits, 27), prefixed("sentry-token", "sntrys_", b64, 100),
		prefixed("sentry-token", "sntryu_", hexes, 64), prefixed("datadog-key", "ddapp_", anyChar, 34), prefixed("dynatrace-token", "dt0c01.", tokens, 90),
		prefixed("databricks-token", "dapi", hexes, 32), prefixed("baidu-key", "bce-v3/ALTAK-", tokens, 50),
		{"SendGrid", "sendgrid-key", func(m maker) string { return "SG." + m.token(22) + "." + m.token(43) }, ""},
		{"Zhipu", "zhipu-key", func(m maker) string { return m.of(hexes, 32) + "." + m.of(anyChar, 16) }, ""},
		{"Terraform Cloud", "terraform-token", func(m maker) string { return m.of(anyChar, 14) + ".atlasv1." + m.token(67) }, ""},
		{"Airtable", "airtable-token", func(m maker) string { return "pat" + m.of(anyChar, 14) + "." + m.of(hexes, 64) }, ""},
		{"Dropbox", "dropbox-token", func(m maker) string { return "sl." + m.token(140) }, ""},
		{"Discord", "discord-token", func(m maker) string {
			return base64.RawStdEncoding.EncodeToString([]byte("1"+m.of(digits, 17))) + "." + m.of(anyChar, 6) + "." + m.token(38)
		}, ""},
		{"Mailgun by form", "mailgun-key", func(m maker) string { return m.of(hexes, 32) + "-" + m.of(hexes, 8) + "-" + m.of(hexes, 8) }, ""},
		{"Mailchimp", "mailchimp-key", func(m maker) string { return m.of(hexes, 32) + "-us" + "12" }, ""},
		{"Azure client secret", "azure-client-secret", func(m maker) string { return m.of(anyChar, 3) + "8Q~" + m.token(34) }, ""},
		{"Telegram", "telegram-token", func(m maker) string { return "7" + m.of(digits, 9) + ":AA" + m.token(33) }, ""},
		{"JWT", "jwt", maker.jwt, ""},
		{"bcrypt", "password-hash", func(m maker) string { return "$2b$12$" + m.of(anyChar, 53) }, ""},
		{"crypt", "password-hash", func(m maker) string { return "$6$" + m.of(anyChar, 12) + "$" + m.of(anyChar, 86) }, ""},
		{"Visa", "card-number", func(m maker) string { return m.card("4", 16) }, ""},
		{"Mastercard in groups", "card-number", func(m maker) string {
			c := m.card("53", 16)
			return c[:4] + "-" + c[4:8] + "-" + c[8:12] + "-" + c[12:]
		}, ""},
		{"American Express", "card-number", func(m maker) string { return m.card("37", 15) }, ""},
		{"base64 of a PEM block", "kubeconfig-key", func(m maker) string {
			return base64.StdEncoding.EncodeToString([]byte(m.block("RSA " + "PRIVATE KEY")))
		}, ""},
	}
	for _, label := range []string{"", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA "} {
		list = append(list, planted{"PEM " + label, "private-key", func(m maker) string { return m.block(label + "PRIVATE KEY") }, ""})
	}
	return append(list, planted{"PGP", "private-key", func(m maker) string {
		return strings.Replace(m.block("PGP PRIVATE "+"KEY BLOCK"), "BLOCK-----\n", "BLOCK-----\nVersion: GnuPG v2\n\n", 1)
	}, ""})
}

// byName are found by what stands before them.
func byName() []planted {
	word := func(m maker) string { return m.of(anyChar, 24) }
	pass := func(m maker) string { return m.of(anyChar, 6) + "!" + m.of(anyChar, 6) }
	b := func(m maker) string { return m.base64(48) }
	var list []planted
	add := func(kind, text string, secret func(maker) string) {
		list = append(list, planted{name: text, kind: kind, make: secret, text: text})
	}
	for _, text := range []string{
		"DB_PASSWORD=%s", "export MYSQL_PWD=%s", "PGPASSWORD='%s' psql", `password = "%s"`, "password: %s", "  password: '%s'", `{"password":"%s"}`, `{"user": {"passwd" : "%s", "id": 1}}`,
		"spring.datasource.password=%s", "requirepass: %s", `'password' => '%s',`, `"PASSWORD": "%s",`, "Server=db;User Id=sa;Password=%s;Encrypt=true",
		"host=db user=x password=%s sslmode=off", "//registry.example/:_password=%s", "[pypi]\nusername = bob\npassword = %s",
		"machine git.example login bob password %s", "machine git.example\n  login bob\n  password %s", "mysql -u root -p%s shop", "mysql --password=%s", "sshpass -p %s ssh bob@host",
		"redis-cli -a %s ping", "curl -u bob:%s https://x.example", `["curl", "-u", "bob:%s"]`, "<password>%s</password>", `<add key="DbPassword" value="%s"/>`,
		"- name: DB_PASSWORD\n  value: %s", `{"name": "DB_PASSWORD", "value": "%s"}`, "ENV DB_PASSWORD %s", "ENV DB_PASSWORD=%s", `os.Setenv("DB_PASSWORD", "%s")`,
		`define('DB_PASSWORD', '%s');`, `client.withPassword("%s")`, "ALTER USER bob PASSWORD '%s'", "CREATE USER bob IDENTIFIED BY '%s'", "the password is %s now",
		"密码：%s。谢谢", "パスワード: %s", `const password: string = "%s"`, `password:"%s"`, `if password == "%s" {`, "kubectl create secret generic x --from-literal=password=%s",
		"--set auth.password=%s", "password: |\n  %s\nnext: 1", `$env:DB_PASSWORD = "%s"`, `pass_word = 1; db.pass = "%s"`, "ftp_password=%s\r\n",
	} {
		add("password", text, pass)
	}
	for _, text := range []string{
		"API_TOKEN=%s", `"access_token": "%s"`, `{"refreshToken":"%s"}`, "token: %s", "//registry.example/:_authToken=%s", "X-Auth-Token: %s", "X-Vault-Token: %s", "PRIVATE-TOKEN: %s",
		`token = "%s"`, "CSRF_TOKEN: %s", "PHPSESSID=%s", "access token: %s",
	} {
		if text == "access token: %s" {
			text = "the token is %s"
		}
		add("token", text, word)
	}
	for _, text := range []string{
		"API_KEY=%s", "x-api-key: %s", `"apiKey": "%s"`, "api_key: %s", "api-key=%s", "The API key: %s", "the API key is %s", `apikey = '%s'`, "Ocp-Apim-Subscription-Key: %s",
		"encryption_key = %s", `const apiKey: string = "%s"`, `var apiKey string = "%s"`, `headers["X-API-Key"] = "%s"`, `req.Header.Set("X-Api-Key", "%s")`,
	} {
		add("api-key", text, word)
	}
	for _, text := range []string{"CLIENT_SECRET=%s", `"client_secret":"%s"`, "client_secret: %s", `"secret": "%s"`, "SECRET_KEY_BASE=%s", "webhook_secret = '%s'", "app.secret=%s"} {
		add("secret", text, word)
	}
	add("aws-secret-key", "AWS_SECRET_ACCESS_KEY=%s", func(m maker) string { return m.of(b64, 40) })
	add("aws-secret-key", "aws_secret_access_key = %s", func(m maker) string { return m.of(b64, 40) })
	add("aws-secret-key", `"SecretAccessKey": "%s"`, func(m maker) string { return m.of(b64, 40) })
	add("aws-session-token", "aws_session_token=%s", func(m maker) string { return m.base64(150) })
	add("azure-storage-key", "AccountName=x;AccountKey=%s;EndpointSuffix=core.example", func(m maker) string { return m.base64(64) })
	add("azure-storage-key", "Endpoint=sb://x.example/;SharedAccessKey=%s", func(m maker) string { return m.base64(32) })
	add("query-param", "https://x.blob.example/c?sv=2024-01-01&sig=%s&se=1", func(m maker) string { return m.of(anyChar, 40) + "%2Ba3%3D" })
	add("datadog-key", "DD_API_KEY=%s", func(m maker) string { return m.of(hexes, 32) })
	add("heroku-key", "HEROKU_API_KEY=%s", func(m maker) string { return m.of(hexes, 8) + "-" + m.of(hexes, 4) + "-" + m.of(hexes, 12) })
	add("algolia-key", "ALGOLIA_ADMIN_KEY=%s", func(m maker) string { return m.of(hexes, 32) })
	add("twilio-key", "TWILIO_AUTH_TOKEN=%s", func(m maker) string { return m.of(hexes, 32) })
	add("cloudflare-token", "CLOUDFLARE_API_TOKEN=%s", func(m maker) string { return m.token(40) })
	add("newrelic-key", "NEW_RELIC_LICENSE_KEY=%s", func(m maker) string { return m.of(hexes, 36) + "NRAL" })
	add("credential", "//registry.example/:_auth=%s", b)
	add("credential", `{"auths":{"https://index.example/v1/":{"auth":"%s"}}}`, b)
	add("private-key", "    client-key-data: %s", b)
	add("private-key", "PrivateKey = %s", func(m maker) string { return m.base64(32) })
	add("private-key", `"private_key": "%s"`, func(m maker) string { return "0x" + m.of(hexes, 64) })
	add("seed-phrase", `mnemonic = "%s"`, func(m maker) string {
		words := make([]string, 12)
		for i := range words {
			words[i] = m.of(lowers[6:], 6)
		}
		return strings.Join(words, " ")
	})
	add("ssn", "ssn: %s", func(m maker) string { return m.of(digits, 3) + "-" + m.of(digits, 2) + "-" + m.of(digits, 4) })
	for _, text := range []string{
		"Authorization: Bearer %s", "authorization: Basic %s", `"Authorization": "Bearer %s"`, "Authorization: token %s", "Proxy-Authorization: Basic %s", "curl -H 'Authorization: Bearer %s' x",
		"Authorization: %s", `{"Authorization":"Bearer %s","x":1}`, "send Bearer %s along", `req.Header.Set("Authorization", "Bearer %s")`, "Authorization: SSWS %s", "Authorization: GenieKey %s",
	} {
		add("authorization", text, func(m maker) string { return m.of(anyChar, 40) })
	}
	add("authorization", "Basic %s", func(m maker) string { return base64.StdEncoding.EncodeToString([]byte("bob:" + m.of(anyChar, 14))) })
	add("cookie", "Cookie: theme=dark; sid=%s; lang=en", word)
	add("cookie", "Set-Cookie: session=%s; Path=/; HttpOnly", word)
	add("cookie", `"cookie": "sid=%s"`, word)
	for _, text := range []string{
		"https://bob:%s@x.example/p", "postgres://bob:%s@db:5432/x", "mongodb+srv://bob:%s@c.example/?w=1", "redis://:%s@cache:6379/0", "amqp://bob:%s@q/v", "https://%s@git.example/a/b.git",
		"git clone https://oauth2:%s@git.example/x",
	} {
		add("url-password", text, word)
	}
	add("url-password", "postgres://bob:%s@db/x", func(m maker) string { return m.of(anyChar, 5) + "/" + m.of(anyChar, 5) + "#" + m.of(anyChar, 4) })
	add("sentry-dsn", "https://%s@o123456.ingest.sentry.example/4501", func(m maker) string { return m.of(hexes, 32) })
	for _, text := range []string{
		"https://x.example/cb?access_token=%s&x=1", "GET /a?b=1&api_key=%s HTTP/1.1", "https://x.example/?key=%s", "https://x.example/?a=1&amp;token=%s", `https://x.example/?a=1\u0026token=%s`,
		"redirect=https%%3A%%2F%%2Fx.example%%2F%%3Ftoken%%3D%s%%26a%%3D1", "https://b.example/o?X-Amz-Signature=%s&x=1", "https://x.example/cb?code=%s&state=1",
	} {
		add("query-param", text, word)
	}
	add("slack-webhook", "https://hooks.slack"+".com/services/%s", func(m maker) string { return "T" + m.of(uppers, 8) + "/B" + m.of(uppers, 8) + "/" + m.of(anyChar, 24) })
	add("discord-webhook", "https://discord"+".com/api/webhooks/%s", func(m maker) string { return m.of(digits, 18) + "/" + m.token(68) })
	add("teams-webhook", "https://x.webhook.office"+".com/webhookb2/%s", func(m maker) string { return m.of(hexes, 36) + "@" + m.of(hexes, 36) })
	add("zapier-webhook", "https://hooks.zapier"+".com/hooks/catch/%s/", func(m maker) string { return m.of(digits, 7) + "/" + m.of(anyChar, 12) })
	return list
}

// places are the positions a secret is put in. The text around it must come out as
// it went in.
func places() map[string]func(string) string {
	quote := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			panic(err)
		}
		return string(b)
	}
	// Angle brackets and ampersands stay readable, as most encoders leave them.
	plainQuote := func(s string) string {
		return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(quote(s))
	}
	return map[string]func(string) string{
		"alone":                  func(s string) string { return s },
		"start":                  func(s string) string { return s + "\nand then we went on." },
		"end":                    func(s string) string { return "We used this one:\n" + s },
		"JSON string":            func(s string) string { return `{"content":` + plainQuote("see\n"+s+"\nthere") + `,"n":1}` },
		"JSON string of its own": func(s string) string { return `{"content":` + plainQuote(s) + `}` },
		"escaped JSON":           func(s string) string { return `{"arguments":` + plainQuote(`{"text":`+plainQuote(s)+`}`) + `}` },
		"twice escaped JSON": func(s string) string {
			return plainQuote(`{"arguments":` + plainQuote(`{"text":`+plainQuote("a\n"+s+"\nb")+`}`) + `}`)
		},
		"JSON with HTML escapes":  func(s string) string { return `{"content":` + quote("see\n"+s+"\nthere") + `}` },
		"Markdown fence":          func(s string) string { return "Run:\n\n```sh\n" + s + "\n```\n\nThen stop." },
		"Markdown list and quote": func(s string) string { return "> quoted\n\n- " + s + "\n- other" },
		"YAML block":              func(s string) string { return "data:\n  text: |\n    " + s + "\n  other: 1" },
		"Chinese around":          func(s string) string { return "请看\n" + s + "\n这是说明。" },
		"emoji and accents":       func(s string) string { return "🔑 clé\n" + s + "\n✅ été" },
		"carriage returns":        func(s string) string { return "a\r\n" + s + "\r\nb" },
		"diff":                    func(s string) string { return "@@ -1 +1 @@\n+" + s + "\n-old" },
	}
}

// tightPlaces are for secrets that are found without a name.
func tightPlaces() map[string]func(string) string {
	return map[string]func(string) string{
		"in a sentence":          func(s string) string { return "I used " + s + " for it." },
		"end of a sentence":      func(s string) string { return "I used " + s + "." },
		"Chinese on both sides":  func(s string) string { return "使用" + s + "。完成" },
		"Chinese letters beside": func(s string) string { return "密钥为" + s + "然后" },
		"env line":               func(s string) string { return "export SOMETHING=" + s + "\n" },
		"YAML":                   func(s string) string { return "a:\n  something: " + s + "\n  b: 1" },
		"quoted in code":         func(s string) string { return "client := New(\"" + s + "\", 1)" },
		"backquotes":             func(s string) string { return "use `" + s + "` here" },
		"header":                 func(s string) string { return "X-Something: " + s + "\r\nAccept: */*" },
		"path of an address":     func(s string) string { return "GET https://x.example/v1/" + s + "/items" },
		"parenthesis":            func(s string) string { return "(" + s + ")" },
		"bold":                   func(s string) string { return "**" + s + "**" },
		"coloured":               func(s string) string { return "\x1b[32m" + s + "\x1b[0m ok" },
		"XML":                    func(s string) string { return "<v>" + s + "</v>" },
		"list":                   func(s string) string { return "a," + s + ",b" },
		"table":                  func(s string) string { return "| key | " + s + " |" },
		"tab":                    func(s string) string { return "key\t" + s + "\tx" },
		"log line":               func(s string) string { return `{"level":"info","msg":"using ` + s + `","t":1}` },
	}
}

func TestEveryKindInEveryPlace(t *testing.T) {
	kinds := make(map[string]bool)
	check := func(p planted, place, text, secret, want string) {
		t.Helper()
		r := New()
		got := r.Text(text)
		kinds[p.kind] = true
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, %s: -want +got\n%s", p.name, place, diff)
		}
		if again := New().Text(got); again != got {
			t.Errorf("%s, %s: a second pass changed %q to %q", p.name, place, got, again)
		}
		if left := survivor(secret, got); left != "" {
			t.Errorf("%s, %s: %q of the secret is left", p.name, place, left)
		}
	}
	for i, p := range byForm() {
		for round := range uint64(3) {
			secret := p.make(newMaker(uint64(i)*10 + round))
			shown := "[SECRET:" + p.kind + "#1]"
			for name, place := range places() {
				check(p, name, place(secret), secret, place(shown))
			}
			if strings.Contains(secret, "\n") {
				continue
			}
			for name, place := range tightPlaces() {
				if name == "path of an address" && (p.kind == KindCardNumber || slashes(p.name)) {
					continue // a number there is an identifier, and some keys hold slashes themselves
				}
				check(p, name, place(secret), secret, place(shown))
			}
		}
	}
	for i, p := range byName() {
		for round := range uint64(3) {
			secret := p.make(newMaker(1e6 + uint64(i)*10 + round))
			for name, place := range places() {
				check(p, name, place(fmt.Sprintf(p.text, secret)), secret, place(fmt.Sprintf(p.text, "[SECRET:"+p.kind+"#1]")))
			}
		}
	}
	if len(kinds) < 60 {
		t.Errorf("%d kinds are tested, want 60 or more", len(kinds))
	}
	for _, k := range Kinds() {
		if !kinds[k] {
			t.Errorf("no planted secret of the kind %s", k)
		}
	}
}

// slashes reports whether a secret may hold a '/', so that the path it stands in
// cannot be told from it.
func slashes(name string) bool {
	for _, v := range vendors {
		if (v.set == base64Set || v.set == pathSet) && strings.HasSuffix(name, v.prefix) {
			return true
		}
	}
	return name == "bcrypt" || name == "crypt" || name == "base64 of a PEM block"
}

// survivor returns eight characters in a row of a secret that are left in a text,
// "" for none.
func survivor(secret, text string) string {
	for i := 0; i+8 <= len(secret); i++ {
		part := secret[i : i+8]
		if strings.Contains(text, part) && !strings.Contains(part, "PRIVATE") && !strings.Contains(part, "----") && strings.ContainsAny(part, "23456789") {
			return part
		}
	}
	return ""
}
