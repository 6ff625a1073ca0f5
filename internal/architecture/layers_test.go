package architecture

import "slices"

// layer says what the packages under one folder may import. The layer of a package is the one with the longest matching
// folder; a package that none matches is an error, so a new folder is a decision.
type layer struct {
	// dir is relative to the root of the module and covers the folders below it.
	dir string
	// house lists the packages of this module it may import, each with the folders below it where it ends in "/...".
	// Packages under the layer's own dir are always allowed.
	house []string
	// modules lists the third-party import path prefixes it may use; "*" is any.
	modules []string
	// tests lists what its _test.go files may import besides.
	tests []string
}

// anything stands for every package of this module but the binary, which nobody imports.
var anything = []string{
	"conversation/...", "tokens/...", "summarizer/...", "breakpoints/...", "compressor/...", "store/...", "server/...",
	"gen/...", "clients/...", "conformance/...", "internal/...",
}

// testModules may be used by every test.
var testModules = []string{
	"github.com/google/go-cmp", "go.uber.org/goleak", "google.golang.org/protobuf/testing/protocmp",
}

// testHouse may be used by every test: real conversations, stand-ins, and the checker that knows answers from outside only.
var testHouse = []string{"internal/testdata/...", "internal/testutil/...", "internal/wiredouble", "internal/agentdouble", "internal/otlpdouble", "conformance/..."}

// layers is the one table of who may import whom:
// cmd -> server -> {compressor, breakpoints} -> {summarizer, tokens} -> conversation.
var layers = []layer{
	{dir: "conversation", modules: []string{"github.com/clipperhouse/uax29/v2", "golang.org/x/sys/cpu"}},
	{
		dir: "tokens", house: []string{"conversation"},
		modules: []string{"github.com/clipperhouse/uax29/v2", "golang.org/x/text/unicode/norm"},
		// Two independent implementations, to be compared with.
		tests: []string{"github.com/pkoukk/tiktoken-go", "github.com/pkoukk/tiktoken-go-loader", "github.com/dlclark/regexp2"},
	},
	// Provider counts are the part of counting that reaches the network. Each provider brings its own SDK, which a build
	// without it does not link.
	{dir: "tokens/provider", house: []string{"tokens", "conversation"}},
	{
		dir: "tokens/provider/anthropic", house: []string{"tokens", "tokens/provider", "tokens/provider/wire", "conversation"},
		modules: []string{"github.com/anthropics/anthropic-sdk-go/v2"},
	},
	{
		dir: "tokens/provider/openai", house: []string{"tokens", "tokens/provider", "tokens/provider/wire", "conversation"},
		modules: []string{"github.com/openai/openai-go/v3"},
	},
	{
		dir: "tokens/provider/gemini", house: []string{"tokens", "tokens/provider", "tokens/provider/wire", "conversation"},
		modules: []string{"google.golang.org/genai"},
	},
	{
		dir: "summarizer", house: []string{"tokens", "conversation", "internal/memo", "internal/redact", "internal/parallel"},
		modules: []string{"github.com/clipperhouse/uax29/v2", "golang.org/x/sync"},
	},
	{
		dir: "summarizer/ladder", house: []string{"summarizer", "conversation", "store"},
		modules: []string{"github.com/failsafe-go/failsafe-go", "golang.org/x/sync"},
	},
	// The backends: each brings its provider's SDK, and what those over HTTP share is in internal/endpoint.
	{
		dir: "summarizer/anthropic", house: []string{"summarizer", "summarizer/internal/endpoint"},
		modules: []string{"github.com/anthropics/anthropic-sdk-go/v2"}, tests: []string{"summarizer/internal/backendtest"},
	},
	{
		dir: "summarizer/openai", house: []string{"summarizer", "summarizer/internal/endpoint"},
		modules: []string{"github.com/openai/openai-go/v3"}, tests: []string{"summarizer/internal/backendtest"},
	},
	{
		dir: "summarizer/plugin", house: []string{"summarizer", "gen/..."},
		modules: []string{
			"google.golang.org/grpc", "google.golang.org/protobuf", "google.golang.org/genproto/googleapis/rpc",
			"go.opentelemetry.io/otel/propagation",
		},
		tests: []string{"go.opentelemetry.io/otel/trace"},
	},
	{
		dir: "summarizer/internal/endpoint", house: []string{"summarizer"},
		// The caller's trace goes on in the model's server, as it does in a plug-in.
		modules: []string{"go.opentelemetry.io/otel/propagation"}, tests: []string{"go.opentelemetry.io/otel/trace"},
	},
	// Test support: the table that both backends over HTTP must pass.
	{
		dir: "summarizer/internal/backendtest", house: []string{"summarizer", "internal/wiredouble"},
		modules: []string{"github.com/google/go-cmp"},
	},
	{dir: "breakpoints", house: []string{"tokens", "conversation", "internal/seal"}},
	{
		dir: "compressor", house: []string{"summarizer", "summarizer/extractive", "summarizer/fidelity", "summarizer/ladder", "tokens", "conversation", "store", "internal/memo", "internal/redact", "internal/parallel", "internal/seal"},
		modules: []string{"github.com/clipperhouse/uax29/v2", "golang.org/x/sync"},
		tests:   []string{"breakpoints"},
	},
	{dir: "store"},
	{dir: "store/redis", house: []string{"store"}, modules: []string{"github.com/redis/rueidis"}, tests: []string{"store/storetest"}},
	{dir: "server", house: without(anything, "clients/...", "conformance/..."), modules: []string{"*"}, tests: []string{"clients/..."}},
	// The HTTP edge calls the gRPC server as an HTTP handler: it knows neither the engine nor the server's insides.
	{
		dir: "server/httpapi", house: []string{"gen/...", "conversation"},
		modules: []string{
			"connectrpc.com/connect", "connectrpc.com/vanguard", "google.golang.org/grpc", "google.golang.org/protobuf", "google.golang.org/genproto/googleapis/rpc",
		},
		tests: slices.Concat(anything, []string{"github.com/getkin/kin-openapi"}),
	},
	{dir: "gen", modules: []string{"google.golang.org/grpc", "google.golang.org/protobuf", "buf.build/gen/go/bufbuild/protovalidate"}},
	{
		dir: "clients/go", house: []string{"gen/..."},
		modules: []string{"google.golang.org/grpc", "google.golang.org/protobuf", "google.golang.org/genproto/googleapis/rpc"},
		tests:   slices.Concat(anything, []string{"*"}),
	},
	// Judges answers from the outside: it must not share a mistake with what it judges, so nothing of the engine.
	// Its tests hold it against the whole service.
	{
		dir: "conformance", house: []string{"gen/..."}, modules: []string{"google.golang.org/protobuf"},
		tests: slices.Concat(anything, []string{"google.golang.org/grpc", "google.golang.org/genproto/googleapis/rpc"}),
	},
	{dir: "internal/config", modules: []string{"github.com/knadh/koanf", "github.com/fsnotify/fsnotify", "go.yaml.in/yaml"}},
	// It is told the results of the engine and asks for nothing else.
	{dir: "internal/telemetry", house: []string{"compressor", "breakpoints", "conversation", "tokens", "summarizer", "summarizer/ladder", "store"}, modules: []string{"*"}, tests: []string{"summarizer/fidelity"}},
	{dir: "internal/parallel"},
	{dir: "internal/memo"},
	{dir: "internal/redact", house: []string{"internal/memo", "internal/parallel"}},
	{dir: "internal/seal"},
	{dir: "internal/logsink"},
	{dir: "internal/watched"},
	{dir: "internal/certificates", house: []string{"internal/watched"}},
	{dir: "internal/testdata"},
	// Test support: it shares nothing with the SDKs whose wires it plays.
	{
		dir: "internal/wiredouble", house: []string{"gen/..."},
		modules: []string{"google.golang.org/grpc", "google.golang.org/protobuf", "google.golang.org/genproto/googleapis/rpc"},
	},
	// Test support: a model that judges the loop's requests with the conformance checker.
	{dir: "internal/agentdouble", house: []string{"conformance"}, tests: []string{"conformance"}},
	// Test support: a collector of telemetry.
	{dir: "internal/otlpdouble", modules: []string{"go.opentelemetry.io/proto/otlp", "google.golang.org/grpc"}},
	// Test support: the program as a process of its own. It knows the program from outside only.
	{dir: "internal/serverprocess", tests: []string{"gen/...", "google.golang.org/grpc"}},
	{dir: "internal/testutil", house: anything, modules: []string{"*"}},
	{dir: "internal/tools", house: anything, modules: []string{"*"}},
	{
		dir:   "internal/architecture",
		tests: []string{"gen/...", "google.golang.org/protobuf", "buf.build/gen/go/bufbuild/protovalidate"},
	},
	{
		dir: "examples", house: []string{"clients/go", "gen/..."},
		modules: []string{"github.com/anthropics/anthropic-sdk-go/v2", "github.com/openai/openai-go/v3", "google.golang.org/grpc"},
		tests:   slices.Concat(anything, []string{"*"}),
	},
	{dir: "bench", house: anything, modules: []string{"*"}},
	{dir: "evals", house: anything, modules: []string{"*"}},
	{dir: "tests", house: anything, modules: []string{"*"}},
	{dir: "cmd", house: anything, modules: []string{"*"}},
}

// without returns all but the entries named.
func without(all []string, names ...string) []string {
	var kept []string
	for _, entry := range all {
		named := false
		for _, name := range names {
			named = named || entry == name
		}
		if !named {
			kept = append(kept, entry)
		}
	}
	return kept
}
