// Command tokens compares the token counter with the two packages people use: tiktoken for Python and tiktoken for npm.
//
//	tokens compare    counts thousands of hostile and recorded texts with all three and fails on any difference
//	tokens speed      measures all three in one run on five corpora; a ratio is printed only where the counts are equal
//
// Run them with `make test-oracles` and `make bench-tokens`, which install what they need (tools/oracles.sh).
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tokens:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	command := ""
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet(command, flag.ContinueOnError)
	dir := flags.String("oracles", filepath.Join("bin", "oracles"), "directory that tools/oracles.sh filled")
	data := flags.String("data", filepath.Join("..", "shared", "data"), "compare: directory of recorded texts")
	seed := flags.Uint64("seed", 20261130, "compare: seed of the hostile texts")
	rounds := flags.Int("rounds", 5, "speed: rounds, each measuring all three on every corpus")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch command {
	case "compare":
		return compare(ctx, out, *dir, *data, *seed)
	case "speed":
		return speed(ctx, out, *dir, *rounds)
	default:
		return fmt.Errorf("unknown command %q, want compare or speed", command)
	}
}
