package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/internal/config"
)

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "elbowroom.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, src config.Sources) *config.Config {
	t.Helper()
	c, err := config.Load(src)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaultsAreThePublishedOnes(t *testing.T) {
	want := &config.Config{
		GRPCAddr:    "127.0.0.1:50051",
		AdminAddr:   "127.0.0.1:9051",
		HTTPAddr:    "127.0.0.1:8051",
		LogLevel:    "info",
		Summarizers: []string{"extractive"},
		TLS:         config.TLS{ClientAuth: "require"},
		Auth:        config.Auth{JWTTenantClaim: "sub", Reflection: "open"},
		Summarizer:  config.Summarizer{AttemptTimeout: time.Minute, Retries: 2, BreakerDelay: 30 * time.Second, CallLimit: 3 * time.Minute, MaxOutputTokens: 16_384},
		Compression: config.Compression{
			Enabled: true, Threshold: 0.5, TargetRatio: 0.2, ProtectLastN: 20, GatewayThreshold: 0.85, Continuity: true,
			UnknownWindow: 128_000, ModelThresholds: map[string]float64{},
		},
		PromptCaching: config.PromptCaching{CacheTTL: "5m"},
		HTTP:          config.HTTP{AllowedOrigins: []string{}},
		Count:         config.Count{Providers: []string{}, Timeout: 5 * time.Second, Concurrency: 8},
		Limits: config.Limits{
			MaxMessageBytes: 64 << 20, MaxInFlightBytes: 512 << 20, MaxKeptBytes: 128 << 20, MaxRememberedBytes: 64 << 20, MaxConcurrentStreams: 256,
			MaxConnections: 10_000, HandshakeTimeout: 10 * time.Second, ReceiveTimeout: 2 * time.Minute, TenantBurst: 200, MaxDepth: 512, MaxBlocks: 200_000,
		},
		Keepalive:       config.Keepalive{Time: time.Minute, Timeout: 20 * time.Second, MinTime: 10 * time.Second, MaxConnectionIdle: 15 * time.Minute},
		Store:           config.Store{MaxBytes: 64 << 20, MaxEntries: 100_000, RedisTimeout: 100 * time.Millisecond, RedisPrefix: "elbowroom:"},
		ShutdownTimeout: 30 * time.Second,
	}
	if diff := cmp.Diff(want, load(t, config.Sources{})); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
}

func TestLayersFlagsOverEnvironmentOverFileOverDefaults(t *testing.T) {
	const file = "compression:\n  threshold: 0.3\n"
	const variable = "ELBOWROOM_COMPRESSION_THRESHOLD=0.4"
	flags := map[string]any{"compression.threshold": 0.6}
	for _, c := range []struct {
		name    string
		file    string
		environ []string
		flags   map[string]any
		want    float64
	}{
		{"nothing", "", nil, nil, 0.5},
		{"file", file, nil, nil, 0.3},
		{"environment", "", []string{variable}, nil, 0.4},
		{"flags", "", nil, flags, 0.6},
		{"environment over file", file, []string{variable}, nil, 0.4},
		{"flags over file", file, nil, flags, 0.6},
		{"flags over environment", "", []string{variable}, flags, 0.6},
		{"flags over all", file, []string{variable}, flags, 0.6},
		{"another key in the file", "compression: {target_ratio: 0.3}", nil, nil, 0.5},
		{"the key without a value", "compression:\n  threshold:\n", nil, nil, 0.5},
		{"the group without keys", "compression:\n", nil, nil, 0.5},
		{"an empty file", "", nil, nil, 0.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := load(t, config.Sources{File: writeFile(t, c.file), Environ: c.environ, Flags: c.flags})
			if got.Compression.Threshold != c.want {
				t.Errorf("threshold %v, want %v", got.Compression.Threshold, c.want)
			}
		})
	}
}

func TestTheFileHasTheKeysAsPublished(t *testing.T) {
	got := load(t, config.Sources{File: writeFile(t, `
# as published
compression:
  enabled: false
  threshold: 0.6
  target_ratio: 0.25
  protect_last_n: 10
  gateway_threshold: 0.9
  model_thresholds:
    gpt-4.1: 0.7
    openai/gpt-4o: 0.4
prompt_caching:
  cache_ttl: 1h
count:
  providers: [anthropic, openai, gemini]
  timeout: 2s
grpc_addr: 127.0.0.1:6000
summarizers: [extractive]
limits:
  max_message_bytes: 8MiB
  max_in_flight_bytes: 16777216
keepalive: {time: 90s}
`)})
	want := load(t, config.Sources{})
	want.GRPCAddr = "127.0.0.1:6000"
	want.Compression = config.Compression{
		Threshold: 0.6, TargetRatio: 0.25, ProtectLastN: 10, Continuity: true, GatewayThreshold: 0.9, UnknownWindow: 128_000,
		ModelThresholds: map[string]float64{"gpt-4.1": 0.7, "openai/gpt-4o": 0.4},
	}
	want.PromptCaching.CacheTTL = "1h"
	want.Count.Providers, want.Count.Timeout = []string{"anthropic", "openai", "gemini"}, 2*time.Second
	want.Limits.MaxMessageBytes, want.Limits.MaxInFlightBytes = 8<<20, 16<<20
	want.Keepalive.Time = 90 * time.Second
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
}

func TestTheEnvironmentSetsEveryType(t *testing.T) {
	got := load(t, config.Sources{Environ: []string{
		"ELBOWROOM_GRPC_ADDR=localhost:1", "ELBOWROOM_INSECURE=true", "ELBOWROOM_COMPRESSION_ENABLED=false",
		"ELBOWROOM_COMPRESSION_PROTECT_LAST_N=7", "ELBOWROOM_COMPRESSION_MODEL_THRESHOLDS=claude=0.6, gpt-4.1=0.4",
		"ELBOWROOM_SUMMARIZERS=extractive", "ELBOWROOM_STORE_MAX_BYTES=2GiB", "ELBOWROOM_SHUTDOWN_TIMEOUT=5s",
		"ELBOWROOM_CONFIG=elsewhere.yaml", "HOME=/root", "NOT_A_PAIR",
	}})
	want := load(t, config.Sources{})
	want.GRPCAddr, want.Insecure, want.Compression.Enabled, want.Compression.ProtectLastN = "localhost:1", true, false, 7
	want.Compression.ModelThresholds = map[string]float64{"claude": 0.6, "gpt-4.1": 0.4}
	want.Store.MaxBytes, want.ShutdownTimeout = 2<<30, 5*time.Second
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
}

func TestErrorsNameKeyAndSource(t *testing.T) {
	for _, c := range []struct {
		name    string
		file    string
		environ []string
		flags   map[string]any
		want    string // FILE stands for the file's path
	}{
		{"unknown key", "compresion: {threshold: 0.5}", nil, nil, "FILE: unknown key compresion"},
		{"unknown keys in a group", "compression: {treshold: 0.5, threshold: 0.5, model: x}", nil, nil, "FILE: unknown key compression.model, compression.treshold"},
		{"a value in place of a group", "compression: yes", nil, nil, "FILE: compression: a group of keys is wanted here, not a single value or a list"},
		{"two documents", "log_level: info\n---\nlog_level: debug\n", nil, nil, "read the configuration: FILE: there are several YAML documents (---) in it; settings are one"},
		{"two documents, the first empty", "# settings\n---\r\n---\r\nlog_level: debug\n", nil, nil, "read the configuration: FILE: there are several YAML documents (---) in it; settings are one"},
		{"a group in place of a value", "grpc_addr: {host: x}", nil, nil, "FILE: grpc_addr: a single value is wanted here, not a list or a group of keys"},
		{"a word for a number", "compression: {threshold: half}", nil, nil, `FILE: compression.threshold: "half" is not a number`},
		{"a fraction for a whole number", "compression: {protect_last_n: 1.5}", nil, nil, `FILE: compression.protect_last_n: "1.5" is not a whole number`},
		{"a number for a boolean", "compression: {enabled: 2}", nil, nil, `FILE: compression.enabled: "2" is neither true nor false`},
		{"a number for a duration", "shutdown_timeout: 30", nil, nil, `FILE: shutdown_timeout: "30" is not a duration such as 500ms, 30s or 5m`},
		{"bytes in decimal units", "store: {max_bytes: 64MB}", nil, nil, `FILE: store.max_bytes: "64MB" is not a number of bytes such as 1024, 64KiB, 64MiB or 2GiB`},
		{"a word in a model's threshold", "compression: {model_thresholds: {claude: high}}", nil, nil, `FILE: compression.model_thresholds: "claude=high" is not of the form NAME=SHARE`},
		{"broken YAML", "compression: [", nil, nil, "read the configuration: FILE: yaml: line 1: did not find expected node content"},
		{"a variable", "", []string{"ELBOWROOM_LIMITS_MAX_DEPTH=deep"}, nil, `ELBOWROOM_LIMITS_MAX_DEPTH: "deep" is not a whole number`},
		{"an empty variable", "", []string{"ELBOWROOM_COMPRESSION_THRESHOLD="}, nil, `ELBOWROOM_COMPRESSION_THRESHOLD: "" is not a number`},
		{"a flag", "", nil, map[string]any{"store.max_bytes": "much"}, `--store-max-bytes: "much" is not a number of bytes such as 1024, 64KiB, 64MiB or 2GiB`},
		{"a threshold of 0", "compression: {threshold: 0}", nil, nil, "compression.threshold: 0 is not above 0 and up to 1"},
		{"a threshold above 1", "compression: {threshold: 50}", nil, nil, "compression.threshold: 50 is not above 0 and up to 1"},
		{"a threshold that is no number", "compression: {threshold: .nan}", nil, nil, "compression.threshold: NaN is not above 0 and up to 1"},
		{"a window without room", "compression: {unknown_window: 0}", nil, nil, "compression.unknown_window: 0 is less than 1"},
		{"a gateway threshold above 1", "compression: {gateway_threshold: 1.1}", nil, nil, "compression.gateway_threshold: 1.1 is not above 0 and up to 1"},
		{"a model's threshold above 1", "compression: {model_thresholds: {a: 0.5, b: 2}}", nil, nil, "compression.model_thresholds: b: 2 is not above 0 and up to 1"},
		{"a target ratio out of range", "compression: {target_ratio: 0.9}", nil, nil, "compression.target_ratio: 0.9 is not between 0.1 and 0.8"},
		{"a negative tail", "compression: {protect_last_n: -1}", nil, nil, "compression.protect_last_n: -1 is less than 0"},
		{"an unknown ttl", "prompt_caching: {cache_ttl: 10m}", nil, nil, `prompt_caching.cache_ttl: "10m" is not one of 5m, 1h`},
		{"an unknown provider of counts", "count: {providers: [openai, azure]}", nil, nil, `count.providers: "azure" is not one of anthropic, openai, gemini`},
		{"a provider of counts twice", "count: {providers: [openai, openai]}", nil, nil, `count.providers: "openai" is listed twice`},
		{"no time for provider counts", "count: {timeout: 0s}", nil, nil, "count.timeout: 0s is not a positive duration"},
		{"no room for provider counts", "count: {concurrency: 0}", nil, nil, "count.concurrency: 0 is less than 1"},
		{"an unknown log level", "log_level: loud", nil, nil, `log_level: "loud" is not one of debug, info, warn, error`},
		{"an address without a port", "grpc_addr: 127.0.0.1", nil, nil, `grpc_addr: "127.0.0.1" is not of the form HOST:PORT`},
		{"an open address of the HTTP edge", "http_addr: 0.0.0.0:8051", nil, nil, "http_addr: 0.0.0.0:8051 can be reached from other machines and callers are not authenticated; " +
			"use 127.0.0.1, set auth.tokens_file, auth.jwt_issuer or auth.certificates, or add --insecure (insecure: true) where the network keeps strangers out"},
		{"an origin that is none", "http: {allowed_origins: [app.example]}", nil, nil, `http.allowed_origins: "app.example" is not of the form https://HOST[:PORT]`},
		{"the admin port", "admin_addr: '9051'", nil, nil, `admin_addr: "9051" is not of the form HOST:PORT`},
		{"a certificate without its key", "tls: {cert_file: a}", nil, nil, "tls: cert_file and key_file go together"},
		{"client authorities without TLS", "tls: {client_ca_file: a}", nil, nil, "tls.client_ca_file: without tls.cert_file there is no TLS"},
		{"an unknown client mode", "tls: {client_auth: maybe}", nil, nil, `tls.client_auth: "maybe" is not one of require, optional`},
		{"tokens of an issuer for everybody", "auth: {jwt_issuer: a}", nil, nil, "auth.jwt_audience: it must be set with auth.jwt_issuer, or tokens meant for other services would be accepted"},
		{"an audience without an issuer", "auth: {jwt_audience: a}", nil, nil, "auth.jwt_issuer: it must be set with auth.jwt_audience and auth.jwt_keys_url"},
		{"certificates that nobody signs", "auth: {certificates: true}", nil, nil, "auth.certificates: tls.client_ca_file must say who signs them"},
		{"an unknown reflection mode", "auth: {reflection: off}", nil, nil, `auth.reflection: "off" is not one of open, authenticated`},
		{"a summarizer of an unknown kind", "summarizers: [\"gpt-4o-mini\", extractive]", nil, nil, `summarizers: "gpt-4o-mini" is none of openai:MODEL, anthropic:MODEL, plugin:HOST:PORT, extractive`},
		{"a summarizer without a model", "summarizers: [\"openai:\"]", nil, nil, `summarizers: "openai:" is none of openai:MODEL, anthropic:MODEL, plugin:HOST:PORT, extractive`},
		{"a summarizer without time", "summarizer: {attempt_timeout: 0s}", nil, nil, "summarizer.attempt_timeout: 0s is not a positive duration"},
		{"a breaker that never opens", "summarizer: {breaker_delay: 0s}", nil, nil, "summarizer.breaker_delay: 0s is not a positive duration"},
		{"fewer than no retries", "summarizer: {retries: -1}", nil, nil, "summarizer.retries: -1 is less than 0"},
		{"no summarizer", "summarizers: []", nil, nil, "summarizers: at least one is needed; built in is extractive"},
		{"a summarizer twice", "summarizers: extractive,extractive", nil, nil, `summarizers: "extractive" is listed twice`},
		{"messages larger than the room for them", "limits: {max_message_bytes: 1GiB}", nil, nil, "limits.max_in_flight_bytes: 512MiB has no room for one message of limits.max_message_bytes, 1GiB"},
		{"messages larger than protobuf's", "limits: {max_message_bytes: 2GiB, max_in_flight_bytes: 4GiB}", nil, nil, "limits.max_message_bytes: 2GiB is not between 1KiB and 2GiB"},
		{"no streams", "limits: {max_concurrent_streams: 0}", nil, nil, "limits.max_concurrent_streams: 0 is less than 1"},
		{"a store without room", "store: {max_bytes: 1000}", nil, nil, "store.max_bytes: 1000 is less than 1MiB"},
		{"negative calls at one time", "limits: {max_concurrent_calls: -1}", nil, nil, "limits.max_concurrent_calls: -1 is less than 0"},
		{"two addresses of Redis", "store: {redis_url: 'redis://:hunter2@a', redis_url_file: b}", nil, nil, "store.redis_url: it is set and store.redis_url_file is too"},
		{"a group in place of a secret", "store: {redis_url: {host: hunter2}}", nil, nil, "FILE: store.redis_url: a single value is wanted here, not a list or a group of keys"},
		{"no time for Redis", "store: {redis_timeout: 0s}", nil, nil, "store.redis_timeout: 0s is not a positive duration"},
		{"Redis without a prefix", "store: {redis_prefix: ''}", nil, nil, "store.redis_prefix: it is empty, and keys of others would be met"},
		{"no time to shut down", "shutdown_timeout: 0s", nil, nil, "shutdown_timeout: 0s is not a positive duration"},
		{"a negative age", "keepalive: {max_connection_age: -1s}", nil, nil, "keepalive.max_connection_age: -1s is a negative duration"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := writeFile(t, c.file)
			_, err := config.Load(config.Sources{File: path, Environ: c.environ, Flags: c.flags})
			if err == nil {
				t.Fatal("no error")
			}
			if got := strings.ReplaceAll(err.Error(), path, "FILE"); got != c.want {
				t.Errorf("error\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestAFileMayBeginLikeAnyDocument(t *testing.T) {
	for _, text := range []string{
		"log_level: debug",
		"---\nlog_level: debug\n",
		"\ufeff--- # settings\r\nlog_level: debug\r\n",
		"# a comment\n\n---\nlog_level: |-\n  debug\n...\n",
		"state_key_file: |-\n  a\n  ---\n  b\nlog_level: debug\n",
	} {
		path := filepath.Join(t.TempDir(), "elbowroom.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := load(t, config.Sources{File: path}).LogLevel; got != "debug" {
			t.Errorf("%q: log level %q", text, got)
		}
	}
}

func TestAMissingFileIsNamed(t *testing.T) {
	_, err := config.Load(config.Sources{File: "/does/not/exist.yaml"})
	if want := "read the configuration: open /does/not/exist.yaml: no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestOtherMachinesAreRefusedUnlessToldSo(t *testing.T) {
	for _, c := range []struct {
		addr     string
		insecure bool
		refused  bool
	}{
		{"127.0.0.1:50051", false, false},
		{"127.1.2.3:0", false, false},
		{"[::1]:50051", false, false},
		{"[::ffff:127.0.0.1]:50051", false, false},
		{"localhost:50051", false, false},
		{":50051", false, true},
		{"0.0.0.0:50051", false, true},
		{"[::]:50051", false, true},
		{"192.168.1.5:50051", false, true},
		{"example.com:50051", false, true},
		{"localhost.example.com:50051", false, true},
		{"0.0.0.0:50051", true, false},
	} {
		t.Run(c.addr, func(t *testing.T) {
			_, err := config.Load(config.Sources{Flags: map[string]any{"grpc_addr": c.addr, "insecure": c.insecure}})
			if (err != nil) != c.refused {
				t.Errorf("error %v, want refused %v", err, c.refused)
			}
			if err != nil && (!strings.Contains(err.Error(), c.addr) || !strings.Contains(err.Error(), "--insecure")) {
				t.Errorf("error %q names neither the address nor the way out", err)
			}
		})
	}
}

func TestUnknownVariablesAreListed(t *testing.T) {
	got := config.UnknownVariables([]string{
		"ELBOWROOM_GRPC_ADDR=x", "ELBOWROOM_TRESHOLD=0.5", "ELBOWROOM_CONFIG=f", "PATH=/bin", "ELBOWROOM_GRPC_ADDRESS=x",
		"ELBOWROOM_SERVICE_HOST=10.0.0.1", "ELBOWROOM_SERVICE_PORT_GRPC=50051", "ELBOWROOM_PORT=tcp://10.0.0.1:50051", "ELBOWROOM_PORT_50051_TCP_ADDR=10.0.0.1",
	})
	if diff := cmp.Diff([]string{"ELBOWROOM_GRPC_ADDRESS", "ELBOWROOM_TRESHOLD"}, got); diff != "" {
		t.Errorf("unknown (-want +got):\n%s", diff)
	}
}

// Every setting can be given in each of the three ways and comes back as text.
func TestSettingsAreReadableInEveryWay(t *testing.T) {
	base := load(t, config.Sources{})
	for _, s := range config.Settings() {
		if s.Help == "" || !strings.HasSuffix(s.Help, ".") {
			t.Errorf("%s has no help, or help that is no sentence: %q", s.Key, s.Help)
		}
		text := s.Text(base)
		for name, src := range map[string]config.Sources{
			"flag": {Flags: map[string]any{s.Key: text}},
			"env":  {Environ: []string{s.Variable() + "=" + text}},
		} {
			if got := load(t, src); !reflect.DeepEqual(got, base) {
				t.Errorf("%s given as %s %q is not its default: %s", s.Key, name, text, cmp.Diff(base, got))
			}
		}
	}
}

func FuzzBytes(f *testing.F) {
	for _, s := range []string{"0", "1024", "64KiB", "64MiB", "2GiB", "-1", "9223372036854775807GiB", " 5 MiB", "MiB", "1e3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b, again config.Bytes
		if b.UnmarshalText([]byte(s)) != nil {
			return
		}
		if b < 0 {
			t.Fatalf("%q is %d bytes", s, b)
		}
		if err := again.UnmarshalText([]byte(b.String())); err != nil || again != b {
			t.Fatalf("%q reads as %d and writes as %q, which reads as %d (%v)", s, b, b, again, err)
		}
	})
}

func TestOtherMachinesAreLetInWhereCallersAreAuthenticated(t *testing.T) {
	for name, flags := range map[string]map[string]any{
		"tokens":       {"auth.tokens_file": "tokens"},
		"JWT":          {"auth.jwt_issuer": "https://issuer.example", "auth.jwt_audience": "elbowroom"},
		"certificates": {"auth.certificates": true, "tls.cert_file": "a", "tls.key_file": "b", "tls.client_ca_file": "c"},
	} {
		flags["grpc_addr"] = ":50051"
		if _, err := config.Load(config.Sources{Flags: flags}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
