package telemetry

import (
	"errors"

	"go.opentelemetry.io/otel/metric"
)

// instruments are the service's metrics. Their names in Prometheus have underscores for
// the dots, the unit, and _total where they only grow; docs/observability.md lists them
// and a test compares.
type instruments struct {
	compressions              metric.Int64Counter
	tokensBefore, tokensAfter metric.Int64Counter
	tokensRemoved             metric.Int64Counter
	ratio                     metric.Float64Histogram
	facts, repairs            metric.Int64Counter
	continuity                metric.Int64Counter
	changed                   metric.Int64Counter

	summarizerCalls, summarizerTokens, summarizerFailures metric.Int64Counter
	summarizerCost                                        metric.Float64Counter
	summarizerDuration                                    metric.Float64Histogram

	breakpoints, predicted metric.Int64Counter

	logLost metric.Int64ObservableCounter

	refused, storeOperations, reloads                                      metric.Int64Counter
	inFlight, inFlightLimit, working, waiting, bodies, bodyBytes, degraded metric.Int64ObservableGauge

	// names are those of all of them.
	names []string
}

// ratioBuckets are shares that are left of a conversation.
var ratioBuckets = []float64{0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}

// summarizerBuckets are in seconds: the embedded summarizer takes milliseconds, a
// language model up to minutes.
var summarizerBuckets = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120, 180}

func newInstruments(meter metric.Meter) (instruments, error) {
	var in instruments
	var errs []error
	name := func(name string, err error) {
		in.names, errs = append(in.names, name), append(errs, err)
	}
	counter := func(to *metric.Int64Counter, what, unit, help string) {
		var err error
		*to, err = meter.Int64Counter(what, metric.WithUnit(unit), metric.WithDescription(help))
		name(what, err)
	}
	histogram := func(to *metric.Float64Histogram, what, unit, help string, buckets []float64) {
		var err error
		*to, err = meter.Float64Histogram(what, metric.WithUnit(unit), metric.WithDescription(help), metric.WithExplicitBucketBoundaries(buckets...))
		name(what, err)
	}
	gauge := func(to *metric.Int64ObservableGauge, what, unit, help string) {
		var err error
		*to, err = meter.Int64ObservableGauge(what, metric.WithUnit(unit), metric.WithDescription(help))
		name(what, err)
	}
	counter(&in.compressions, "elbowroom.compressions", "{call}", "Calls of Compress, StreamCompress and Prepare that were answered, by what was decided.")
	counter(&in.tokensBefore, "elbowroom.compression.tokens_before", "{token}", "Tokens of the conversations as they came.")
	counter(&in.tokensAfter, "elbowroom.compression.tokens_after", "{token}", "Tokens of the conversations as they left.")
	counter(&in.tokensRemoved, "elbowroom.compression.tokens_removed", "{token}", "The difference, where it is one.")
	histogram(&in.ratio, "elbowroom.compression.ratio", "1", "Share of a changed conversation's tokens that was left.", ratioBuckets)
	counter(&in.facts, "elbowroom.facts", "{fact}", "Facts of summarized messages by their fate; invented ones were taken out of the summary.")
	counter(&in.repairs, "elbowroom.repairs", "{repair}", "Repairs of conversations that no provider would have taken.")
	counter(&in.continuity, "elbowroom.continuity", "{call}", "Looks for an earlier compression of the same messages.")
	counter(&in.changed, "elbowroom.passthrough.changed", "By", "Bytes changed inside messages that were to be kept. It must stay 0.")
	counter(&in.summarizerCalls, "elbowroom.summarizer.calls", "{call}", "Calls to a summarizer's model, retries included.")
	counter(&in.summarizerTokens, "elbowroom.summarizer.tokens", "{token}", "Tokens that a summarizer's model billed.")
	counter(&in.summarizerFailures, "elbowroom.summarizer.failures", "{try}", "Rungs of the ladder that were tried or skipped without a summary.")
	{
		const what = "elbowroom.summarizer.cost_usd"
		var err error
		in.summarizerCost, err = meter.Float64Counter(what, metric.WithUnit("{USD}"),
			metric.WithDescription("List price of those tokens in US dollars, where one is known."))
		name(what, err)
	}
	histogram(&in.summarizerDuration, "elbowroom.summarizer.duration", "s", "How long a request waited for a rung of the ladder.", summarizerBuckets)
	counter(&in.breakpoints, "elbowroom.cache.breakpoints", "{breakpoint}", "Cache breakpoints placed.")
	counter(&in.predicted, "elbowroom.cache.predicted_tokens", "{token}", "Prompt tokens by how the provider is expected to bill them.")
	counter(&in.refused, "elbowroom.refused_calls", "{call}", "Calls that were turned away before any work was done.")
	counter(&in.storeOperations, "elbowroom.store.operations", "{operation}", "Operations on the shared store.")
	counter(&in.reloads, "elbowroom.config.reloads", "{reload}", "Reloads of the configuration; one that was refused left the settings as they were.")
	var err error
	in.logLost, err = meter.Int64ObservableCounter("elbowroom.log.lost_lines", metric.WithUnit("{line}"),
		metric.WithDescription("Lines of the log that could not be written: its reader died or does not read, or the disk is full."))
	name("elbowroom.log.lost_lines", err)
	gauge(&in.degraded, "elbowroom.store.degraded", "", "1 while the shared store is being done without.")
	gauge(&in.inFlight, "elbowroom.in_flight", "By", "Requests being worked on.")
	gauge(&in.inFlightLimit, "elbowroom.in_flight.limit", "By", "Their bound.")
	gauge(&in.working, "elbowroom.working_calls", "{call}", "Calls that have the processors.")
	gauge(&in.waiting, "elbowroom.waiting_calls", "{call}", "Calls that wait for them.")
	gauge(&in.bodies, "elbowroom.kept_bodies", "{body}", "Bodies held for callers that send deltas.")
	gauge(&in.bodyBytes, "elbowroom.kept_bodies.size", "By", "Memory they take.")
	return in, errors.Join(errs...)
}
