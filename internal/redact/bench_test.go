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
