// Package serverprocess runs `elbowroom serve` as a process of its own, for tests
// that load it, signal it and kill it, and tells what the process costs: goroutines
// and metrics from its admin port, memory and processor time from the system.
//
//	binary, err := serverprocess.Build(ctx, dir)
//	p, err := serverprocess.Start(ctx, serverprocess.Options{Binary: binary})
//	defer p.Kill()
//	... grpc.NewClient(p.GRPC, ...)
//	code, err := p.Stop(ctx)
//
// Every address is a free port of the loopback unless the arguments say otherwise, so
// a process is started again in the place of a dead one with "--grpc-addr", p.GRPC
// among its arguments.
package serverprocess
