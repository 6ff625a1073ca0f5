package main

import (
	"context"
	"fmt"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

type modelsCommand struct {
	Filter string `arg:"" optional:"" help:"Only models whose id contains this text."`
	Server string `placeholder:"ADDR" help:"Ask the server at this address."`
	remote
	JSON bool `name:"json" help:"Print the models as JSON."`
}

// Run lists the models.
func (cmd *modelsCommand) Run(ctx context.Context, p process) error {
	c, err := loadLocal(p, "")
	if err != nil {
		return err
	}
	conn, err := connect(ctx, p, c, cmd.Server, cmd.remote)
	if err != nil {
		return err
	}
	defer conn.stop()
	out, err := conn.client.ListModels(ctx, &elbowroomv1.ListModelsRequest{Filter: cmd.Filter})
	if err != nil {
		return err
	}
	if cmd.JSON {
		return printJSON(p.stdout, out)
	}
	page := newPage(p, p.stdout)
	rows := [][]string{{"model", "window", "answer", "tokens by", "thinking", "cached from", "as of"}}
	for _, m := range out.GetModels() {
		rows = append(rows, modelRow(m.GetId(), m))
	}
	rows = append(rows, modelRow("any other", out.GetUnknown()))
	page.table(rows)
	return nil
}

func modelRow(name string, m *elbowroomv1.Model) []string {
	orNone := func(n int32) string {
		if n == 0 {
			return "-"
		}
		return grouped(n)
	}
	thinking := "-"
	if m.GetThinking() != elbowroomv1.ThinkingRegime_THINKING_REGIME_UNSPECIFIED {
		thinking = word(m.GetThinking().String(), "THINKING_REGIME_")
	}
	by := m.GetEncoding()
	if m.GetFamily() != "openai" {
		by = fmt.Sprintf("%s (%s)", m.GetEncoding(), m.GetFamily())
	}
	asOf := m.GetAsOf()
	if asOf == "" {
		asOf = "-"
	}
	return []string{name, grouped(m.GetContextWindow()), orNone(m.GetMaxOutputTokens()), by, thinking, orNone(m.GetMinCacheableTokens()), asOf}
}
