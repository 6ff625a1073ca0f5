package conversation

// Format is the form in which a conversation came.
type Format int

// The known forms.
const (
	// FormatTyped is the protobuf form: no source bytes, no spans.
	FormatTyped Format = iota
	// FormatOpenAIChat is OpenAI Chat Completions JSON.
	FormatOpenAIChat
	// FormatAnthropicMessages is Anthropic Messages JSON.
	FormatAnthropicMessages
)

// String returns the short name used in reports and logs.
func (f Format) String() string {
	switch f {
	case FormatOpenAIChat:
		return "openai-chat"
	case FormatAnthropicMessages:
		return "anthropic-messages"
	default:
		return "typed"
	}
}

// Span is a half-open range of byte offsets in [Conversation.Source].
// The zero Span means "not in the source".
type Span struct{ Start, End int }

// Len is the number of bytes the span covers.
func (s Span) Len() int { return s.End - s.Start }

// Role says who speaks. Developer messages are [RoleSystem]; legacy function
// messages are [RoleTool]. [Message.RawRole] keeps the caller's word.
type Role int8

// The roles.
const (
	// RoleOther is a role no provider documents. Such a message is carried and not
	// interpreted, but that the results of its tool calls stay with it.
	RoleOther Role = iota
	RoleSystem
	RoleUser
	RoleAssistant
	RoleTool
)

// String returns the role's wire word.
func (r Role) String() string {
	switch r {
	case RoleSystem:
		return "system"
	case RoleUser:
		return "user"
	case RoleAssistant:
		return "assistant"
	case RoleTool:
		return "tool"
	default:
		return "other"
	}
}

// Shape says how a content value was written.
type Shape int8

// The shapes of a content value.
const (
	ShapeAbsent Shape = iota // no such key
	ShapeNull                // JSON null
	ShapeString              // one JSON string, seen as one text block
	ShapeList                // a list of blocks
	ShapeOther               // a number, boolean or object: carried as one opaque block
)

// BlockKind is what a block is, whatever its provider calls it.
type BlockKind int8

// The kinds of block.
const (
	// KindOpaque is a block the service does not interpret; Raw holds its JSON.
	KindOpaque BlockKind = iota
	KindText
	KindToolUse    // a call the client must answer
	KindToolResult // the answer to a KindToolUse
	KindMedia      // image, document, audio, video or file
	KindThinking   // reasoning text, signed or not
	// KindRedactedThinking is reasoning whose text is encrypted.
	KindRedactedThinking
	KindRefusal
	// KindServerToolUse and KindServerToolResult are run by the provider and stand in one message.
	KindServerToolUse
	KindServerToolResult
	// KindCompaction is a provider's own compaction of everything before it.
	KindCompaction
)

// Site says in which part of a message a block stands.
type Site int8

// The sites.
const (
	SiteContent      Site = iota // the content value, or an element of the content list
	SiteToolCalls                // an element of tool_calls (OpenAI)
	SiteFunctionCall             // the legacy function_call object (OpenAI)
	SiteReasoning                // a reasoning field beside the content (OpenAI family)
	SiteRefusal                  // the refusal field (OpenAI)
	SiteAudio                    // the audio object of an assistant message (OpenAI)
	SiteMessage                  // the message as a whole: the result that a tool message is (OpenAI)
)

// MarkWire is the member in which a request writes a cache breakpoint.
type MarkWire int8

// The members.
const (
	// WireCacheControl is cache_control (Anthropic and all that copy it).
	WireCacheControl MarkWire = iota
	// WireBreakpoint is prompt_cache_breakpoint (OpenAI, GPT-5.6 and later).
	WireBreakpoint
)

// Key is the member's name.
func (w MarkWire) Key() string {
	if w == WireBreakpoint {
		return "prompt_cache_breakpoint"
	}
	return "cache_control"
}

// Mark is a cache breakpoint found on a block, tool or message.
type Mark struct {
	// Wire is the member it was written in.
	Wire MarkWire
	// TTL is the ttl as written; empty when the key was absent, which means 5 minutes.
	TTL string
	// Value is the member's value. Member is what must be cut to remove the
	// key together with one separating comma.
	Value, Member Span
}

// MediaKind is the sort of a media block.
type MediaKind int

// The sorts of media.
const (
	MediaFile MediaKind = iota
	MediaImage
	MediaDocument
	MediaAudio
	MediaVideo
)

// Word is what it is called in reports and notes: image, document, audio, video, or file.
func (k MediaKind) Word() string {
	switch k {
	case MediaImage:
		return "image"
	case MediaDocument:
		return "document"
	case MediaAudio:
		return "audio"
	case MediaVideo:
		return "video"
	default:
		return "file"
	}
}

// Media describes a media block without decoding it.
type Media struct {
	Kind     MediaKind
	MIMEType string // as declared, or as named by a data URL; may be empty
	Data     string // base64 text for inline data (a substring of the source)
	Bytes    []byte // raw bytes for inline data (typed form)
	URI      string // address, file id, or empty
	Detail   string // OpenAI image detail: low, high, auto or empty
	Filename string
	Width    int // pixels, when the caller declared them
	Height   int
}

// Block is one piece of a message. Fields are set by kind; Span, TextSpan,
// InputSpan and ResultSpan are zero in the typed form. A conversation has many of them,
// so the small fields stand together.
type Block struct {
	Kind BlockKind
	Site Site
	// InputShape is ShapeString when a call's arguments are carried as a JSON string
	// (OpenAI), ShapeOther when as a value.
	InputShape Shape
	// ResultShape is that of Result.
	ResultShape Shape
	IsError     bool // of a tool result
	// Signed is set when reasoning carries a signature or encrypted data.
	Signed bool
	// Programmatic is set for calls made by the provider's code execution, and for
	// server-side results that say so: neither they nor their results may carry a mark.
	Programmatic bool
	// Escaped is set when Text, or the Input of a call, is the inside of its JSON
	// string as it stands, with escapes: only in what [Reading.Outline] reads, and only
	// on blocks of messages that are not of the system. Such a text is not blank.
	Escaped bool
	// Uncommon is set with Escaped where there are escapes besides \n, \t, \r, \" and \\.
	Uncommon bool

	// Type is the provider's own type word ("text", "tool_use", ...), empty for
	// string content.
	Type string
	// Span is the block's JSON value: its object, or the string literal of a
	// content string.
	Span Span

	// Text is the decoded text of a text, thinking, refusal, compaction or
	// text-document block.
	Text     string
	TextSpan Span // the string literal of Text

	// ID is the call's id, or the id a result answers. AltID is a second id of
	// the same call (Responses-style call_id beside id).
	ID, AltID string
	// Name is the tool's name.
	Name string
	// Input is a call's arguments as JSON text.
	Input     string
	InputSpan Span

	// Result is the content of a tool result. ResultSpan is that content's value.
	Result     []Block
	ResultSpan Span

	Media *Media

	// Mark is the cache breakpoint on this block, nil when there is none.
	Mark *Mark
	// Raw is the JSON text of an opaque or server-side block.
	Raw string
}

// Message is one element of the caller's list, or the top-level system prompt.
type Message struct {
	Role    Role
	Shape   Shape  // of the content
	RawRole string // the caller's word for the role
	Name    string
	Blocks  []Block
	Span    Span // the whole value in the caller's list
	Content Span // the content value
	// Mark is a cache breakpoint on the message object itself, outside any block.
	Mark *Mark
	// Strays are cache breakpoints deeper inside the content than any block or part
	// above describes. No provider takes one there.
	Strays []*Mark
}

// Tool is one tool definition.
type Tool struct {
	Name        string
	Description string
	// Schema is the parameter schema as JSON text.
	Schema string
	// Raw is the whole definition as JSON text (empty in the typed form).
	Raw  string
	Type string // the provider's type word: function, custom, a server tool's name, ...
	// Deferred tools are not part of the cached prefix and may not be marked.
	Deferred bool
	Span     Span
	Mark     *Mark
	// Strays are further breakpoints of the same definition, for example one on the
	// tool and one on its function object.
	Strays []*Mark
}

// Conversation is a read-only view of what the caller sent. Indices into
// Messages are positions in the caller's own list.
type Conversation struct {
	Format Format
	// Source is the caller's JSON (native forms). It must not change.
	Source string
	// Bare is set when Source is an array of messages and not a request body.
	Bare bool
	// Model is the model named in the body, empty when none is.
	Model string
	// System is the system prompt that stands outside the message list (Anthropic),
	// nil when there is none.
	System   *Message
	Tools    []Tool
	Messages []Message
	// ToolChoice is what the body says about calls.
	ToolChoice ToolChoice
	// AutoMark is a top-level cache_control (automatic caching).
	AutoMark *Mark
	// ThinkingOn is set when the body itself switches extended thinking on.
	ThinkingOn bool
	// Warnings name oddities that do not stop the work.
	Warnings []Warning

	list     Span // the messages array
	toolList Span // the tools array
}

// ToolChoice is a body's tool_choice, or the function_call of OpenAI's older form.
type ToolChoice struct {
	// Mode is ToolsAuto, ToolsNone, ToolsAny or ToolsForced, empty if the body does not say.
	Mode ToolMode
	// Name is the tool that must be called, with ToolsForced.
	Name string
}

// ToolMode says whether a model may or must call a tool.
type ToolMode string

// The modes.
const (
	ToolsAuto   ToolMode = "auto"
	ToolsNone   ToolMode = "none"
	ToolsAny    ToolMode = "any" // OpenAI's required
	ToolsForced ToolMode = "tool"
)

// Warning is an oddity of the input, carried unchanged.
type Warning struct {
	// Code is a stable word in capitals, for example [WarnLoneSurrogate].
	Code string
	// Message is the index of the message, -1 when the warning is not about one.
	Message int
	Detail  string
}

// WarnLoneSurrogate is the code for a \u escape that is half of a surrogate pair.
// JSON allows it, UTF-8 cannot hold it; its text is read as U+FFFD.
const WarnLoneSurrogate = "LONE_SURROGATE"

// Ref names a block: its message, its position among the message's blocks.
type Ref struct{ Message, Block int }

// Raw returns the bytes of a span as the caller wrote them.
func (c *Conversation) Raw(s Span) string {
	if s.End > len(c.Source) || s.Start >= s.End {
		return ""
	}
	return c.Source[s.Start:s.End]
}

// At returns the block a Ref names.
func (c *Conversation) At(r Ref) *Block { return &c.Messages[r.Message].Blocks[r.Block] }

// Section names one of the three lists of a request, or its body.
type Section int

// The sections, in the order in which providers render a prompt.
const (
	SectionTools Section = iota
	SectionSystem
	SectionMessages
	// SectionBody is the request as a whole. Its one element is the value of its
	// cache_control, where it has one.
	SectionBody
)
