package session

import (
	"fmt"
	"strings"
)

// listing is a source file in the making.
type listing struct {
	w     *writer
	lines []string
	used  map[string]bool // names of functions written so far
}

func (l *listing) add(text string) {
	l.lines = append(l.lines, strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
}

// fill adds functions of a type until the next line is the given one.
func (l *listing) fill(receiver string, line int) {
	for len(l.lines) < line-24 {
		l.add(l.function(receiver))
	}
	notes := []string{
		"// Callers hold no lock here; see the comment on the type.",
		"// The order of the checks matters: cheap ones first.",
		"// Kept apart from its neighbours for the sake of the tests.",
		"// Nothing below this line may block for longer than the lease lasts.",
		"// Errors are returned as they are and wrapped by the caller.",
	}
	for i := 0; len(l.lines) < line-1; i++ {
		l.add(notes[i%len(notes)])
	}
}

// numbered writes the file as the read_file tool shows it.
func (l *listing) numbered() string {
	var out strings.Builder
	for i, line := range l.lines {
		fmt.Fprintf(&out, "%6d\t%s\n", i+1, line)
	}
	return out.String()
}

// function makes up a method that has not been there yet.
func (l *listing) function(receiver string) string {
	verbs := []string{"load", "list", "mark", "count", "release", "expire", "resolve", "reserve", "settle", "verify", "archive", "schedule"}
	nouns := []string{"Charge", "Refund", "Delivery", "Endpoint", "Event", "Payout", "Dispute", "Batch", "Attempt", "Customer", "Invoice", "Mandate"}
	name := ""
	for tries := 0; name == "" || l.used[name] && tries < 200; tries++ {
		name = pick(l.w, verbs) + pick(l.w, nouns)
	}
	l.used[name] = true
	noun := strings.ToLower(name[strings.IndexFunc(name, func(r rune) bool { return r < 'a' }):])
	limit := 10 * (1 + l.w.rnd.IntN(50))
	self := strings.ToLower(receiver[:1])
	templates := []string{
		`
// %[1]s returns the %[2]s with the given id, or ErrNotFound.
func (%[3]s *%[4]s) %[1]s(ctx context.Context, id string) (*%[5]s, error) {
	row := %[3]s.db.QueryRow(ctx, ` + "`SELECT id, status, amount, currency, created_at FROM %[2]ss WHERE id = $1`" + `, id)
	var out %[5]s
	if err := row.Scan(&out.ID, &out.Status, &out.Amount, &out.Currency, &out.CreatedAt); err != nil {
		if errors.Is(err, pgx.ErrNoRows) {
			return nil, fmt.Errorf("%[2]s %%s: %%w", id, ErrNotFound)
		}
		return nil, fmt.Errorf("%[1]s: %%w", err)
	}
	return &out, nil
}`, `
// %[1]s goes through at most %[6]d %[2]ss and stops at the first error.
func (%[3]s *%[4]s) %[1]s(ctx context.Context, after time.Time) (int, error) {
	done := 0
	rows, err := %[3]s.db.Query(ctx, %[1]sSQL, after, %[6]d)
	if err != nil {
		return 0, fmt.Errorf("%[1]s: %%w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return done, fmt.Errorf("%[1]s: row %%d: %%w", done, err)
		}
		if err := %[3]s.publish(ctx, "%[2]s", id); err != nil {
			return done, err
		}
		done++
	}
	return done, rows.Err()
}`, `
// %[1]s reports whether the %[2]s may go on, and takes a slot if so.
func (%[3]s *%[4]s) %[1]s(id string, now time.Time) bool {
	%[3]s.mu.Lock()
	defer %[3]s.mu.Unlock()
	slot, ok := %[3]s.slots[id]
	switch {
	case !ok:
		%[3]s.slots[id] = slot{since: now}
		return true
	case now.Sub(slot.since) > %[6]d*time.Millisecond:
		%[3]s.metrics.Inc("%[2]s_slot_expired")
		%[3]s.slots[id] = slot{since: now}
		return true
	default:
		return false
	}
}`, `
// %[1]s moves a %[2]s to its next state. The caller has checked the signature.
func (%[3]s *%[4]s) %[1]s(ctx context.Context, in %[5]s) error {
	return %[3]s.inTx(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, ` + "`UPDATE %[2]ss SET status = $2, updated_at = now() WHERE id = $1 AND status = ANY($3)`" + `, in.ID, in.Next, allowedBefore[in.Next])
		if err != nil {
			return fmt.Errorf("%[1]s %%s: %%w", in.ID, err)
		}
		if tag.RowsAffected() == 0 {
			return fmt.Errorf("%[2]s %%s cannot become %%s: %%w", in.ID, in.Next, ErrConflict)
		}
		return %[3]s.outbox.Append(ctx, tx, "%[2]s."+in.Next, in.ID)
	})
}`,
	}
	return fmt.Sprintf(pick(l.w, templates), name, noun, self, receiver, strings.ToUpper(noun[:1])+noun[1:], limit)
}

// pick chooses one of several.
func pick[T any](w *writer, from []T) T { return from[w.rnd.IntN(len(from))] }

func (w *writer) file(pkg string, imports ...string) *listing {
	l := &listing{w: w, used: map[string]bool{}}
	l.add("package " + pkg + "\n\nimport (")
	for _, path := range imports {
		if path == "" {
			l.add("")
			continue
		}
		l.add("\t\"" + path + "\"")
	}
	l.add(")")
	return l
}

// dispatcher is the file that holds the cause, on the lines that the diagnosis
// names.
func (w *writer) dispatcher() string {
	l := w.file("webhook", "context", "errors", "fmt", "net/http", "time", "", "github.com/jackc/pgx/v5", "", "ledgerline.example/payments/internal/charge")
	l.add(`
// A Dispatcher delivers events to the endpoints of processors and merchants. An
// event is tried up to WEBHOOK_RETRY_MAX times (7), with 2, 4, 8, ... seconds
// between attempts.
type Dispatcher struct {
	db       *pgx.Conn
	client   *http.Client
	queue    *Queue
	retryMax int
}`)
	l.fill("Dispatcher", 94)
	l.add(`// deliver sends one event once.
func (d *Dispatcher) deliver(ctx context.Context, evt Event, attempt int) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := d.request(ctx, evt, attempt)
	if err != nil {
		return err
	}
	res, err := d.client.Do(req)
	if err != nil {
		return &RetryableError{Event: evt.ID, Attempt: attempt, Err: err}
	}
	defer res.Body.Close()
	if res.StatusCode >= 500 {
		return &RetryableError{Event: evt.ID, Attempt: attempt, Status: res.StatusCode}
	}
	return d.record(ctx, evt, res)
}`)
	l.fill("Dispatcher", 140)
	l.add(`// request builds the call to the processor.
func (d *Dispatcher) request(ctx context.Context, evt Event, attempt int) (*http.Request, error) {
	key := fmt.Sprintf("%s-%d", evt.ID, attempt)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, evt.Endpoint.URL, evt.Body())
	if err != nil {
		return nil, fmt.Errorf("build request for %s: %w", evt.ID, err)
	}
	req.Header.Set("Idempotency-Key", key)
	req.Header.Set("X-Ledgerline-Attempt", fmt.Sprint(attempt))
	return req, nil
}`)
	l.fill("Dispatcher", 545)
	return l.numbered()
}

func (w *writer) store() string {
	l := w.file("charge", "context", "errors", "fmt", "time", "", "github.com/jackc/pgx/v5", "github.com/jackc/pgx/v5/pgconn")
	l.add(`
// ErrDuplicate is returned when the idempotency key has been used: the unique
// constraint charges_idempotency_key_key, SQLSTATE 23505.
var ErrDuplicate = errors.New("duplicate idempotency key")

// A Store keeps charges. Amounts are in minor units.
type Store struct {
	db *pgx.Conn
}`)
	l.fill("Store", 70)
	l.add(`// Insert books a charge.
func (s *Store) Insert(ctx context.Context, c Charge) error {
	_, err := s.db.Exec(ctx, insertSQL, c.ID, c.EventID, c.CustomerID, c.Amount, c.Currency, c.IdempotencyKey)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "23505" && pg.ConstraintName == "charges_idempotency_key_key" {
		return fmt.Errorf("charge %s: %w", c.ID, ErrDuplicate)
	}
	return err
}`)
	l.fill("Store", 520)
	return l.numbered()
}

func (w *writer) queue() string {
	l := w.file("webhook", "context", "errors", "fmt", "sync", "time", "", "github.com/jackc/pgx/v5")
	l.add(`
// A Queue hands events to workers. Each event is leased to one worker at a time.
type Queue struct {
	db     *pgx.Conn
	mu     sync.Mutex
	leases map[string]lease // guarded by mu
	slots  map[string]slot
}`)
	l.fill("Queue", 118)
	l.add(`// stealOne takes an event over from a worker that is gone.
func (q *Queue) stealOne(worker int, now time.Time) (Event, bool) {
	for id, have := range q.leases { // read without q.mu
		if now.Before(have.expires) {
			continue
		}
		q.mu.Lock()
		q.leases[id] = lease{worker: worker, expires: now.Add(leaseLife)}
		q.mu.Unlock()
		return q.event(id), true
	}
	return Event{}, false
}`)
	l.fill("Queue", 420)
	return l.numbered()
}
