package fuzzwire

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/conformance"
	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
	"github.com/elbowroom/elbowroom/internal/testdata"
	"github.com/elbowroom/elbowroom/internal/testutil/wild"
)

// recorded is a real conversation taken apart.
type recorded struct {
	head     string
	messages []string
	tail     string
}

// sources are the real conversations of each dialect.
type sources map[conformance.Dialect][]recorded

func readSources(t testing.TB) sources {
	t.Helper()
	out := sources{}
	for _, f := range testdata.Conversations(t) {
		d := conformance.OpenAI
		if f.Format == testdata.Anthropic {
			d = conformance.Anthropic
		}
		if head, messages, tail, ok := wild.Parts(f.JSON); ok {
			out[d] = append(out[d], recorded{head, messages, tail})
		}
	}
	return out
}

// The size of what is cut out of a real conversation: 100,000 requests are to fit into
// some minutes.
const (
	mostMessages = 24
	mostBytes    = 24 << 10
)

// draw is one request's choices.
type draw struct {
	*wild.Dice
	dialect conformance.Dialect
	// text is the conversation. legal says that nobody has damaged it and a provider
	// would take it.
	text  string
	legal bool
	// in is what the checker made of the conversation, nil where it cannot read it.
	in *conformance.Transcript
}

// newDraw makes the conversation of request number n.
func newDraw(seed, n uint64, from sources) *draw {
	r := rand.New(rand.NewPCG(seed, n))
	data := make([]byte, 2<<10)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	d := &draw{Dice: &wild.Dice{Data: data}, dialect: conformance.OpenAI}
	if d.Once(2) {
		d.dialect = conformance.Anthropic
	}
	// Options come from bytes of their own: a long conversation may use its own up.
	options := &wild.Dice{Data: data[1 : 1<<10]}
	d.Data = data[1<<10:]
	if !d.Once(5) {
		d.Data = d.Data[:160] // most are small: many fit into a run
	}
	if list := from[d.dialect]; len(list) > 0 && d.Once(3) {
		d.text = d.piece(&list[d.Roll(len(list))])
	} else {
		g := &wild.Generator{Dice: d.Dice, Anthropic: d.dialect == conformance.Anthropic}
		d.text = g.Conversation()
		d.legal = g.Legal
	}
	if d.Roll(5) < 3 {
		d.legal = false
		d.text = d.Damage(d.text, from.foreign(d))
	}
	if d.Once(8) {
		d.legal = false
		d.text = d.Mutate(d.text)
	}
	d.Dice = options
	return d
}

// piece cuts messages out of a real conversation, from its beginning or from anywhere.
func (d *draw) piece(r *recorded) string {
	from := 0
	if d.Once(2) {
		from = d.Roll(len(r.messages))
	}
	to, size := from, 0
	for most := from + 1 + d.Roll(mostMessages); to < min(most, len(r.messages)) && size < mostBytes; to++ {
		size += len(r.messages[to])
	}
	head, tail := r.head, r.tail
	if len(head) > 4<<10 || d.Once(3) {
		head, tail = "[", "]"
	}
	return head + strings.Join(r.messages[from:to], ",") + tail
}

// foreign are messages of another conversation, sometimes of the other dialect.
func (s sources) foreign(d *draw) []string {
	list := s[d.dialect]
	if d.Once(3) {
		list = s[conformance.OpenAI+conformance.Anthropic-d.dialect]
	}
	if len(list) == 0 {
		return nil
	}
	return list[d.Roll(len(list))].messages[:1]
}

// native is the conversation as its provider's JSON.
func (d *draw) native(text string, asBytes bool) *pb.Conversation {
	format := pb.Format_FORMAT_OPENAI_CHAT
	if d.dialect == conformance.Anthropic {
		format = pb.Format_FORMAT_ANTHROPIC_MESSAGES
	}
	n := &pb.NativeRequest{Format: format, Body: &pb.NativeRequest_Json{Json: text}}
	if asBytes {
		n.Body = &pb.NativeRequest_JsonBytes{JsonBytes: []byte(text)}
	}
	return &pb.Conversation{Native: n}
}
