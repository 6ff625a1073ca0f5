package tokens

import "github.com/elbowroom/elbowroom/conversation"

// Method says how a count came about.
type Method string

const (
	// MethodLocal means that the text is counted with the model's own vocabulary, exactly; for Claude, which has none that
	// is published, with a reconstruction (docs/token-accuracy.md). What the provider puts around
	// messages, calls and tools follows its published rules, so a whole request is off by a few tokens at most.
	MethodLocal Method = "local"
	// MethodEstimate means that the vocabulary is not at hand: the counts of an OpenAI encoding were weighted by class.
	MethodEstimate Method = "estimate"
)

// Parts is where tokens go. The sum of the fields is the whole.
type Parts struct {
	System      int // system and developer prompts, wherever they stand
	Tools       int // tool definitions, with what the provider adds to explain them
	Text        int // text of users and assistants, refusals, text documents
	ToolCalls   int // names and arguments of calls
	ToolResults int // text of tool results
	Media       int // images, documents, audio, video
	Reasoning   int // reasoning text; signed and encrypted data count 0
	Framing     int // message and call markers, roles, names, the start of the answer
}

// Total is the sum of the parts.
func (p Parts) Total() int {
	return p.System + p.Tools + p.Text + p.ToolCalls + p.ToolResults + p.Media + p.Reasoning + p.Framing
}

// Add returns the sums, part by part.
func (p Parts) Add(o Parts) Parts {
	return Parts{
		System: p.System + o.System, Tools: p.Tools + o.Tools, Text: p.Text + o.Text,
		ToolCalls: p.ToolCalls + o.ToolCalls, ToolResults: p.ToolResults + o.ToolResults,
		Media: p.Media + o.Media, Reasoning: p.Reasoning + o.Reasoning, Framing: p.Framing + o.Framing,
	}
}

// Cost is what one piece of a request costs: a message, the system prompt, or the tools. Costs add up: a request costs
// the sum of its pieces plus Counter.Priming, so who changes one message recounts one message.
type Cost struct {
	Parts Parts
	// Text is how many of the tokens come from text, the part that an estimate gets wrong in proportion.
	Text int
	// Slack is how many tokens the framing and the media may be off, either way.
	Slack int
	// Warnings name oddities met on the way; Message is -1, the caller knows the index.
	Warnings []conversation.Warning
}

func (c Cost) add(o *Cost) Cost {
	return Cost{Parts: c.Parts.Add(o.Parts), Text: c.Text + o.Text, Slack: c.Slack + o.Slack}
}

// Tokens is the sum of the parts.
func (c Cost) Tokens() int { return c.Parts.Total() }

// Report is the size of a whole request.
type Report struct {
	// Tokens = the sum of Messages + System + Tools + Priming.
	Tokens int
	// Lower and Upper bound the provider's own count. For a plain text and MethodLocal both equal Tokens. Else they allow
	// for what the rules of frames and media may be off, and with MethodEstimate for the error of 95 % of short texts;
	// the errors of many texts partly cancel, so long conversations lie well inside.
	Lower, Upper int
	Method       Method
	Encoding     string // the encoding that was counted
	// Messages is the cost of every message, by the caller's index.
	Messages []int
	// System is the cost of a system prompt outside the message list (Anthropic), 0 without one. System messages in the list
	// are in Messages. Tools is the cost of the tool definitions, Priming the constant cost of starting the answer.
	System, Tools, Priming int
	// Parts is the same sum by kind.
	Parts Parts
	// Warnings name what was odd or could only be guessed, by message.
	Warnings []conversation.Warning
}

// Warning codes of counts.
const (
	// WarnOddArguments: a call's arguments are not a JSON string. Objects count as their JSON text, null and missing
	// ones as nothing.
	WarnOddArguments = "ODD_ARGUMENTS"
	// WarnMediaAssumed: an image's size could not be read, so it counts as 1024 x 1024; or the length of a document or
	// recording was guessed from its bytes.
	WarnMediaAssumed = "MEDIA_ASSUMED"
	// WarnOpaqueNotCounted: encrypted or signed data, which providers count by content that is not visible, counts 0.
	WarnOpaqueNotCounted = "OPAQUE_NOT_COUNTED"
	// WarnUnknownBlock: a block of an unknown type counts as its JSON text.
	WarnUnknownBlock = "UNKNOWN_BLOCK"
)
