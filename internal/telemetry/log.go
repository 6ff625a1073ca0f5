package telemetry

import (
	"io"
	"log/slog"
)

// NewLogger returns a logger that writes JSON lines of at least the given level, which
// may change while it is used.
func NewLogger(w io.Writer, least slog.Leveler) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: least}))
}
