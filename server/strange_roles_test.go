package server_test

import (
	"strings"
	"testing"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conformance"
)

// The conversations of this file were found by the fuzzer: what a repair leaves of a
// message stood between a call and its result, and the answer was INTERNAL.

func typedText(text string) *elbowroomv1.Block {
	return &elbowroomv1.Block{Kind: &elbowroomv1.Block_Text{Text: text}}
}

func typedCall(id string) *elbowroomv1.Block {
	return &elbowroomv1.Block{Kind: &elbowroomv1.Block_ToolUse{ToolUse: &elbowroomv1.ToolUse{Id: id, Name: "look", InputJson: "{}"}}}
}

func typedResult(id string) *elbowroomv1.Block {
	return &elbowroomv1.Block{Kind: &elbowroomv1.Block_ToolResult{ToolResult: &elbowroomv1.ToolResult{ToolUseId: id, Blocks: []*elbowroomv1.Block{typedText("seen")}}}}
}

func typedMessage(role elbowroomv1.Role, blocks ...*elbowroomv1.Block) *elbowroomv1.Message {
	return &elbowroomv1.Message{Role: role, Blocks: blocks}
}

func TestWhatARepairLeavesStandsBetweenNoCallAndItsResult(t *testing.T) {
	const user, assistant, tool, system = elbowroomv1.Role_ROLE_USER, elbowroomv1.Role_ROLE_ASSISTANT, elbowroomv1.Role_ROLE_TOOL, elbowroomv1.Role_ROLE_SYSTEM
	opaque := &elbowroomv1.Block{Kind: &elbowroomv1.Block_OpaqueJson{OpaqueJson: `{"type":"weird"}`}}
	f := start(t, nil)
	for name, between := range map[string][]*elbowroomv1.Message{
		"a tool's message with an orphan and something else": {typedMessage(tool, typedResult("stranger"), opaque)},
		"a tool's message with nothing in it":                {typedMessage(tool), typedMessage(tool, typedResult("a"))},
		"a system message with an orphan":                    {typedMessage(system, typedText("be brief"), typedResult("stranger"))},
		"a user's message with an orphan":                    {typedMessage(user, typedText("well?"), typedResult("stranger"))},
		"orphans alone":                                      {typedMessage(user, typedResult("stranger")), typedMessage(tool, typedResult("a"))},
	} {
		var messages []*elbowroomv1.Message
		for range 10 { // there is something to summarize
			messages = append(messages, typedMessage(user, typedText(strings.Repeat("a question about lights ", 40))), typedMessage(assistant, typedText(strings.Repeat("an answer ", 60))))
		}
		messages = append(messages, typedMessage(user, typedText("look")), typedMessage(assistant, typedCall("a")))
		messages = append(messages, between...)
		messages = append(messages, typedMessage(assistant, typedText("done")), typedMessage(user, typedText("and now?")))
		in := &elbowroomv1.Conversation{Messages: messages}
		out, err := f.client.Compress(t.Context(), &elbowroomv1.CompressRequest{
			Conversation: in, Model: "gpt-4o", ContextWindow: 2_000, Force: true, Policy: &elbowroomv1.CompressionPolicy{ProtectLastN: new(int32(8))},
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		read, err := conformance.ReadTyped(out.GetConversation(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if faults := read.Faults(); out.GetOutcome() != elbowroomv1.Outcome_OUTCOME_COMPRESSED || len(faults) > 0 {
			t.Errorf("%s: %v, %v", name, out.GetOutcome(), faults)
		}
	}
}
