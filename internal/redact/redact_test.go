package redact

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// join builds a secret out of parts, so that none stands whole in this file.
func join(parts ...string) string { return strings.Join(parts, "") }

const alnum40 = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bD1fG3hJ5kL7n"

func TestSecretsBecomeTypedPlaceholders(t *testing.T) {
	pem := join("-----BEGIN RSA ", "PRIVATE KEY-----\nMIIEow\nabc+/=\n-----END RSA ", "PRIVATE KEY-----")
	jwt := join("eyJ", "hbGciOiJIUzI1NiJ9", ".eyJzdWIiOiIxMjM0In0", ".dozjgNryP4J3jVmNHl0w5N")
	tests := map[string]struct{ in, want string }{
		"OpenAI key":                           {"key " + join("sk-", alnum40) + " end", "key [SECRET:api-key#1] end"},
		"Anthropic key":                        {join("sk-ant-", "api03-", alnum40), "[SECRET:anthropic-key#1]"},
		"GitHub token":                         {"use " + join("ghp_", alnum40[:36]), "use [SECRET:github-token#1]"},
		"fine-grained GitHub token":            {join("github_pat_", "11ABCDEFG0", alnum40), "[SECRET:github-token#1]"},
		"GitLab token":                         {join("glpat-", alnum40[:20]), "[SECRET:gitlab-token#1]"},
		"Slack token":                          {join("xoxb-", "123456789012-", alnum40[:12]), "[SECRET:slack-token#1]"},
		"Google key":                           {join("AIza", alnum40[:35]), "[SECRET:google-key#1]"},
		"AWS key id":                           {"id=" + join("AKIA", "IOSFODNN7EXAMPLE"), "id=[SECRET:aws-key#1]"},
		"Stripe key":                           {join("sk_live_", alnum40[:24]), "[SECRET:stripe-key#1]"},
		"SendGrid key":                         {join("SG", ".", alnum40[:22], ".", alnum40), "[SECRET:sendgrid-key#1]"},
		"hex and secret with a dot":            {join("0123456789abcdef0123456789abcdef", ".", "aB3dE5gH7jK9mN1p"), "[SECRET:zhipu-key#1]"},
		"Telegram token":                       {"bot " + join("123456789", ":AA", alnum40[:33]), "bot [SECRET:telegram-token#1]"},
		"token cut by zero width":              {join("ghp_", alnum40[:18], "\u200b", alnum40[18:36]) + " x", "[SECRET:github-token#1] x"},
		"JWT":                                  {"t: " + jwt + ".", "t: [SECRET:jwt#1]."},
		"PEM":                                  {"a\n" + pem + "\nb", "a\n[SECRET:private-key#1]\nb"},
		"PEM inside a JSON string":             {`{"k":"` + strings.ReplaceAll(pem, "\n", `\n`) + `"}`, `{"k":"[SECRET:private-key#1]"}`},
		"PEM without an end":                   {join("-----BEGIN ", "PRIVATE KEY-----\nMIIEow\nabc=\n\nnext"), "[SECRET:private-key#1]\n\nnext"},
		"Authorization bearer":                 {"Authorization: Bearer " + alnum40, "Authorization: Bearer [SECRET:authorization#1]"},
		"Authorization basic":                  {`"Authorization": "Basic dXNlcjpwYXNzd29yZDE="`, `"Authorization": "Basic [SECRET:authorization#1]"`},
		"bearer in a command":                  {"curl -H 'Authorization: Bearer " + alnum40 + "' x", "curl -H 'Authorization: Bearer [SECRET:authorization#1]' x"},
		"bearer in prose":                      {"send Bearer " + alnum40 + " along", "send Bearer [SECRET:authorization#1] along"},
		"x-api-key header":                     {"x-api-key: " + alnum40, "x-api-key: [SECRET:api-key#1]"},
		"env assignment":                       {"export DB_PASSWORD=hunter2x\n", "export DB_PASSWORD=[SECRET:password#1]\n"},
		"env token":                            {"API_TOKEN=abc123def456", "API_TOKEN=[SECRET:token#1]"},
		"env secret in capitals":               {"AWS_SECRET_ACCESS_KEY=" + alnum40, "AWS_SECRET_ACCESS_KEY=[SECRET:aws-secret-key#1]"},
		"YAML password":                        {"db:\n  password: swordfish\n  port: 5432", "db:\n  password: [SECRET:password#1]\n  port: 5432"},
		"dotted config key":                    {"spring.datasource.password=swordfish", "spring.datasource.password=[SECRET:password#1]"},
		"JSON field":                           {`{"password": "hunter2", "n": 1}`, `{"password": "[SECRET:password#1]", "n": 1}`},
		"camel-case JSON field":                {`{"apiKey":"q9w8e7r6t5"}`, `{"apiKey":"[SECRET:api-key#1]"}`},
		"escaped JSON field":                   {`"{\"client_secret\": \"s3cr3tvalue\"}"`, `"{\"client_secret\": \"[SECRET:secret#1]\"}"`},
		"twice escaped JSON field":             {`\\\"access_token\\\":\\\"abc123def456\\\"`, `\\\"access_token\\\":\\\"[SECRET:token#1]\\\"`},
		"Python repr":                          {`{'password': 'hunter2'}`, `{'password': '[SECRET:password#1]'}`},
		"password in an address":               {`{"url":"https://x:s3cr3t@db.example/q"}`, `{"url":"https://x:[SECRET:url-password#1]@db.example/q"}`},
		"database address":                     {"postgres://bob:pa:ss@db:5432/x", "postgres://bob:[SECRET:url-password#1]@db:5432/x"},
		"token as user of an address":          {"https://" + alnum40 + "@git.example/x", "https://[SECRET:url-password#1]@git.example/x"},
		"query parameter":                      {"GET /cb?code=4f9a8b7c6d5e&state=1", "GET /cb?code=[SECRET:query-param#1]&state=1"},
		"signed address":                       {"https://b.example/o?X-Amz-Signature=abcdef0123456789&x=1", "https://b.example/o?X-Amz-Signature=[SECRET:query-param#1]&x=1"},
		"form body":                            {"grant_type=x&client_secret=swordfish&a=b", "grant_type=x&client_secret=[SECRET:query-param#1]&a=b"},
		"command option":                       {"mysql --password hunter2 -h db", "mysql --password [SECRET:password#1] -h db"},
		"curl user":                            {"curl -u admin:hunter2 http://x", "curl -u admin:[SECRET:password#1] http://x"},
		"password in prose":                    {"log in as bob, password: hunter2, then", "log in as bob, password: [SECRET:password#1], then"},
		"same secret, same number":             {"A_TOKEN=abc123def456 B_TOKEN=zzz999yyy888 A_TOKEN=abc123def456", "A_TOKEN=[SECRET:token#1] B_TOKEN=[SECRET:token#2] A_TOKEN=[SECRET:token#1]"},
		"token wrapped to the next line":       {join("ghp_", alnum40[:20], "\n  ", alnum40[20:36]) + "\nx", "[SECRET:github-token#1]\nx"},
		"token wrapped in JSON":                {`"` + join("npm_", alnum40[:10], `\\n`, alnum40[10:36]) + `"`, `"[SECRET:npm-token#1]"`},
		"token wrapped by a shell":             {join("AKIA", "IOSFODNN", "\\\n", "7EXAMPLE"), "[SECRET:aws-key#1]"},
		"JWT wrapped":                          {jwt[:50] + "\n" + jwt[50:] + "\nx", "[SECRET:jwt#1]\nx"},
		"AWS pair":                             {"id,secret\n" + join("AKIA", "IOSFODNN7EXAMPLE", ",", alnum40) + "\n", "id,secret\n[SECRET:aws-key#1],[SECRET:aws-secret-key#1]\n"},
		"PEM quoted and numbered":              {"> 1: " + strings.ReplaceAll(pem, "\n", "\n> 2: ") + "\nb", "> 1: [SECRET:private-key#1]\nb"},
		"PEM put together in code":             {`k := "` + strings.ReplaceAll(pem, "\n", "\\n\" +\n\t\"") + `"`, `k := "[SECRET:private-key#1]"`},
		"PuTTY key":                            {"Private-Lines: 2\n" + strings.Repeat(alnum40[:32], 2) + "\n" + alnum40[:20] + "\nPrivate-MAC: 1", "Private-Lines: 2\n[SECRET:private-key#1]\nPrivate-MAC: 1"},
		"quote in a password":                  {`{"password":"a1\"b2\"c3","n":1}`, `{"password":"[SECRET:password#1]","n":1}`},
		"quote in an escaped password":         {`"{\"password\":\"a1\\\"b2\",\"n\":1}"`, `"{\"password\":\"[SECRET:password#1]\",\"n\":1}"`},
		"password with list signs":             {"DB_PASSWORD=a1,b{2}c|d\nX=1", "DB_PASSWORD=[SECRET:password#1]\nX=1"},
		"password that begins like a variable": {`password = "$3cr3t!x"`, `password = "[SECRET:password#1]"`},
		"digest header":                        {`Authorization: Digest username="bob", nonce="a1b2c3d4", response="0123456789abcdef"` + "\nX: 1", "Authorization: Digest [SECRET:authorization#1]\nX: 1"},
		"AWS signature header":                 {"Authorization: AWS4-HMAC-SHA256 Credential=x/20260101/r/s3/aws4_request, SignedHeaders=host, Signature=0123456789abcdef", "Authorization: AWS4-HMAC-SHA256 [SECRET:authorization#1]"},
		"several cookies":                      {"Cookie: a=0123456789ab; lang=en; b=cd0123456789", "Cookie: a=[SECRET:cookie#1]; lang=en; b=[SECRET:cookie#2]"},
		"secret in a false placeholder":        {"[SECRET:token#" + join("ghp_", alnum40[:36]) + "]", "[SECRET:[SECRET:secret#1]]"},
		"secret after a placeholder":           {`password="[SECRET:password#4]hunter2x"`, `password="[SECRET:password#5]"`},
		"form tells more than the name":        {"API_KEY=" + join("sk-ant-", "api03-", alnum40), "API_KEY=[SECRET:anthropic-key#1]"},
		"secret without a name comes first":    {"mysql hunter2xyz\nDB_PASSWORD=hunter2xyz", "mysql [SECRET:password#1]\nDB_PASSWORD=[SECRET:password#1]"},
		"ordinary password is not sought":      {"POSTGRES_PASSWORD=postgres and postgres runs", "POSTGRES_PASSWORD=[SECRET:password#1] and postgres runs"},
		"secret that begins with a plus":       {`AWS_SECRET_ACCESS_KEY="+` + alnum40[1:] + `"`, `AWS_SECRET_ACCESS_KEY="[SECRET:aws-secret-key#1]"`},
		"env value that says token":            {"API_TOKEN=mytoken123abc", "API_TOKEN=[SECRET:token#1]"},
		"field that says secret":               {`"api_key": "my-secret-4711"`, `"api_key": "[SECRET:api-key#1]"`},
		"configuration command":                {"aws configure set aws_secret_access_key " + alnum40, "aws configure set aws_secret_access_key [SECRET:aws-secret-key#1]"},
		"user and pass":                        {"user: bob pass: hunter2x", "user: bob pass: [SECRET:password#1]"},
		"npm configuration":                    {"npm config set //registry.example/:_authToken " + alnum40, "npm config set //registry.example/:_authToken [SECRET:token#1]"},
		"login of a request":                   {`requests.get(u, auth=("bob", "hunter2x"))`, `requests.get(u, auth=("bob", "[SECRET:password#1]"))`},
		"login of a client":                    {`req.SetBasicAuth("bob", "hunter2x")`, `req.SetBasicAuth("bob", "[SECRET:password#1]")`},
		"escaped and plain, same number":       {`{"pass\u0077ord":"hunter2xyz"} hunter2xyz`, `{"pass\u0077ord":"[SECRET:password#1]"} [SECRET:password#1]`},
		"named secret found again, escaped":    {`DB_PASSWORD=hunter2&xyz` + "\n" + `{"a":"hunter2\u0026xyz","b":"hunter2%26xyz, hunter2&amp;xyz"}`, "DB_PASSWORD=[SECRET:password#1]\n" + `{"a":"[SECRET:password#1]","b":"[SECRET:password#1], [SECRET:password#1]"}`},
		"escape in a token":                    {join("ghp%5F", alnum40[:36]), "[SECRET:github-token#1]"},
		"escaped name, escaped value":          {`{"passw\u006frd":"\u0068unter2\u0026xyz"}`, `{"passw\u006frd":"[SECRET:password#1]"}`},
		"far from an escape":                   {"%41 " + strings.Repeat("x ", 2000) + "DB_PASSWORD=hunter2x", "%41 " + strings.Repeat("x ", 2000) + "DB_PASSWORD=[SECRET:password#1]"},
		"escapes far apart":                    {"a%3D1 " + strings.Repeat("x ", 2000) + "postgres%3A%2F%2Fbob%3Ahunter2x%40db", "a%3D1 " + strings.Repeat("x ", 2000) + "postgres%3A%2F%2Fbob%3A[SECRET:url-password#1]%40db"},
		"escapes in the JSON of JSON":          {`{"a":"{\"pass\\u0077ord\":\"hunter2x\"}"}`, `{"a":"{\"pass\\u0077ord\":\"[SECRET:password#1]\"}"}`},
		"HTML in HTML in JSON":                 {`{"a":"\u0026amp;quot;password\u0026amp;quot;:\u0026amp;quot;hunter2x\u0026amp;quot;"}`, `{"a":"\u0026amp;quot;password\u0026amp;quot;:\u0026amp;quot;[SECRET:password#1]\u0026amp;quot;"}`},
		"named secret found again":             {"DB_PASSWORD=hunter2xyz\nmysql -p hunter2xyz", "DB_PASSWORD=[SECRET:password#1]\nmysql -p [SECRET:password#1]"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := New().Text(tt.in)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if again := New().Text(got); again != got {
				t.Errorf("a second pass changed %q to %q", got, again)
			}
		})
	}
}

func TestCountsAreByKind(t *testing.T) {
	r := New()
	r.Text("A_TOKEN=abc123def456 DB_PASSWORD=hunter2x A_TOKEN=abc123def456")
	r.Text("B_TOKEN=zzz999yyy888")
	want := []Count{{KindPassword, 1, 1}, {KindToken, 2, 3}}
	if diff := cmp.Diff(want, r.Counts()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestReserveContinuesTheNumbersOfAnEarlierText(t *testing.T) {
	r := New()
	r.Reserve("old [SECRET:token#4] and [SECRET:token#2], [SECRET:token")
	if got, want := r.Text("A_TOKEN=abc123def456"), "A_TOKEN=[SECRET:token#5]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAgainGivesTheNumbersOfTheRequest(t *testing.T) {
	r := New()
	r.Text("DB_PASSWORD=hunter2xyz and " + join("ghp_", alnum40[:36]))
	got, found := r.Again("Log in with hunter2xyz or " + join("ghp_", alnum40[:36]) + " or " + join("gho_", alnum40[:36]) + ", not [SECRET:password#1].")
	want := "Log in with [SECRET:password#1] or [SECRET:github-token#1] or [SECRET:github-token#2], not [SECRET:password#1]."
	if diff := cmp.Diff(want, got); diff != "" || found != 3 {
		t.Errorf("%d found, want 3; -want +got\n%s", found, diff)
	}
	if got, found := r.Again(want); got != want || found != 0 {
		t.Errorf("a clean answer became %q with %d found", got, found)
	}
}

func TestPlaceholdersOfTheCallerKeepTheirNumbers(t *testing.T) {
	got := New().Text("[SECRET:token#2] A_TOKEN=abc123def456 [SECRET:token#99999999999999999999] [SECRET:nonsense#7]")
	want := "[SECRET:token#2] A_TOKEN=[SECRET:token#3] [SECRET:[SECRET:secret#1]] [SECRET:nonsense#7]"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
