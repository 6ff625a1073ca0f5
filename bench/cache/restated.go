package main

import (
	"slices"

	"github.com/elbowroom/elbowroom/breakpoints/simulator"
	"github.com/elbowroom/elbowroom/conversation"
)

// The rules of two agents whose packages offer no function for it: Cline's and opencode's packages on npm hold bundled
// programs. They are restated in favour of the peer: what has no place for a mark is passed over, as our own strategies do.
// Messages of one role that follow each other are one, as in the forms that both of them work on: results of parallel
// calls are recorded one by one.

// lastTwoUser is Cline's: the end of the system prompt and the last two messages that are not the model's.
func lastTwoUser() simulator.Contender {
	return restated("last two user (Cline)", func(p *simulator.Prompt) []int {
		system := systemEnds(p)
		return append(system[max(0, len(system)-1):], lastEnds(p, 2, false)...)
	})
}

// lastTwo is opencode's: the first two parts of the system prompt and the last two messages.
func lastTwo() simulator.Contender {
	return restated("last two (opencode)", func(p *simulator.Prompt) []int {
		system := systemEnds(p)
		return append(system[:min(2, len(system))], lastEnds(p, 2, true)...)
	})
}

func restated(name string, rule func(p *simulator.Prompt) []int) simulator.Contender {
	return simulator.Contender{Name: name, New: func(*simulator.Replay) simulator.Placer {
		return func(turn *simulator.Turn) error {
			for _, at := range rule(turn.Prompt) {
				turn.Prompt.Marks = append(turn.Prompt.Marks, simulator.Mark{Block: at, TTL: simulator.TTL5m})
			}
			return nil
		}
	}}
}

// systemEnds are the blocks of the system prompt that can carry a mark.
func systemEnds(p *simulator.Prompt) []int {
	var out []int
	for i := range p.Blocks {
		if b := &p.Blocks[i]; b.Tier == simulator.TierSystem && b.Role == conversation.RoleSystem && markable(b) {
			out = append(out, i)
		}
	}
	return out
}

// lastEnds are the last places of the newest n messages that have one, in prompt order; with answers, messages of the
// model count too.
func lastEnds(p *simulator.Prompt, n int, answers bool) []int {
	var out []int
	for i := len(p.Blocks) - 1; i >= 0 && p.Blocks[i].Tier == simulator.TierMessages && len(out) < n; {
		end, role := -1, p.Blocks[i].Role
		for ; i >= 0 && p.Blocks[i].Tier == simulator.TierMessages && p.Blocks[i].Role == role; i-- {
			if end < 0 && markable(&p.Blocks[i]) {
				end = i
			}
		}
		if end >= 0 && (answers || role != conversation.RoleAssistant) {
			out = append(out, end)
		}
	}
	slices.Reverse(out)
	return out
}

func markable(b *simulator.Block) bool { return b.Refused == "" && !b.Hidden }
