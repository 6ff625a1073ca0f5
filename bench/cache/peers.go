package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/breakpoints/simulator"
	"github.com/elbowroom/elbowroom/conversation"
)

// packages runs other people's packages, in one process of Python, and remembers what they said: the same request
// occurs in several tables.
type packages struct {
	version string
	model   string
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	said    *bytes.Buffer // on standard error
	known   map[[sha256.Size]byte][]breakpoints.Breakpoint
}

// startPackages starts the process. python is the interpreter that has the packages.
func startPackages(ctx context.Context, python, model string) (*packages, error) {
	command := exec.CommandContext(ctx, python, filepath.Join("bench", "cache", "peers", "marks.py"))
	p := &packages{model: model, command: command, said: new(bytes.Buffer), known: make(map[[sha256.Size]byte][]breakpoints.Breakpoint)}
	command.Stderr = p.said
	var err error
	if p.in, err = command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start the peers: %w", err)
	}
	p.out = bufio.NewReader(out)
	version, err := p.out.ReadString('\n')
	if err != nil {
		return nil, errors.Join(p.broken("did not start", err), p.stop())
	}
	p.version = strings.TrimSpace(version)
	return p, nil
}

// stop ends the process.
func (p *packages) stop() error {
	return errors.Join(p.in.Close(), p.command.Wait())
}

func (p *packages) broken(what string, err error) error {
	return fmt.Errorf("the peers' process %s: %w\n%s", what, err, p.said)
}

// contender places as one of the packages does. Its marks are put at the same places of the request as it was recorded:
// that a package writes JSON in another way is not charged to it.
func (p *packages) contender(name, peer string) simulator.Contender {
	return simulator.Contender{Name: name, New: func(*simulator.Replay) simulator.Placer {
		return func(turn *simulator.Turn) error {
			marks, err := p.marks(peer, turn.Conversation.Format, turn.Body())
			if err != nil {
				return err
			}
			turn.Prompt.Place(marks)
			placed := len(turn.Prompt.Marks)
			if turn.Prompt.Automatic > 0 {
				placed++
			}
			if placed != len(marks) {
				return fmt.Errorf("of the marks %v only %d are in the prompt", marks, placed)
			}
			return nil
		}
	}}
}

// marks asks where a package marks a request body.
func (p *packages) marks(peer string, format conversation.Format, body string) ([]breakpoints.Breakpoint, error) {
	key := sha256.Sum256([]byte(peer + "\x00" + body))
	if marks, ok := p.known[key]; ok {
		return marks, nil
	}
	word := "openai"
	if format == conversation.FormatAnthropicMessages {
		word = "anthropic"
	}
	question, err := json.Marshal(struct { // which also makes one line of the body
		Peer   string          `json:"peer"`
		Format string          `json:"format"`
		Model  string          `json:"model"`
		Body   json.RawMessage `json:"body"`
	}{peer, word, p.model, json.RawMessage(body)})
	if err != nil {
		return nil, err
	}
	if _, err := p.in.Write(append(question, '\n')); err != nil {
		return nil, p.broken("takes no more", err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return nil, p.broken("ended", err)
	}
	var answer struct {
		Error string
		Marks []struct {
			Section        string
			Message, Block int
			TTL            string
		}
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return nil, fmt.Errorf("the peers' process says %q: %w", line, err)
	}
	if answer.Error != "" {
		return nil, errors.New(answer.Error)
	}
	marks := make([]breakpoints.Breakpoint, len(answer.Marks))
	for i, m := range answer.Marks {
		at := breakpoints.Position{Section: conversation.SectionMessages, Message: m.Message, Block: m.Block}
		switch m.Section {
		case "tools":
			at.Section = conversation.SectionTools
		case "system":
			at.Section = conversation.SectionSystem
		}
		marks[i] = breakpoints.Breakpoint{Position: at}
		if m.TTL == "1h" {
			marks[i].TTL = breakpoints.TTL1h
		}
	}
	p.known[key] = marks
	return marks, nil
}
