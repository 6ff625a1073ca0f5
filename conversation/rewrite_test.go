package conversation

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/internal/testdata"
)

// decide makes a rewrite out of choices: pick(n) is one of 0 to n-1, and 0 means
// to leave the thing alone. rare is how seldom something is done: 1 in rare.
func decide(c *Conversation, rare int, pick func(n int) int) *Rewrite {
	r := NewRewrite(c)
	text := func() string {
		return []string{"", "stub", "a \"quoted\" \\ line\n\x00\u2028 \U0001F600", " \t", "[1 line]"}[pick(5)]
	}
	ttl := func() string { return []string{"", "1h", "5m"}[pick(3)] }
	input := func() string { return []string{`{"a":1}`, `{}`, `{"path":"x\ny"}`}[pick(3)] }
	message := func() NewMessage {
		switch pick(4) {
		case 1:
			return NewMessage{Role: RoleAssistant, Text: text()}
		case 2:
			return NewMessage{Result: &NewResult{ID: "new\"1", Text: text()}}
		case 3:
			return NewMessage{Result: &NewResult{ID: "x", Name: "f", Text: text(), Legacy: true}}
		default:
			return NewMessage{Role: RoleUser, Text: text()}
		}
	}
	units := Pair(c).Unit
	for i := range c.Messages {
		m := &c.Messages[i]
		if pick(rare) == 1 {
			r.Insert(i, message())
		}
		switch pick(8 * rare) {
		case 1, 2, 3, 4, 5:
			r.Drop(i)
		case 6:
			r.AppendText(i, text())
		case 7:
			r.UnmarkMessage(i)
		}
		for b := range m.Blocks {
			decideBlock(r, Ref{i, b}, rare, pick, text, ttl, input)
			if m.Blocks[b].Kind == KindToolUse && pick(rare) == 1 {
				end := i + 1
				for end < len(units) && units[end] == units[i] {
					end++
				}
				if !r.Dropped(i) {
					r.AddResult(Ref{i, b}, end, text())
				}
			}
		}
	}
	if pick(rare) == 1 {
		r.Insert(len(c.Messages), message())
	}
	for i := range c.Tools {
		switch pick(2 * rare) {
		case 1:
			r.MarkTool(i, ttl())
		case 2:
			r.UnmarkTool(i)
		}
	}
	if c.System != nil {
		for i := range c.System.Blocks {
			switch pick(2 * rare) {
			case 1:
				r.MarkSystem(i, ttl())
			case 2:
				r.UnmarkSystem(i)
			}
		}
		switch pick(2 * rare) {
		case 1:
			r.AppendSystemText(text())
		case 2:
			r.UnmarkSystemStrays()
		}
	}
	if pick(rare) == 1 {
		r.UnmarkAuto()
	}
	return r
}

func decideBlock(r *Rewrite, ref Ref, rare int, pick func(int) int, text, ttl, input func() string) {
	for range 2 {
		switch pick(8 * rare) {
		case 1:
			r.DropBlock(ref)
		case 2, 3:
			r.SetText(ref, text())
		case 4:
			r.SetInput(ref, input())
		case 5:
			r.MarkBlock(ref, ttl())
		case 6:
			r.UnmarkBlock(ref)
		case 7:
			if n := len(r.c.At(ref).Result); n > 0 {
				r.MarkPart(ref, pick(n), ttl())
			}
		case 8:
			if n := len(r.c.At(ref).Result); n > 0 {
				r.UnmarkPart(ref, pick(n))
			}
		}
	}
}

func TestAnEmptyRewriteGivesTheInputBack(t *testing.T) {
	inputs := forms(t)
	for _, f := range testdata.Conversations(t) {
		inputs = append(inputs, sample{f.Name, nativeFormat(f.Format), f.JSON})
	}
	for _, s := range inputs {
		t.Run(s.name, func(t *testing.T) {
			r := NewRewrite(mustParse(t, s.format, s.json))
			checkSpans(t, r.c)
			if out := r.Render(); out != s.json {
				t.Errorf("got %s", out)
			}
			if !r.Empty() || len(r.Splices()) != 0 {
				t.Errorf("a rewrite without decisions is not empty: %v", r.Splices())
			}
			for _, op := range r.Program() {
				if op.Kind != OpKeep {
					t.Errorf("op %+v, want only keeps", op)
				}
			}
			if n := len(r.Program()); n > 4 {
				t.Errorf("%d ops, want one for each section", n)
			}
			checkRewrite(t, r)
		})
	}
}

func TestRandomRewritesOfSamples(t *testing.T) {
	for _, s := range forms(t) {
		t.Run(s.name, func(t *testing.T) {
			c := mustParse(t, s.format, s.json)
			for seed := range uint64(150) {
				rnd := rand.New(rand.NewPCG(seed, 1))
				checkRewrite(t, decide(c, 1+int(seed%4), rnd.IntN))
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}

func TestRandomRewritesOfRealConversations(t *testing.T) {
	for _, f := range testdata.Conversations(t) {
		t.Run(f.Name, func(t *testing.T) {
			c := mustParse(t, nativeFormat(f.Format), f.JSON)
			for seed := range uint64(6) {
				rnd := rand.New(rand.NewPCG(seed, 2))
				checkRewrite(t, decide(c, []int{1, 2, 3, 5, 20, 200}[seed], rnd.IntN))
			}
		})
	}
}

func TestRandomRewritesOfFieldCases(t *testing.T) {
	for _, fc := range testdata.Cases(t) {
		if fc.JSON == "" {
			continue // described in words only
		}
		t.Run(fc.ID, func(t *testing.T) {
			c := mustParse(t, nativeFormat(fc.Format), fc.JSON)
			checkSpans(t, c)
			checkPairing(t, c)
			for seed := range uint64(30) {
				rnd := rand.New(rand.NewPCG(seed, 5))
				checkRewrite(t, decide(c, 2+int(seed%3), rnd.IntN))
			}
		})
	}
}

func TestRewritesInARowJoinToOne(t *testing.T) {
	for _, s := range forms(t) {
		t.Run(s.name, func(t *testing.T) {
			for seed := range uint64(20) {
				rnd := rand.New(rand.NewPCG(seed, 3))
				c := mustParse(t, s.format, s.json)
				var splices []Splice
				for range 3 {
					r := decide(c, 2, rnd.IntN)
					checkRewrite(t, r)
					splices = ChainSplices(splices, r.Splices())
					c = mustParse(t, s.format, r.Render())
				}
				if got := ApplySplices(s.json, splices); got != c.Source {
					t.Fatalf("seed %d: the joined splices give\n%s\nwant\n%s", seed, got, c.Source)
				}
			}
		})
	}
}

// TestRenderingOfHostileRewritesIsLinear runs rewrites on which a quadratic step
// would take minutes: it fails by the test's own deadline.
func TestRenderingOfHostileRewritesIsLinear(t *testing.T) {
	const n = 60_000
	repeat := func(element string) string { return strings.TrimSuffix(strings.Repeat(element+",", n), ",") }
	const mark = `"cache_control":{"type":"ephemeral"}`
	for _, h := range []struct {
		name   string
		json   string
		decide func(r *Rewrite)
	}{
		{"results for many calls", `[{"role":"assistant","content":[` + repeat(`{"type":"tool_use","id":"a","name":"f","input":{}}`) + `]},{"role":"assistant","content":"x"},{"role":"user","content":"y"}]`, func(r *Rewrite) {
			r.Insert(1, NewMessage{Role: RoleUser, Text: "so far"})
			for b := range n {
				r.AddResult(Ref{0, b}, 1+b%2, "[none]")
			}
		}},
		{"many strays", `[{"role":"user","content":[{"type":"later","content":[` + repeat(`{"type":"text","text":"a",`+mark+`}`) + `]}]}]`, func(r *Rewrite) { r.UnmarkMessage(0) }},
		{"every other block goes", `[{"role":"user","content":[` + repeat(`"a"`) + `]}]`, func(r *Rewrite) {
			for b := range n / 2 {
				r.DropBlock(Ref{0, 2 * b})
				r.MarkBlock(Ref{0, 2*b + 1}, "")
			}
		}},
		{"parts of one result", `[{"role":"user","content":[{"type":"tool_result","content":[` + repeat(`{"type":"later"}`) + `]}]}]`, func(r *Rewrite) {
			for p := range n {
				r.MarkPart(Ref{0, 0}, p, "")
			}
		}},
		{"every other message goes", `[` + repeat(`{"role":"user"}`) + `]`, func(r *Rewrite) {
			for i := range n / 2 {
				r.Drop(2 * i)
				r.Insert(2*i, NewMessage{Text: "x"})
				r.AppendText(2*i+1, "x")
			}
		}},
		{"tools", `{"messages":[],"tools":[` + repeat(`{"name":"f"}`) + `]}`, func(r *Rewrite) {
			for i := range n {
				r.MarkTool(i, "")
			}
		}},
	} {
		t.Run(h.name, func(t *testing.T) {
			r := NewRewrite(mustParse(t, FormatAnthropicMessages, h.json))
			h.decide(r)
			out := r.Render()
			checkSplices(t, r.c.Source, r.Splices())
			if len(r.Program()) == 0 || out == h.json {
				t.Error("nothing was rendered")
			}
			want, got := r.Apply().Conversation, mustParse(t, FormatAnthropicMessages, out)
			checkSame(t, "messages of Apply and of the output", said(want.Messages...), said(got.Messages...))
		})
	}
}
