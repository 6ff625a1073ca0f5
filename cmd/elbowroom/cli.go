package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"google.golang.org/grpc/status"

	"github.com/elbowroom/elbowroom/internal/config"
)

// The exit codes.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

// process is what the operating system gives a program.
type process struct {
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string
	// colour is set when stdout is a terminal that wants it.
	colour bool
	// lost is how many lines of the log could not be written, nil where nobody counts.
	lost func() int64
}

// variable returns a variable of the environment, empty when it is not set.
func (p process) variable(name string) string {
	for _, pair := range p.environ {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// commands is the command line.
type commands struct {
	Serve       serveCommand       `cmd:"" help:"Serve the gRPC API."`
	Demo        demoCommand        `cmd:"" help:"Send a long conversation through every call and show what happens. No key, no configuration, no network."`
	Compress    compressCommand    `cmd:"" help:"Shorten the conversation in a file."`
	Cache       cacheCommand       `cmd:"" help:"Put cache breakpoints into the conversation in a file, or show what its requests read from the cache and cost."`
	Count       countCommand       `cmd:"" help:"Count the tokens of the conversation in a file."`
	Models      modelsCommand      `cmd:"" help:"List the models the server knows."`
	Config      configCommand      `cmd:"" help:"Check or print the configuration."`
	Token       tokenCommand       `cmd:"" help:"Make a bearer token for a tenant."`
	Healthcheck healthcheckCommand `cmd:"" help:"Ask a running server whether it is serving."`
	Version     versionCommand     `cmd:"" help:"Print the version."`
}

// usageError is a command line, or a configuration, that cannot be followed.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }

func (e *usageError) Unwrap() error { return e.err }

// run is the program: it returns the exit code.
func run(ctx context.Context, p process) int {
	var cli commands
	helped := false
	parser, err := kong.New(&cli,
		kong.Name("elbowroom"),
		kong.Description("Keeps long agent conversations inside the model's context window and their prefix in the provider's cache."),
		kong.Writers(p.stdout, p.stderr),
		kong.Exit(func(int) { helped = true }),
		kong.ValueFormatter(helpOf),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true}),
	)
	if err != nil {
		fmt.Fprintln(p.stderr, "elbowroom:", err)
		return exitError
	}
	line, err := parser.Parse(p.args)
	switch {
	case helped: // the help has been printed; whatever is missing on the line does not matter
		return exitOK
	case err != nil:
		fmt.Fprintf(p.stderr, "elbowroom: %v\nRun \"elbowroom --help\" for the commands and flags.\n", err)
		return exitUsage
	}
	if line.Command() == "serve" {
		var end func()
		p, end = p.unhindered(ctx)
		defer end()
	}
	line.BindTo(ctx, (*context.Context)(nil))
	line.Bind(p)
	if err := line.Run(line); err != nil {
		var usage *usageError
		fmt.Fprintln(p.stderr, "elbowroom:", describe(err))
		if errors.As(err, &usage) {
			return exitUsage
		}
		return exitError
	}
	return exitOK
}

// describe writes an error for people: a status of a call without its wrapping.
func describe(err error) string {
	var call interface{ GRPCStatus() *status.Status }
	if errors.As(err, &call) {
		return fmt.Sprintf("%s: %s", call.GRPCStatus().Code(), call.GRPCStatus().Message())
	}
	return err.Error()
}

// helpOf adds default and environment variable to a setting's help.
func helpOf(value *kong.Value) string {
	help := value.Help
	for _, s := range config.Settings() {
		if s.Flag() == "--"+value.Name && value.Tag.Get("key") != "" {
			if s.Default != "" {
				help += " Default " + s.Default + "."
			}
			help += " ($" + s.Variable() + ")"
		}
	}
	return help
}

// givenFlags returns the settings that were given as flags, by key.
func givenFlags(line *kong.Context) map[string]any {
	settings := config.Settings()
	given := map[string]any{}
	for _, at := range line.Path {
		if at.Flag == nil || at.Resolved {
			continue
		}
		i := slices.IndexFunc(settings, func(s config.Setting) bool { return s.Flag() == "--"+at.Flag.Name })
		if i >= 0 {
			given[settings[i].Key] = at.Flag.Target.Interface()
		}
	}
	return given
}

// configFile is the path of the configuration file, "" for none.
func configFile(p process, given string) string {
	return cmp.Or(given, p.variable(config.FileVariable))
}

// loadConfig layers the flags of a command, the environment and the file.
func loadConfig(p process, file string, flags map[string]any) (*config.Config, error) {
	c, err := config.Load(config.Sources{File: configFile(p, file), Environ: p.environ, Flags: flags})
	if err != nil {
		return nil, &usageError{err}
	}
	return c, nil
}

// loadLocal is loadConfig for a command with a server of its own, whose address
// is nobody's business: where the configured one listens does not matter, and
// neither does whether it could. What it keeps is gone with it.
func loadLocal(p process, file string) (*config.Config, error) {
	return loadConfig(p, file, map[string]any{"grpc_addr": "127.0.0.1:0", "http_addr": "", "admin_addr": "", "store.redis_url": "", "store.redis_url_file": ""})
}
