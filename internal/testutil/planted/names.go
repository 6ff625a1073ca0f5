package planted

import (
	"encoding/base64"
	"strings"
)

// ByName are the secrets that are found by what stands before them.
func ByName() []Secret {
	word := func(m Maker) string { return m.Of(AnyChar, 24) }
	pass := func(m Maker) string { return m.Of(AnyChar, 6) + "!" + m.Of(AnyChar, 6) }
	b := func(m Maker) string { return m.Base64(48) }
	var list []Secret
	add := func(kind, text string, secret func(Maker) string) {
		list = append(list, Secret{Name: text, Kind: kind, Make: secret, Text: text})
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
	for _, text := range []string{ // with the escapes of JSON, addresses and HTML
		`{"body":"{\u0022password\u0022:\u0022%s\u0022}"}`, `{"pass\u0077ord":"%s"}`, `["DB_PASSWORD\u003d%s"]`, `password\x3d"%s"`,
		"{&quot;password&quot;:&quot;%s&quot;}", "{&#34;password&#34;:&#34;%s&#34;}", "{&#x22;password&#x22;:&#x22;%s&#x22;}", "{&amp;quot;password&amp;quot;:&amp;quot;%s&amp;quot;}",
		"password%%3D%s", "q=%%7B%%22password%%22%%3A%%22%s%%22%%7D", "a=%%257B%%2522password%%2522%%253A%%2522%s%%2522%%257D",
		`"\u5bc6\u7801\u662f%s\u3002"`, `"la contrase\u00f1a es %s"`,
	} {
		add("password", text, pass)
	}
	for _, text := range []string{ // commands
		"set -x DB_PASSWORD %s", "set -gx DB_PASSWORD %s; and make", "set --export --global DB_PASSWORD '%s'", "echo %s | sudo -S ls", "echo '%s' | sudo -k -S ls", `echo -n "%s" | docker login -u bob --password-stdin`,
		"printf '%%s\\n' \"%s\" | sudo -S ls", "htpasswd -b f bob %s", "htpasswd -cbB /etc/users bob '%s'", "htpasswd -nb bob %s",
	} {
		add("password", text, pass)
	}
	for _, text := range []string{ // sentences
		"Das Passwort ist %s", "Das Passwort lautet %s.", "Das Kennwort ist: %s", "la contraseña es %s", "Contraseña: %s", "la contrasena es %s", "le mot de passe est %s", "Mot de passe : %s", "a senha é %s", "la password è %s",
		"密码是%s", "密码是 %s。谢谢", "密码为：%s", "密碼是「%s」", "パスワードは %s です", "パスワードは%sです", "비밀번호는 %s 입니다", "пароль: %s", "Пароль — %s", "hasło: %s",
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
	add("aws-secret-key", "AWS_SECRET_ACCESS_KEY=%s", func(m Maker) string { return m.Of(Base64Chars, 40) })
	add("aws-secret-key", "aws_secret_access_key = %s", func(m Maker) string { return m.Of(Base64Chars, 40) })
	add("aws-secret-key", `"SecretAccessKey": "%s"`, func(m Maker) string { return m.Of(Base64Chars, 40) })
	add("aws-session-token", "aws_session_token=%s", func(m Maker) string { return m.Base64(150) })
	add("azure-storage-key", "AccountName=x;AccountKey=%s;EndpointSuffix=core.example", func(m Maker) string { return m.Base64(64) })
	add("azure-storage-key", "Endpoint=sb://x.example/;SharedAccessKey=%s", func(m Maker) string { return m.Base64(32) })
	add("query-param", "https://x.blob.example/c?sv=2024-01-01&sig=%s&se=1", func(m Maker) string { return m.Of(AnyChar, 40) + "%2Ba3%3D" })
	add("datadog-key", "DD_API_KEY=%s", func(m Maker) string { return m.Of(Hexes, 32) })
	add("heroku-key", "HEROKU_API_KEY=%s", func(m Maker) string { return m.Of(Hexes, 8) + "-" + m.Of(Hexes, 4) + "-" + m.Of(Hexes, 12) })
	add("algolia-key", "ALGOLIA_ADMIN_KEY=%s", func(m Maker) string { return m.Of(Hexes, 32) })
	add("twilio-key", "TWILIO_AUTH_TOKEN=%s", func(m Maker) string { return m.Of(Hexes, 32) })
	add("cloudflare-token", "CLOUDFLARE_API_TOKEN=%s", func(m Maker) string { return m.Token(40) })
	add("newrelic-key", "NEW_RELIC_LICENSE_KEY=%s", func(m Maker) string { return m.Of(Hexes, 36) + "NRAL" })
	add("credential", "//registry.example/:_auth=%s", b)
	add("credential", `{"auths":{"https://index.example/v1/":{"auth":"%s"}}}`, b)
	add("private-key", "    client-key-data: %s", b)
	add("private-key", "PrivateKey = %s", func(m Maker) string { return m.Base64(32) })
	add("private-key", `"private_key": "%s"`, func(m Maker) string { return "0x" + m.Of(Hexes, 64) })
	add("seed-phrase", `mnemonic = "%s"`, func(m Maker) string {
		words := make([]string, 12)
		for i := range words {
			words[i] = m.Of(Lowers[6:], 6)
		}
		return strings.Join(words, " ")
	})
	add("ssn", "ssn: %s", func(m Maker) string { return m.Of(Digits, 3) + "-" + m.Of(Digits, 2) + "-" + m.Of(Digits, 4) })
	for _, text := range []string{
		"Authorization: Bearer %s", "authorization: Basic %s", `"Authorization": "Bearer %s"`, "Authorization: token %s", "Proxy-Authorization: Basic %s", "curl -H 'Authorization: Bearer %s' x",
		"Authorization: %s", `{"Authorization":"Bearer %s","x":1}`, "send Bearer %s along", `req.Header.Set("Authorization", "Bearer %s")`, "Authorization: SSWS %s", "Authorization: GenieKey %s",
	} {
		add("authorization", text, func(m Maker) string { return m.Of(AnyChar, 40) })
	}
	add("authorization", "Basic %s", func(m Maker) string { return base64.StdEncoding.EncodeToString([]byte("bob:" + m.Of(AnyChar, 14))) })
	add("cookie", "Cookie: theme=dark; sid=%s; lang=en", word)
	add("cookie", "Set-Cookie: session=%s; Path=/; HttpOnly", word)
	add("cookie", `"cookie": "sid=%s"`, word)
	for _, text := range []string{
		"https://bob:%s@x.example/p", "postgres://bob:%s@db:5432/x", "mongodb+srv://bob:%s@c.example/?w=1", "redis://:%s@cache:6379/0", "amqp://bob:%s@q/v", "https://%s@git.example/a/b.git",
		"git clone https://oauth2:%s@git.example/x",
	} {
		add("url-password", text, word)
	}
	for _, text := range []string{
		`{"dsn":"https:\/\/bob:%s@db\/x"}`, `{"u":"https:\u002f\u002fbob:%s@h"}`, "dsn=postgres%%3A%%2F%%2Fbob%%3A%s%%40db%%2Fx", "dsn=postgres%%253A%%252F%%252Fbob%%253A%s%%2540db",
		"https&#58;&#x2F;&#x2f;bob&#58;%s&#64;db",
	} {
		add("url-password", text, word)
	}
	add("url-password", "postgres://bob:%s@db/x", func(m Maker) string { return m.Of(AnyChar, 5) + "/" + m.Of(AnyChar, 5) + "#" + m.Of(AnyChar, 4) })
	add("sentry-dsn", "https://%s@o123456.ingest.sentry.example/4501", func(m Maker) string { return m.Of(Hexes, 32) })
	for _, text := range []string{
		"https://x.example/cb?access_token=%s&x=1", "GET /a?b=1&api_key=%s HTTP/1.1", "https://x.example/?key=%s", "https://x.example/?a=1&amp;token=%s", `https://x.example/?a=1\u0026token=%s`,
		"redirect=https%%3A%%2F%%2Fx.example%%2F%%3Ftoken%%3D%s%%26a%%3D1", "https://b.example/o?X-Amz-Signature=%s&x=1", "https://x.example/cb?code=%s&state=1",
	} {
		add("query-param", text, word)
	}
	add("slack-webhook", "https://hooks.slack"+".com/services/%s", func(m Maker) string { return "T" + m.Of(uppers, 8) + "/B" + m.Of(uppers, 8) + "/" + m.Of(AnyChar, 24) })
	add("discord-webhook", "https://discord"+".com/api/webhooks/%s", func(m Maker) string { return m.Of(Digits, 18) + "/" + m.Token(68) })
	add("teams-webhook", "https://x.webhook.office"+".com/webhookb2/%s", func(m Maker) string { return m.Of(Hexes, 36) + "@" + m.Of(Hexes, 36) })
	add("zapier-webhook", "https://hooks.zapier"+".com/hooks/catch/%s/", func(m Maker) string { return m.Of(Digits, 7) + "/" + m.Of(AnyChar, 12) })
	return list
}
