package planted

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// Secret is one way in which secrets are written.
type Secret struct {
	// Name names it in test output. Kind is the kind a redactor gives it.
	Name, Kind string
	// Make makes another one.
	Make func(m Maker) string
	// Text holds "%s" where the secret stands. It is "" for a secret that is one
	// wherever it stands, and not only beside its name.
	Text string
}

// In is the text that holds the secret.
func (s *Secret) In(secret string) string {
	if s.Text == "" {
		return secret
	}
	return fmt.Sprintf(s.Text, secret)
}

// prefixed makes the secrets of a vendor.
func prefixed(kind, prefix, alphabet string, n int) Secret {
	return Secret{Name: kind + " " + prefix, Kind: kind, Make: func(m Maker) string {
		if alphabet == TokenChars {
			return prefix + m.Token(n)
		}
		return prefix + m.Of(alphabet, n)
	}}
}

// ByForm are the secrets that are found wherever they stand.
func ByForm() []Secret {
	list := []Secret{
		prefixed("aws-key", "AKIA", base32, 16), prefixed("aws-key", "ASIA", base32, 16),
		prefixed("aws-session-token", "IQoJb3JpZ2lu", Base64Chars, 200),
		prefixed("bedrock-key", "ABSKQmVkcm9ja0FQSUtleS", Base64Chars, 80),
		prefixed("google-key", "AIza", TokenChars, 35), prefixed("google-client-secret", "GOCSPX-", TokenChars, 28), prefixed("google-oauth-token", "ya29.", TokenChars, 60),
		prefixed("digitalocean-token", "dop_v1_", Hexes, 64), prefixed("alibaba-key", "LTAI", AnyChar, 20), prefixed("tencent-key", "AKID", AnyChar, 32),
		prefixed("volcengine-key", "AKLT", AnyChar, 44), prefixed("heroku-key", "HRKU-", TokenChars, 60), prefixed("netlify-token", "nfp_", AnyChar, 40),
		prefixed("vercel-token", "vcp_", AnyChar, 56), prefixed("fly-token", "fm2_", Base64Chars, 100), prefixed("render-key", "rnd_", AnyChar, 28),
		prefixed("supabase-key", "sbp_", Hexes, 40), prefixed("supabase-key", "sb_secret_", TokenChars, 31), prefixed("planetscale-token", "pscale_tkn_", TokenChars, 43),
		prefixed("neon-key", "napi_", Lowers+Digits, 64), prefixed("mongodb-secret", "mdb_sa_sk_", TokenChars, 40), prefixed("tailscale-key", "tskey-auth-", TokenChars, 40),
		prefixed("cloudflare-token", "cfut_", AnyChar, 40), prefixed("contentful-token", "CFPAT-", TokenChars, 43), prefixed("yandex-token", "y0_", TokenChars, 55),
		prefixed("github-token", "ghp_", AnyChar, 36), prefixed("github-token", "gho_", AnyChar, 36), prefixed("github-token", "ghs_", AnyChar, 36),
		prefixed("github-token", "github_pat_", AnyChar, 82), prefixed("gitlab-token", "glpat-", TokenChars, 20), prefixed("gitlab-token", "glrt-", TokenChars, 20),
		prefixed("npm-token", "npm_", AnyChar, 36), prefixed("pypi-token", "pypi-AgEIcHlwaS5vcmc", TokenChars, 120), prefixed("rubygems-key", "rubygems_", Hexes, 48),
		prefixed("nuget-key", "oy2", Lowers+Digits, 43), prefixed("clojars-token", "CLOJARS_", Hexes, 60), prefixed("docker-token", "dckr_pat_", TokenChars, 27),
		prefixed("sonar-token", "sqp_", Hexes, 40), prefixed("circleci-token", "CCIPAT_", TokenChars, 60), prefixed("buildkite-token", "bkua_", Hexes, 40),
		prefixed("jfrog-key", "AKCp", AnyChar, 69), prefixed("postman-key", "PMAK-", Hexes, 59), prefixed("pulumi-token", "pul-", Hexes, 40),
		prefixed("prefect-key", "pnu_", AnyChar, 36), prefixed("infracost-key", "ico-", AnyChar, 32), prefixed("snyk-token", "snyk_uat.", TokenChars, 60),
		prefixed("vault-token", "hvs.", TokenChars, 90), prefixed("vault-token", "hvb.", TokenChars, 130), prefixed("doppler-token", "dp.pt.", AnyChar, 43),
		prefixed("onepassword-token", "ops_eyJ", AnyChar, 250), prefixed("private-key", "AGE-SECRET-KEY-1", uppers+Digits, 58),
		prefixed("fernet-token", "gAAAA", TokenChars, 90), prefixed("private-key", "xprv9", AnyChar, 105),
		prefixed("anthropic-key", "sk-ant-api03-", TokenChars, 95), prefixed("openai-key", "sk-proj-", TokenChars, 120), prefixed("openai-key", "sk-svcacct-", TokenChars, 60),
		prefixed("api-key", "sk-", AnyChar, 48), prefixed("openrouter-key", "sk-or-v1-", Hexes, 64), prefixed("langfuse-key", "sk-lf-", Hexes, 36),
		prefixed("langsmith-key", "lsv2_pt_", Hexes, 32), prefixed("elevenlabs-key", "sk_", Hexes, 48), prefixed("cerebras-key", "csk-", AnyChar, 48),
		prefixed("huggingface-token", "hf_", AnyChar, 34), prefixed("replicate-token", "r8_", AnyChar, 37), prefixed("groq-key", "gsk_", AnyChar, 52),
		prefixed("xai-key", "xai-", AnyChar, 80), prefixed("perplexity-key", "pplx-", AnyChar, 48), prefixed("fireworks-key", "fw_", AnyChar, 24),
		prefixed("together-key", "tgp_v1_", TokenChars, 43), prefixed("nvidia-key", "nvapi-", TokenChars, 64), prefixed("tavily-key", "tvly-dev-", AnyChar, 32),
		prefixed("exa-key", "exa_", AnyChar, 32), prefixed("firecrawl-key", "fc-", Hexes, 32), prefixed("fal-key", "fal_", AnyChar, 40),
		prefixed("pinecone-key", "pcsk_", TokenChars, 70), prefixed("wandb-key", "wandb_v1_", TokenChars, 60), prefixed("agentmail-key", "am_", Hexes, 64),
		prefixed("slack-token", "xoxb-", Digits, 12), prefixed("slack-token", "xoxp-", TokenChars, 60), prefixed("slack-token", "xapp-1-", TokenChars, 80),
		prefixed("twilio-key", "SK", Hexes, 32), prefixed("mailgun-key", "key-", Hexes, 32), prefixed("brevo-key", "xkeysib-", Hexes, 81),
		prefixed("mailersend-key", "mlsn.", Hexes, 64), prefixed("resend-key", "re_", AnyChar, 32),
		prefixed("stripe-key", "sk_live_", AnyChar, 24), prefixed("stripe-key", "rk_live_", AnyChar, 24), prefixed("stripe-webhook-secret", "whsec_", AnyChar, 32),
		prefixed("shopify-token", "shpat_", Hexes, 32), prefixed("square-token", "sq0atp-", TokenChars, 22), prefixed("square-token", "EAAAE", TokenChars, 60),
		prefixed("facebook-token", "EAAG", AnyChar, 160), prefixed("razorpay-key", "rzp_live_", AnyChar, 14), prefixed("flutterwave-key", "FLWSECK-", TokenChars, 34),
		prefixed("easypost-key", "EZAK", AnyChar, 54), prefixed("shippo-token", "shippo_live_", Hexes, 40), prefixed("duffel-token", "duffel_live_", TokenChars, 43),
		prefixed("plaid-token", "access-production-", Hexes, 36), prefixed("linear-key", "lin_api_", AnyChar, 40), prefixed("notion-token", "ntn_", AnyChar, 46),
		prefixed("notion-token", "secret_", AnyChar, 43), prefixed("atlassian-token", "ATATT3xFfGF0", TokenChars, 180), prefixed("atlassian-token", "ATBB", AnyChar, 32),
		prefixed("figma-token", "figd_", TokenChars, 40), prefixed("readme-key", "rdme_", Lowers+Digits, 70), prefixed("typeform-token", "tfp_", TokenChars, 59),
		prefixed("frameio-token", "fio-u-", TokenChars, 64), prefixed("adafruit-key", "aio_", AnyChar, 28), prefixed("grafana-token", "glsa_", AnyChar, 41),
		prefixed("grafana-token", "glc_", Base64Chars, 120), prefixed("newrelic-key", "NRAK-", uppers+Digits, 27), prefixed("sentry-token", "sntrys_", Base64Chars, 100),
		prefixed("sentry-token", "sntryu_", Hexes, 64), prefixed("datadog-key", "ddapp_", AnyChar, 34), prefixed("dynatrace-token", "dt0c01.", TokenChars, 90),
		prefixed("databricks-token", "dapi", Hexes, 32), prefixed("baidu-key", "bce-v3/ALTAK-", TokenChars, 50),
		{"SendGrid", "sendgrid-key", func(m Maker) string { return "SG." + m.Token(22) + "." + m.Token(43) }, ""},
		{"Zhipu", "zhipu-key", func(m Maker) string { return m.Of(Hexes, 32) + "." + m.Of(AnyChar, 16) }, ""},
		{"Terraform Cloud", "terraform-token", func(m Maker) string { return m.Of(AnyChar, 14) + ".atlasv1." + m.Token(67) }, ""},
		{"Airtable", "airtable-token", func(m Maker) string { return "pat" + m.Of(AnyChar, 14) + "." + m.Of(Hexes, 64) }, ""},
		{"Dropbox", "dropbox-token", func(m Maker) string { return "sl." + m.Token(140) }, ""},
		{"Discord", "discord-token", func(m Maker) string {
			return base64.RawStdEncoding.EncodeToString([]byte("1"+m.Of(Digits, 17))) + "." + m.Of(AnyChar, 6) + "." + m.Token(38)
		}, ""},
		{"Mailgun by form", "mailgun-key", func(m Maker) string { return m.Of(Hexes, 32) + "-" + m.Of(Hexes, 8) + "-" + m.Of(Hexes, 8) }, ""},
		{"Mailchimp", "mailchimp-key", func(m Maker) string { return m.Of(Hexes, 32) + "-us" + "12" }, ""},
		{"Azure client secret", "azure-client-secret", func(m Maker) string { return m.Of(AnyChar, 3) + "8Q~" + m.Token(34) }, ""},
		{"Telegram", "telegram-token", func(m Maker) string { return "7" + m.Of(Digits, 9) + ":AA" + m.Token(33) }, ""},
		{"JWT", "jwt", Maker.jwt, ""},
		{"AWS key that begins with an escape", "aws-key", func(m Maker) string { return `\u0041KIA` + m.Of(base32, 16) }, ""},
		{"OpenAI key with escapes", "openai-key", func(m Maker) string { return `\u0073k\u002dproj-` + m.Token(24) + `\u005f` + m.Token(24) }, ""},
		{"bcrypt", "password-hash", func(m Maker) string { return "$2b$12$" + m.Of(AnyChar, 53) }, ""},
		{"crypt", "password-hash", func(m Maker) string { return "$6$" + m.Of(AnyChar, 12) + "$" + m.Of(AnyChar, 86) }, ""},
		{"Visa", "card-number", func(m Maker) string { return m.card("4", 16) }, ""},
		{"Mastercard in groups", "card-number", func(m Maker) string {
			c := m.card("53", 16)
			return c[:4] + "-" + c[4:8] + "-" + c[8:12] + "-" + c[12:]
		}, ""},
		{"American Express", "card-number", func(m Maker) string { return m.card("37", 15) }, ""},
		{"base64 of a PEM block", "kubeconfig-key", func(m Maker) string {
			return base64.StdEncoding.EncodeToString([]byte(m.Block("RSA " + "PRIVATE KEY")))
		}, ""},
	}
	for _, label := range []string{"", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA "} {
		list = append(list, Secret{"PEM " + label, "private-key", func(m Maker) string { return m.Block(label + "PRIVATE KEY") }, ""})
	}
	return append(list, Secret{"PGP", "private-key", func(m Maker) string {
		return strings.Replace(m.Block("PGP PRIVATE "+"KEY BLOCK"), "BLOCK-----\n", "BLOCK-----\nVersion: GnuPG v2\n\n", 1)
	}, ""})
}
