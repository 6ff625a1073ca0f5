package main

import (
	"context"
	"fmt"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

type countCommand struct {
	input
	Text bool `help:"The file is plain text, not a conversation."`
}

// Run counts the file.
func (cmd *countCommand) Run(ctx context.Context, p process) error {
	text, err := cmd.text(p)
	if err != nil {
		return err
	}
	c, err := loadLocal(p, cmd.Config)
	if err != nil {
		return err
	}
	conn, err := connect(ctx, c, cmd.Server, p.stderr)
	if err != nil {
		return err
	}
	defer conn.stop()
	req := &elbowroomv1.CountTokensRequest{Model: cmd.Model}
	if cmd.Text {
		req.Text = &text
	} else {
		req.Conversation = cmd.conversation(text)
	}
	out, err := conn.client.CountTokens(ctx, req)
	if err != nil {
		return err
	}
	if cmd.JSON {
		return printJSON(p.stdout, out)
	}
	page := newPage(p, p.stdout)
	printCount(page, out)
	return nil
}

// printCount tells people how large a conversation is.
func printCount(p page, out *elbowroomv1.CountTokensResponse) {
	method := "counted with " + out.GetEncoding()
	if out.GetMethod() == elbowroomv1.Method_METHOD_ESTIMATE {
		method = "estimated from " + out.GetEncoding()
	}
	p.printf("%s  %s; between %s and %s\n", p.bold(grouped(out.GetTokens())+" tokens"), method, grouped(out.GetLowerBound()), grouped(out.GetUpperBound()))
	parts := out.GetParts()
	var rows [][]string
	for _, part := range []struct {
		name string
		n    int32
	}{
		{"system", parts.GetSystem()}, {"tools", parts.GetTools()}, {"text", parts.GetText()}, {"tool calls", parts.GetToolCalls()},
		{"tool results", parts.GetToolResults()}, {"media", parts.GetMedia()}, {"reasoning", parts.GetReasoning()}, {"framing", parts.GetFraming()},
	} {
		if part.n > 0 {
			rows = append(rows, []string{part.name, grouped(part.n), fmt.Sprintf("%.0f %%", 100*float64(part.n)/float64(out.GetTokens()))})
		}
	}
	if n := len(out.GetMessages()); n > 0 {
		rows = append(rows, []string{"messages", fmt.Sprint(n)})
	}
	p.table(rows)
	printWarnings(p, out.GetWarnings())
}
