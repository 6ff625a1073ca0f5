package redact

import "slices"

// The kinds of secret that do not belong to one vendor, as they stand in
// placeholders and counts. [Kinds] lists all.
const (
	KindAPIKey        = "api-key"       // vendor keys without a kind of their own, api_key fields, x-api-key headers
	KindAuthorization = "authorization" // the credential of an Authorization header; its scheme word stays
	KindCardNumber    = "card-number"   // payment cards: known issuer, right length, right check digit
	KindCookie        = "cookie"        // values in Cookie and Set-Cookie headers
	KindCredential    = "credential"    // fields named credential or auth
	KindJWT           = "jwt"
	KindPassword      = "password"
	KindPasswordHash  = "password-hash" // crypt(3) forms such as $2b$ and $6$
	KindPrivateKey    = "private-key"   // PEM, OpenSSH, PGP and PuTTY blocks; fields named private_key; age keys
	KindQueryParam    = "query-param"   // token, key, code, signature and the like in an address
	KindSecret        = "secret"
	KindSSN           = "ssn" // a social security number in a field of that name
	KindToken         = "token"
	KindURLPassword   = "url-password" // scheme://user:PASSWORD@host
)

// The kinds that one rule or another names besides the table of prefixes.
const (
	kindAirtable        = "airtable-token"
	kindAWSKey          = "aws-key"
	kindAWSSecret       = "aws-secret-key"
	kindAWSSession      = "aws-session-token"
	kindAzureSecret     = "azure-client-secret"
	kindAzureStorage    = "azure-storage-key"
	kindDiscordToken    = "discord-token"
	kindDiscordWebhook  = "discord-webhook"
	kindDropbox         = "dropbox-token"
	kindMailchimp       = "mailchimp-key"
	kindMailgun         = "mailgun-key"
	kindSendGrid        = "sendgrid-key"
	kindSentryDSN       = "sentry-dsn"
	kindSlackWebhook    = "slack-webhook"
	kindTeamsWebhook    = "teams-webhook"
	kindTelegram        = "telegram-token"
	kindTerraform       = "terraform-token"
	kindZapierWebhook   = "zapier-webhook"
	kindZhipu           = "zhipu-key"
	kindDatadog         = "datadog-key"
	kindHeroku          = "heroku-key"
	kindAlgolia         = "algolia-key"
	kindTwilio          = "twilio-key"
	kindCloudflare      = "cloudflare-token"
	kindNewRelic        = "newrelic-key"
	kindMnemonic        = "seed-phrase"
	kindKubeconfigToken = "kubeconfig-key"
)

var ruleKinds = [...]string{
	KindAPIKey, KindAuthorization, KindCardNumber, KindCookie, KindCredential, KindJWT, KindPassword, KindPasswordHash,
	KindPrivateKey, KindQueryParam, KindSecret, KindSSN, KindToken, KindURLPassword,
	kindAirtable, kindAWSKey, kindAWSSecret, kindAWSSession, kindAzureSecret, kindAzureStorage, kindDiscordToken,
	kindDiscordWebhook, kindDropbox, kindMailchimp, kindMailgun, kindSendGrid, kindSentryDSN, kindSlackWebhook,
	kindTeamsWebhook, kindTelegram, kindTerraform, kindZapierWebhook, kindZhipu, kindDatadog, kindHeroku, kindAlgolia,
	kindTwilio, kindCloudflare, kindNewRelic, kindMnemonic, kindKubeconfigToken,
}

// allKinds is sorted and never written to.
var allKinds = func() []string {
	out := slices.Clone(ruleKinds[:])
	for _, v := range vendors {
		out = append(out, v.kind)
	}
	slices.Sort(out)
	return slices.Compact(out)
}()

// Kinds lists every kind a placeholder or a [Count] can have, in alphabetical
// order.
func Kinds() []string { return slices.Clone(allKinds) }

func isKind(s string) bool {
	_, ok := slices.BinarySearch(allKinds, s)
	return ok
}
