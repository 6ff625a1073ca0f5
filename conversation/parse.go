package conversation

import (
	"runtime"
	"slices"
	"strings"
)

// Parse reads a request body, or a bare array of messages, in one of the native
// formats. It keeps src and returns substrings of it; nothing is re-encoded.
// Errors are of type [*Error] and carry the byte offset and the path.
func Parse(format Format, src string, limits Limits) (*Conversation, error) {
	return Reading{Limits: limits}.Parse(format, src)
}

// Reading is a way to parse. The zero value is that of [Parse].
type Reading struct {
	Limits Limits
	// Outline leaves texts of messages as the JSON has them, see
	// [Block.Escaped]. To decode them is most of the work, and who sets marks looks at
	// few of them.
	Outline bool
	// ValidUTF8 says that the source is known to be valid UTF-8, as strings of
	// protobuf messages are. It is then not checked.
	ValidUTF8 bool
	// Room, when not nil, holds what is read, until it is cleared.
	Room *Room
}

// Parse is [Parse] in this way.
func (r Reading) Parse(format Format, src string) (*Conversation, error) {
	limits := r.Limits.withDefaults()
	if !r.ValidUTF8 {
		if at := invalidUTF8(src); at >= 0 {
			return nil, &Error{Offset: at, Message: -1, Reason: "invalid UTF-8"}
		}
	}
	room := r.Room
	if room == nil {
		room = &Room{}
	}
	p := &parser{
		room:    room,
		scanner: newScanner(src, limits.MaxDepth),
		c:       &Conversation{Format: format, Source: src},
		budget:  limits.MaxBlocks,
		limit:   limits.MaxBlocks,
		outline: r.Outline,
	}
	if err := p.document(); err != nil {
		return nil, err
	}
	return p.c, nil
}

// parser reads the parts of a request that the domain model knows and skips the
// rest, all in one pass of its scanner.
type parser struct {
	*scanner
	c      *Conversation
	budget int // messages, blocks and tools that may still be read
	limit  int
	strays []*Mark // found since the last takeStrays
	// open are the objects being read, of which there are nested: what is needed for one
	// is used again for the next.
	open   []*field
	nested int
	// lists are lists of blocks, of which listed are being read, inner ones last.
	lists  []*list
	listed int
	// room is where messages and blocks stay.
	room *Room
	// outline says to leave texts as they are.
	outline bool
}

func (p *parser) document() error {
	var err *Error
	switch p.peek() {
	case '[':
		p.c.Bare = true
		if err = p.messages(); err != nil {
			err = err.under("messages")
		}
	case '{':
		err = p.body()
	default:
		err = p.unexpected("a request body or an array of messages")
	}
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return err
	}
	p.warnSurrogate(-1)
	return nil
}

// pauseInterval is how many bytes of messages are read before others may have the
// processor: the runtime takes one from nobody who has had it for less than 10 ms.
const pauseInterval = 256 << 10

func (p *parser) messages() *Error {
	p.warnSurrogate(-1)
	start := p.pos
	all := p.room.messages
	n := 0 // messages that were read
	pause := start + pauseInterval
	err := p.elements(func(i int) *Error {
		if i == cap(all) {
			all = slices.Grow(all, p.expected(i, start))
		}
		all = all[:i+1]
		p.room.messages = all
		if err := p.message(&all[i]); err != nil {
			return err
		}
		p.warnSurrogate(i)
		if n++; p.pos >= pause {
			runtime.Gosched()
			pause = p.pos + pauseInterval
		}
		return nil
	})
	if err != nil && err.Path != "" {
		err.Message = n
	}
	if n > 0 {
		p.c.Messages = all[:n:n]
	}
	p.c.list = Span{start, p.pos}
	return err
}

// expected guesses how many elements of a list are to come, if those so far, which began
// at start, are like the others.
func (p *parser) expected(n, start int) int {
	const least = 16
	return least + n*(len(p.src)-p.pos)/(p.pos-start+1)
}

// elements visits the elements of an array that count towards the limit, and puts
// an element's index in front of the path of an error that its visit returns.
func (p *parser) elements(visit func(i int) *Error) *Error {
	return p.array(func(i int) *Error {
		err := p.spend()
		if err == nil {
			err = visit(i)
		}
		if err != nil {
			return err.under("[" + itoa(i) + "]")
		}
		return nil
	})
}

// warnSurrogate reports a lone surrogate met since the last call: in a message,
// or with -1 in another part of the request.
func (p *parser) warnSurrogate(message int) {
	if p.surrogate < 0 {
		return
	}
	p.c.Warnings = append(p.c.Warnings, Warning{
		Code: WarnLoneSurrogate, Message: message,
		Detail: "half of a surrogate pair at byte " + itoa(p.surrogate) + "; kept as it is, some providers refuse it",
	})
	p.surrogate = -1
}

// spend takes one element from the budget.
func (p *parser) spend() *Error {
	p.budget--
	if p.budget < 0 {
		return p.fail(p.pos, "more than "+itoa(p.limit)+" messages, blocks and tools")
	}
	return nil
}

// clip shortens s to at most n bytes on a rune boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}
