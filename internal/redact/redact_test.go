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
		"OpenAI key":                  {"key " + join("sk-", alnum40) + " end", "key [SECRET:api-key#1] end"},
		"Anthropic key":               {join("sk-ant-", "api03-", alnum40), "[SECRET:anthropic-key#1]"},
		"GitHub token":                {"use " + join("ghp_", alnum40[:36]), "use [SECRET:github-token#1]"},
		"fine-grained GitHub token":   {join("github_pat_", "11ABCDEFG0", alnum40), "[SECRET:github-token#1]"},
		"GitLab token":                {join("glpat-", alnum40[:20]), "[SECRET:gitlab-token#1]"},
		"Slack token":                 {join("xoxb-", "123456789012-", alnum40[:12]), "[SECRET:slack-token#1]"},
		"Google key":                  {join("AIza", alnum40[:35]), "[SECRET:google-key#1]"},
		"AWS key id":                  {"id=" + join("AKIA", "IOSFODNN7EXAMPLE"), "id=[SECRET:aws-key#1]"},
		"Stripe key":                  {join("sk_live_", alnum40[:24]), "[SECRET:stripe-key#1]"},
		"SendGrid key":                {join("SG", ".", alnum40[:22], ".", alnum40), "[SECRET:sendgrid-key#1]"},
		"hex and secret with a dot":   {join("0123456789abcdef0123456789abcdef", ".", "aB3dE5gH7jK9mN1p"), "[SECRET:zhipu-key#1]"},
		"Telegram token":              {"bot " + join("123456789", ":AA", alnum40[:33]), "bot [SECRET:telegram-token#1]"},
		"token cut by zero width":     {join("ghp_", alnum40[:18], "\u200b", alnum40[18:36]) + " x", "[SECRET:github-token#1] x"},
		"JWT":                         {"t: " + jwt + ".", "t: [SECRET:jwt#1]."},
		"PEM":                         {"a\n" + pem + "\nb", "a\n[SECRET:private-key#1]\nb"},
		"PEM inside a JSON string":    {`{"k":"` + strings.ReplaceAll(pem, "\n", `\n`) + `"}`, `{"k":"[SECRET:private-key#1]"}`},
		"PEM without an end":          {join("-----BEGIN ", "PRIVATE KEY-----\nMIIEow\nabc=\n\nnext"), "[SECRET:private-key#1]\n\nnext"},
		"Authorization bearer":        {"Authorization: Bearer " + alnum40, "Authorization: Bearer [SECRET:authorization#1]"},
		"Authorization basic":         {`"Authorization": "Basic dXNlcjpwYXNzd29yZDE="`, `"Authorization": "Basic [SECRET:authorization#1]"`},
		"bearer in a command":         {"curl -H 'Authorization: Bearer " + alnum40 + "' x", "curl -H 'Authorization: Bearer [SECRET:authorization#1]' x"},
		"bearer in prose":             {"send Bearer " + alnum40 + " along", "send Bearer [SECRET:authorization#1] along"},
		"x-api-key header":            {"x-api-key: " + alnum40, "x-api-key: [SECRET:api-key#1]"},
		"env assignment":              {"export DB_PASSWORD=hunter2x\n", "export DB_PASSWORD=[SECRET:password#1]\n"},
		"env token":                   {"API_TOKEN=abc123def456", "API_TOKEN=[SECRET:token#1]"},
		"env secret in capitals":      {"AWS_SECRET_ACCESS_KEY=" + alnum40, "AWS_SECRET_ACCESS_KEY=[SECRET:aws-secret-key#1]"},
		"YAML password":               {"db:\n  password: swordfish\n  port: 5432", "db:\n  password: [SECRET:password#1]\n  port: 5432"},
		"dotted config key":           {"spring.datasource.password=swordfish", "spring.datasource.password=[SECRET:password#1]"},
		"JSON field":                  {`{"password": "hunter2", "n": 1}`, `{"password": "[SECRET:password#1]", "n": 1}`},
		"camel-case JSON field":       {`{"apiKey":"q9w8e7r6t5"}`, `{"apiKey":"[SECRET:api-key#1]"}`},
		"escaped JSON field":          {`"{\"client_secret\": \"s3cr3tvalue\"}"`, `"{\"client_secret\": \"[SECRET:secret#1]\"}"`},
		"twice escaped JSON field":    {`\\\"access_token\\\":\\\"abc123def456\\\"`, `\\\"access_token\\\":\\\"[SECRET:token#1]\\\"`},
		"Python repr":                 {`{'password': 'hunter2'}`, `{'password': '[SECRET:password#1]'}`},
		"password in an address":      {`{"url":"https://x:s3cr3t@db.example/q"}`, `{"url":"https://x:[SECRET:url-password#1]@db.example/q"}`},
		"database address":            {"postgres://bob:pa:ss@db:5432/x", "postgres://bob:[SECRET:url-password#1]@db:5432/x"},
		"token as user of an address": {"https://" + alnum40 + "@git.example/x", "https://[SECRET:url-password#1]@git.example/x"},
		"query parameter":             {"GET /cb?code=4f9a8b7c6d5e&state=1", "GET /cb?code=[SECRET:query-param#1]&state=1"},
		"signed address":              {"https://b.example/o?X-Amz-Signature=abcdef0123456789&x=1", "https://b.example/o?X-Amz-Signature=[SECRET:query-param#1]&x=1"},
		"form body":                   {"grant_type=x&client_secret=swordfish&a=b", "grant_type=x&client_secret=[SECRET:query-param#1]&a=b"},
		"command option":              {"mysql --password hunter2 -h db", "mysql --password [SECRET:password#1] -h db"},
		"curl user":                   {"curl -u admin:hunter2 http://x", "curl -u admin:[SECRET:password#1] http://x"},
		"password in prose":           {"log in as bob, password: hunter2, then", "log in as bob, password: [SECRET:password#1], then"},
		"same secret, same number":    {"A_TOKEN=abc123def456 B_TOKEN=zzz999yyy888 A_TOKEN=abc123def456", "A_TOKEN=[SECRET:token#1] B_TOKEN=[SECRET:token#2] A_TOKEN=[SECRET:token#1]"},
		"named secret found again":    {"DB_PASSWORD=hunter2xyz\nmysql -p hunter2xyz", "DB_PASSWORD=[SECRET:password#1]\nmysql -p [SECRET:password#1]"},
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

func TestOrdinaryTextStays(t *testing.T) {
	for _, s := range []string{
		"tokenizer: cl100k_base", "the secretary: Ann Smith", "max_tokens: 4096", "token_count=123456", "max_token=4096",
		`"next_page_token": "CAUQAA1234567"`, "password = os.getenv('DB_PASSWORD')", `api_key=os.environ["API_KEY_1"]`,
		"token: process.env.TOKEN_1", "API_TOKEN=${API_TOKEN}", "API_TOKEN=$TOKEN", `password: "{{ vault_password }}"`,
		"SSH_AUTH_SOCK=/tmp/ssh-1234/agent.5", "KEY_PATH=/etc/ssl/private/key1.pem", "TOKEN_FILE=/run/secrets/token1",
		"def login(user, password: str, token: Optional[str] = None):", "login(password=password, token=token)",
		"password: string;", `password: "Please enter your new password"`, "const token = req.headers.get(1)",
		"token = self.next_token()", "secret := cfg.Secret", "if token == nil {", "key: value", `{"key": "a1b2c3d4e5f6"}`,
		"commit 3f786850e387550fdab836ed7e6dc881de23001b", "uuid 550e8400-e29b-41d4-a716-446655440000",
		"https://github.com/a/b?page=2&code=17", "git@github.com:elbowroom/elbowroom.git", "https://user@example.com/x",
		"mailto:bob@example.com", "sk-spinner-three-bounce-container", "docker run -u 1000:1000 image", "npm_config_registry_address_name",
		"-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----", "Authorization: Bearer $TOKEN", `f"Bearer {token_value_12345}"`,
		"12345678:90", "the relay port is 48213", "a ==== b ::: c", "password:", "password=", "secret_name: db-creds-1", "Basic usage: 3 steps",
		"http://localhost:8080/a@b", "pass: 12, fail: 3", "auth: required", "[SECRET:token#1]", "PASSWORD=[SECRET:password#3]",
	} {
		if got := New().Text(s); got != s {
			t.Errorf("Text(%q) = %q, want it unchanged", s, got)
		}
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

func TestWorkIsLinearInHostileText(t *testing.T) {
	// Every pattern here was, or looks, quadratic in regular-expression
	// redactors. A quadratic pass over 2 MB would not end within the test's time.
	const size = 2 << 20
	for _, unit := range []string{
		"A", "=", ":", "a=", "token=", `"password": "`, `\`, "-", "--password ", "://", "https://a:", "eyJ", "eyJhbGciOiJIUzI1NiJ9.",
		"-----BEGIN RSA PRIVATE KEY-----\n", "?key=", "&", "\u200b", "a\u200b", "[SECRET:", "Authorization: ", "12345678:", " ", "Bearer ",
	} {
		s := strings.Repeat(unit, size/len(unit))
		New().Text(s)
	}
}

func FuzzText(f *testing.F) {
	f.Add(`{"password": "hunter2"} https://a:b@c ?code=12345678a -----BEGIN PRIVATE KEY-----`)
	f.Add("A_TOKEN=abc\u200b123def456 Bearer eyJhbGciOiJIUzI1NiJ9.a.b")
	f.Fuzz(func(t *testing.T, s string) {
		got := New().Text(s)
		if again := New().Text(got); again != got {
			t.Errorf("Text is not idempotent: %q, then %q", got, again)
		}
	})
}

func BenchmarkText(b *testing.B) {
	s := strings.Repeat("func (s *Store) Get(ctx context.Context, key string) error { return s.db.Get(ctx, \"a/b/c.go:123\", key) } // token: none\n", 5000)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		New().Text(s)
	}
}
