package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

type cacheCommand struct {
	Files []string `arg:"" placeholder:"FILE" help:"A request body or an array of messages in JSON; - reads standard input. Several files are successive requests of one conversation."`
	source
	output
	Layout           string `enum:"auto,anthropic,openrouter,litellm,bedrock-invoke,vertex,alibaba,minimax,openai,openai-implicit,gemini,deepseek,xai,moonshot" default:"auto" help:"The route, which decides where breakpoints go and what is cached: auto, anthropic, openrouter, litellm, bedrock-invoke, vertex, alibaba, minimax, openai, openai-implicit, gemini, deepseek, xai or moonshot."`
	Strategy         string `enum:"system-and-3,hermes-default,transaction-ends,anchored,auto-plus-system,system-only,none" default:"system-and-3" help:"Which blocks are marked: system-and-3, hermes-default, transaction-ends, anchored, auto-plus-system, system-only or none."`
	TTL              string `name:"ttl" enum:"default,5m,1h" default:"default" help:"Life of the cached prefixes: 5m or 1h. Default: the server's."`
	Existing         string `enum:"replace,respect" default:"replace" help:"What happens to breakpoints that are there: replace or respect."`
	Reserved         int32  `placeholder:"N" help:"How many of the 4 breakpoints are left free."`
	LeaveNewestUser  bool   `help:"Leave the newest user message and what follows it unmarked."`
	MarkToolMessages bool   `help:"Mark tool messages on a LiteLLM route too."`
	RetryAnchor      bool   `help:"With anchored: keep the end of the last answer for a retry."`

	Replay     bool          `help:"Take the conversation apart into the requests its agent made, and show what each reads, writes and costs."`
	Counting   string        `enum:"documented,collapsed,raw" default:"documented" help:"How blocks count in the look-back window: documented, collapsed (a run of tool blocks is one) or raw."`
	Gap        time.Duration `default:"20s" help:"Time between two requests."`
	PauseEvery int           `placeholder:"N" help:"Every Nth gap is a pause."`
	Pause      time.Duration `default:"10m" help:"How long such a pause is."`
	HTML       string        `name:"html" placeholder:"FILE" help:"Write the tables and a chart of every request there, as one page without other files."`
}

// Run marks the file, or shows what several requests read, write and cost.
func (cmd *cacheCommand) Run(ctx context.Context, p process) error {
	if cmd.Replay || len(cmd.Files) > 1 || cmd.HTML != "" {
		return cmd.simulate(ctx, p)
	}
	text, err := readText(p, cmd.Files[0])
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
	out, err := conn.client.ApplyCacheControl(ctx, cmd.request(text))
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
	layout := "no breakpoints"
	if out.GetLayout() != elbowroomv1.Layout_LAYOUT_UNSPECIFIED {
		layout = "layout " + word(out.GetLayout().String(), "LAYOUT_")
	}
	page.printf("%s  %s\n", page.bold(strings.ToUpper(layout)), out.GetLayoutReason())
	printBreakpoints(page, out.GetBreakpoints())
	printSkipped(page, out.GetSkipped())
	printWarnings(page, out.GetWarnings())
	return nil
}

func (cmd *cacheCommand) request(text string) *elbowroomv1.ApplyCacheControlRequest {
	req := &elbowroomv1.ApplyCacheControlRequest{
		Conversation: cmd.conversation(text), Model: cmd.Model, Reserved: cmd.Reserved,
		LeaveNewestUserUnmarked: cmd.LeaveNewestUser, MarkToolMessages: cmd.MarkToolMessages, RetryAnchor: cmd.RetryAnchor,
	}
	if cmd.Layout != "auto" {
		req.Layout = elbowroomv1.Layout(elbowroomv1.Layout_value["LAYOUT_"+enumWord(cmd.Layout)])
	}
	req.Strategy = elbowroomv1.Strategy(elbowroomv1.Strategy_value["STRATEGY_"+enumWord(cmd.Strategy)])
	switch cmd.TTL {
	case "5m":
		req.Ttl = elbowroomv1.CacheTtl_CACHE_TTL_5M
	case "1h":
		req.Ttl = elbowroomv1.CacheTtl_CACHE_TTL_1H
	}
	if cmd.Existing == "respect" {
		req.Existing = elbowroomv1.ExistingMarks_EXISTING_MARKS_RESPECT
	}
	return req
}

// enumWord writes a flag's word as the API spells it.
func enumWord(flag string) string { return strings.ToUpper(strings.ReplaceAll(flag, "-", "_")) }

// printBreakpoints shows where the breakpoints went.
func printBreakpoints(p page, marks []*elbowroomv1.Breakpoint) {
	if len(marks) == 0 {
		return
	}
	p.heading("Breakpoints (%d of at most 4)", len(marks))
	rows := [][]string{{"place", "life", "prefix"}}
	for _, b := range marks {
		prefix := "about " + grouped(b.GetTokens()) + " tokens"
		if b.GetInert() {
			prefix += ", not cached yet: below the model's minimum"
		}
		rows = append(rows, []string{
			place(b.GetSection(), b.GetMessageIndex()) + fmt.Sprintf(", block %d", b.GetBlockIndex()), word(b.GetTtl().String(), "CACHE_TTL_"), prefix,
		})
	}
	p.table(rows)
}

func printSkipped(p page, places []*elbowroomv1.SkippedPlace) {
	if len(places) == 0 {
		return
	}
	p.heading("Skipped")
	var rows [][]string
	for _, s := range places {
		rows = append(rows, []string{place(s.GetSection(), s.GetMessageIndex()), s.GetReason()})
	}
	p.table(rows)
}

// place names a place for people.
func place(section elbowroomv1.Section, index int32) string {
	switch section {
	case elbowroomv1.Section_SECTION_SYSTEM:
		return "system prompt"
	case elbowroomv1.Section_SECTION_TOOLS:
		return fmt.Sprint("tool ", index)
	default:
		return fmt.Sprint("message ", index)
	}
}
