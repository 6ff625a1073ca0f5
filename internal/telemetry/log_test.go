package telemetry_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/elbowroom/elbowroom/internal/telemetry"
)

func TestTheLogIsJSONFromItsLevelOn(t *testing.T) {
	for _, c := range []struct {
		level string
		want  int // lines
	}{{"debug", 3}, {"info", 2}, {"warn", 1}, {"error", 0}} {
		t.Run(c.level, func(t *testing.T) {
			var out bytes.Buffer
			log, err := telemetry.NewLogger(&out, c.level)
			if err != nil {
				t.Fatal(err)
			}
			log.DebugContext(t.Context(), "detail")
			log.InfoContext(t.Context(), "event", "bytes", 7)
			log.WarnContext(t.Context(), "odd")
			lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
			if out.Len() == 0 {
				lines = nil
			}
			if len(lines) != c.want {
				t.Errorf("%d lines, want %d:\n%s", len(lines), c.want, out.String())
			}
			for _, line := range lines {
				if !json.Valid(line) {
					t.Errorf("not JSON: %s", line)
				}
			}
		})
	}
}

func TestAnUnknownLevelIsRefused(t *testing.T) {
	if _, err := telemetry.NewLogger(&bytes.Buffer{}, "loud"); err == nil {
		t.Error("no error")
	}
}
