// Command dashboard writes deploy/grafana/elbowroom.json: a Grafana dashboard of the
// service's metrics. Run it from the root of the repository.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

const path = "deploy/grafana/elbowroom.json"

func main() {
	text, err := dashboard()
	if err == nil {
		err = os.WriteFile(path, text, 0o644) //nolint:gosec // a file for everybody
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "dashboard:", err)
		os.Exit(1)
	}
}

// object is a JSON object.
type object = map[string]any

// panel is a graph: queries with the names of their lines.
type panel struct {
	title, unit, about string
	lines              []line
}

// line is a query; name may quote labels.
type line struct{ query, name string }

// row is a heading with its panels, two beside each other.
type row struct {
	title  string
	panels []panel
}

// selector is in every query: the job and the instance that were chosen.
const selector = `job=~"$job",instance=~"$instance"`

// rate is the increase of a counter a second, summed by labels.
func rate(metric, by string, matchers ...string) string {
	return fmt.Sprintf("sum by (%s) (rate(%s{%s}[$__rate_interval]))", by, metric, with(matchers))
}

func with(matchers []string) string {
	out := selector
	for _, m := range matchers {
		out += "," + m
	}
	return out
}

// quantile is that of a histogram, by labels.
func quantile(q, metric, by string) string {
	if by != "" {
		by = ", " + by
	}
	return fmt.Sprintf("histogram_quantile(%s, sum by (le%s) (rate(%s_bucket{%s}[$__rate_interval])))", q, by, metric, selector)
}

const (
	calls      = "rpc_server_call_duration_seconds"
	summarizer = "elbowroom_summarizer_duration_seconds"
)

// rows are what is shown, what is looked at first coming first.
var rows = []row{
	{"Calls", []panel{
		{"Calls a second", "reqps", "", []line{{rate(calls+"_count", "rpc_method, rpc_response_status_code"), "{{rpc_method}} {{rpc_response_status_code}}"}}},
		{"Duration", "s", "Median and 99th percentile of each method.", []line{
			{quantile("0.5", calls, "rpc_method"), "p50 {{rpc_method}}"}, {quantile("0.99", calls, "rpc_method"), "p99 {{rpc_method}}"},
		}},
		{"Refused calls a second", "reqps", "Turned away before any work was done.", []line{{rate("elbowroom_refused_calls_total", "by, code"), "{{by}} {{code}}"}}},
		{"Requests in flight", "bytes", "Their bytes, and the bound above which calls are refused.", []line{
			{"sum(elbowroom_in_flight_bytes{" + selector + "})", "in flight"}, {"sum(elbowroom_in_flight_limit_bytes{" + selector + "})", "limit"},
		}},
		{"Calls at work", "short", "Those that have the processors, and those that wait for them.", []line{
			{"sum(elbowroom_working_calls{" + selector + "})", "working"}, {"sum(elbowroom_waiting_calls{" + selector + "})", "waiting"},
		}},
	}},
	{"Compression", []panel{
		{"Outcomes a second", "reqps", "", []line{{rate("elbowroom_compressions_total", "outcome, layer"), "{{outcome}} ({{layer}})"}}},
		{"Rungs a second", "reqps", "What the changed conversations were compressed by.", []line{
			{rate("elbowroom_compressions_total", "rung", `rung!="none"`), "{{rung}}"},
		}},
		{"Tokens a second", "short", "", []line{
			{rate("elbowroom_compression_tokens_before_total", "job"), "came"}, {rate("elbowroom_compression_tokens_after_total", "job"), "left"},
			{rate("elbowroom_compression_tokens_removed_total", "job"), "removed"},
		}},
		{"Share left of changed conversations", "percentunit", "", []line{
			{quantile("0.5", "elbowroom_compression_ratio", ""), "p50"}, {quantile("0.9", "elbowroom_compression_ratio", ""), "p90"},
		}},
		{"Facts a second", "short", "Lost ones are the price; kept and repaired ones survive.", []line{{rate("elbowroom_facts_total", "fate"), "{{fate}}"}}},
		{"Continuity", "percentunit", "Share of looks that found an earlier compression of the same messages.", []line{
			{rate("elbowroom_continuity_total", "job", `result="hit"`) + " / " + rate("elbowroom_continuity_total", "job"), "hits"},
		}},
		{"Bytes changed in pass-through", "bytes", "It must stay 0.", []line{
			{"sum(elbowroom_passthrough_changed_bytes_total{" + selector + "})", "changed"},
		}},
		{"Repairs a second", "short", "Of conversations that no provider would have taken.", []line{{rate("elbowroom_repairs_total", "kind"), "{{kind}}"}}},
	}},
	{"Summarizers", []panel{
		{"Time waited for a rung", "s", "", []line{
			{quantile("0.5", summarizer, "summarizer"), "p50 {{summarizer}}"}, {quantile("0.99", summarizer, "summarizer"), "p99 {{summarizer}}"},
		}},
		{"Results a second", "reqps", "", []line{{rate(summarizer+"_count", "summarizer, result"), "{{summarizer}} {{result}}"}}},
		{"Tokens billed a second", "short", "", []line{{rate("elbowroom_summarizer_tokens_total", "summarizer, kind"), "{{summarizer}} {{kind}}"}}},
		{"Cost an hour", "currencyUSD", "List price of the tokens billed, where one is known.", []line{
			{"sum by (summarizer) (increase(elbowroom_summarizer_cost_usd_total{" + selector + "}[1h]))", "{{summarizer}}"},
		}},
		{"Calls a second", "reqps", "Retries included.", []line{{rate("elbowroom_summarizer_calls_total", "summarizer"), "{{summarizer}}"}}},
		{"Failures a second", "reqps", "", []line{{rate("elbowroom_summarizer_failures_total", "summarizer, code"), "{{summarizer}} {{code}}"}}},
	}},
	{"Prompt caches", []panel{
		{"Predicted prompt tokens a second", "short", "As the provider is expected to bill them.", []line{{rate("elbowroom_cache_predicted_tokens_total", "kind"), "{{kind}}"}}},
		{"Predicted share read", "percentunit", "", []line{
			{rate("elbowroom_cache_predicted_tokens_total", "layout", `kind="read"`) + " / " + rate("elbowroom_cache_predicted_tokens_total", "layout"), "{{layout}}"},
		}},
		{"Breakpoints a second", "short", "", []line{{rate("elbowroom_cache_breakpoints_total", "layout"), "{{layout}}"}}},
	}},
	{"The server", []panel{
		{"Shared store", "short", "1: it is being done without.", []line{{"max by (instance) (elbowroom_store_degraded{" + selector + "})", "{{instance}}"}}},
		{"Operations on the shared store a second", "ops", "", []line{{rate("elbowroom_store_operations_total", "op, result"), "{{op}} {{result}}"}}},
		{"Kept bodies", "bytes", "", []line{{"sum by (instance) (elbowroom_kept_bodies_size_bytes{" + selector + "})", "{{instance}}"}}},
		{"Memory", "bytes", "", []line{{"process_resident_memory_bytes{" + selector + "}", "{{instance}}"}}},
		{"Goroutines", "short", "", []line{{"go_goroutines{" + selector + "}", "{{instance}}"}}},
		{"Processor time", "percentunit", "1 is one core.", []line{{rate("process_cpu_seconds_total", "instance"), "{{instance}}"}}},
		{"Reloads of the configuration", "short", "A refused one left the settings as they were.", []line{
			{"sum by (instance, result) (increase(elbowroom_config_reloads_total{" + selector + "}[1h]))", "{{instance}} {{result}}"},
		}},
		{"Lost lines of the log", "short", "Its reader died or does not read, or the disk is full.", []line{
			{"sum by (instance) (increase(elbowroom_log_lost_lines_total{" + selector + "}[1h]))", "{{instance}}"},
		}},
		{"Versions", "short", "Servers by what they run.", []line{{"count by (version) (elbowroom_build_info{" + selector + "})", "{{version}}"}}},
	}},
}

const (
	width  = 12 // of the 24 columns
	height = 8
)

// dashboard is the file.
func dashboard() ([]byte, error) {
	source := object{"type": "prometheus", "uid": "${datasource}"}
	var panels []object
	y := 0
	for _, r := range rows {
		panels = append(panels, object{
			"id": len(panels) + 1, "type": "row", "title": r.title, "collapsed": false, "panels": []object{},
			"gridPos": object{"x": 0, "y": y, "w": 2 * width, "h": 1},
		})
		y++
		for i, p := range r.panels {
			var targets []object
			for n, l := range p.lines {
				targets = append(targets, object{"refId": string(rune('A' + n)), "datasource": source, "expr": l.query, "legendFormat": l.name})
			}
			panels = append(panels, object{
				"id": len(panels) + 1, "type": "timeseries", "title": p.title, "description": p.about, "datasource": source, "targets": targets,
				"gridPos":     object{"x": i % 2 * width, "y": y + i/2*height, "w": width, "h": height},
				"fieldConfig": object{"defaults": object{"unit": p.unit, "min": 0}, "overrides": []object{}},
				"options":     object{"legend": object{"displayMode": "list", "placement": "bottom"}, "tooltip": object{"mode": "multi", "sort": "desc"}},
			})
		}
		y += (len(r.panels) + 1) / 2 * height
	}
	choose := func(name, label string) object {
		query := fmt.Sprintf("label_values(elbowroom_build_info, %s)", label)
		return object{
			"name": name, "type": "query", "datasource": source, "definition": query, "query": object{"query": query, "refId": name},
			"includeAll": true, "multi": true, "allValue": ".+", "refresh": 2, "sort": 1, "current": object{"text": "All", "value": "$__all"},
		}
	}
	text, err := json.MarshalIndent(object{
		"uid": "elbowroom", "title": "Elbowroom", "tags": []string{"elbowroom"}, "schemaVersion": 39, "version": 1, "editable": true,
		"time": object{"from": "now-1h", "to": "now"}, "refresh": "30s", "panels": panels, "annotations": object{"list": []object{}},
		"templating": object{"list": []object{
			{"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Data source"},
			choose("job", "job"), choose("instance", "instance"),
		}},
	}, "", "  ")
	return append(text, '\n'), err
}
