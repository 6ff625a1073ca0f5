package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/elbowroom/elbowroom/internal/config"
)

type healthcheckCommand struct {
	Server string `placeholder:"ADDR" help:"The server to ask. Default: the configured gRPC address on this machine."`
	Config string `placeholder:"FILE" help:"YAML file with settings ($ELBOWROOM_CONFIG)."`
	remote
	Timeout time.Duration `default:"3s" placeholder:"DURATION" help:"How long to wait for the answer."`
}

// Run asks and fails unless the answer is SERVING.
func (cmd *healthcheckCommand) Run(ctx context.Context, p process) error {
	addr := cmd.Server
	options, err := cmd.dialOptions(p)
	if err != nil {
		return err
	}
	if addr == "" {
		// Only the address matters here, not whether serve would accept it.
		c, err := loadConfig(p, cmd.Config, map[string]any{"insecure": true, "http_addr": "", "admin_addr": ""})
		if err != nil {
			return err
		}
		addr = reachable(c.GRPCAddr)
		if c.TLS.CertFile != "" {
			if options, err = toItself(c.TLS); err != nil {
				return err
			}
		}
	}
	conn, err := grpc.NewClient(addr, options...)
	if err != nil {
		return &usageError{fmt.Errorf("server %s: %w", addr, err)}
	}
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithTimeout(ctx, cmd.Timeout)
	defer cancel()
	out, err := healthv1.NewHealthClient(conn).Check(ctx, &healthv1.HealthCheckRequest{})
	if err != nil {
		return fmt.Errorf("%s: %s", addr, describe(err))
	}
	if out.GetStatus() != healthv1.HealthCheckResponse_SERVING {
		return fmt.Errorf("%s: %s", addr, out.GetStatus())
	}
	fmt.Fprintf(p.stdout, "%s: %s\n", addr, out.GetStatus())
	return nil
}

// toItself reaches the server of this very configuration: its certificate names
// whatever its callers know it by, which is not checked here, and stands for a
// client's where one is wanted.
func toItself(c config.TLS) ([]grpc.DialOption, error) {
	own, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
	if err != nil {
		return nil, &usageError{fmt.Errorf("tls: %w", err)}
	}
	return []grpc.DialOption{grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS12, InsecureSkipVerify: true, //nolint:gosec // nothing is sent but the question
		Certificates: []tls.Certificate{own},
	}))}, nil
}

// reachable turns an address that is listened on into one that can be dialled: a
// server on all interfaces is reached on loopback.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return addr
}

type configCommand struct {
	Check configCheckCommand `cmd:"" help:"Check the configuration without serving."`
	Print configPrintCommand `cmd:"" help:"Print the settings as they are after all layers, as a configuration file."`
}

type configCheckCommand struct {
	Config string `placeholder:"FILE" help:"YAML file with settings ($ELBOWROOM_CONFIG)."`
}

// Run checks what serve would read, state keys, encryption keys and cache tables included.
func (cmd *configCheckCommand) Run(p process) error {
	c, err := loadConfig(p, cmd.Config, nil)
	if err != nil {
		return err
	}
	if _, err := c.StateKeys(); err != nil {
		return &usageError{err}
	}
	if _, err := cacheRules(&c.PromptCaching); err != nil {
		return err
	}
	shared, _, err := openRedis(c) // connects to nothing
	if err != nil {
		return err
	}
	if shared != nil {
		shared.Close()
	}
	for _, name := range config.UnknownVariables(p.environ) {
		fmt.Fprintf(p.stdout, "warning: unknown environment variable %s\n", name)
	}
	fmt.Fprintln(p.stdout, "the configuration is good")
	return nil
}

type configPrintCommand struct {
	Config string `placeholder:"FILE" help:"YAML file with settings ($ELBOWROOM_CONFIG)."`
}

// Run prints the settings.
func (cmd *configPrintCommand) Run(p process) error {
	c, err := loadConfig(p, cmd.Config, nil)
	if err != nil {
		return err
	}
	fmt.Fprint(p.stdout, c.YAML())
	return nil
}

type versionCommand struct{}

// Run prints the version.
func (*versionCommand) Run(p process) error {
	_, err := fmt.Fprintf(p.stdout, "elbowroom %s (%s, %s/%s)\n", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// buildVersion is the version that the linker wrote, else what the build knows of
// its source.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if version != "devel" || !ok {
		return version
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return strings.TrimPrefix(v, "v")
	}
	return version
}
