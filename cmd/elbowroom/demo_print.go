package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/internal/tools/session"
)

// print tells people what the calls did.
func (d *demo) print(p page, addr string, lines int) {
	r := d.compressed.GetReport()
	p.printf("%s\n\n", p.bold("Elbowroom demo: one long agent session through every call, over gRPC"))
	p.table([][]string{
		{"session", fmt.Sprintf("a coding agent on the trail of duplicate charges: %s, %s bytes of Anthropic JSON", plural(len(d.before.GetMessages()), "message"), grouped(len(d.body)))},
		{"model", fmt.Sprintf("%s, here with a window of %s tokens", session.Model, grouped(r.GetContextWindow()))},
		{"server", addr},
		{"models known", fmt.Sprint(len(d.models.GetModels()))},
	})
	d.printSizes(p)
	d.printFates(p)
	d.printFacts(p)
	d.printSummary(p, lines)
	printBreakpoints(p, d.marked.GetBreakpoints())
	d.printChecks(p)
	d.printCalls(p)
}

// printSizes is the table of regions before and after.
func (d *demo) printSizes(p page) {
	r := d.compressed.GetReport()
	p.heading("Before and after: %s -> %s tokens (%s smaller)", grouped(r.GetTokensBefore()), grouped(r.GetTokensAfter()),
		saved(r))
	after := d.after.GetMessages()
	summary := int(r.GetSummaryIndex())
	sum := func(messages []*elbowroomv1.MessageTokens) (n int32) {
		for _, m := range messages {
			n += m.GetTokens()
		}
		return n
	}
	rows := [][]string{{"region", "messages", "tokens", "->", "messages", "tokens", ""}}
	row := func(name string, messages, tokens, messagesAfter, tokensAfter int32, note string) {
		rows = append(rows, []string{name, fmt.Sprint(messages), grouped(tokens), "", fmt.Sprint(messagesAfter), grouped(tokensAfter), note})
	}
	restBefore := d.before.GetTokens() - sum(d.before.GetMessages())
	restAfter := d.after.GetTokens() - sum(after)
	rows = append(rows, []string{"system, tools", "", grouped(restBefore), "", "", grouped(restAfter), "a note is appended to the system prompt"})
	for _, x := range r.GetRegions() {
		n := x.GetEnd() - x.GetStart()
		switch x.GetKind() {
		case elbowroomv1.RegionKind_REGION_KIND_HEAD:
			row("head", n, x.GetTokens(), int32(summary), sum(after[:summary]), "how it began")
		case elbowroomv1.RegionKind_REGION_KIND_MIDDLE:
			row("middle", n, x.GetTokens(), 1, after[summary].GetTokens(), "summarized")
		case elbowroomv1.RegionKind_REGION_KIND_TAIL:
			row("tail", n, x.GetTokens(), int32(len(after)-summary-1), sum(after[summary+1:]), "the newest, word for word")
		default:
			row(word(x.GetKind().String(), "REGION_KIND_"), n, x.GetTokens(), n, x.GetTokens(), "")
		}
	}
	row("all", r.GetMessagesBefore(), r.GetTokensBefore(), r.GetMessagesAfter(), r.GetTokensAfter(),
		fmt.Sprintf("threshold %s", grouped(r.GetThresholdTokens())))
	p.table(rows)
}

// printFates says what became of the messages, and what was shortened.
func (d *demo) printFates(p page) {
	f, r := d.fates(), d.compressed.GetReport()
	p.heading("What happened to the messages")
	rows := [][]string{
		{"kept", fmt.Sprintf("%s, byte for byte", plural(f.kept, "message"))},
		{"changed", plural(f.changed, "message")},
		{"summarized", fmt.Sprintf("%s by the %s summarizer into %s tokens with its frame (budget %s)",
			plural(r.GetMessagesSummarized(), "message"), word(r.GetRung().String(), "RUNG_"), grouped(r.GetSummaryTokens()), grouped(r.GetSummaryBudgetTokens()))},
	}
	if s := removed(r.GetRemoved()); s != "" {
		rows = append(rows, []string{"removed", s + " (in the summary only)"})
	}
	for _, x := range r.GetPruned() {
		rows = append(rows, []string{"stubbed", fmt.Sprintf("message %d: %s (%s), %s -> %s characters",
			x.GetMessageIndex(), word(x.GetKind().String(), "PRUNE_KIND_"), x.GetTool(), grouped(x.GetCharsBefore()), grouped(x.GetCharsAfter()))})
	}
	if r.GetBindingConstraint() != "" {
		rows = append(rows, []string{"held up by", r.GetBindingConstraint()})
	}
	p.table(rows)
}

// printFacts looks for things that the agent may need again.
func (d *demo) printFacts(p page) {
	facts := session.Facts()
	lost := 0
	rows := make([][]string, 0, len(facts))
	for _, f := range facts {
		where := d.whereabouts(f)
		if where == "LOST" {
			lost++
		}
		rows = append(rows, []string{f.What, f.Text, where})
	}
	p.heading("Where things are now (%d looked for, %d lost)", len(facts), lost)
	p.table(rows)
}

func (d *demo) printSummary(p page, lines int) {
	all := strings.Split(strings.TrimRight(d.compressed.GetSummary(), "\n"), "\n")
	shown := all
	if lines > 0 && len(all) > lines {
		shown = all[:lines]
	}
	p.heading("The summary, message %d of the result", d.compressed.GetReport().GetSummaryIndex())
	for _, line := range shown {
		p.printf("%s", indent(clipped(line)+"\n"))
	}
	if left := len(all) - len(shown); left > 0 {
		p.printf("  ... %s more\n", plural(left, "line"))
	}
}

// widest is how much of a line of the summary is shown, in characters.
const widest = 140

// clipped cuts a long line.
func clipped(line string) string {
	if runes := []rune(line); len(runes) > widest {
		return string(runes[:widest]) + " ..."
	}
	return line
}

// printChecks shows promises that can be checked here and now.
func (d *demo) printChecks(p page) {
	verdict := func(kept bool) string {
		if kept {
			return "yes"
		}
		return "NO"
	}
	shorter, marked := d.compressed.GetConversation().GetNative().GetJson(), d.marked.GetConversation().GetNative().GetJson()
	p.heading("Checked on the way")
	p.table([][]string{
		{"the splices applied to the request give the result, byte for byte", verdict(spliced(d.body, d.edits.GetSplices()) == shorter)},
		{"Prepare gives what Compress and ApplyCacheControl give", verdict(d.prepared.GetConversation().GetNative().GetJson() == marked)},
		{"compressing the result again changes nothing", verdict(d.again.GetConversation().GetNative().GetJson() == shorter)},
	})
}

// spliced applies splices as a client does.
func spliced(src string, splices []*elbowroomv1.Splice) string {
	var out strings.Builder
	at := int64(0)
	for _, s := range splices {
		if s.GetOffset() < at || s.GetOffset()+s.GetLength() > int64(len(src)) {
			return ""
		}
		out.WriteString(src[at:s.GetOffset()])
		out.WriteString(s.GetText())
		at = s.GetOffset() + s.GetLength()
	}
	return out.String() + src[at:]
}

// printCalls shows how long each call took.
func (d *demo) printCalls(p page) {
	p.heading("Calls, each timed once by the client on this machine")
	rows := [][]string{{"call", "took", "sent", "received", ""}}
	for _, c := range d.calls {
		rows = append(rows, []string{c.name, fmt.Sprintf("%.1f ms", float64(c.took)/float64(time.Millisecond)), grouped(c.request) + " B", grouped(c.response) + " B", c.note})
	}
	p.table(rows)
}

// save writes what a reader may want to look into.
func (d *demo) save(dir string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	for _, f := range []struct{ name, text string }{
		{"before.json", d.body},
		{"after.json", d.prepared.GetConversation().GetNative().GetJson()},
		{"summary.md", d.compressed.GetSummary()},
	} {
		if err := os.WriteFile(filepath.Join(dir, f.name), []byte(f.text), 0o600); err != nil {
			return err
		}
	}
	return nil
}
