package main

import (
	"slices"
	"sync"
	"time"
)

// phase is a stretch of the run and what was measured in it.
type phase struct {
	name  string
	began time.Time
	took  time.Duration
	// rate is how many calls a second arrived, 0 where callers wait for their answers.
	rate float64
	// server and client are the processor time that both used.
	server, client time.Duration
	// others is what everybody else on the machine used, negative where the system does
	// not tell: figures mean little where it is not small.
	others time.Duration
	// memory is the most that the server has had until the end of the phase, in bytes.
	memory int64

	mu     sync.Mutex
	kinds  map[*kind]*measured
	alone  sightings
	broken []string // errors that no caller has to expect
	judged int
	wrong  []string // answers that broke a promise
	kept   []sample
}

// measured are the attempts of one kind.
type measured struct {
	accepted []time.Duration
	refused  []time.Duration
	// told are the times after which refused callers were to come again.
	told []time.Duration
	// resent counts deltas whose base was not held.
	resent  int
	in, out int64
}

// sample is an answer to be judged when the clock has stopped.
type sample struct {
	call  *call
	reply raw
}

func newPhase(name string) *phase {
	return &phase{name: name, began: time.Now(), kinds: map[*kind]*measured{}}
}

func (p *phase) of(k *kind) *measured {
	m := p.kinds[k]
	if m == nil {
		m = &measured{}
		p.kinds[k] = m
	}
	return m
}

func (p *phase) accept(c *call, took time.Duration, in, out int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.of(c.kind)
	m.accepted = append(m.accepted, took)
	m.in += int64(in)
	m.out += int64(out)
}

func (p *phase) refuse(c *call, took, told time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.of(c.kind)
	m.refused = append(m.refused, took)
	m.told = append(m.told, told)
}

func (p *phase) resend(c *call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of(c.kind).resent++
}

func (p *phase) fail(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken = append(p.broken, what)
}

func (p *phase) keep(s sample) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept = append(p.kept, s)
}

// answered is how many calls of all kinds were answered.
func (p *phase) answered() int {
	n := 0
	for _, m := range p.kinds {
		n += len(m.accepted)
	}
	return n
}

// judge looks at the answers that were kept, on as many goroutines.
func (p *phase) judge(workers int) {
	var group sync.WaitGroup
	next := make(chan sample)
	for range workers {
		group.Go(func() {
			for s := range next {
				wrong := s.call.judge(s.reply)
				p.mu.Lock()
				p.judged++
				for _, w := range wrong {
					p.wrong = append(p.wrong, s.call.kind.name+": "+w)
				}
				p.mu.Unlock()
			}
		})
	}
	for _, s := range p.kept {
		next <- s
	}
	close(next)
	group.Wait()
	p.kept = nil
}

// quantile is the value that a share of the sorted values does not exceed, 0 of none.
func quantile(sorted []time.Duration, share float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}

// sorted is a sorted copy.
func sorted(list []time.Duration) []time.Duration {
	out := slices.Clone(list)
	slices.Sort(out)
	return out
}
