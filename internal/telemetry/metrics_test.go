package telemetry

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/stats"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/compressor"
	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/store"
	"github.com/elbowroom/elbowroom/summarizer/fidelity"
	"github.com/elbowroom/elbowroom/summarizer/ladder"
)

var update = flag.Bool("update", false, "write the table of docs/observability.md anew")

// environment is one with the given variables.
func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// recorded sets up what is scraped, records one of everything, and returns what was
// made of it.
func recorded(t *testing.T) (families map[string]*dto.MetricFamily, recorder *Recorder) {
	t.Helper()
	seen, err := Start(t.Context(), Options{Version: "1.2.3", Scrape: true, Log: discard(), Getenv: environment()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = seen.Shutdown(context.WithoutCancel(t.Context())) })
	r, err := NewRecorder(RecorderOptions{Tracer: seen.Tracer, Meter: seen.Meter})
	if err != nil {
		t.Fatal(err)
	}
	everything(t, r)
	return scrape(t, seen.Metrics), r
}

// everything records one of everything.
func everything(t *testing.T, r *Recorder) {
	t.Helper()
	ctx := t.Context()
	for _, err := range []error{
		r.WatchServer(func() Held { return Held{InFlight: 1, Limit: 2, Working: 5, Waiting: 6, Bodies: 3, BodyBytes: 4} }),
		r.WatchStore(func() bool { return true }),
		r.WatchLog(func() int64 { return 3 }),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r.Reloaded(ctx, true)
	r.Reloaded(ctx, false)
	ctx, c := r.Compression(ctx, &conversation.Conversation{})
	c.Progress(compressor.Progress{Phase: compressor.PhaseCounting})
	r.Summarizer(ctx, ladder.Observation{Rung: "openai:gpt-5-mini", Attempts: 2, PromptTokens: 900, CompletionTokens: 80, Duration: time.Second}, func(o ladder.Observation) (float64, bool) {
		return float64(o.PromptTokens) / 8, true
	})
	unknown := func(ladder.Observation) (float64, bool) { return 7, false }
	r.Summarizer(ctx, ladder.Observation{Rung: "plugin:one", Attempts: 1, PromptTokens: 5, Duration: time.Second}, unknown)
	r.Summarizer(ctx, ladder.Observation{Rung: "anthropic:claude-haiku-4-5", Code: "auth", Duration: time.Second}, nil)
	c.End(&compressor.Result{Outcome: compressor.OutcomeCompressed, Report: compressor.Report{
		TokensBefore: 1_000, TokensAfter: 250, Rung: compressor.RungLLM, Continuity: compressor.Continuity{Looked: true},
		Repairs:  []compressor.Repair{{Kind: compressor.RepairBlankText}},
		Fidelity: &fidelity.Report{Kept: 5, Repaired: 2, Lost: 1, Invented: 1},
	}}, compressor.LayerGateway, nil)
	_, done := r.Placement(ctx, &conversation.Conversation{})
	done(&breakpoints.Result{
		Layout: breakpoints.LayoutAnthropic, Breakpoints: make([]breakpoints.Breakpoint, 3),
		Usage: &breakpoints.Usage{Prompt: 100, Read: 80, Write5m: 15, Uncached: 5},
	})
	r.PassedThrough(ctx, 0)
	r.Refused(ctx, "quota", codes.ResourceExhausted)
	r.StoreOperation("get", errors.New("gone"))
	r.StoreOperation("get", fmt.Errorf("redis get: %w", store.ErrUnreadable))
	handler := r.ServerHandler("/elbowroom.v1.")
	for _, method := range []string{"/elbowroom.v1.ContextService/Compress", "/grpc.health.v1.Health/Check"} {
		call := handler.TagRPC(ctx, &stats.RPCTagInfo{FullMethodName: method})
		handler.HandleRPC(call, &stats.End{EndTime: time.Now()})
	}
}

func scrape(t *testing.T, metrics http.Handler) map[string]*dto.MetricFamily {
	t.Helper()
	w := httptest.NewRecorder()
	metrics.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// ours are the names of the metrics that are not the Prometheus client's own.
func ours(families map[string]*dto.MetricFamily) []string {
	var out []string
	for name := range families {
		if !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") && !strings.HasPrefix(name, "promhttp_") {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// value sums a metric's series with a label, or all of them for "".
func value(f *dto.MetricFamily, label string) float64 {
	sum := 0.0
	for _, m := range f.GetMetric() {
		if label != "" && !slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName()+"="+l.GetValue() == label }) {
			continue
		}
		sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
	}
	return sum
}

func TestWhatIsRecordedIsWhatIsExported(t *testing.T) {
	families, _ := recorded(t)
	for _, x := range []struct {
		name, label string
		want        float64
	}{
		{"elbowroom_compressions_total", "outcome=compressed", 1},
		{"elbowroom_compressions_total", "rung=llm", 1},
		{"elbowroom_compressions_total", "layer=gateway", 1},
		{"elbowroom_compression_tokens_before_total", "", 1000},
		{"elbowroom_compression_tokens_after_total", "", 250},
		{"elbowroom_compression_tokens_removed_total", "", 750},
		{"elbowroom_log_lost_lines_total", "", 3},
		{"elbowroom_facts_total", "fate=kept", 5},
		{"elbowroom_facts_total", "fate=repaired", 2},
		{"elbowroom_facts_total", "fate=lost", 1},
		{"elbowroom_facts_total", "fate=invented", 1},
		{"elbowroom_repairs_total", "kind=blank_text", 1},
		{"elbowroom_continuity_total", "result=miss", 1},
		{"elbowroom_continuity_total", "result=hit", 0},
		{"elbowroom_passthrough_changed_bytes_total", "", 0},
		{"elbowroom_summarizer_calls_total", "summarizer=openai:gpt-5-mini", 2},
		{"elbowroom_summarizer_tokens_total", "kind=input", 905},
		{"elbowroom_summarizer_cost_usd_total", "", 112.5},
		{"elbowroom_summarizer_tokens_total", "kind=output", 80},
		{"elbowroom_summarizer_failures_total", "code=auth", 1},
		{"elbowroom_summarizer_duration_seconds", "result=written", 2},
		{"elbowroom_cache_breakpoints_total", "layout=" + breakpoints.LayoutAnthropic.String(), 3},
		{"elbowroom_cache_predicted_tokens_total", "kind=read", 80},
		{"elbowroom_cache_predicted_tokens_total", "kind=written", 15},
		{"elbowroom_refused_calls_total", "by=quota", 1},
		{"elbowroom_store_operations_total", "result=error", 1},
		{"elbowroom_store_operations_total", "result=unreadable", 1},
		{"elbowroom_store_degraded", "", 1},
		{"elbowroom_config_reloads_total", "result=applied", 1},
		{"elbowroom_config_reloads_total", "result=refused", 1},
		{"elbowroom_in_flight_bytes", "", 1},
		{"elbowroom_in_flight_limit_bytes", "", 2},
		{"elbowroom_working_calls", "", 5},
		{"elbowroom_waiting_calls", "", 6},
		{"elbowroom_kept_bodies", "", 3},
		{"elbowroom_kept_bodies_size_bytes", "", 4},
		{"elbowroom_build_info", "version=1.2.3", 1},
		{"rpc_server_call_duration_seconds", "", 1}, // the health check leaves none
	} {
		f := families[x.name]
		if f == nil {
			t.Errorf("%s is not exported", x.name)
		} else if got := value(f, x.label); got != x.want {
			t.Errorf("%s{%s} = %v, want %v", x.name, x.label, got, x.want)
		}
	}
	if got := families["elbowroom_compression_ratio"].GetMetric()[0].GetHistogram().GetSampleSum(); got != 0.25 {
		t.Errorf("ratio %v", got)
	}
}

// Those of the Go runtime have OpenTelemetry's names, so that they go to a collector too.
func TestTheGoRuntimeIsMeasured(t *testing.T) {
	families, _ := recorded(t)
	for _, name := range []string{"go_goroutine_count", "go_memory_used_bytes", "go_memory_gc_goal_bytes", "go_memory_allocated_bytes_total", "go_goroutines"} {
		if f := families[name]; f == nil || value(f, "") <= 0 {
			t.Errorf("%s: %v", name, f)
		}
	}
}

// Every metric is in the page for operators, and nothing else is.
func TestDocumentationListsEveryMetric(t *testing.T) {
	families, recorder := recorded(t)
	names := ours(families)
	if want := len(recorder.names) + 2; len(names) != want { // and the duration of calls, and what runs
		t.Errorf("%d metrics are exported and %d made: one is never recorded here", len(names), want)
	}
	var table strings.Builder
	table.WriteString("\n| metric | type | unit | labels | meaning |\n| --- | --- | --- | --- | --- |\n")
	for _, name := range names {
		f := families[name]
		labels := map[string]bool{}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				labels["`"+l.GetName()+"`"] = true
			}
		}
		var list []string
		for l := range labels {
			list = append(list, l)
		}
		slices.Sort(list)
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s | %s |\n", name, strings.ToLower(f.GetType().String()), unitOf(name), strings.Join(list, ", "), f.GetHelp())
	}
	table.WriteString("\n")
	const path, begin, end = "../../docs/observability.md", "-update` -->\n", "<!-- /metrics -->"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(page), begin)
	_, tail, foundEnd := strings.Cut(rest, end)
	if !found || !foundEnd {
		t.Fatalf("%s has no place for the table", path)
	}
	want := head + begin + table.String() + end + tail
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(page)); diff != "" {
		t.Errorf("%s (-want +got; run with -update to accept):\n%s", path, diff)
	}
}

// unitOf reads the unit from a metric's name.
func unitOf(name string) string {
	switch base := strings.TrimSuffix(name, "_total"); {
	case strings.HasSuffix(base, "_seconds"):
		return "seconds"
	case strings.HasSuffix(base, "_bytes"):
		return "bytes"
	case strings.Contains(base, "tokens"):
		return "tokens"
	case strings.HasSuffix(base, "_usd"):
		return "US dollars"
	case strings.HasSuffix(base, "_ratio"):
		return "share, 0 to 1"
	default:
		return "number"
	}
}

// The tenant is a label only where that is wanted.
func TestTheTenantIsALabelOnRequest(t *testing.T) {
	for _, on := range []bool{false, true} {
		seen, err := Start(t.Context(), Options{Scrape: true, Log: discard(), Getenv: environment()})
		if err != nil {
			t.Fatal(err)
		}
		o := RecorderOptions{Meter: seen.Meter}
		if on {
			o.Tenant = func(context.Context) string { return "team-a" }
		}
		r, err := NewRecorder(o)
		if err != nil {
			t.Fatal(err)
		}
		everything(t, r)
		got := value(scrape(t, seen.Metrics)["elbowroom_compressions_total"], "tenant=team-a")
		if want := map[bool]float64{false: 0, true: 1}[on]; got != want {
			t.Errorf("tenant label %v: %v series with it", on, got)
		}
		_ = seen.Shutdown(t.Context())
	}
}

// Nil and no-op recorders take everything.
func TestARecorderMayBeAbsent(t *testing.T) {
	r, err := NewRecorder(RecorderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	everything(t, r)
	r = nil
	ctx, c := r.Compression(t.Context(), nil)
	c.Progress(compressor.Progress{})
	c.End(nil, compressor.LayerAgent, nil)
	_, placed := r.Placement(ctx, nil)
	placed(nil)
	_, counted := r.Count(ctx, nil)
	counted(nil)
	r.Summarizer(ctx, ladder.Observation{}, nil)
	r.Refused(ctx, "", codes.OK)
	r.PassedThrough(ctx, 1)
	r.StoreOperation("get", nil)
	if b := r.Backend(nil); b != nil {
		t.Errorf("a backend became %v", b)
	}
}
