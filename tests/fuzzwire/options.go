package fuzzwire

import (
	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

func (d *draw) model() string {
	return d.Pick("gpt-4o", "claude-sonnet-4-5", "claude-opus-5-5", "nobody-knows", "", "anthropic/claude-sonnet-4.5", "gemini-2.5-pro")
}

// i32 is a number below n.
func (d *draw) i32(n int) *int32 { return new(int32(d.Roll(n))) }

// compress draws a request. plain says that all of its options are good.
func (d *draw) compress(c *pb.Conversation, messages int) (req *pb.CompressRequest, plain bool) {
	plain = true
	req = &pb.CompressRequest{
		Conversation: c, Model: d.model(), ContextWindow: []int32{0, 400, 1_000, 2_000, 4_000, 16_000, 200_000}[d.Roll(7)], Force: !d.Once(4),
		Policy: d.policy(&plain), Layer: pb.Layer(d.Roll(3)), PlanOnly: d.Once(20),
	}
	if d.Once(8) {
		req.Focus = d.Pick("file names and exit codes", "漢字", "\"quotes\" \\ and\nlines")
	}
	if d.Once(10) {
		req.PreviousSummary = d.Pick("## Goal\n- Move the lights of pier 7.", " ", "[ELBOWROOM CONTEXT SUMMARY", "\u2028")
	}
	if d.Once(12) {
		req.LastUsage = &pb.Usage{PromptTokens: int32(d.Roll(20_000)), CompletionTokens: int32(d.Roll(400)), MessageCount: int32(d.Roll(40))}
	}
	if d.Once(6) {
		pin := d.Roll(messages + 1)
		plain = plain && pin < messages
		req.Pinned = append(req.Pinned, int32(pin))
	}
	if d.Once(15) {
		req.CompressionState = []byte(d.Pick("garbage", "\x00", "ELB1.e30"))
	}
	if d.Once(10) {
		req.MaxOutputTokens = int32(d.Roll(8_000))
		plain = false // it may leave no window
	}
	if d.Once(60) { // what the rules of the API do not allow
		plain = false
		switch d.Roll(5) {
		case 0:
			req.ContextWindow = -1
		case 1:
			req.Layer = 99
		case 2:
			req.Pinned = []int32{-5}
		case 3:
			req.LastUsage = &pb.Usage{PromptTokens: -1}
		default:
			req.Conversation = d.odd(c)
		}
	}
	return req, plain
}

// odd is a conversation that says too little or too much.
func (d *draw) odd(c *pb.Conversation) *pb.Conversation {
	switch d.Roll(5) {
	case 0:
		return nil
	case 1:
		return &pb.Conversation{}
	case 2:
		return &pb.Conversation{Native: &pb.NativeRequest{Format: pb.Format_FORMAT_OPENAI_CHAT}}
	case 3:
		return &pb.Conversation{Native: &pb.NativeRequest{Format: 77, Body: &pb.NativeRequest_Json{Json: "[]"}}}
	default:
		return &pb.Conversation{Native: c.GetNative(), Messages: []*pb.Message{{Role: pb.Role_ROLE_USER}}, Tools: c.GetTools()}
	}
}

func (d *draw) policy(plain *bool) *pb.CompressionPolicy {
	if d.Once(4) {
		return nil
	}
	p := &pb.CompressionPolicy{}
	if d.Once(3) {
		p.ProtectFirstN = d.i32(6)
	}
	if !d.Once(3) {
		p.ProtectLastN = d.i32(25)
	}
	if d.Once(4) {
		p.TargetTokens = new(int32(50 + d.Roll(2_000)))
	}
	if d.Once(4) {
		p.Alternation = pb.Alternation(d.Roll(3))
	}
	if d.Once(3) {
		p.Thinking = pb.ThinkingPolicy(d.Roll(4))
	}
	if d.Once(4) {
		p.SystemNote = pb.SystemNote(d.Roll(3))
	}
	if d.Once(4) {
		p.SummaryMinTokens = d.i32(400)
	}
	if d.Once(4) {
		p.PruneOverChars = new(int32(1 + d.Roll(400)))
	}
	if d.Once(8) {
		p.PruneToolArguments = new(d.Once(2))
	}
	if d.Once(8) {
		p.TargetRatio = new(0.1 + float64(d.Roll(70))/100)
	}
	if d.Once(8) {
		p.Threshold = new(0.01 + float64(d.Roll(99))/100)
	}
	if d.Once(10) {
		p.MinGain = new(float64(d.Roll(90)) / 100)
	}
	if d.Once(10) {
		p.Redact = new(d.Once(2))
	}
	if d.Once(12) {
		p.FailurePolicy = pb.FailurePolicy(d.Roll(3))
	}
	if d.Once(20) {
		p.Summarizer = new(d.Pick("extractive", "nobody"))
		*plain = false
	}
	if d.Once(20) {
		p.Enabled = new(d.Once(2))
	}
	if d.Once(40) {
		p.Threshold, *plain = new(float64(d.Roll(3)-1)*2), false
	}
	return p
}

// mark draws a request.
func (d *draw) mark(c *pb.Conversation) (req *pb.ApplyCacheControlRequest, plain bool) {
	req = &pb.ApplyCacheControlRequest{
		Conversation: c, Model: d.model(), Strategy: pb.Strategy(d.Roll(8)), Ttl: pb.CacheTtl(d.Roll(3)), Existing: pb.ExistingMarks(d.Roll(3)),
		LeaveNewestUserUnmarked: d.Once(6), MarkToolMessages: d.Once(6), SplitSystem: d.Once(6), RetryAnchor: d.Once(6),
	}
	plain = req.Existing != pb.ExistingMarks_EXISTING_MARKS_RESPECT
	if d.Once(2) {
		req.Layout, plain = pb.Layout(d.Roll(15)), false // not every layout goes with every format
	}
	if d.Once(5) {
		req.Reserved = int32(d.Roll(5))
	}
	if d.Once(8) {
		req.StaticSystemPrefix, plain = d.Pick("You", "You help.", "nothing of it"), false
	}
	if d.Once(8) {
		req.HeadMessages = int32(d.Roll(30))
	}
	if d.Once(10) {
		req.CacheState = []byte(d.Pick("garbage", "\x00"))
	}
	if d.Once(60) {
		req.Reserved, plain = 9, false
	}
	return req, plain
}

// prepare joins both.
func prepare(c *pb.CompressRequest, m *pb.ApplyCacheControlRequest) *pb.PrepareRequest {
	return &pb.PrepareRequest{
		Conversation: c.GetConversation(), Model: c.GetModel(), ContextWindow: c.GetContextWindow(), Policy: c.GetPolicy(), Layer: c.GetLayer(), Force: c.GetForce(),
		LastUsage: c.GetLastUsage(), PreviousSummary: c.GetPreviousSummary(), Focus: c.GetFocus(), Pinned: c.GetPinned(),
		CompressionState: c.GetCompressionState(), MaxOutputTokens: c.GetMaxOutputTokens(),
		Layout: m.GetLayout(), Strategy: m.GetStrategy(), Ttl: m.GetTtl(), Existing: m.GetExisting(), Reserved: m.GetReserved(),
		LeaveNewestUserUnmarked: m.GetLeaveNewestUserUnmarked(), MarkToolMessages: m.GetMarkToolMessages(), StaticSystemPrefix: m.GetStaticSystemPrefix(),
		SplitSystem: m.GetSplitSystem(), RetryAnchor: m.GetRetryAnchor(), HeadMessages: m.GetHeadMessages(), CacheState: m.GetCacheState(),
	}
}

// typed damages a conversation in the typed form.
func (d *draw) typed(c *pb.Conversation) {
	d.legal = false
	for n := d.Roll(4); n > 0 && len(c.GetMessages()) > 0; n-- {
		at := d.Roll(len(c.GetMessages()))
		m := c.GetMessages()[at]
		switch d.Roll(9) {
		case 0:
			c.Messages = append(c.Messages[:at:at], c.Messages[at+1:]...)
		case 1:
			c.Messages = append(c.Messages[:at+1:at+1], c.Messages[at:]...)
		case 2:
			m.Role = pb.Role(d.Roll(6))
		case 3:
			m.Blocks = nil
		case 4:
			m.Blocks = append(m.Blocks, &pb.Block{})
		case 5:
			m.Blocks = append(m.Blocks, &pb.Block{Kind: &pb.Block_OpaqueJson{OpaqueJson: d.Pick(`{"type":"weird"}`, `not json`, ``, `[1,2]`)}})
		case 6:
			m.Blocks = append(m.Blocks, &pb.Block{Kind: &pb.Block_ToolResult{ToolResult: &pb.ToolResult{ToolUseId: d.Pick("", "c0", "none"), Blocks: []*pb.Block{
				{Kind: &pb.Block_ToolResult{ToolResult: &pb.ToolResult{ToolUseId: "deep"}}}, {Kind: &pb.Block_Text{Text: d.Pick("", " ", "x")}}}}}})
		case 7:
			for _, b := range m.GetBlocks() {
				b.CacheControl = &pb.CacheControl{Ttl: pb.CacheTtl(d.Roll(4))}
			}
		default:
			m.ProtoReflect().SetUnknown([]byte{0xfa, 0x3f, 0x01, 'x'})
		}
	}
}
