package session

// What the agent writes, and short outputs.
const (
	keySource = `package webhook

import "strings"

// IdempotencyKey is the key that the processor sees for one event and endpoint.
// It is the same for every attempt: a processor that carried out a delivery
// which we gave up waiting for must recognise the retry (INC-4821).
func IdempotencyKey(eventID, endpointID string) string {
	var sb strings.Builder
	sb.Grow(len(eventID) + len(endpointID) + 4)
	sb.WriteString("v2:")
	sb.WriteString(eventID)
	sb.WriteByte(':')
	sb.WriteString(endpointID)
	return sb.String()
}
`

	migrationUp = `-- migrate:no-transaction
-- At most one successful charge for each event. Built CONCURRENTLY: no lock on
-- charges beyond the catalogue update. PostgreSQL 13 has no NULLS NOT DISTINCT,
-- but event_id is NOT NULL since 0071.
SET lock_timeout = '2s';
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS charges_one_success_per_event
    ON charges (event_id)
    WHERE status = 'succeeded' AND refunded_at IS NULL;
`

	migrationDown = `-- migrate:no-transaction
SET lock_timeout = '2s';
DROP INDEX CONCURRENTLY IF EXISTS charges_one_success_per_event;
`

	leaseSource = `package webhook

import (
	"sync"
	"time"
)

// leases says which worker holds which event, and until when.
type leases struct {
	mu   sync.Mutex
	held map[string]lease
}

type lease struct {
	worker  int
	expires time.Time
}

// steal takes over an event whose lease has run out. The look and the takeover
// happen under one lock: two workers that both saw the old lease sent the same
// event twice.
func (l *leases) steal(event string, worker int, now time.Time, life time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if have, ok := l.held[event]; ok && now.Before(have.expires) {
		return false
	}
	l.held[event] = lease{worker: worker, expires: now.Add(life)}
	return true
}
`

	backfillSource = `// Command backfill-refunds refunds the duplicate charges of one incident. It
// prints what it would do unless BACKFILL_APPROVED_BY names a person and --apply
// is given.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"

	"ledgerline.example/payments/internal/charge"
	"ledgerline.example/payments/internal/refund"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		slog.Error("backfill failed", "error", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("backfill-refunds", flag.ContinueOnError)
	dsn := flags.String("dsn", "", "database to read")
	incident := flags.String("incident", "", "incident that the refunds are booked under")
	apply := flags.Bool("apply", false, "book the refunds")
	if err := flags.Parse(args); err != nil {
		return err
	}
	approver := os.Getenv("BACKFILL_APPROVED_BY")
	if *apply && approver == "" {
		return errors.New("--apply needs BACKFILL_APPROVED_BY")
	}
	duplicates, err := charge.Duplicates(ctx, *dsn, *incident)
	if err != nil {
		return fmt.Errorf("find duplicates: %w", err)
	}
	var total int64 // minor units
	for _, d := range duplicates {
		if d.RefundID != "" {
			fmt.Printf("skip    %s already refunded as %s\n", d.ChargeID, d.RefundID)
			continue
		}
		total += d.Amount
		fmt.Printf("refund  %s %d %s event=%s\n", d.ChargeID, d.Amount, d.Currency, d.EventID)
		if *apply {
			if err := refund.Book(ctx, d.ChargeID, d.Amount, *incident, approver); err != nil {
				return fmt.Errorf("book refund of %s: %w", d.ChargeID, err)
			}
		}
	}
	fmt.Printf("total   %d in minor units\n", total)
	return nil
}
`

	unmatched = `   id    | event_id   |     id     |  created_by   |          created_at           |            reason
---------+------------+------------+---------------+-------------------------------+-------------------------------
 ch_7Qm2 | evt_8c41d7 | re_2Hk81   | support:mira  | 2026-03-12 14:02:11.482+00    | double charge, ticket 88213
 ch_7Qx9 | evt_8c5f02 | re_2Hk9d   | support:mira  | 2026-03-12 14:09:47.030+00    | double charge, ticket 88217
 ch_8A0c | evt_8d9a6e | re_2Hm40   | support:jonas | 2026-03-12 15:31:05.911+00    | double charge, ticket 88242
(3 rows)

Time: 41.207 ms`

	commits = `Switched to a new branch 'fix/inc-4821'
[fix/inc-4821 3f9c2ab] webhook: keep the idempotency key stable over attempts
 4 files changed, 61 insertions(+), 19 deletions(-)
 create mode 100644 internal/webhook/key.go
 create mode 100644 internal/webhook/lease.go
[fix/inc-4821 b71e05d] migrations: one successful charge per event (0093)
 2 files changed, 12 insertions(+)
 create mode 100644 migrations/0093_one_success_per_event.down.sql
 create mode 100644 migrations/0093_one_success_per_event.up.sql
[fix/inc-4821 9ad4417] backfill-refunds: refund the duplicates of INC-4821
 3 files changed, 148 insertions(+)
 create mode 100644 cmd/backfill-refunds/main.go
exit code 0`
)
