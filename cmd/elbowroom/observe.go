package main

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/elbowroom/elbowroom/internal/config"
	"github.com/elbowroom/elbowroom/internal/telemetry"
	"github.com/elbowroom/elbowroom/server/interceptors/auth"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
)

// flushTime is how long the last traces, metrics and log lines may take to leave when
// the calls have ended.
const flushTime = 3 * time.Second

// observed is what a server is watched with.
type observed struct {
	*telemetry.Telemetry
	recorder *telemetry.Recorder
}

// startTelemetry sets up what the OTEL_* variables and the configuration ask for.
func startTelemetry(ctx context.Context, c *config.Config, log *slog.Logger) (*observed, error) {
	started, err := telemetry.Start(ctx, telemetry.Options{
		Version: buildVersion(), Scrape: c.AdminAddr != "", Log: log, Getenv: os.Getenv,
	})
	if err != nil {
		return nil, &usageError{err}
	}
	o := telemetry.RecorderOptions{Tracer: started.Tracer, Meter: started.Meter}
	if c.Telemetry.TenantLabel {
		o.Tenant = func(ctx context.Context) string { return auth.FromContext(ctx).Tenant }
	}
	recorder, err := telemetry.NewRecorder(o)
	return &observed{Telemetry: started, recorder: recorder}, err
}

// exports lists what leaves the process.
func (o *observed) exports() string {
	if len(o.Exporting) == 0 {
		return "nothing is exported"
	}
	return "exporting " + strings.Join(o.Exporting, ", ")
}

// flush sends what is left when everything else has ended. That a collector is away is
// no failure of the service.
func (o *observed) flush(ctx context.Context, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	if err := o.Shutdown(ctx); err != nil {
		log.WarnContext(ctx, "the last of the telemetry was not sent", "error", err.Error())
	}
}

// observeRungs tells the log and the recorder of each rung of the ladder, with what its
// calls cost.
func observeRungs(log *slog.Logger, recorder *telemetry.Recorder, cost telemetry.Cost) func(context.Context, ladder.Observation) {
	write := telemetry.LogSummarizerCalls(log)
	return func(ctx context.Context, o ladder.Observation) {
		write(ctx, o)
		recorder.Summarizer(ctx, o, cost)
	}
}
