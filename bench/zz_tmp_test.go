package bench

import (
	"fmt"
	"testing"
	"time"
	"context"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"google.golang.org/protobuf/proto"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens"
)

func BenchmarkTmp(b *testing.B) {
	file, format := largest(b)
	best := func(name string, f func()) {
		d := time.Hour
		for range 400 {
			t := time.Now()
			f()
			d = min(d, time.Since(t))
		}
		fmt.Println(name, d)
	}
	pf := conversation.FormatOpenAIChat
	if format == elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES {
		pf = conversation.FormatAnthropicMessages
	}
	best("parse", func() { conversation.Parse(pf, file.JSON, conversation.Limits{}) })
	req := &elbowroomv1.CountTokensRequest{Conversation: native(format, file.JSON), Model: "gpt-4o"}
	var data []byte
	best("marshal", func() { data, _ = proto.Marshal(req) })
	best("unmarshal", func() { var x elbowroomv1.CountTokensRequest; proto.Unmarshal(data, &x) })
	client := dial(b, tokens.NewCounter())
	bad := &elbowroomv1.CountTokensRequest{Conversation: native(99, file.JSON), Model: "gpt-4o"}
	best("rpc invalid", func() { client.CountTokens(context.Background(), bad) })
	bad2 := &elbowroomv1.CountTokensRequest{Conversation: native(format, "x"+file.JSON), Model: "gpt-4o"}
	best("rpc bad json", func() { client.CountTokens(context.Background(), bad2) })
	txt := file.JSON
	_ = txt
	small := &elbowroomv1.CountTokensRequest{Conversation: native(format, `[{"role":"user","content":"hi"}]`), Model: "gpt-4o"}
	best("rpc small", func() { client.CountTokens(context.Background(), small) })
	reg, _ := tokens.NewRegistry()
	ctr := tokens.NewCounter()
	gpt := reg.Lookup("gpt-4o")
	best("parse+count in process", func() {
		c, _ := conversation.Parse(pf, file.JSON, conversation.Limits{})
		ctr.Count(context.Background(), c, gpt)
	})
	c, _ := conversation.Parse(pf, file.JSON, conversation.Limits{})
	best("count", func() { ctr.Count(context.Background(), c, gpt) })
	best("rpc all", func() { client.CountTokens(context.Background(), req) })
}
