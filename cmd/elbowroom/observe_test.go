package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/internal/otlpdouble"
	"github.com/elbowroom/elbowroom/internal/wiredouble"
)

// collect has what servers of this test see sent to a collector of its own.
func collect(t *testing.T) *otlpdouble.Collector {
	t.Helper()
	c := otlpdouble.Start(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.Endpoint)
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	return c
}

// doubles are two summarizing models: one refuses its key, the other works.
func doubles(t *testing.T) (refusing, working *wiredouble.Double) {
	t.Helper()
	refusing = wiredouble.Anthropic(t, wiredouble.Status(http.StatusUnauthorized))
	working = wiredouble.OpenAI(t, wiredouble.Text("## Goal\n- Watch the tide at the pier.\n"))
	for name, value := range map[string]string{
		"ANTHROPIC_BASE_URL": refusing.URL, "ANTHROPIC_API_KEY": refusing.Key,
		"OPENAI_BASE_URL": working.URL, "OPENAI_API_KEY": working.Key,
	} {
		t.Setenv(name, value)
	}
	return refusing, working
}

const ladderFlag = "anthropic:claude-haiku-4-5,openai:gpt-5-mini,extractive"

// tree writes the spans of a trace, one a line, each under its parent and with the
// attributes that are the same in every run.
func tree(spans []*tracepb.Span, parent string) string {
	var out strings.Builder
	var walk func(parent, indent string)
	walk = func(parent, indent string) {
		for _, s := range spans {
			if hex.EncodeToString(s.GetParentSpanId()) != parent {
				continue
			}
			fmt.Fprintf(&out, "%s%s [%s]", indent, s.GetName(), strings.ToLower(strings.TrimPrefix(s.GetKind().String(), "SPAN_KIND_")))
			attrs := otlpdouble.Attributes(s.GetAttributes())
			for _, name := range []string{
				"rpc.response.status_code", "elbowroom.messages", "elbowroom.rung", "elbowroom.outcome", "elbowroom.layer",
				"gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "gen_ai.response.model",
				"gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "error.type",
			} {
				if v, ok := attrs[name]; ok {
					fmt.Fprintf(&out, " %s=%v", name, v)
				}
			}
			out.WriteString("\n")
			walk(hex.EncodeToString(s.GetSpanId()), indent+"  ")
		}
	}
	walk(parent, "")
	return out.String()
}

// wantTree is the trace of a compression whose first model fails and whose second works.
const wantTree = `elbowroom.v1.ContextService/Compress [server] rpc.response.status_code=OK elbowroom.messages=60 elbowroom.rung=llm elbowroom.outcome=compressed elbowroom.layer=agent
  compress counting [internal]
  compress planning [internal]
  compress summarizing [internal] elbowroom.rung=anthropic:claude-haiku-4-5 elbowroom.outcome=failed error.type=auth
    chat claude-haiku-4-5 [client] gen_ai.operation.name=chat gen_ai.provider.name=anthropic gen_ai.request.model=claude-haiku-4-5 error.type=auth
  compress summarizing [internal] elbowroom.rung=openai:gpt-5-mini elbowroom.outcome=summary
    chat gpt-5-mini [client] gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=gpt-5-mini gen_ai.response.model=double-1 gen_ai.usage.input_tokens=11 gen_ai.usage.output_tokens=7
  compress checking [internal]
  compress assembling [internal]
`

// checkTrace holds the spans against those wanted below a caller's span, and the trace
// context that the models' servers got against the spans of their calls.
func checkTrace(t *testing.T, c *otlpdouble.Collector, traceID, callerSpan, want string, models map[string]*wiredouble.Double) {
	t.Helper()
	spans := c.Spans()
	for _, s := range spans {
		if got := hex.EncodeToString(s.GetTraceId()); got != traceID {
			t.Errorf("%s belongs to the trace %s, want the caller's %s", s.GetName(), got, traceID)
		}
	}
	got := tree(spans, callerSpan)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	if n := strings.Count(got, "\n"); n != len(spans) {
		t.Errorf("%d of %d spans hang below the caller's", n, len(spans))
	}
	for name, double := range models {
		i := slices.IndexFunc(spans, func(s *tracepb.Span) bool { return s.GetName() == name })
		requests := double.Requests()
		if i < 0 || len(requests) != 1 {
			t.Errorf("%s: span %d, %d requests", name, i, len(requests))
			continue
		}
		// Sampled; whether the trace's id is random is the caller's word.
		want := regexp.MustCompile("^00-" + traceID + "-" + hex.EncodeToString(spans[i].GetSpanId()) + "-0[13]$")
		if got := requests[0].Header.Get("Traceparent"); !want.MatchString(got) {
			t.Errorf("%s: the model's server got traceparent %q, want %v", name, got, want)
		}
	}
}

const (
	callersTrace = "0af7651916cd43dd8448eb211c80319c"
	callersSpan  = "b7ad6b7169203331"
	traceparent  = "00-" + callersTrace + "-" + callersSpan + "-01"
)

// compressAt calls Compress as the caller of the trace.
func compressAt(t *testing.T, addr string) {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	ctx := metadata.AppendToOutgoingContext(t.Context(), "traceparent", traceparent)
	if _, err := elbowroomv1.NewContextServiceClient(conn).Compress(ctx, &elbowroomv1.CompressRequest{
		Conversation: talk(60), Model: "gpt-4o", ContextWindow: 32_000, Force: true,
	}); err != nil {
		t.Fatal(err)
	}
}

// One trace leads from the caller through every phase to the models' servers, and logs
// and metrics arrive at the collector beside it.
func TestATraceLeadsFromTheCallerToTheModelsServer(t *testing.T) {
	c := collect(t)
	refusing, working := doubles(t)
	addr, b := serve(t, "--summarizers", ladderFlag)
	if !strings.Contains(b.out.String(), "OpenTelemetry: exporting traces, metrics, logs\n") {
		t.Errorf("serve does not say what it exports:\n%s", b.out.String())
	}
	if got := runArgs(t, "healthcheck", "--server", addr); got.code != exitOK { // leaves no span
		t.Errorf("healthcheck: %+v", got)
	}
	compressAt(t, addr)
	if code := b.stop(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	checkTrace(t, c, callersTrace, callersSpan, wantTree, map[string]*wiredouble.Double{"chat claude-haiku-4-5": refusing, "chat gpt-5-mini": working})
	if got := c.Resource("service.name"); got != "elbowroom" {
		t.Errorf("service.name %q", got)
	}
	if got := c.Resource("service.version"); got != buildVersion() {
		t.Errorf("service.version %q", got)
	}
	for _, name := range []string{"rpc.server.call.duration", "elbowroom.compressions", "elbowroom.build_info", "go.goroutine.count", "go.memory.used", "go.memory.gc.goal"} {
		if !c.HasMetric(name) {
			t.Errorf("the metric %s did not arrive", name)
		}
	}
	finished := 0
	for _, l := range c.Logs() {
		if l.GetBody().GetStringValue() == "finished call" {
			finished++
			if got := hex.EncodeToString(l.GetTraceId()); got != callersTrace {
				t.Errorf("the line of the call belongs to the trace %q", got)
			}
		}
	}
	if finished != 1 {
		t.Errorf("%d lines of the call arrived", finished)
	}
}

// A trace goes on over HTTP and in a plug-in, which speaks gRPC.
func TestATraceLeadsFromAnHTTPCallToAPlugin(t *testing.T) {
	c := collect(t)
	plugin := wiredouble.Plugin(t, wiredouble.Text("## Goal\n- Watch the tide at the pier.\n"))
	plugin.Key = ""
	_, b := serve(t, "--summarizers", "plugin:"+plugin.URL)
	body := `{"model":"gpt-4o","context_window":32000,"force":true,"messages":` + talk(60).GetNative().GetJson() + `}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+httpAddr(t, b)+"/v1/compress", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Traceparent", traceparent)
	code, text := fetch(t, r)
	if code != http.StatusOK {
		t.Fatalf("%d %s", code, text)
	}
	b.stop()
	names := map[string]*wiredouble.Double{"chat " + plugin.URL: plugin}
	rung := "plugin:" + plugin.URL
	want := strings.NewReplacer("RUNG", rung, "URL", plugin.URL).Replace(`elbowroom.v1.ContextService/Compress [server] rpc.response.status_code=OK elbowroom.messages=60 elbowroom.rung=llm elbowroom.outcome=compressed elbowroom.layer=LAYER
  compress counting [internal]
  compress planning [internal]
  compress summarizing [internal] elbowroom.rung=RUNG elbowroom.outcome=summary
    chat URL [client] gen_ai.operation.name=chat gen_ai.provider.name=plugin gen_ai.request.model=URL gen_ai.response.model=double-1 gen_ai.usage.input_tokens=11 gen_ai.usage.output_tokens=7
  compress checking [internal]
  compress assembling [internal]
`)
	layer := "agent"
	if strings.Contains(tree(c.Spans(), callersSpan), "layer=gateway") {
		layer = "gateway"
	}
	checkTrace(t, c, callersTrace, callersSpan, strings.Replace(want, "LAYER", layer, 1), names)
}

// fetch sends a request over a connection that is closed afterwards.
func fetch(t *testing.T, r *http.Request) (int, string) {
	t.Helper()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport, Timeout: 30 * time.Second}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// The trace of the Python client's caller is the same all the way.
func TestATraceLeadsFromThePythonClientToTheModelsServer(t *testing.T) {
	python := pythonOfTheClient(t)
	c := collect(t)
	refusing, working := doubles(t)
	addr, b := serve(t, "--summarizers", ladderFlag)
	file := filepath.Join(t.TempDir(), "messages.json")
	if err := os.WriteFile(file, []byte(talk(60).GetNative().GetJson()), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, python, "testdata/traced_call.py", addr, file).Output() //nolint:gosec // the client's own
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Log(string(exit.Stderr))
		}
		t.Fatalf("the Python client: %v", err)
	}
	var caller struct{ Trace, Span, Outcome string }
	if err := json.Unmarshal(out, &caller); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	if caller.Outcome != "compressed" {
		t.Errorf("outcome %q", caller.Outcome)
	}
	b.stop()
	checkTrace(t, c, caller.Trace, caller.Span, wantTree, map[string]*wiredouble.Double{"chat claude-haiku-4-5": refusing, "chat gpt-5-mini": working})
}

// pythonOfTheClient is the interpreter of the environment that the Python client's tests
// run in. In CI it is made where it is missing.
func pythonOfTheClient(t *testing.T) string {
	t.Helper()
	const dir = "../../clients/python"
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("skipped: there is no Python client: %v", err)
	}
	python := filepath.Join(dir, ".venv", "bin", "python")
	if _, err := os.Stat(filepath.Join(dir, ".venv", "stamp")); err == nil { // it is complete
		return python
	}
	if os.Getenv("CI") != "true" {
		t.Skip("skipped: the Python client's environment is not there; clients/python/venv.sh makes it")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, dir+"/venv.sh").CombinedOutput(); err != nil {
		t.Fatalf("make the Python client's environment: %v\n%s", err, out)
	}
	return python
}

// Without exporters a trace still goes on from the caller to the models' servers, and
// the log names it.
func TestWithoutExportersTheTraceIsPassedOn(t *testing.T) {
	_, working := doubles(t)
	addr, b := serve(t, "--summarizers", "openai:gpt-5-mini")
	compressAt(t, addr)
	b.stop()
	if got := working.Requests()[0].Header.Get("Traceparent"); got != traceparent {
		t.Errorf("the model's server got traceparent %q", got)
	}
	line := regexp.MustCompile(`(?m)^.*"finished call".*$`).FindString(b.err.String())
	var fields map[string]any
	if err := json.Unmarshal([]byte(line), &fields); err != nil {
		t.Fatalf("%q: %v", b.err.String(), err)
	}
	if fields["trace_id"] != callersTrace || fields["span_id"] != callersSpan {
		t.Errorf("the line of the call: %s", line)
	}
}

// adminGet asks the admin port that serve announced.
func adminGet(t *testing.T, b background, path string) (int, string) {
	t.Helper()
	found := regexp.MustCompile(`(?m)^Admin: (\S+)$`).FindStringSubmatch(b.out.String())
	if found == nil {
		t.Fatalf("no admin port:\n%s", b.out.String())
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+found[1]+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fetch(t, r)
}

func TestTheAdminPortTellsOfTheServer(t *testing.T) {
	doubles(t)
	prices := filepath.Join(t.TempDir(), "prices.json")
	if err := os.WriteFile(prices, []byte(`[{"models":["gpt-5-mini"],"input":1000,"output":2000,"date":"2026-01-01","source":"a test"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	addr, b := serve(t, "--summarizers", ladderFlag, "--telemetry-tenant-label", "--prompt-caching-prices-file", prices)
	defer b.stop()
	compressAt(t, addr)
	if code, text := adminGet(t, b, "/readyz"); code != http.StatusOK {
		t.Errorf("/readyz: %d %s", code, text)
	}
	if code, _ := adminGet(t, b, "/debug/pprof/"); code != http.StatusOK {
		t.Errorf("/debug/pprof/ on loopback: %d", code)
	}
	code, text := adminGet(t, b, "/metrics")
	if code != http.StatusOK {
		t.Fatalf("/metrics: %d", code)
	}
	for _, want := range []string{
		`elbowroom_compressions_total{layer="agent",outcome="compressed",rung="llm",tenant=""} 1`,
		`elbowroom_summarizer_failures_total{code="auth",summarizer="anthropic:claude-haiku-4-5",tenant=""} 1`,
		`elbowroom_summarizer_tokens_total{kind="output",summarizer="openai:gpt-5-mini",tenant=""} 7`,
		`elbowroom_summarizer_cost_usd_total{summarizer="openai:gpt-5-mini",tenant=""} 0.025`, // 11 tokens in, 7 out
		`elbowroom_continuity_total{result="miss",tenant=""} 1`,
		`elbowroom_passthrough_changed_bytes_total 0`,
		`elbowroom_in_flight_bytes 0`,
		`rpc_server_call_duration_seconds_count{rpc_method="elbowroom.v1.ContextService/Compress",rpc_response_status_code="OK",rpc_system_name="grpc"} 1`,
		`elbowroom_build_info{`, `go_goroutines `, `process_resident_memory_bytes `,
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("/metrics has no line %s", want)
		}
	}
	if t.Failed() {
		t.Log(regexp.MustCompile(`(?m)^(elbowroom|rpc).*$`).FindAllString(text, -1))
	}
}

func TestTheAdminPortIsOffWithoutAnAddress(t *testing.T) {
	_, b := serve(t, "--admin-addr", "")
	if !strings.Contains(b.out.String(), "\nAdmin: off\n") {
		t.Errorf("serve says:\n%s", b.out.String())
	}
	if code := b.stop(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

// Profiles are for this machine, even where metrics are for others.
func TestProfilesAreNotServedToOtherMachines(t *testing.T) {
	_, b := serve(t, "--admin-addr", "0.0.0.0:0")
	defer b.stop()
	if code, _ := adminGet(t, b, "/debug/pprof/"); code != http.StatusNotFound {
		t.Errorf("/debug/pprof/ on every address: %d", code)
	}
	if code, _ := adminGet(t, b, "/healthz"); code != http.StatusOK {
		t.Errorf("/healthz: %d", code)
	}
}

// A collector that is away costs neither calls nor the exit code.
func TestACollectorThatIsAwayDisturbsNobody(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "200") // milliseconds, after which nothing of it is left
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	addr, b := serve(t)
	compressAt(t, addr)
	if code := b.stop(); code != exitOK {
		t.Errorf("exit code %d: %s", code, b.err.String())
	}
}

func TestAnExporterThatIsUnknownIsRefusedAtTheStart(t *testing.T) {
	t.Setenv("OTEL_TRACES_EXPORTER", "carrier-pigeon")
	got := runArgs(t, "serve", "--grpc-addr", "127.0.0.1:0", "--http-addr", "", "--admin-addr", "")
	if got.code != exitUsage || !strings.Contains(got.stderr, "telemetry: traces") {
		t.Errorf("%+v", got)
	}
}
