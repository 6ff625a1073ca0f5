// Package telemetry is what the service tells its operator: log lines, traces and
// metrics. Exporters are chosen by the OTEL_* variables alone ([Start]); a [Recorder]
// says what is recorded of each call, and is the one place that names metrics and
// spans. What it is told are sizes, names and outcomes: nothing of a conversation is
// ever part of a line, a span or a label.
package telemetry
