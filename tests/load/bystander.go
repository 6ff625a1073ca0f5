package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"google.golang.org/grpc"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// bystanding is the argument that makes the program a bystander.
const bystanding = "bystander"

// standEvery is the time between two calls of a bystander.
const standEvery = 10 * time.Millisecond

// bystander is a process that makes small calls, one at a time, and nothing else. The
// driver holds hundreds of calls and their bodies: a small one waits there for the
// driver's own processors, which takes longer than the server does and is no part of it.
type bystander struct {
	command *exec.Cmd
	ask     io.WriteCloser
	answers *json.Decoder
}

// sightings are what a bystander saw since it was last asked.
type sightings struct {
	// Took are the times of the calls that were answered, by what was called.
	Took map[string][]time.Duration
	// Refused are how many were told to come again later, by what was called.
	Refused map[string]int
	// Failed says what went wrong with others.
	Failed []string
}

func nothingSeen() sightings {
	return sightings{Took: map[string][]time.Duration{}, Refused: map[string]int{}}
}

// startBystander starts a process that calls the server at an address until it is stopped.
func startBystander(ctx context.Context, addr string) (*bystander, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	b := &bystander{command: exec.CommandContext(ctx, program, bystanding, addr)} //nolint:gosec // this program
	b.command.Stderr = os.Stderr
	if b.ask, err = b.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := b.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	b.answers = json.NewDecoder(out)
	return b, b.command.Start()
}

// seen asks for what was seen since the last time. The context is that of the start: its
// end ends the process.
func (b *bystander) seen(ctx context.Context) (sightings, error) {
	var s sightings
	_, err := io.WriteString(b.ask, "seen\n")
	if err == nil {
		err = b.answers.Decode(&s)
	}
	if err != nil {
		return s, fmt.Errorf("the bystander: %w", cmp.Or(ctx.Err(), err))
	}
	return s, nil
}

func (b *bystander) stop() {
	_ = b.ask.Close()
	_ = b.command.Wait()
}

// standIfAsked makes a bystander of a process that was started as one, and ends it.
func standIfAsked() {
	if len(os.Args) != 3 || os.Args[1] != bystanding {
		return
	}
	if err := stand(context.Background(), os.Args[2], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "load: bystander:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// stand is the work of the process: it calls until nobody asks any more.
func stand(ctx context.Context, addr string, asked io.Reader, answers io.Writer) error {
	conn, err := grpc.NewClient(addr, insecureTransport())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	questions := make(chan struct{})
	go func() {
		defer close(questions)
		for lines := bufio.NewScanner(asked); lines.Scan(); {
			questions <- struct{}{}
		}
	}()
	small, out := smallCalls(conn), json.NewEncoder(answers)
	tick := time.NewTicker(standEvery)
	defer tick.Stop()
	saw := nothingSeen()
	for n := 0; ; n++ {
		select {
		case _, more := <-questions:
			if !more {
				return nil
			}
			if err := out.Encode(saw); err != nil {
				return err
			}
			saw = nothingSeen()
		case <-tick.C:
			call := &small[n%len(small)]
			limited, cancel := context.WithTimeout(ctx, shortDeadline)
			began := time.Now()
			err := call.make(limited, n)
			took := time.Since(began)
			cancel()
			switch _, refused := refusal(err); {
			case refused:
				saw.Refused[call.name]++
			case err != nil:
				saw.Failed = append(saw.Failed, call.name+": "+err.Error())
			default:
				saw.Took[call.name] = append(saw.Took[call.name], took)
			}
		}
	}
}

// smallCall is one that takes the server next to nothing.
type smallCall struct {
	name string
	make func(ctx context.Context, n int) error
}

// The kinds of small calls that the driver makes, too.
const (
	countText  = "CountTokens, text"
	listModels = "ListModels"
)

func smallCalls(conn *grpc.ClientConn) []smallCall {
	client, health := elbowroomv1.NewContextServiceClient(conn), healthv1.NewHealthClient(conn)
	return []smallCall{
		{"health", func(ctx context.Context, _ int) error {
			resp, err := health.Check(ctx, &healthv1.HealthCheckRequest{})
			if err == nil && resp.GetStatus() != healthv1.HealthCheckResponse_SERVING {
				err = errors.New(resp.GetStatus().String())
			}
			return err
		}},
		{countText, func(ctx context.Context, n int) error {
			text := fmt.Sprintf("Call %d of one who stands by while others are busy: how long does it take to be told how long this is?", n)
			resp, err := client.CountTokens(ctx, &elbowroomv1.CountTokensRequest{Text: &text, Model: "claude-sonnet-4-5"})
			if err == nil && resp.GetTokens() <= 0 {
				err = fmt.Errorf("%d tokens", resp.GetTokens())
			}
			return err
		}},
		{listModels, func(ctx context.Context, _ int) error {
			resp, err := client.ListModels(ctx, &elbowroomv1.ListModelsRequest{Filter: "claude"})
			if err == nil && len(resp.GetModels()) == 0 {
				err = errors.New("no models")
			}
			return err
		}},
	}
}
