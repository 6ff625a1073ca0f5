package redact

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/internal/testutil/planted"
)

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
	check := func(p planted.Secret, place, text, secret, want string) {
		t.Helper()
		r := New()
		got := r.Text(text)
		kinds[p.Kind] = true
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, %s: -want +got\n%s", p.Name, place, diff)
		}
		if again := New().Text(got); again != got {
			t.Errorf("%s, %s: a second pass changed %q to %q", p.Name, place, got, again)
		}
		if left := planted.Survivor(secret, got); left != "" {
			t.Errorf("%s, %s: %q of the secret is left", p.Name, place, left)
		}
	}
	for i, p := range planted.ByForm() {
		for round := range uint64(3) {
			secret := p.Make(planted.NewMaker(uint64(i)*10 + round))
			shown := "[SECRET:" + p.Kind + "#1]"
			for name, place := range places() {
				check(p, name, place(secret), secret, place(shown))
			}
			if strings.Contains(secret, "\n") {
				continue
			}
			for name, place := range tightPlaces() {
				if name == "path of an address" && (p.Kind == KindCardNumber || slashes(p.Name)) {
					continue // a number there is an identifier, and some keys hold slashes themselves
				}
				check(p, name, place(secret), secret, place(shown))
			}
		}
	}
	for i, p := range planted.ByName() {
		for round := range uint64(3) {
			secret := p.Make(planted.NewMaker(1e6 + uint64(i)*10 + round))
			for name, place := range places() {
				check(p, name, place(p.In(secret)), secret, place(p.In("[SECRET:"+p.Kind+"#1]")))
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
