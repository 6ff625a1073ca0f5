package elbowroom_test

import (
	"slices"
	"strings"
)

// stable lists, for each call, the members of a response that are recorded for a
// new case: what the contract fixes, not prose, estimates or opaque bytes. A case
// that names others, or fewer, keeps its own choice when it is recorded again.
var stable = map[string][]string{
	"compress":            compressed,
	"stream_compress":     compressed,
	"prepare":             slices.Concat(compressed, marked),
	"apply_cache_control": marked,
	"count_tokens":        {"method", "encoding", "warnings.code", "warnings.message_index", "anchor.applied", "anchor.covered_messages", "provider.used"},
	"simulate_cache":      {"turns.layout", "turns.findings.code", "turns.findings.path", "estimated"},
	"list_models":         {"models.id", "models.provider", "models.encoding", "models.context_window"},
}

var compressed = []string{
	"outcome", "report.context_window", "report.threshold_tokens", "report.messages_before", "report.messages_after",
	"report.summary_index", "report.first_changed_index", "report.rung", "report.round",
	"report.regions.kind", "report.regions.start", "report.regions.end", "report.repairs.kind", "report.repairs.message_index",
	"report.repairs.tool_use_id", "report.pruned.kind", "report.pruned.message_index", "report.pruned.block_index",
	"report.thinking_removed", "report.warnings.code", "report.warnings.message_index",
}

var marked = []string{
	"layout", "breakpoints.section", "breakpoints.message_index", "breakpoints.block_index", "breakpoints.ttl", "breakpoints.inert",
	"skipped.section", "skipped.message_index", "warnings.code", "warnings.message_index",
}

// exact are the members that are recorded besides where the count is exact.
var exact = map[string][]string{
	"count_tokens": {"tokens", "lower_bound", "upper_bound", "messages.tokens", "parts"},
	"compress":     {"report.tokens_before"},
}

// exactEncodings are the vocabularies that the service has.
var exactEncodings = []string{"o200k_base", "cl100k_base", "o200k_harmony"}

// pick returns the part of a value that the paths name.
func pick(value any, paths [][]string) any {
	switch v := value.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = pick(v[i], paths)
		}
		return out
	case map[string]any:
		out := make(map[string]any)
		for _, path := range paths {
			if len(path) == 0 {
				return value
			}
			member, ok := v[path[0]]
			if !ok {
				continue
			}
			var below [][]string
			for _, other := range paths {
				if len(other) > 0 && other[0] == path[0] {
					below = append(below, other[1:])
				}
			}
			out[path[0]] = pick(member, below)
		}
		return out
	default:
		return value
	}
}

// refresh gives the members of an expectation the values of a response.
func refresh(expected, got any) any {
	switch e := expected.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return got
		}
		out := make(map[string]any)
		for key, value := range e {
			if member, ok := g[key]; ok {
				out[key] = refresh(value, member)
			} else if isDefault(value) {
				out[key] = value
			}
		}
		return out
	case []any:
		g, ok := got.([]any)
		if !ok || len(e) == 0 {
			return got
		}
		out := make([]any, len(g))
		for i := range g {
			out[i] = refresh(e[min(i, len(e)-1)], g[i])
		}
		return out
	default:
		return got
	}
}

// stablePaths are the members that are recorded of an answer.
func stablePaths(call string, answer any) [][]string {
	names := slices.Clone(stable[call])
	if isExact(answer) {
		names = append(names, exact[call]...)
	}
	if c, ok := answer.(map[string]any); ok && c["conversation"] != nil {
		if _, native := c["conversation"].(map[string]any)["native"]; !native {
			names = append(names, "conversation") // the typed form has no JSON to compare
		}
	} else if ok && c["edits"] != nil && c["splices"] == nil {
		names = append(names, "edits")
	}
	paths := make([][]string, len(names))
	for i, name := range names {
		paths[i] = strings.Split(name, ".")
	}
	return paths
}

// isExact reports whether an answer's tokens were counted with the model's own vocabulary.
func isExact(answer any) bool {
	top, _ := answer.(map[string]any)
	encoding, _ := top["encoding"].(string)
	if report, ok := top["report"].(map[string]any); ok {
		encoding, _ = report["counted_by"].(string)
	}
	return slices.Contains(exactEncodings, encoding)
}
