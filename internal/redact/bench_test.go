package redact

import (
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/internal/testutil/planted"
)

// BenchmarkText measures ordinary texts of about one megabyte, and one that is full
// of secrets.
func BenchmarkText(b *testing.B) {
	m := planted.NewMaker(1)
	texts := []struct{ name, unit string }{
		{"prose", "The service came back after the restart, but the error rate stayed at 3.1% until 14:05. We then looked at the queue: it held 12,408 messages, most of them retries. Nothing else had changed.\n"},
		{"code", "func (s *Store) Get(ctx context.Context, key string) error { return s.db.Get(ctx, \"a/b/c.go:123\", key) } // token: none\n\tif err := s.open(path); err != nil {\n\t\treturn fmt.Errorf(\"open %s: %w\", path, err)\n\t}\n"},
		{"logs", `{"time":"2026-03-04T10:11:12.123Z","level":"info","msg":"request done","method":"GET","path":"/v1/items/4711","status":200,"duration_ms":31,"request_id":"3f786850-e387-550f-dab8-36ed7e6dc881","user_agent":"curl/8.5"}` + "\n"},
		{"escaped JSON", `"{\"file\":\"a/b.go\",\"text\":\"line one\\n\\tline two: \\\"quoted\\\"\\n\",\"n\":[1,2,3]}",`},
		{"HTML in JSON", `{"html":"\u003cdiv class=\"row\"\u003e\u003cp\u003eThe error rate stayed at 3.1% until 14:05\u0026nbsp;h\u003c/p\u003e\u003c/div\u003e","n":1}` + "\n"},
		{"addresses", `GET /search?q=error%20rate%20%3E%203&from=2026-03-04T10%3A11%3A12&path=%2Fv1%2Fitems%2F4711 200 31ms "https://x.example/?a=b%20c"` + "\n"},
		{"few escapes", strings.Repeat("The service came back after the restart, but the error rate stayed at 3.1% until 14:05.\n", 40) + "GET /a%20b\n"},
		{"Chinese as escapes", `{"text":"\u6211\u4eec\u770b\u4e86\u961f\u5217\uff1a\u91cc\u9762\u6709\u6d88\u606f\u3002"}` + "\n"},
		{"base64", m.Base64(3000) + "\n"},
		{"Chinese", "我们看了队列：里面有一万两千条消息，大部分是重试。别的没有变化。\n"},
	}
	for _, t := range texts {
		s := strings.Repeat(t.unit, (1<<20)/len(t.unit))
		b.Run(t.name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				New().Text(s)
			}
		})
	}
	var sb strings.Builder
	for i := 0; sb.Len() < 1<<20; i++ {
		for _, p := range planted.ByName() {
			sb.WriteString(p.In(p.Make(m)) + "\nand some words in between, as there would be in a log\n")
		}
	}
	s := sb.String()
	b.Run("full of secrets", func(b *testing.B) {
		b.SetBytes(int64(len(s)))
		for b.Loop() {
			New().Text(s)
		}
	})
}
