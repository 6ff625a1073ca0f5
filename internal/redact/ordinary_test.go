package redact

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/internal/testdata"
	"github.com/elbowroom/elbowroom/internal/testutil/planted"
)

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
		"password = input('Password: ')", "password=getpass.getpass()", "API_KEY=get_key(1)", "PASSWORD=$(cat /run/secrets/p1)", "TOKEN=`vault read x1`", "password: <your-password-1>", "api_key: xxxxxxxxxxxx",
		"password: ${DB_PASSWORD}", "password: changeme", "apiKey: string", "apiKey?: string;", `"apiKey": ""`, `"apiKey": "<YOUR_API_KEY_123>"`, "token: str | None = None", "def f(token: str = None):",
		"password=None", "password=True", "secret: Optional[str]", "self.password = password", "this.token = token;", "token := tokens[i]", "password_hash = bcrypt.hashpw(p, salt1)",
		"the password is wrong", "the token is expired", "your password is required.", "the key is in the file", "password is case-sensitive", "Basic authentication2 and Bearer tokens", "a Bearer credential",
		"PWD=/home/bob/src2", "OLDPWD=/home/bob/x1", "key: user_12345", "keyData === 'ArrowUp1'", "const secret = await getSecret('db1')", "token.type === 'identifier1'", "if (token == TOKEN_2) {",
		"Set-Cookie: theme=dark; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "Cookie: lang=en", "Authorization: Bearer <token>", "Authorization: Bearer YOUR_TOKEN_1", "`Authorization: Bearer ${token1}`",
		"https://user:${PASS}@host/x", "https://user:<password>@host", "https://user:****@host", "postgres://$USER:$PASS1@db", "https://x.example:8443/a?b=c@d", "ssh://git@github.com:22/a/b.git", "npm install @scope/pkg@1.2.3",
		"http://[::1]:8080/x", "a://b", "https://medium.com/@bob/a-b-1", "https://x.example/a?key=value&code=en&state=12345678", "docker run -p 8080:80 -u bob image1", "tar -pxf a1.tgz", "mysql -port 3306", "mkdir -p a1/b2",
		"curl -u $USER:$PASS https://x", "--password-stdin", "--token <TOKEN>", "use `--password` to set one", "sk-learn and sk-image-2", "hf_hub_download_file_2", "npm_package_config_2", "SKILL.md", "SKU-12345678",
		"4111 1111 1111 1112", "1234 5678 9012 3456", "order 4000000000000000000", "3.14159265358979", "-----BEGIN " + "PRIVATE KEY----- is how it starts", `strings.Contains(s, "-----BEGIN RSA ` + `PRIVATE KEY-----")`,
		"ssn: optional", "ssn_field = 3", "cookie: sameSite", "a $1$ b", "cost $5 and $6", "awk '{print $1$2}'", "密码: 必填", "密码错误", "パスワードを入力", "key-value pairs", "git-secrets: 1", "secret/data/app1", "tokens/s: 12345",
		`{"name":"password","type":"string"}`, `{"name": "api_key", "required": true}`, "- name: token\n  description: The token1", `getenv("DB_PASSWORD", "")`, `["password", "sha256"]`, `t.Setenv("TOKEN", "${X1}")`,
		`password: z.string().min(8)`, "password: faker.internet.password(12)", "secret: process.env.SECRET_1!", "token: ctx.token1", "token = jwt.encode(p, k, 'HS256')", "assert token2 == token1", `"access_token": access_token1`,
		`"PWD="+cmd.Dir)`, `"password=" + user + "&x="`, `"token="+tok+"&x"`, `fmt.Sprintf("password=%s", p)`, "config.ClientAuth = RequireAndVerifyClientCert", "PrivateKey: testRSA2048PrivateKey,",
		"encryptionKey1024: dk.encryptionKey1024,", "ENCRYPTION_KEY = 0xc0506617", "CREDENTIALS=$KEYSTORE_DIR/72523_go_service_account", `const noToken = ` + "`" + `"credit_token":null,"has_claim1":null` + "`", "credentials: STSAudience must be set",
		"set password for user1", "set token to expired1", "pass: all", `"pass": "3/5"`, "pass=12345678", "pass: 100.00%", "pass: TestFoo",
		`withAuth("admin", "/api/v1")`, `auth=("user", password1)`, `login("bob", "your_password_1")`,
		"http://localhost:8080/a@b", "pass: 12, fail: 3", "auth: required", "[SECRET:token#1]", "PASSWORD=[SECRET:password#3]",
		`s.replace(/\//g, "-")`, `sed 's/\/a\/b/c/'`, `{"url":"https:\/\/x.example\/a?b=c@d"}`, `{"a":"x\u003dy1","b":"\u003ctoken\u003e\u003c/token\u003e"}`, "https://x.example/?q=a%20b%3Ac1%40d", "100%25 of 12%3A30", "&lt;password&gt;&lt;/password&gt;",
		"&quot;password&quot;: &quot;&lt;your password&gt;&quot;", "dsn=postgres%3A%2F%2F%24USER%3A%24PASS%40db", `{"\u0070assword":"${DB_PASSWORD}"}`, "printf(\"%dabc %s\", password)", "width: 50%; a&b;",
		"das Passwort ist falsch!", "la contraseña es obligatoria.", "le mot de passe est expiré", "密码是必填项", "密码是 required", "密码为空", "パスワードは必須です", "パスワードは 8 文字以上", "密钥为 null", "пароль: обязателен", "il passe : 3 fois", "a: b1c2d3e4f5",
		"set -euo pipefail", "set -e PASSWORD", "set -x token $TOKEN_1", "echo $PASS | sudo -S ls", "cat pw | sudo -S ls", "echo done; cat pw1 | sudo -S ls", "echo y | sudo -S ls", `echo "${PW}" | docker login --password-stdin`, "grep -S x | sudo",
		"htpasswd -b f bob $PASS", "htpasswd -c f bob", "htpasswd -nbB user", "htpasswd -b file user <password>",
	} {
		if got := New().Text(s); got != s {
			t.Errorf("Text(%q) = %q, want it unchanged", s, got)
		}
	}
}

// TestOrdinaryRandomTextStays: what looks random and is no secret. Each line is
// made anew many times, so that no lucky number decides.
func TestOrdinaryRandomTextStays(t *testing.T) {
	uuid := func(m planted.Maker) string {
		return m.Of(planted.Hexes, 8) + "-" + m.Of(planted.Hexes, 4) + "-" + m.Of(planted.Hexes, 4) + "-" + m.Of(planted.Hexes, 4) + "-" + m.Of(planted.Hexes, 12)
	}
	lines := map[string]func(m planted.Maker) string{
		"commit": func(m planted.Maker) string {
			return "commit " + m.Of(planted.Hexes, 40) + "\nMerge: " + m.Of(planted.Hexes, 7) + " " + m.Of(planted.Hexes, 7)
		},
		"sha256":        func(m planted.Maker) string { return "image: repo/app@sha256:" + m.Of(planted.Hexes, 64) },
		"checksum":      func(m planted.Maker) string { return m.Of(planted.Hexes, 64) + "  dist/app-1.2.3.tar.gz" },
		"integrity":     func(m planted.Maker) string { return `"integrity": "sha512-` + m.Base64(64) + `",` },
		"go.sum":        func(m planted.Maker) string { return "golang.org/x/sync v0.1.0 h1:" + m.Base64(32) },
		"hash of cargo": func(m planted.Maker) string { return `checksum = "` + m.Of(planted.Hexes, 64) + `"` },
		"hash of pip":   func(m planted.Maker) string { return "--hash=sha256:" + m.Of(planted.Hexes, 64) },
		"UUID":          func(m planted.Maker) string { return "request " + uuid(m) + " took 31 ms" },
		"UUID field":    func(m planted.Maker) string { return `{"id":"` + uuid(m) + `","session_id":"` + uuid(m) + `"}` },
		"trace": func(m planted.Maker) string {
			return "traceparent: 00-" + m.Of(planted.Hexes, 32) + "-" + m.Of(planted.Hexes, 16) + "-01"
		},
		"etag":  func(m planted.Maker) string { return `ETag: W/"` + m.Of(planted.Hexes, 32) + `"` },
		"image": func(m planted.Maker) string { return "data:image/png;base64,iVBORw0KGgo" + m.Base64(300) },
		"image field": func(m planted.Maker) string {
			return `{"type":"base64","media_type":"image/png","data":"` + m.Base64(300) + `"}`
		},
		"signature": func(m planted.Maker) string {
			return `{"type":"thinking","thinking":"x","signature":"` + m.Base64(300) + `"}`
		},
		"call id": func(m planted.Maker) string {
			return `{"tool_call_id":"call_` + m.Of(planted.AnyChar, 24) + `","id":"toolu_01` + m.Of(planted.AnyChar, 22) + `"}`
		},
		"message id": func(m planted.Maker) string {
			return `{"id":"msg_` + m.Of(planted.AnyChar, 24) + `","x":"req_011` + m.Of(planted.AnyChar, 21) + `"}`
		},
		"container": func(m planted.Maker) string { return m.Of(planted.Hexes, 12) + "   nginx:1.27   Up 3 hours" },
		"pod": func(m planted.Maker) string {
			return "web-" + m.Of(planted.Hexes, 10) + "-" + m.Of(planted.Lowers, 5) + "   1/1 Running"
		},
		"asset": func(m planted.Maker) string { return "dist/assets/index-" + m.Of(planted.TokenChars, 8) + ".js 120 kB" },
		"temporary file": func(m planted.Maker) string {
			return "/tmp/pip-" + m.Of(planted.Lowers+planted.Digits, 8) + "/build.log"
		},
		"ARN": func(m planted.Maker) string {
			return "arn:aws:iam::" + m.Of(planted.Digits, 12) + ":role/deploy-" + m.Of(planted.Hexes, 8)
		},
		"timestamp": func(m planted.Maker) string {
			return "t=17" + m.Of(planted.Digits, 8) + " ns=17" + m.Of(planted.Digits, 17) + " ms=17" + m.Of(planted.Digits, 11)
		},
		"decimal": func(m planted.Maker) string {
			return "loss 0.4" + m.Of(planted.Digits, 15) + " and 51." + m.Of(planted.Digits, 14)
		},
		"cursor": func(m planted.Maker) string {
			return `"next_cursor":"` + m.Base64(30) + `","page_token":"` + m.Base64(30) + `"`
		},
		"address": func(m planted.Maker) string {
			return "https://x.example/a/" + m.Of(planted.Hexes, 40) + "/file.go?ref=" + m.Of(planted.Hexes, 40)
		},
		"source map": func(m planted.Maker) string {
			return "//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLC" + m.Of(planted.AnyChar, 80)
		},
		"minified": func(m planted.Maker) string {
			return "var " + m.Of(planted.Letters, 1) + "=function(t,n){return t." + m.Of(planted.Letters, 2) + "(n)};"
		},
		"public key": func(m planted.Maker) string {
			return "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA" + m.Of(planted.Base64Chars, 44) + " bob@host"
		},
		"certificate": func(m planted.Maker) string { return m.Block("CERTIFICATE") },
		"tokens as numbers": func(m planted.Maker) string {
			return "tokens: " + m.Of(planted.Digits, 5) + ", max_tokens=4096, input_tokens: 1234567890"
		},
	}
	for name, line := range lines {
		for seed := range uint64(50) {
			s := line(planted.NewMaker(seed))
			for _, text := range []string{s, "a\n" + s + "\nb", quoted(t, s)} {
				if got := New().Text(text); got != text {
					t.Errorf("%s: %q became %q", name, text, got)
					break
				}
			}
		}
	}
}

func quoted(t *testing.T, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestRealConversationsKeepTheirText looks at every text of the real
// conversations, as it stands in the file and with its escapes undone. They hold
// no secret: they are published, and whoever published them looked for some.
func TestRealConversationsKeepTheirText(t *testing.T) {
	total := 0
	for _, f := range testdata.Conversations(t) {
		var doc any
		if err := json.Unmarshal([]byte(f.JSON), &doc); err != nil {
			t.Fatal(err)
		}
		for _, s := range append(stringsIn(doc), f.JSON) {
			total += len(s)
			got := New().Text(s)
			for rest := got; got != s; {
				at := strings.Index(rest, placeholderHead)
				if at < 0 {
					break
				}
				t.Errorf("%s: ...%q", f.Name, rest[max(0, at-60):min(len(rest), at+60)])
				rest = rest[at+len(placeholderHead):]
			}
		}
	}
	t.Logf("%d bytes looked at", total)
}

// stringsIn lists the strings of a JSON document.
func stringsIn(doc any) (out []string) {
	switch doc := doc.(type) {
	case string:
		return []string{doc}
	case []any:
		for _, e := range doc {
			out = append(out, stringsIn(e)...)
		}
	case map[string]any:
		for _, e := range doc {
			out = append(out, stringsIn(e)...)
		}
	}
	return out
}
