package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

func main() {
	standIfAsked()
	s := settings{timed: true}
	most := 0
	flag.Float64Var(&s.seconds, "seconds", 60, "length of the closed-loop phase, from 1 on; the whole run takes some three times that; below 10 latencies are not held against the server")
	flag.IntVar(&s.clients, "clients", 64, "closed-loop clients, each with a connection")
	flag.Uint64Var(&s.seed, "seed", 1, "what the calls are made from")
	flag.StringVar(&s.data, "data", "../shared/data", "folder with conversations/*.json; conversations are made up where it is missing")
	flag.Float64Var(&s.sample, "check", 0.05, "share of the answers that is judged")
	flag.StringVar(&s.binary, "binary", "", "the server's program (default: built from this tree)")
	flag.IntVar(&s.cores, "cores", 2, "processors that the server, and apart from it the clients, may use")
	flag.IntVar(&most, "memory", 1024, "most resident memory of the server, in MiB")
	flag.Parse()
	s.args = flag.Args()
	s.most = int64(most) << 20
	if err := s.check(); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(2)
	}
	runtime.GOMAXPROCS(s.cores)

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(report(ctx, s)) //nolint:gocritic // nothing is left to stop
}

// check says which setting no run can have.
func (s *settings) check() error {
	switch {
	case !(s.seconds >= leastSeconds && s.seconds <= mostSeconds):
		return fmt.Errorf("-seconds %v: between %v and %v", s.seconds, leastSeconds, mostSeconds)
	case s.clients < 1:
		return fmt.Errorf("-clients %d: at least 1", s.clients)
	case !(s.sample > 0 && s.sample <= 1):
		return fmt.Errorf("-check %v: above 0 and up to 1", s.sample)
	case s.cores < 1:
		return fmt.Errorf("-cores %d: at least 1", s.cores)
	case s.most < 1<<20:
		return fmt.Errorf("-memory %d: at least 1", s.most>>20)
	default:
		return nil
	}
}

// report runs, prints, and returns the exit code: 0 where every promise was kept, 1
// where one broke, 2 where nothing could be measured.
func report(ctx context.Context, s settings) int {
	out, err := run(ctx, s, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		return 2
	}
	out.print(os.Stdout)
	broken := out.broken()
	for _, what := range broken {
		fmt.Println("BROKEN:", what)
	}
	if len(broken) > 0 {
		return 1
	}
	fmt.Println("Every promise was kept.")
	return 0
}
