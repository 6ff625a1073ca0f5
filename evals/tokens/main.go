// Command tokens says how far the token counts of package tokens are from those of other tokenizers: of ctok for Claude,
// whose vocabularies the service itself embeds, so that this is agreement and no error; and of the published tokenizers of
// other families, whose counts it estimates.
//
// tools/eval-tokens.sh installs the tokenizers and runs it from the repository root:
//
//	go run ./evals/tokens agreement [-texts N] [-seed N]
//	go run ./evals/tokens accuracy
//	go run ./evals/tokens golden
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

// settings are the command's arguments.
type settings struct {
	data    string // where the conversations are, and the cases
	oracles string // where tools/eval-tokens.sh installed the tokenizers
	texts   int    // how many generated texts to compare
	seed    uint64
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "eval-tokens:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("want agreement, accuracy or golden")
	}
	var s settings
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.StringVar(&s.data, "data", "../shared/data", "folder with conversations/ and cases/")
	flags.StringVar(&s.oracles, "oracles", "bin/vocabularies", "folder with the installed tokenizers")
	flags.IntVar(&s.texts, "texts", 40_000, "generated texts to compare")
	flags.Uint64Var(&s.seed, "seed", 7, "seed of the generated texts")
	if err := flags.Parse(args[1:]); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	switch args[0] {
	case "agreement":
		return agreement(ctx, s, out)
	case "accuracy":
		return accuracy(ctx, s, out)
	case "golden":
		return golden(ctx, s, out)
	default:
		return fmt.Errorf("unknown command %q", args[0])
	}
}
