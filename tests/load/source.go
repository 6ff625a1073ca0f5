package main

import (
	"fmt"
	"math/rand/v2"
	"sync"
)

// sessionsOfAKind is how many agents use the service in one way at a time. Their turns
// come in between each other.
const sessionsOfAKind = 12

// source makes the calls of all agents. The same seed makes the same calls in the same
// order, whoever asks for them.
type source struct {
	mu         sync.Mutex
	r          *rand.Rand
	recordings []*recording
	kinds      []*kind
	total      int
	agents     map[*kind][]*session
	made       int
}

func newSource(recordings []*recording, seed uint64) *source {
	s := &source{
		r: rand.New(rand.NewPCG(seed, 2)), recordings: recordings, kinds: kinds(), agents: map[*kind][]*session{}, //nolint:gosec // reproducible
	}
	for _, k := range s.kinds {
		s.total += k.weight
	}
	return s
}

// next is the next call of any agent.
func (s *source) next() *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.r.IntN(s.total)
	for _, k := range s.kinds {
		if at -= k.weight; at < 0 {
			return s.of(k)
		}
	}
	return nil // not reached: at was below the sum
}

// of is the next call of an agent that uses the service in one way.
func (s *source) of(k *kind) *call {
	list := s.agents[k]
	i := s.r.IntN(sessionsOfAKind)
	if i >= len(list) {
		list = append(list, s.agent(k))
		i = len(list) - 1
		s.agents[k] = list
	}
	agent := list[i]
	if k.still {
		agent.turn = s.r.IntN(len(agent.turns))
	}
	c := k.make(k, agent)
	if agent.turn++; agent.turn >= len(agent.turns) || k.still && s.r.IntN(mostTurns) == 0 {
		list[i] = s.agent(k)
	}
	return c
}

// agent begins a conversation.
func (s *source) agent(k *kind) *session {
	for {
		r := s.recordings[s.r.IntN(len(s.recordings))]
		if k.most == 0 || len(r.text) <= k.most {
			s.made++
			return &session{recording: r, tag: fmt.Sprintf("s%06d ", s.made%1_000_000)}
		}
	}
}
