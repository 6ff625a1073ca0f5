package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/elbowroom/elbowroom/internal/logsink"
)

// lastLines is how long the last lines may take to be written when a server ends.
const lastLines = time.Second

// unhindered is the process with outputs that neither hold a server up nor end it, whatever
// becomes of who reads them: a pipe that is full, a reader that died, a full disk. Call end
// when all has been written.
func (p process) unhindered(ctx context.Context) (process, func()) {
	// Taken, so that a write to a pipe without a reader is an error and not the end.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	out, log := logsink.New(p.stdout), logsink.New(p.stderr)
	p.stdout, p.stderr, p.lost = out, log, log.Lost
	return p, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLines)
		defer cancel()
		out.Close(ctx)
		log.Close(ctx)
		signal.Stop(broken)
	}
}
