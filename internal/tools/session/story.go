package session

// system is the agent's prompt.
const system = `You are a coding agent working in the repository of Ledgerline, a payments company. You have tools to read, search and change files, to run commands, to read logs and to query a read replica.

Rules:
- Read before you change. Quote paths and line numbers when you explain.
- Keep changes small and reviewable; one concern a commit.
- Never run anything against production databases. The read replica is for SELECT only.
- Amounts are integers in minor units. Never use floating point for money.
- When a command fails, say so and show the relevant lines before you go on.
- Ask when a decision is the user's to make.`

// The user's words.
const (
	request = `Customers on the EU shard were charged twice on 12 March (incident INC-4821, support has 40 tickets). Please find out why and fix it.

Constraints:
- Do not change anything under api/v2. The mobile apps depend on it byte for byte.
- Production runs PostgreSQL 13, so no NULLS NOT DISTINCT and no MERGE.
- Every migration needs a down file, and must not lock the charges table for more than 2 seconds.
- The read replica is db-replica-3.ledgerline.example:6432.
- Run make check before every commit.`

	goAhead = `Agreed, go with the stable key (event id plus endpoint id, no attempt number). For the database I want a partial unique index built CONCURRENTLY, not a trigger. Leave WEBHOOK_RETRY_MAX at 7, operations tuned that last month. The old rows must be refunded by the backfill, not deleted: finance needs the trail. Go on.`

	next = `Good work. Two more things before we close INC-4821: draft the notice to the affected customers (plain words, no internal names, say that refunds arrive within 5 banking days), and propose an alert on spikes of 23505 in the dispatcher. Show me both here before you write any file.`
)

// The agent's words where it answers without a tool.
const (
	diagnosis = `I have the cause of the duplicate charges.

1. The dispatcher gives every delivery 10 s (internal/webhook/dispatch.go:96). On 12 March the EU card processor answered after 11 to 14 s, so deliveries timed out on our side but were carried out on theirs.
2. The retry then built a new idempotency key, because the key contains the attempt number: fmt.Sprintf("%s-%d", evt.ID, attempt) in internal/webhook/dispatch.go:142. The processor saw a new key and charged again.
3. The database did not stop it: charges.idempotency_key is unique, but the keys differ, so the constraint charges_idempotency_key_key only fired (SQLSTATE 23505) where two workers ran the same attempt.

The replica shows 1,284 duplicate charges of 611 customers, all between 08:52 and 11:37 UTC, EUR 48,213.75 in total (4821375 in minor units).

Proposal: (A) a stable key of event id and endpoint id, sent unchanged on every attempt; (B) a database rule that allows one successful charge per event; (C) a backfill that refunds the duplicates. For B there are two ways: a trigger, or a partial unique index on (event_id) WHERE status = 'succeeded'. Which one do you want, and may I lower WEBHOOK_RETRY_MAX from 7 to 3 at the same time?`

	state = `Everything is committed on branch fix/inc-4821:

- 3f9c2ab stable idempotency key; attempt number removed from the key
- b71e05d migration 0093: partial unique index charges_one_success_per_event, built CONCURRENTLY, with down file
- 9ad4417 backfill command cmd/backfill-refunds, dry run by default

make check passes (412 tests, race detector on). The dry run on the replica finds 1,281 charges to refund; the three that it leaves out (ch_7Qm2, ch_7Qx9, ch_8A0c) were already refunded by support by hand. Not done yet: nothing has run against production, the backfill needs BACKFILL_APPROVED_BY set, and the 10 s timeout of dispatch.go:96 is unchanged because raising it was not part of the request.`
)

// write tells the story, message by message.
func (w *writer) write() {
	w.user(request)
	w.turn("I'll start with the layout of the repository.", call("list_files", "path", ".", w.tree()))
	w.turn("The payment path is in internal/charge and internal/webhook. Let me see where idempotency keys are made and used.",
		call("search", "pattern", "(?i)idempotency", w.hits()))
	w.turn("Keys are built in the dispatcher. Reading it in full.", call("read_file", "path", "internal/webhook/dispatch.go", w.dispatcher()))
	w.turn("The key contains the attempt number, and the timeout is 10 s. The logs of that morning should show whether retries and duplicates coincide.",
		call("logs", "query", "service=webhook-dispatcher env=production shard=eu from=2026-03-12T08:45Z to=2026-03-12T11:45Z", w.dispatcherLog()))
	w.turn("They do. Counting the duplicates on the replica.", call("query_replica", "sql",
		"SELECT event_id, customer_id, count(*) AS n, min(created_at), sum(amount) FROM charges WHERE shard = 'eu' AND created_at::date = '2026-03-12' AND status = 'succeeded' GROUP BY 1, 2 HAVING count(*) > 1 ORDER BY 4", w.duplicates()))
	w.turn("Next the store, to see why the unique constraint did not help.", call("read_file", "path", "internal/charge/store.go", w.store()))
	w.turn("Running the existing tests of both packages before I change anything.",
		call("run", "command", "go test -race -v ./internal/webhook/... ./internal/charge/...", w.firstTests()))
	w.assistant(diagnosis)
	w.user(goAhead)
	w.turn("First the key. I replace the attempt number by the endpoint id and keep the key on the event.",
		writeFile("internal/webhook/key.go", keySource),
		call("run", "command", "go build ./... && go vet ./internal/webhook", "exit code 0"))
	w.turn("Now the migration. The latest ones first, for their style.",
		call("run", "command", "ls migrations | tail -40 && cat migrations/0088*.sql migrations/0089*.sql migrations/0090*.sql migrations/0091*.sql migrations/0092*.sql", w.migrations()))
	w.turn("Writing 0093 with a down file. CREATE INDEX CONCURRENTLY cannot run inside a transaction, so the file carries the marker for that.",
		writeFile("migrations/0093_one_success_per_event.up.sql", migrationUp),
		writeFile("migrations/0093_one_success_per_event.down.sql", migrationDown),
		call("run", "command", "make migrate-test", w.migrateLog()))
	w.turn("Migration goes up and down on PostgreSQL 13. The whole check now.", call("run", "command", "make check", w.failedCheck()))
	w.turn("One failure, and it is real: TestDispatcherConcurrent found a data race in queue.go. Reading it.",
		call("read_file", "path", "internal/webhook/queue.go", w.queue()))
	w.turn("The lease map is read outside the lock in (*Queue).stealOne. Moving the read under it.",
		writeFile("internal/webhook/lease.go", leaseSource))
	w.turn("Again with the race detector.", call("run", "command", "go test -race -count=20 -run 'Dispatcher|Queue|Lease' ./internal/webhook", w.secondTests()))
	w.turn("Clean. Now the backfill, as a command of its own with a dry run as its default.",
		writeFile("cmd/backfill-refunds/main.go", backfillSource))
	w.turn("Dry run against the replica.", call("run", "command", "go run ./cmd/backfill-refunds --dsn replica --incident INC-4821", w.dryRun()))
	w.turn("Three of the 1,284 are left out. Looking at why.", call("query_replica", "sql",
		"SELECT c.id, c.event_id, r.id, r.created_by, r.created_at, r.reason FROM charges c JOIN refunds r ON r.charge_id = c.id WHERE c.id IN ('ch_7Qm2','ch_7Qx9','ch_8A0c')", unmatched))
	w.turn("Already refunded by hand, so leaving them out is right. The complete diff, for a last look.", call("run", "command", "git diff main --stat && git diff main", w.diff()))
	w.turn("And the check once more.", call("run", "command", "make check", w.passedCheck()))
	w.turn("Committing in three steps.", call("run", "command", "git switch -c fix/inc-4821 && ./tools/commit-series.sh", commits))
	w.assistant(state)
	w.user(next)
}
