package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/elbowroom/elbowroom/internal/config"
	"github.com/elbowroom/elbowroom/internal/telemetry"
)

type serveCommand struct {
	File string `name:"config" placeholder:"FILE" help:"YAML file with settings ($ELBOWROOM_CONFIG)."`
	config.Config
}

// Run serves until the context ends.
func (cmd *serveCommand) Run(ctx context.Context, p process, line *kong.Context) error {
	// From the start, so that one that comes before the server is ready does not end it.
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	c, err := loadConfig(p, cmd.File, givenFlags(line))
	if err != nil {
		return err
	}
	level := new(slog.LevelVar)
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		return fmt.Errorf("log level: %w", err)
	}
	plain := telemetry.NewLogger(p.stderr, level)
	seen, err := startTelemetry(ctx, c, plain)
	if err != nil {
		return err
	}
	defer seen.flush(ctx, plain)
	if err := seen.recorder.WatchLog(p.lost); err != nil {
		return err
	}
	reloads := &reloader{
		load:  func() (*config.Config, error) { return loadConfig(p, cmd.File, givenFlags(line)) },
		level: level, log: seen.Logger(plain), file: configFile(p, cmd.File), running: c,
		hangup: hangup, done: seen.recorder.Reloaded,
	}
	return cmd.serve(ctx, p, c, seen.Logger(plain), seen, reloads)
}

// serve serves until the context ends.
func (cmd *serveCommand) serve(ctx context.Context, p process, c *config.Config, log *slog.Logger, seen *observed, reloads *reloader) error {
	for _, name := range config.UnknownVariables(p.environ) {
		log.WarnContext(ctx, "unknown environment variable", "variable", name)
	}
	secured, err := newSecurity(ctx, c, log)
	if err != nil {
		return err
	}
	s, err := newServer(ctx, c, log, secured, seen.recorder)
	if err != nil {
		return err
	}
	// Also where it comes to nothing: the server's workers run from the start.
	defer func() { _ = s.Shutdown(context.WithoutCancel(ctx)) }()
	if err := s.Warm(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	f, err := newFront(ctx, c, s, secured, log)
	if err != nil {
		return err
	}
	if err := f.addAdmin(ctx, c, seen.Metrics, log); err != nil {
		return err
	}
	defer reloads.start(ctx, f)()
	announce(p.stdout, c, f, seen)
	return f.serve(ctx, c.ShutdownTimeout, func() {
		fmt.Fprintf(p.stdout, "Stopping: calls have %v to finish\n", c.ShutdownTimeout)
	})
}

// announce says what is on.
func announce(out io.Writer, c *config.Config, f *front, seen *observed) {
	var text strings.Builder
	addr := f.grpc.Addr().String()
	on := map[bool]string{true: "ENABLED", false: "DISABLED"}[c.Compression.Enabled]
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&text, "%s: %s\n", name, fmt.Sprintf(format, args...))
	}
	fmt.Fprintln(&text, "elbowroom", buildVersion())
	line("gRPC", "%s", addr)
	line("TLS", "%s", transport(c))
	line("Authentication", "%s", authentication(c, addr))
	line("HTTP/JSON", "%s", f.httpAddr())
	line("Admin", "%s", f.adminAddr())
	line("OpenTelemetry", "%s", seen.exports())
	line("Compression, agent layer", "%s (from %s of the window%s; tail %s of that, at least the last %d messages)",
		on, percent(c.Compression.Threshold), modelThresholds(c.Compression.ModelThresholds), percent(c.Compression.TargetRatio), c.Compression.ProtectLastN)
	line("Compression, gateway layer", "%s (from %s of the window)", on, percent(c.Compression.GatewayThreshold))
	line("Summarizers", "%s", strings.Join(c.Summarizers, ", then "))
	line("Prompt caching", "ENABLED (Claude natively and via OpenRouter, %s TTL)", c.PromptCaching.CacheTTL)
	for _, table := range [][2]string{{"Cache layouts", c.PromptCaching.LayoutsFile}, {"Cache prices", c.PromptCaching.PricesFile}} {
		if table[1] != "" {
			line(table[0], "built in, with the rows of %s", table[1])
		}
	}
	if len(c.Count.Providers) > 0 {
		line("Provider counts", "%s (METHOD_PROVIDER alone sends them the conversation)", strings.Join(c.Count.Providers, ", "))
	}
	line("Store", "%s", f.service.state.where)
	line("Compression states", "%s", map[bool]string{true: "checksum only", false: "signed"}[c.StateKeyFile == ""])
	line("Limits", "%v a message, %v in flight, %d calls a connection", c.Limits.MaxMessageBytes, c.Limits.MaxInFlightBytes, c.Limits.MaxConcurrentStreams)
	_, _ = io.WriteString(out, text.String()) // at once: programs read it line by line
}

func authentication(c *config.Config, addr string) string {
	if on := authenticated(c); on != "" {
		return on
	}
	host, _, err := net.SplitHostPort(addr)
	if err == nil && config.IsLoopback(host) {
		return "off (only this machine can reach the server)"
	}
	if c.Insecure {
		return "off (--insecure: whoever reaches the address may call)"
	}
	return "off"
}

// authenticated lists what callers may show, empty for nothing.
func authenticated(c *config.Config) string {
	var ways []string
	for _, way := range []struct {
		on   bool
		name string
	}{
		{c.Auth.TokensFile != "", "bearer tokens"},
		{c.Auth.JWTIssuer != "", "tokens of " + c.Auth.JWTIssuer},
		{c.Auth.Certificates, "client certificates"},
	} {
		if way.on {
			ways = append(ways, way.name)
		}
	}
	return strings.Join(ways, ", ")
}

// transport says how connections are secured.
func transport(c *config.Config) string {
	switch {
	case c.TLS.CertFile == "" && c.Auth.Enabled():
		return "off (tokens travel in clear: let something before the server do TLS)"
	case c.TLS.CertFile == "":
		return "off"
	case c.TLS.ClientCAFile == "":
		return "on"
	case c.TLS.ClientAuth == "optional":
		return "on, client certificates checked where shown"
	default:
		return "on, client certificates required"
	}
}

func modelThresholds(thresholds map[string]float64) string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(thresholds)) {
		fmt.Fprintf(&out, ", %s for %s", percent(thresholds[name]), name)
	}
	return out.String()
}

// percent writes a share without more digits than it has.
func percent(share float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", share*100), "0"), ".") + " %"
}
