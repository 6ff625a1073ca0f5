package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"

	"github.com/elbowroom/elbowroom/internal/serverprocess"
)

// driver makes the calls of a source to one server.
type driver struct {
	server *serverprocess.Process
	source *source
	conns  []*grpc.ClientConn
	// bystander measures small calls.
	bystander *bystander
	// every says how many answers one that is judged stands for.
	every int64
	seed  uint64
	pool  mem.BufferPool

	phase           atomic.Pointer[phase]
	begun, answered atomic.Int64
}

func (d *driver) connect(clients int) error {
	for range clients {
		conn, err := dial(d.server.GRPC, d.pool)
		if err != nil {
			return err
		}
		d.conns = append(d.conns, conn)
	}
	return nil
}

func (d *driver) disconnect() {
	for _, conn := range d.conns {
		_ = conn.Close()
	}
	d.conns = nil
}

// during runs work as a phase and judges its answers when the clock has stopped.
func (d *driver) during(ctx context.Context, name string, work func(ctx context.Context)) (*phase, error) {
	// The bystander answers when its call is over: that is no part of the phase.
	if _, err := d.bystander.seen(ctx); err != nil {
		return nil, err
	}
	p := newPhase(name)
	server, err := d.server.ProcessorTime()
	if err != nil {
		return nil, err
	}
	client, machine := ownTime(), machineTime()
	d.phase.Store(p)
	work(ctx)
	p.took = time.Since(p.began)
	used, err := d.server.ProcessorTime()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", name, err, d.server.Log())
	}
	p.server, p.client = used-server, ownTime()-client
	p.others = machineTime() - machine - p.server - p.client
	if p.alone, err = d.bystander.seen(ctx); err != nil {
		return nil, err
	}
	memory, err := d.server.Memory()
	if err != nil {
		return nil, err
	}
	p.memory = memory.Peak
	return p, ctx.Err()
}

// ownTime is the processor time that this process has used.
func ownTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// machineTime is the processor time that everybody on the machine has used, 0 where the
// system does not tell.
func machineTime() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	const idle, waiting = 4, 5 // the other fields are work
	fields := strings.Fields(strings.SplitN(string(text), "\n", 2)[0])
	ticks := 0
	for i := 1; i < min(len(fields), 9); i++ {
		if n, err := strconv.Atoi(fields[i]); err == nil && i != idle && i != waiting {
			ticks += n
		}
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// closed lets every connection make calls one after the other until the time is over.
func (d *driver) closed(clients int, length time.Duration) func(ctx context.Context) {
	return func(ctx context.Context) {
		end := time.Now().Add(length)
		var group sync.WaitGroup
		for i := range clients {
			group.Go(func() {
				for time.Now().Before(end) && ctx.Err() == nil {
					d.answer(ctx, d.conns[i], d.source.next())
				}
			})
		}
		group.Wait()
	}
}

// open begins calls at random moments, so many a second, whatever became of those
// before. It returns when the time is over; unanswered gets those that go on.
func (d *driver) open(rate float64, length time.Duration, unanswered *sync.WaitGroup) func(ctx context.Context) {
	return func(ctx context.Context) {
		d.phase.Load().rate = rate
		r := rand.New(rand.NewPCG(d.seed, 3)) //nolint:gosec // reproducible
		at, end := time.Now(), time.Now().Add(length)
		timer := time.NewTimer(0)
		defer timer.Stop()
		for i := 0; ; i++ {
			if at = at.Add(time.Duration(r.ExpFloat64() / rate * float64(time.Second))); at.After(end) {
				at = end
			}
			timer.Reset(time.Until(at))
			select {
			case <-timer.C:
			case <-ctx.Done():
				return
			}
			if at.Equal(end) {
				return
			}
			c, conn := d.source.next(), d.conns[i%len(d.conns)]
			unanswered.Go(func() { d.answer(ctx, conn, c) })
		}
	}
}

// answer makes a call until it is answered.
func (d *driver) answer(ctx context.Context, conn *grpc.ClientConn, c *call) {
	for c != nil {
		number := d.begun.Add(1)
		reply, ok := d.attempts(ctx, conn, c, number)
		if !ok {
			return // it is missing among the answered
		}
		d.answered.Add(1)
		if c.next == nil {
			return
		}
		c = c.next(reply)
	}
}

// attempts makes a call again as long as it is refused, when the server said so.
func (d *driver) attempts(ctx context.Context, conn *grpc.ClientConn, c *call, number int64) (reply raw, ok bool) {
	for ctx.Err() == nil {
		p := d.phase.Load()
		request, err := c.build().encode(d.pool)
		if err != nil {
			p.fail(fmt.Sprintf("%s: encode: %v", c.kind.name, err))
			return nil, false
		}
		size, judged := len(*request), number%d.every == 0
		limited, cancel := context.WithTimeout(ctx, c.kind.deadline)
		began := time.Now()
		in, err := invoke(limited, conn, c.kind.method, request, judged || c.next != nil)
		took := time.Since(began)
		cancel()
		if err == nil {
			p.accept(c, took, size, in.length)
			if judged {
				p.keep(sample{c, in.reply})
			}
			return in.reply, true
		}
		wait, refused := refusal(err)
		switch {
		case refused:
			p.refuse(c, took, wait)
			select {
			case <-time.After(wait):
			case <-ctx.Done():
			}
		case c.whole != nil && reason(err) == "BASE_UNKNOWN":
			p.resend(c)
			c = c.whole
		default:
			p.fail(fmt.Sprintf("%s: %v: %s", c.kind.name, status.Code(err), status.Convert(err).Message()))
			return nil, false
		}
	}
	return nil, false
}
