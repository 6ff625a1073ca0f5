package main

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

type compressCommand struct {
	input
	output
	Window    int32   `placeholder:"TOKENS" help:"Context window. Default: the model's."`
	Layer     string  `enum:"agent,gateway" default:"agent" help:"Whose threshold counts: agent or gateway."`
	Force     bool    `help:"Compress below the threshold too."`
	Target    int32   `placeholder:"TOKENS" help:"Hard upper bound of the result."`
	Threshold float64 `placeholder:"SHARE" help:"Share of the window at which compression starts. Default: the server's."`
	Focus     string  `placeholder:"TEXT" help:"What to keep in most detail."`
	Plan      bool    `help:"Only say what would be done."`
}

// Run compresses the file.
func (cmd *compressCommand) Run(ctx context.Context, p process) error {
	text, err := cmd.text(p)
	if err != nil {
		return err
	}
	c, err := loadLocal(p, cmd.Config)
	if err != nil {
		return err
	}
	conn, err := connect(ctx, p, c, cmd.Server, cmd.remote)
	if err != nil {
		return err
	}
	defer conn.stop()
	out, err := conn.client.Compress(ctx, cmd.request(text))
	if err != nil {
		return err
	}
	report, err := cmd.write(p, out.GetConversation())
	if err != nil {
		return err
	}
	if cmd.JSON {
		out.Conversation = nil // --out has it, byte for byte
		return printJSON(report, out)
	}
	page := newPage(p, report)
	printCompression(page, out)
	return nil
}

func (cmd *compressCommand) request(text string) *elbowroomv1.CompressRequest {
	req := &elbowroomv1.CompressRequest{
		Conversation: cmd.conversation(text), Model: cmd.Model, ContextWindow: cmd.Window, Force: cmd.Force, Focus: cmd.Focus, PlanOnly: cmd.Plan,
		Policy: &elbowroomv1.CompressionPolicy{},
	}
	if cmd.Layer == "gateway" {
		req.Layer = elbowroomv1.Layer_LAYER_GATEWAY
	}
	if cmd.Target != 0 {
		req.Policy.TargetTokens = proto.Int32(cmd.Target)
	}
	if cmd.Threshold != 0 {
		req.Policy.Threshold = proto.Float64(cmd.Threshold)
	}
	return req
}

// printCompression tells people what Compress did.
func printCompression(p page, out *elbowroomv1.CompressResponse) {
	r := out.GetReport()
	p.printf("%s  %s\n", p.bold(strings.ToUpper(word(out.GetOutcome().String(), "OUTCOME_"))), r.GetReason())
	size := fmt.Sprintf("%s, %s tokens", plural(r.GetMessagesBefore(), "message"), grouped(r.GetTokensBefore()))
	if r.GetTokensAfter() != r.GetTokensBefore() {
		size += fmt.Sprintf(" -> %s, %s tokens (%s smaller)", plural(r.GetMessagesAfter(), "message"), grouped(r.GetTokensAfter()), saved(r))
	}
	p.table([][]string{
		{"size", size},
		{"threshold", fmt.Sprintf("%s tokens of a window of %s, judged on %s (%s)",
			grouped(r.GetThresholdTokens()), grouped(r.GetContextWindow()), grouped(r.GetJudgedTokens()), r.GetJudgedBy())},
		{"counted by", r.GetCountedBy()},
	})
	printRegions(p, r)
	printChanges(p, r)
	printCacheEffect(p, r)
	if s := out.GetSummary(); s != "" {
		p.heading("Summary")
		p.printf("%s", indent(s))
	}
	printWarnings(p, r.GetWarnings())
}

// saved is how much smaller the result is, in whole percent.
func saved(r *elbowroomv1.CompressionReport) string {
	return fmt.Sprintf("%.0f %%", 100*(1-float64(r.GetTokensAfter())/float64(max(r.GetTokensBefore(), 1))))
}

// printRegions shows what became of which messages.
func printRegions(p page, r *elbowroomv1.CompressionReport) {
	if len(r.GetRegions()) == 0 {
		return
	}
	p.heading("Regions")
	rows := [][]string{{"region", "messages", "tokens before"}}
	for _, x := range r.GetRegions() {
		rows = append(rows, []string{
			word(x.GetKind().String(), "REGION_KIND_"),
			fmt.Sprintf("%d to %d (%d)", x.GetStart(), x.GetEnd()-1, x.GetEnd()-x.GetStart()),
			grouped(x.GetTokens()),
		})
	}
	p.table(rows)
}

// printChanges lists what was shortened, summarized, repaired or removed.
func printChanges(p page, r *elbowroomv1.CompressionReport) {
	var rows [][]string
	if n := r.GetMessagesSummarized(); n > 0 {
		rows = append(rows, []string{"summarized", fmt.Sprintf("%s into message %d, %s tokens with its frame (budget %s), by %s",
			plural(n, "message"), r.GetSummaryIndex(), grouped(r.GetSummaryTokens()), grouped(r.GetSummaryBudgetTokens()), word(r.GetRung().String(), "RUNG_"))})
	}
	if x := r.GetFidelity(); x.GetFacts() > 0 || x.GetInvented() > 0 {
		rows = append(rows, []string{"facts", factsOf(x)})
	}
	if s := removed(r.GetRemoved()); s != "" {
		rows = append(rows, []string{"removed", s + " (in the summary only)"})
	}
	for _, kind := range []elbowroomv1.PruneKind{
		elbowroomv1.PruneKind_PRUNE_KIND_STUB, elbowroomv1.PruneKind_PRUNE_KIND_DUPLICATE, elbowroomv1.PruneKind_PRUNE_KIND_ARGUMENTS,
	} {
		n, before, after := 0, int32(0), int32(0)
		for _, x := range r.GetPruned() {
			if x.GetKind() == kind {
				n, before, after = n+1, before+x.GetCharsBefore(), after+x.GetCharsAfter()
			}
		}
		if n > 0 {
			rows = append(rows, []string{"shortened", fmt.Sprintf("%s: %s characters -> %s", prunedNoun(kind, n), grouped(before), grouped(after))})
		}
	}
	for _, x := range r.GetRepairs() {
		rows = append(rows, []string{"repaired", fmt.Sprintf("%s at message %d", word(x.GetKind().String(), "REPAIR_KIND_"), x.GetMessageIndex())})
	}
	if n := r.GetThinkingRemoved(); n > 0 {
		rows = append(rows, []string{"removed", plural(n, "thinking block")})
	}
	for _, x := range r.GetFailedRungs() {
		rows = append(rows, []string{"failed", x.GetSummarizer() + ": " + x.GetReason()})
	}
	if s := r.GetBindingConstraint(); s != "" {
		rows = append(rows, []string{"held up by", s})
	}
	if len(rows) > 0 {
		p.heading("Changes")
		p.table(rows)
	}
}

// printCacheEffect shows what the change costs where the provider caches prompts.
func printCacheEffect(p page, r *elbowroomv1.CompressionReport) {
	e := r.GetCacheEffect()
	if e == nil {
		return
	}
	p.heading("Prompt cache")
	first := "nothing"
	if r.FirstChangedIndex != nil {
		first = fmt.Sprintf("message %d", r.GetFirstChangedIndex())
		if r.GetFirstChangedIndex() < 0 {
			first = "the system prompt"
		}
	}
	if e.FirstChangedByte != nil {
		first += fmt.Sprintf(", byte %s", grouped(e.GetFirstChangedByte()))
	}
	p.table([][]string{
		{"changed from", first},
		{"tokens", fmt.Sprintf("%s still readable, %s written anew once, %s saved every turn", grouped(e.GetKeptTokens()), grouped(e.GetRewrittenTokens()), grouped(e.GetSavedTokens()))},
		{"cost", e.GetAdvice()},
	})
}

// factsOf says what became of the facts of the summarized messages.
func factsOf(x *elbowroomv1.Fidelity) string {
	return fmt.Sprintf("%s: %d in the summary as written, %d put back, %d lost; %d invented and removed",
		plural(x.GetFacts(), "fact"), x.GetKept(), x.GetRepaired(), x.GetLost(), x.GetInvented())
}

// removed says what stands in the conversation no more.
func removed(x *elbowroomv1.RemovedContent) string {
	var parts []string
	for _, part := range []struct {
		n    int32
		noun string
	}{
		{x.GetTokens(), "token"}, {x.GetToolCalls(), "tool call"}, {x.GetToolResults(), "tool result"},
		{x.GetMedia(), "media block"}, {x.GetThinkingBlocks(), "thinking block"},
	} {
		if part.n > 0 {
			parts = append(parts, plural(part.n, part.noun))
		}
	}
	return strings.Join(parts, ", ")
}

func prunedNoun(kind elbowroomv1.PruneKind, n int) string {
	switch kind {
	case elbowroomv1.PruneKind_PRUNE_KIND_DUPLICATE:
		return plural(n, "repeated tool result")
	case elbowroomv1.PruneKind_PRUNE_KIND_ARGUMENTS:
		return "arguments of " + plural(n, "old call")
	default:
		return plural(n, "old tool result")
	}
}

func printWarnings(p page, warnings []*elbowroomv1.Warning) {
	if len(warnings) == 0 {
		return
	}
	p.heading("Warnings")
	var rows [][]string
	for _, w := range warnings {
		where := ""
		if w.MessageIndex != nil {
			where = fmt.Sprint("message ", w.GetMessageIndex())
		}
		rows = append(rows, []string{w.GetCode(), where, w.GetDetail()})
	}
	p.table(rows)
}

// indent sets a text off from what is around it.
func indent(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			out.WriteByte('\n')
			continue
		}
		out.WriteString("  " + strings.TrimSuffix(line, "\n") + "\n")
	}
	return out.String()
}
