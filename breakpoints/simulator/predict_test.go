package simulator

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/internal/testdata"
)

// counted are the sizes of a turn's parts, those of blocks included.
func (m *Material) counted(turn *Turn) *breakpoints.TokenCounts {
	counts := turn.Counts
	for i := range m.setup {
		if m.setup[i].Tier != TierTools && m.setup[i].source.block != nil {
			counts.SystemBlocks = append(counts.SystemBlocks, m.setup[i].Tokens)
		}
	}
	for i := range turn.Messages {
		sizes := make([]int, len(m.messages[i]))
		for j := range m.messages[i] {
			sizes[j] = m.messages[i][j].Tokens
		}
		counts.MessageBlocks = append(counts.MessageBlocks, sizes)
	}
	return &counts
}

func split(u *breakpoints.Usage) Split {
	return Split{Read: u.Read, Write5m: u.Write5m, Write1h: u.Write1h, Write: u.Write, Uncached: u.Uncached}
}

// TestPredictionsAgreeWithTheSimulation holds what Place expects of each turn, knowing that turn only, against what becomes
// of the whole sequence. They may differ in one turn of a conversation, that in which its first image comes: by the
// documented rule the provider then loses the messages, by a measurement it does not, and the prediction goes by the latter.
func TestPredictionsAgreeWithTheSimulation(t *testing.T) {
	strategies := []breakpoints.Strategy{
		breakpoints.StrategySystemAnd3, breakpoints.StrategyAnchored, breakpoints.StrategyHermesDefault, breakpoints.StrategySystemOnly,
		breakpoints.StrategyTransactionEnds, breakpoints.StrategyAutoPlusSystem,
	}
	for _, f := range testdata.Conversations(t) {
		c := readFile(t, f)
		for _, layout := range layoutsOf(f.Format) {
			model := modelOf(layout)
			rules, price := lookUp(t, layout, model, CountingDefault)
			m, err := Read(c, model, nil)
			if err != nil {
				t.Fatal(err)
			}
			replay := NewReplay(m, rules, price, Schedule{})
			for _, strategy := range strategies {
				if rules.Mode != ModeMarks && strategy > breakpoints.StrategySystemAnd3 && strategy != breakpoints.StrategyAnchored {
					continue
				}
				for _, ttl := range []breakpoints.TTL{breakpoints.TTL5m, breakpoints.TTL1h} {
					opts := placement(t, layout, strategy)
					opts.TTL, opts.Model, opts.MinPrefix = ttl, model, rules.MinTokens
					var predicted []breakpoints.Usage
					report, err := replay.Run(func(turn *Turn) error {
						opts.Tokens = m.counted(turn)
						res, err := breakpoints.Place(turn.Conversation, opts)
						if err != nil {
							return err
						}
						opts.State = res.State
						predicted = append(predicted, *res.Usage)
						turn.Prompt.Place(res.Breakpoints)
						return nil
					})
					if err != nil {
						t.Fatal(err)
					}
					for i := range predicted {
						name := fmt.Sprintf("%s, layout %v, strategy %v, turn %d", f.Name, layout, strategy, i)
						u := &predicted[i]
						if sum := u.Read + u.Write5m + u.Write1h + u.Write + u.Uncached; sum != u.Prompt || u.Prompt != replay.Turns[i].Prompt.Tokens() {
							t.Errorf("%s: parts of %d tokens, prompt of %d, it has %d", name, sum, u.Prompt, replay.Turns[i].Prompt.Tokens())
						}
						firstImage := rules.ImageSalt && i > 0 && replay.Turns[i].Prompt.Params.images && !replay.Turns[i-1].Prompt.Params.images
						if diff := cmp.Diff(report.Outcomes[i].Split, split(u)); diff != "" && !firstImage {
							t.Errorf("%s (-simulated +predicted):\n%s", name, diff)
						}
						if wantFirst := i == 0 || rules.Mode == ModeNone; (u.Basis == breakpoints.BasisFirst) != wantFirst && u.Read+u.Write5m+u.Write1h+u.Write > 0 {
							t.Errorf("%s: basis %s", name, u.Basis)
						}
					}
				}
			}
		}
	}
}

func layoutsOf(format string) []breakpoints.Layout {
	if format == testdata.Anthropic {
		return []breakpoints.Layout{breakpoints.LayoutAnthropic, breakpoints.LayoutVertex, breakpoints.LayoutGemini, breakpoints.LayoutDeepSeek}
	}
	return []breakpoints.Layout{
		breakpoints.LayoutOpenRouter, breakpoints.LayoutLiteLLM, breakpoints.LayoutOpenAI, breakpoints.LayoutOpenAIImplicit,
		breakpoints.LayoutGemini, breakpoints.LayoutDeepSeek, breakpoints.LayoutXAI, breakpoints.LayoutMoonshot,
	}
}

func modelOf(layout breakpoints.Layout) string {
	switch layout {
	case breakpoints.LayoutOpenAI:
		return "gpt-5.6"
	case breakpoints.LayoutOpenAIImplicit:
		return "gpt-5.5"
	case breakpoints.LayoutGemini:
		return "gemini-3-pro"
	default:
		return "claude-sonnet-5-5"
	}
}
