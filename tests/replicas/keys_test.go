package replicas

import (
	"bytes"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/internal/wiredouble"
)

// TestReplicasWithDifferentKeysCannotReadEachOther gives two servers what no two servers
// should have. Callers notice nothing but the calls that are made twice, and metrics tell.
func TestReplicasWithDifferentKeysCannotReadEachOther(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name string
		args func(p *pair) []string // of the second server
	}{
		{"another key", func(p *pair) []string { return []string{"--store-encryption-key-file", p.file("key-2")} }},
		{"no key", func(*pair) []string { return nil }},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			p := newStand(t)
			a := p.start(t, "--store-encryption-key-file", p.file("key-1"), "--store-redis-timeout", patient)
			b := p.start(t, append(x.args(p), "--store-redis-timeout", patient)...)
			made := a.compress(t, "team-a", about("secrecy"))
			written(t, made)
			if text := p.dump(t); strings.Contains(text, "secrecy") {
				t.Error("what the first server stored can be read in Redis")
			}

			theirs := b.compress(t, "team-a", about("secrecy"))
			written(t, theirs)
			if n := p.model.called("secrecy"); n != 2 {
				t.Errorf("%d calls of servers that cannot read each other", n)
			}
			if bytes.Equal(bodyOf(made.GetConversation()), bodyOf(theirs.GetConversation())) {
				t.Error("the second server has the summary of the first")
			}
			// Each goes on with its own, whatever the other one has stored since.
			for range 2 {
				for n, own := range map[*node][]byte{a: bodyOf(made.GetConversation()), b: bodyOf(theirs.GetConversation())} {
					resp := n.compress(t, "team-a", about("secrecy", "And the gulls?"))
					hit(t, resp)
					if !bytes.HasPrefix(bodyOf(resp.GetConversation()), bytes.TrimSuffix(own, []byte("]}"))) {
						t.Error("the prefix has changed")
					}
				}
			}
			if n := p.model.called("secrecy"); n != 2 {
				t.Errorf("%d calls when both have theirs", n)
			}
			for i, n := range p.nodes {
				if n.metric(t, "elbowroom_store_operations_total", `result="unreadable"`) == 0 {
					t.Errorf("server %d counts nothing that it cannot read", i)
				}
				if n.metric(t, "elbowroom_store_degraded") != 0 || n.metric(t, "elbowroom_store_operations_total", `result="error"`) != 0 {
					t.Errorf("server %d takes what it cannot read for a failure", i)
				}
				if strings.Count(n.Log(), "cannot be read") != 1 {
					t.Errorf("server %d logs:\n%s", i, n.Log())
				}
			}

			// They still do not call at one time: who waited calls when it cannot read the answer.
			gate := make(chan struct{})
			p.model.follow(func(c call) wiredouble.Step { return writes(c).Until(gate) })
			done := make(chan error, 2)
			ctx, cancel := bounded(t)
			defer cancel()
			for _, n := range p.nodes {
				go func() {
					resp, err := n.service("team-a").Compress(ctx, about("turns"))
					if err == nil {
						judge(t, about("turns"), resp)
						written(t, resp)
					}
					done <- err
				}()
			}
			size := float64(len(bodyOf(about("turns").GetConversation())))
			await(t, "both callers", func() bool { return p.metric(t, "elbowroom_in_flight_bytes") >= 2*size && p.model.Active() > 0 })
			if n := p.model.Active(); n != 1 {
				t.Errorf("%d calls at one time", n)
			}
			close(gate)
			for range 2 {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
			if n := p.model.called("turns"); n != 2 {
				t.Errorf("%d calls in the end", n)
			}
		})
	}
}

// dump is all that Redis holds.
func (p *pair) dump(t *testing.T) string {
	t.Helper()
	names, err := p.ask(t, "KEYS", "*").AsStrSlice()
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		value, err := p.ask(t, "GET", name).ToString()
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(name + " " + value + "\n")
	}
	return all.String()
}
