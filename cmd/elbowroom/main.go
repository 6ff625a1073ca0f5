// Command elbowroom serves elbowroom.v1 and works with conversation files.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// version is set by the linker.
var version = "devel"

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals // whoever asks again does not want to wait
		os.Exit(exitError)
	}()
	code := run(ctx, process{
		args: os.Args[1:], stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(),
		colour: colourful(os.Stdout, os.Environ()),
	})
	cancel()
	os.Exit(code)
}
