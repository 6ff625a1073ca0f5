package redact

import (
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/internal/testutil/planted"
)

// hostile are texts that are, or look, quadratic in redactors built of regular
// expressions, or begin a rule without ever ending it.
func hostile() []string {
	long := strings.Repeat("a1B2", 30)
	return []string{
		"A", "a1", "=", ":", "a=", "token=", `"password": "`, `\`, `\"`, `\\\"`, `token=\"`, "-", "_", "--password ", "://", "https://a:", "https://a:b/c", "https://a@", "eyJ",
		"eyJhbGciOiJIUzI1NiJ9.", "eyJhbGciOiJIUzI1NiJ9\n", "-----BEGIN RSA " + "PRIVATE KEY-----\n", "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEow\n\n", "-----END ", "----", "?key=", "&",
		"\u200b", "a\u200b", "a\x00", "[SECRET:", "[SECRET:token#1]", "[SECRET:token#", "Authorization: ", "Authorization: Digest a=\"", "Authorization: a=b,", "Cookie: ", "Cookie: a=b;", "12345678:",
		"4111 ", "4111-", "4", " ", "\t", "Bearer ", "Basic ", "Basic YTpi", "machine ", "machine a login b ", "ENV ", "ENV TOKEN ", "password is ", "IDENTIFIED BY '", "PASSWORD '", "<password>", "<a>",
		`("`, `f("token", "`, `setPassword("`, "name: token\nvalue: ", "name: password ", "$2b$", "$6$a", "$", "%3D", "token%3D", `\u003d`, `\u003e`, `\u003cpassword\u003e`, "~", "abc8Q~", "：", "密码：", "密码",
		"sk-", "sk_", "sk-sk_", "glpat-", "xoxb-", "AKIA", "AKIAIOSFODNN7EXAMPL2 ", "LS0tLS1CRUdJTi", "Private-Lines: 9\n", "https://hooks.slack" + ".com/services/", "mysql -p", "mysql -p1 ", "-u a:",
		"password: |\n", "password:\n", "password = ", "DB_PASSWORD=", "DB_PASSWORD=hunter2x ", "DB_PASSWORD=hunter2x\n", "SG.", "SG." + long, "sk-" + long, "token=" + long + "=", "token=\"" + long, "a.b.", "é", "\xff",
		`\u0041`, `\u0022password\u0022:\u0022`, `\u0`, `\/`, `https:\/\/a:`, "%25", "%2525", "%41", "%3A%2F%2Fa%3A", "%", "&amp;", "&amp;amp;quot;", "&#x41;", "&#", "&", "&quot;password&quot;:&quot;", "是", "密码是", "密码是a1", "密码 — ",
		"set -x -x ", "set -x TOKEN ", "echo a1b2 | sudo -S ", "echo ", "| sudo -S ", "htpasswd -b ", "htpasswd -b a b c1d2 ", "Passwort ist ", "contraseña es ", strings.Repeat("a", 600) + "%41",
	}
}

// TestWorkIsLinear counts the bytes looked at. Ten times the text may not take
// more than ten times the work, give or take what the ends of a text cost.
func TestWorkIsLinear(t *testing.T) {
	const size = 20 << 10
	most := 0.0
	for _, unit := range hostile() {
		work := func(n int) int {
			r := New()
			r.Text(strings.Repeat(unit, n/len(unit)))
			return r.work
		}
		once, tenfold := work(size), work(10*size)
		if tenfold > 11*once+20*size { // the look ahead is cut short at the end of a text
			t.Errorf("%.40q: %d bytes looked at for %d, %d for ten times as many", unit, once, size, tenfold)
		}
		perByte := float64(tenfold) / (10 * size)
		most = max(most, perByte)
		if perByte > 600 {
			t.Errorf("%.40q: %.0f bytes looked at for each", unit, perByte)
		}
		if perByte > 100 {
			t.Logf("%.40q: %.0f bytes looked at for each", unit, perByte)
		}
	}
	t.Logf("at most %.0f bytes looked at for each", most)
}

// TestManySecretsStayLinear has as many different secrets as there is room for,
// all of them with the same beginning, which the text is full of.
func TestManySecretsStayLinear(t *testing.T) {
	work := func(n int) int {
		var sb strings.Builder
		m := planted.NewMaker(1)
		for range n {
			sb.WriteString("DB_PASSWORD=samehead1" + m.Of(planted.AnyChar, 12) + "\nsamehead is no secret\n")
		}
		r := New()
		r.Text(sb.String())
		return r.work
	}
	if once, tenfold := work(200), work(2000); tenfold > 12*once {
		t.Errorf("%d bytes looked at, %d for ten times as many secrets", once, tenfold)
	}
}
