package telemetry_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
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
			var least slog.LevelVar
			if err := least.UnmarshalText([]byte(c.level)); err != nil {
				t.Fatal(err)
			}
			log := telemetry.NewLogger(&out, &least)
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

func TestTheLevelMayChange(t *testing.T) {
	var out bytes.Buffer
	var least slog.LevelVar
	log := telemetry.NewLogger(&out, &least)
	log.DebugContext(t.Context(), "before")
	least.Set(slog.LevelDebug)
	log.DebugContext(t.Context(), "after")
	if got := bytes.Count(out.Bytes(), []byte("\n")); got != 1 || !bytes.Contains(out.Bytes(), []byte("after")) {
		t.Errorf("log:\n%s", out.String())
	}
}
