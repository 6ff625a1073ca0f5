package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/elbowroom/elbowroom/internal/config"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestMain allows the one goroutine that a dependency of the Gemini SDK starts when it is loaded.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}

// result is what a run of the program leaves behind.
type result struct {
	code           int
	stdout, stderr string
}

func runWith(t *testing.T, p process, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p.args, p.stdout, p.stderr = args, &stdout, &stderr
	if p.stdin == nil {
		p.stdin = strings.NewReader("")
	}
	code := run(t.Context(), p)
	return result{code, stdout.String(), stderr.String()}
}

func runArgs(t *testing.T, args ...string) result {
	t.Helper()
	return runWith(t, process{}, args...)
}

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; run with -update to accept):\n%s", path, diff)
	}
}

func TestOutputForPeople(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
	}{
		{"help", []string{"--help"}},
		{"help-serve", []string{"serve", "--help"}},
		{"help-compress", []string{"compress", "--help"}},
		{"config-print", []string{"config", "print"}},
		{"count-openai", []string{"count", "testdata/openai.json"}},
		{"count-text", []string{"count", "--text", "--model", "gpt-4o", "testdata/openai.json"}},
		{"count-long", []string{"count", "testdata/long.json"}},
		{"count-long-words", []string{"count", "--show-text", "testdata/long.json"}},
		{"count-anthropic", []string{"count", "--model", "gpt-4o", "testdata/anthropic.json"}},
		{"count-json", []string{"count", "--json", "testdata/openai.json"}},
		{"cache-anthropic", []string{"cache", "testdata/anthropic.json"}},
		{"cache-openai", []string{"cache", "testdata/openai.json"}},
		{"compress-below", []string{"compress", "testdata/openai.json"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := runArgs(t, c.args...)
			if got.code != exitOK || got.stderr != "" {
				t.Fatalf("exit code %d, stderr %q", got.code, got.stderr)
			}
			golden(t, c.name, got.stdout)
		})
	}
}

func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	broken := write("broken.json", `{"messages":[{"role":"user"`)
	plain, odd := write("plain.txt", "The tide turns at noon."), write("odd.txt", "ab\xff")
	for _, c := range []struct {
		name   string
		args   []string
		code   int
		stderr string // part of it
	}{
		{"no command", nil, exitUsage, "expected one of"},
		{"an unknown command", []string{"shrink"}, exitUsage, "unexpected argument shrink"},
		{"an unknown flag", []string{"serve", "--treshold", "1"}, exitUsage, "unknown flag --treshold"},
		{"a flag of the wrong type", []string{"serve", "--compression-threshold", "half"}, exitUsage, "--compression-threshold"},
		{"a flag out of range", []string{"serve", "--compression-threshold", "50"}, exitUsage, "compression.threshold: 50 is not above 0 and up to 1"},
		{"an open address", []string{"serve", "--grpc-addr", "0.0.0.0:0"}, exitUsage, "add --insecure"},
		{"an open address of the HTTP edge", []string{"serve", "--http-addr", "0.0.0.0:0"}, exitUsage, "http_addr: 0.0.0.0:0 can be reached from other machines"},
		{"an origin with a path", []string{"serve", "--http-allowed-origins", "https://app.example/"}, exitUsage, "http.allowed_origins"},
		{"the admin port", []string{"serve", "--admin-addr", "9051"}, exitUsage, "admin_addr: \"9051\" is not of the form HOST:PORT"},
		{"a summarizer of an unknown kind", []string{"serve", "--summarizers", "gpt-4o-mini,extractive"}, exitUsage, `"gpt-4o-mini" is none of openai:MODEL`},
		{"a missing configuration", []string{"serve", "--config", "/does/not/exist.yaml"}, exitUsage, "/does/not/exist.yaml"},
		{"a missing file", []string{"count", "/does/not/exist.json"}, exitError, "/does/not/exist.json"},
		{"no file", []string{"count"}, exitUsage, "<file>"},
		{"plain text as a conversation", []string{"count", plain}, exitError, "is no conversation in JSON (count plain text with --text): conversation.native.json_bytes: input: unexpected"},
		{"text that is none", []string{"count", "--text", odd}, exitUsage, "invalid UTF-8 at byte 2"},
		{"broken JSON", []string{"count", broken}, exitError, "InvalidArgument: conversation.native.json_bytes: messages[0]: JSON ends where"},
		{"an unknown format", []string{"compress", "--format", "gemini", broken}, exitUsage, "--format"},
		{"nobody at the address", []string{"healthcheck", "--server", "127.0.0.1:1", "--timeout", "1s"}, exitError, "127.0.0.1:1"},
		{"a layout for another form", []string{"cache", "--layout", "litellm", "testdata/anthropic.json"}, exitError, "InvalidArgument: layout"},
		{"an output that cannot be written", []string{"compress", "--out", "/does/not/exist/out.json", "testdata/openai.json"}, exitError, "/does/not/exist/out.json"},
		{"help without the arguments", []string{"compress", "--help"}, exitOK, ""},
		{"version", []string{"version"}, exitOK, ""},
		{"config check", []string{"config", "check"}, exitOK, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := runArgs(t, c.args...)
			if got.code != c.code || !strings.Contains(got.stderr, c.stderr) || c.stderr == "" && got.stderr != "" {
				t.Errorf("exit code %d, stderr %q, want %d and %q", got.code, got.stderr, c.code, c.stderr)
			}
			if c.code != exitOK && got.stdout != "" {
				t.Errorf("a failure wrote to standard output: %q", got.stdout)
			}
		})
	}
}

func TestTheEnvironmentConfigures(t *testing.T) {
	env := process{environ: []string{"ELBOWROOM_COMPRESSION_THRESHOLD=0.7", "ELBOWROOM_TYPO=1"}}
	if got := runWith(t, env, "config", "print"); !strings.Contains(got.stdout, "  threshold: 0.7\n") {
		t.Errorf("config print:\n%s%s", got.stdout, got.stderr)
	}
	if got := runWith(t, env, "config", "check"); !strings.Contains(got.stdout, "unknown environment variable ELBOWROOM_TYPO") {
		t.Errorf("config check: %+v", got)
	}
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("compression: {protect_last_n: 3, model_thresholds: {gpt-4.1: 0.3}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := runWith(t, process{environ: []string{"ELBOWROOM_CONFIG=" + file}}, "config", "print")
	if !strings.Contains(got.stdout, "  protect_last_n: 3\n") || !strings.Contains(got.stdout, `  model_thresholds: {"gpt-4.1": 0.3}`) {
		t.Errorf("config print with a file:\n%s%s", got.stdout, got.stderr)
	}
}

// What config print writes is a configuration file with the same settings.
func TestThePrintedConfigurationCanBeRead(t *testing.T) {
	first := runWith(t, process{environ: []string{
		"ELBOWROOM_COMPRESSION_MODEL_THRESHOLDS=gpt-4.1=0.25,openai/gpt-4o=0.5", "ELBOWROOM_STORE_MAX_BYTES=3MiB", "ELBOWROOM_INSECURE=true",
	}}, "config", "print")
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte(first.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	second := runArgs(t, "config", "print", "--config", file)
	if diff := cmp.Diff(first.stdout, second.stdout); diff != "" || second.code != exitOK {
		t.Errorf("read back (-first +second):\n%s%s", diff, second.stderr)
	}
}

// Every setting is a flag of serve, under the name and with the default that the
// configuration says.
func TestEverySettingIsAFlag(t *testing.T) {
	var cli commands
	parser, err := kong.New(&cli, kong.Exit(func(int) {}))
	if err != nil {
		t.Fatal(err)
	}
	flags := map[string]*kong.Flag{}
	for _, node := range parser.Model.Children {
		if node.Name == "serve" {
			for _, f := range node.Flags {
				flags["--"+f.Name] = f
			}
		}
	}
	for _, s := range config.Settings() {
		f, found := flags[s.Flag()]
		if !found {
			t.Errorf("serve has no flag %s", s.Flag())
			continue
		}
		if f.Default != s.Default || f.Help != s.Help {
			t.Errorf("%s: default %q and help %q, want %q and %q", s.Flag(), f.Default, f.Help, s.Default, s.Help)
		}
		delete(flags, s.Flag())
	}
	delete(flags, "--config")
	for name := range flags {
		t.Errorf("%s is a flag of serve and no setting", name)
	}
}

func TestFlagsOfServeWin(t *testing.T) {
	var cli commands
	parser, err := kong.New(&cli, kong.Exit(func(int) {}))
	if err != nil {
		t.Fatal(err)
	}
	line, err := parser.Parse([]string{
		"serve", "--grpc-addr", "127.0.0.1:7", "--no-compression-enabled", "--compression-model-thresholds", "a=0.5,b=0.25",
		"--limits-max-message-bytes", "1MiB", "--shutdown-timeout=5s", "--summarizers", "extractive", "--insecure",
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := loadConfig(process{environ: []string{"ELBOWROOM_GRPC_ADDR=127.0.0.1:8", "ELBOWROOM_LOG_LEVEL=warn"}}, "", givenFlags(line))
	if err != nil {
		t.Fatal(err)
	}
	if c.GRPCAddr != "127.0.0.1:7" || c.Compression.Enabled || c.LogLevel != "warn" || c.Limits.MaxMessageBytes != 1<<20 || !c.Insecure ||
		c.ShutdownTimeout.Seconds() != 5 || !cmp.Equal(c.Compression.ModelThresholds, map[string]float64{"a": 0.5, "b": 0.25}) {
		t.Errorf("settings %+v", c)
	}
}

func TestVersionNamesTheBuild(t *testing.T) {
	got := runArgs(t, "version")
	if !regexp.MustCompile(`^elbowroom \S+ \(go1\.\S+, \w+/\w+\)\n$`).MatchString(got.stdout) {
		t.Errorf("version: %q", got.stdout)
	}
}

func TestOnlyTerminalsAreColoured(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = r.Close(), w.Close() }()
	if colourful(w, nil) {
		t.Error("a pipe is coloured")
	}
	if got := (page{io.Discard, true}).bold("x"); got != "\x1b[1mx\x1b[0m" {
		t.Errorf("bold on a terminal is %q", got)
	}
	if got := (page{io.Discard, false}).bold("x"); got != "x" {
		t.Errorf("bold elsewhere is %q", got)
	}
	var other bytes.Buffer
	p := process{stdout: io.Discard, colour: true}
	if newPage(p, &other).colour || !newPage(p, p.stdout).colour {
		t.Error("the report is coloured where it does not go to the terminal")
	}
}

func TestNumbersAndWords(t *testing.T) {
	for n, want := range map[int]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000"} {
		if got := grouped(n); got != want {
			t.Errorf("grouped(%d) = %q, want %q", n, got, want)
		}
	}
	for share, want := range map[float64]string{0.5: "50 %", 0.125: "12.5 %", 0.3333: "33.33 %", 1: "100 %", 0.1: "10 %"} {
		if got := percent(share); got != want {
			t.Errorf("percent(%v) = %q, want %q", share, got, want)
		}
	}
	if got := word("OUTCOME_BELOW_THRESHOLD", "OUTCOME_"); got != "below threshold" {
		t.Errorf("word: %q", got)
	}
}

// background runs the program until stop is called, and gives what it wrote.
type background struct {
	out    *syncBuffer
	err    *syncBuffer
	cancel context.CancelFunc
	code   chan int
}

func (b background) stop() int {
	b.cancel()
	return <-b.code
}

// The commands that the docs show are commands that can be read.
func TestDocumentedCommandsParse(t *testing.T) {
	n := 0
	for _, path := range []string{"../../docs/getting-started.md", "../../docs/configuration.md", "../../docs/api.md"} {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(page)) {
			for part := range strings.SplitSeq(strings.TrimSpace(line), " | ") {
				args := strings.Fields(part)
				if len(args) < 2 || args[0] != "elbowroom" || args[1] == "=" {
					continue
				}
				var cli commands
				parser, err := kong.New(&cli, kong.Exit(func(int) {}))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := parser.Parse(args[1:]); err != nil {
					t.Errorf("%s: %q: %v", path, part, err)
				}
				n++
			}
		}
	}
	if n < 6 {
		t.Errorf("%d commands were found in the docs", n)
	}
}
