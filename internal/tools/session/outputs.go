package session

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// hex makes up an identifier of n digits.
func (w *writer) hex(n int) string {
	const digits = "0123456789abcdef"
	var out strings.Builder
	for range n {
		out.WriteByte(digits[w.rnd.IntN(len(digits))])
	}
	return out.String()
}

// packages and things that files, tests and logs are about.
var packages = []string{
	"internal/api", "internal/auth", "internal/charge", "internal/customer", "internal/dispute", "internal/fx", "internal/invoice",
	"internal/ledger", "internal/mandate", "internal/outbox", "internal/payout", "internal/refund", "internal/risk", "internal/webhook",
}

var things = []string{
	"amount", "audit", "batch", "cache", "client", "config", "currency", "cursor", "decoder", "errors", "filter", "handler", "hook",
	"lease", "limits", "metrics", "model", "outbox", "parser", "policy", "queue", "retry", "scanner", "schema", "signature", "store",
}

// tree lists the repository.
func (w *writer) tree() string {
	sizes := map[string]int{
		"internal/webhook/dispatch.go": 18_204, "internal/webhook/queue.go": 12_961, "internal/charge/store.go": 17_377,
		"docs/incidents/INC-4821.md": 2_310, "Makefile": 3_118, "deploy/webhook-dispatcher/values-eu.yaml": 1_904,
	}
	for _, dir := range append([]string{"api/v1", "api/v2", "cmd/payments", "cmd/webhook-dispatcher"}, packages...) {
		for range 3 + w.rnd.IntN(4) {
			sizes[dir+"/"+pick(w, things)+".go"] = 400 + w.rnd.IntN(21_000)
		}
	}
	var out strings.Builder
	for _, path := range slices.Sorted(maps.Keys(sizes)) {
		fmt.Fprintf(&out, "%7d  %s\n", sizes[path], path)
	}
	return out.String()
}

// hits are search results.
func (w *writer) hits() string {
	code := []string{
		`	if in.IdempotencyKey == "" { return ErrMissingKey }`,
		`	req.Header.Set("Idempotency-Key", key)`,
		`	IdempotencyKey string ` + "`json:\"idempotency_key\" db:\"idempotency_key\"`",
		`// the caller's idempotency key, at most 255 bytes`,
		`	row := s.db.QueryRow(ctx, "SELECT id FROM charges WHERE idempotency_key = $1", key)`,
		`	log.Info("replayed by idempotency key", "charge", c.ID)`,
		`	keys := idempotency.NewCache(24 * time.Hour, 100_000)`,
		`	return fmt.Errorf("idempotency key %q was used by charge %s", key, first)`,
	}
	tests := []string{
		`	t.Run("same idempotency key returns the first result", func(t *testing.T) {`,
		`	want := IdempotencyConflict{Key: "k-1", First: "ch_1"}`,
	}
	lines := []string{
		"internal/webhook/dispatch.go:142:\tkey := fmt.Sprintf(\"%s-%d\", evt.ID, attempt)",
		"internal/webhook/dispatch.go:147:\treq.Header.Set(\"Idempotency-Key\", key)",
		"migrations/0031_charges.up.sql:9:    CONSTRAINT charges_idempotency_key_key UNIQUE (idempotency_key)",
	}
	for i := range 150 {
		dir, texts, suffix := pick(w, packages), code, ".go"
		if i%8 == 0 {
			dir = "api/v2"
		}
		if i%5 == 0 {
			texts, suffix = tests, "_test.go"
		}
		lines = append(lines, fmt.Sprintf("%s/%s%s:%d:%s", dir, pick(w, things), suffix, 10+w.rnd.IntN(600), pick(w, texts)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// dispatcherLog is the morning of the incident.
func (w *writer) dispatcherLog() string {
	var out strings.Builder
	at := time.Date(2026, 3, 12, 8, 52, 3, 0, time.UTC)
	line := func(level, format string, args ...any) {
		at = at.Add(time.Duration(200+w.rnd.IntN(90_000)) * time.Millisecond)
		fmt.Fprintf(&out, "%s level=%s svc=webhook-dispatcher shard=eu %s\n", at.Format("2006-01-02T15:04:05.000Z"), level, fmt.Sprintf(format, args...))
	}
	for i := range 165 {
		event, attempt := "evt_"+w.hex(6), 1+w.rnd.IntN(4)
		switch w.rnd.IntN(7) {
		case 0:
			line("info", `msg="delivered" event=%s attempt=%d status=200 dur_ms=%d worker=%d`, event, attempt, 80+w.rnd.IntN(900), w.rnd.IntN(16))
		case 1:
			line("warn", `msg="delivery failed" event=%s attempt=%d err="Post \"https://eu.cardproc.example/v1/charges\": context deadline exceeded" dur_ms=%d`, event, attempt, 10_001+w.rnd.IntN(14))
		case 2:
			line("info", `msg="retry scheduled" event=%s attempt=%d next_in=%ds key=%s-%d`, event, attempt+1, 2<<attempt, event, attempt+1)
		case 3:
			line("warn", `msg="slow processor" host=eu.cardproc.example p50_ms=%d p99_ms=%d window=60s`, 9_000+w.rnd.IntN(2_500), 11_000+w.rnd.IntN(3_400))
		case 4:
			line("error", `msg="insert charge" event=%s err="ERROR: duplicate key value violates unique constraint \"charges_idempotency_key_key\" (SQLSTATE 23505)" worker=%d`, event, w.rnd.IntN(16))
		case 5:
			line("info", `msg="lease stolen" event=%s from=%d to=%d age=%ds`, event, w.rnd.IntN(16), w.rnd.IntN(16), 30+w.rnd.IntN(40))
		default:
			line("info", `msg="queue" depth=%d oldest=%ds workers=16 inflight=%d`, 40+w.rnd.IntN(900), 5+w.rnd.IntN(300), w.rnd.IntN(16))
		}
		if i == 90 {
			line("warn", `msg="delivery failed" event=evt_8c41d7 attempt=1 err="context deadline exceeded" dur_ms=10002 request_id=req_5b1f77c0`)
			line("info", `msg="delivered" event=evt_8c41d7 attempt=2 status=200 dur_ms=4211 key=evt_8c41d7-2 request_id=req_5b1f7911`)
			line("warn", `msg="callback for unknown attempt" event=evt_8c41d7 key=evt_8c41d7-1 charge=ch_7Qm1 note="processor completed after 11.6s"`)
		}
	}
	return out.String()
}

// duplicates is the answer of the replica.
func (w *writer) duplicates() string {
	var out strings.Builder
	out.WriteString("  event_id  | customer_id | n |            min             |  sum\n------------+-------------+---+----------------------------+--------\n")
	at := time.Date(2026, 3, 12, 8, 52, 14, 0, time.UTC)
	for range 110 {
		at = at.Add(time.Duration(5+w.rnd.IntN(110)) * time.Second)
		fmt.Fprintf(&out, " evt_%s | cus_%s  | %d | %s | %6d\n", w.hex(6), w.hex(6), 2+w.rnd.IntN(5)/4, at.Format("2006-01-02 15:04:05.000+00"), 2*(500+w.rnd.IntN(14_000)))
	}
	out.WriteString("... 1,174 more rows\n(1284 rows; 611 customers; sum of the duplicates 4821375 EUR minor units)\n\nTime: 1837.415 ms (server db-replica-3.ledgerline.example:6432, PostgreSQL 13.14)\n")
	return out.String()
}

// testName makes up the name of a test.
func (w *writer) testName() string {
	subjects := []string{"Charge", "Refund", "Payout", "Dispatcher", "Queue", "Lease", "Signature", "Endpoint", "Outbox", "Ledger", "Mandate", "Currency"}
	facts := []string{
		"IsIdempotent", "RejectsUnknownCurrency", "SurvivesRestart", "RetriesOnTimeout", "KeepsOrder", "ReportsConflict", "HonoursDeadline",
		"IgnoresExpiredLease", "RoundsHalfEven", "WritesAuditRow", "StopsAfterMax", "ReplaysFirstResult", "ValidatesHost", "RejectsFloat",
	}
	return pick(w, subjects) + pick(w, facts)
}

// tests is the output of go test -v; broken is put in the middle of it.
func (w *writer) tests(n int, broken string) string {
	var out strings.Builder
	for i := range n {
		name := w.testName()
		fmt.Fprintf(&out, "=== RUN   Test%s\n", name)
		for range w.rnd.IntN(3) {
			fmt.Fprintf(&out, "    %s_test.go:%d: case %s: %d rows in %.2fms\n", pick(w, things), 20+w.rnd.IntN(300), pick(w, things), w.rnd.IntN(400), w.rnd.Float64()*40)
		}
		fmt.Fprintf(&out, "--- PASS: Test%s (%.2fs)\n", name, w.rnd.Float64()*1.4)
		if i == n/2 {
			out.WriteString(broken)
		}
	}
	return out.String()
}

func (w *writer) firstTests() string {
	return w.tests(135, `=== RUN   TestDispatcherKeyPerAttempt
    dispatch_test.go:212: this test pins the current behaviour: attempt 2 must have another key than attempt 1 (added in 2023 for LL-1190)
--- PASS: TestDispatcherKeyPerAttempt (0.01s)
`) + "PASS\nok  \tledgerline.example/payments/internal/webhook\t14.882s\nok  \tledgerline.example/payments/internal/charge\t9.107s\nexit code 0\n"
}

func (w *writer) secondTests() string {
	return w.tests(120, "") + "PASS\nok  \tledgerline.example/payments/internal/webhook\t61.340s\nexit code 0\n"
}

func (w *writer) check(broken, end string) string {
	var out strings.Builder
	out.WriteString("golangci-lint run ./...\n0 issues.\nbuf lint\nsqlfluff lint migrations\n  All Finished!\n")
	for _, p := range packages {
		fmt.Fprintf(&out, "go test -race %s\n", p)
		out.WriteString(w.tests(11, ""))
		fmt.Fprintf(&out, "ok  \tledgerline.example/payments/%s\t%.3fs\tcoverage: %.1f%% of statements\n", p, 1+w.rnd.Float64()*20, 60+w.rnd.Float64()*35)
	}
	return out.String() + broken + end
}

func (w *writer) failedCheck() string {
	return w.check(`==================
WARNING: DATA RACE
Read at 0x00c0004a2e40 by goroutine 88:
  runtime.mapiterinit()
  ledgerline.example/payments/internal/webhook.(*Queue).stealOne()
      internal/webhook/queue.go:120 +0x8c
Previous write at 0x00c0004a2e40 by goroutine 91:
  ledgerline.example/payments/internal/webhook.(*Queue).stealOne()
      internal/webhook/queue.go:125 +0x1d4
==================
--- FAIL: TestDispatcherConcurrent (2.41s)
    testing.go:1465: race detected during execution of test
`, "FAIL\tledgerline.example/payments/internal/webhook\t18.204s\nmake: *** [Makefile:41: check] Error 1\nexit code 2\n")
}

func (w *writer) passedCheck() string {
	return w.check("", "412 tests passed, 0 failed, 3 skipped (need docker)\nexit code 0\n")
}

// migrations shows earlier migrations.
func (w *writer) migrations() string {
	var out strings.Builder
	for n := 58; n <= 92; n++ {
		fmt.Fprintf(&out, "%04d_%s_%s.up.sql\n", n, pick(w, things), pick(w, things))
	}
	tables := []string{"charges", "refunds", "payouts", "disputes", "endpoints", "deliveries", "outbox"}
	kinds := []string{"text", "bigint", "timestamptz", "jsonb", "boolean", "uuid"}
	for n := 88; n <= 92; n++ {
		fmt.Fprintf(&out, "-- %04d\nSET lock_timeout = '2s';\n", n)
		for range 26 {
			table, column := pick(w, tables), pick(w, things)
			switch w.rnd.IntN(4) {
			case 0:
				fmt.Fprintf(&out, "ALTER TABLE %s ADD COLUMN %s_%s %s;\n", table, column, pick(w, things), pick(w, kinds))
			case 1:
				fmt.Fprintf(&out, "CREATE INDEX CONCURRENTLY %s_%s_idx ON %s (%s, created_at DESC);\n", table, column, table, column)
			case 2:
				fmt.Fprintf(&out, "COMMENT ON COLUMN %s.%s IS 'see internal/%s/%s.go';\n", table, column, strings.TrimSuffix(table, "s"), column)
			default:
				fmt.Fprintf(&out, "UPDATE %s SET %s = DEFAULT WHERE %s IS NULL AND id IN (SELECT id FROM %s LIMIT %d);\n", table, column, column, table, 1000*(1+w.rnd.IntN(20)))
			}
		}
	}
	return out.String()
}

func (w *writer) migrateLog() string {
	var out strings.Builder
	out.WriteString("docker run --rm -d postgres:13.14 ... ready in 2.1s\n")
	for n := 1; n <= 93; n++ {
		fmt.Fprintf(&out, "%04d up   %7.1f ms  lock held %4.1f ms\n", n, 2+w.rnd.Float64()*180, w.rnd.Float64()*30)
	}
	out.WriteString("0093 down   12.4 ms  lock held  3.1 ms\n0093 up     40.9 ms  lock held  3.3 ms\nschema after down equals schema before up: yes\nexit code 0\n")
	return out.String()
}

// dryRun is the output of the backfill.
func (w *writer) dryRun() string {
	var out strings.Builder
	for i := range 172 {
		fmt.Fprintf(&out, "refund  ch_%s %d EUR event=evt_%s\n", w.hex(5), 500+w.rnd.IntN(14_000), w.hex(6))
		switch i {
		case 31:
			out.WriteString("skip    ch_7Qm2 already refunded as re_2Hk81\n")
		case 47:
			out.WriteString("skip    ch_7Qx9 already refunded as re_2Hk9d\n")
		case 102:
			out.WriteString("skip    ch_8A0c already refunded as re_2Hm40\n")
		}
	}
	out.WriteString("... 1,091 more\ntotal   4809417 in minor units\n1281 to refund, 3 skipped, dry run: nothing was booked\nexit code 0\n")
	return out.String()
}

// diff is the change as a whole.
func (w *writer) diff() string {
	var out strings.Builder
	out.WriteString(` cmd/backfill-refunds/main.go                        |  64 +++++++++
 internal/webhook/dispatch.go                        |  11 +-
 internal/webhook/dispatch_test.go                   |  38 ++++--
 internal/webhook/key.go                             |  17 +++
 internal/webhook/lease.go                           |  33 +++++
 internal/webhook/queue.go                           |  14 +-
 migrations/0093_one_success_per_event.down.sql      |   3 +
 migrations/0093_one_success_per_event.up.sql        |   9 ++
`)
	out.WriteString("diff --git a/internal/webhook/dispatch.go b/internal/webhook/dispatch.go\n@@ -141,2 +141,2 @@ func (d *Dispatcher) request(\n-\tkey := fmt.Sprintf(\"%s-%d\", evt.ID, attempt)\n+\tkey := IdempotencyKey(evt.ID, evt.Endpoint.ID)\n")
	for _, f := range []struct{ name, text string }{
		{"internal/webhook/key.go", keySource}, {"internal/webhook/lease.go", leaseSource},
		{"cmd/backfill-refunds/main.go", backfillSource}, {"migrations/0093_one_success_per_event.up.sql", migrationUp},
	} {
		fmt.Fprintf(&out, "diff --git a/%[1]s b/%[1]s\nnew file mode 100644\n--- /dev/null\n+++ b/%[1]s\n", f.name)
		for line := range strings.Lines(f.text) {
			out.WriteString("+" + line)
		}
	}
	return out.String()
}
