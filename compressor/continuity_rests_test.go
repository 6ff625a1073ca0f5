package compressor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/tokens"
)

// turns are n turns of an agent with a tool, after a system prompt.
func turns(n int) []string {
	words := []string{"s:p"}
	for i := range n {
		id := fmt.Sprint("c", i)
		words = append(words, fmt.Sprint("u:request ", i), "A:"+id, "t:"+id+":"+long(fmt.Sprint("line ", i)), fmt.Sprint("a:answer ", i))
	}
	return words
}

// Some callers end every request with a message of their own, a reminder or the time,
// and leave it out of the next.
func TestANewestMessageThatIsReplacedKeepsTheCompressedBeginning(t *testing.T) {
	summarizer := note()
	e := newContinuousEngine(t, summarizer)
	var before []conversation.Message
	compressions, carried := 0, 0
	for n := 6; n < 26; n++ {
		words := append(turns(n), fmt.Sprintf("u:REMINDER %d: it is %d o'clock.", n, n))
		calls := len(summarizer.seen)
		r := compress(t, e, Request{
			Conversation: parse(t, conversation.FormatOpenAIChat, chat(words...)), Model: gpt(6_000),
			Policy: Policy{ProtectFirstN: ptr(1), ProtectLastN: ptr(4)},
		})
		applied := r.Rewrite.Apply()
		after := applied.Conversation.Messages
		if got := after[len(after)-1].Blocks[0].Text; !strings.HasPrefix(got, fmt.Sprintf("REMINDER %d:", n)) {
			t.Fatalf("after %d turns the newest message is %q", n, got)
		}
		switch {
		case len(summarizer.seen) > calls:
			compressions++
		case compressions > 0:
			carried++
			if c := r.Report.Continuity; !c.Hit || c.Covered >= len(words) {
				t.Errorf("after %d turns: %+v", n, c)
			}
			if k := len(before) - 1; !slices.EqualFunc(before[:k], after[:k], sameText) {
				t.Errorf("after %d turns the beginning has changed", n)
			}
		}
		before = after
	}
	if compressions < 2 || carried < 2*compressions {
		t.Errorf("%d compressions, %d turns that took one over", compressions, carried)
	}
}

func sameText(a, b conversation.Message) bool {
	return a.Role == b.Role && slices.EqualFunc(a.Blocks, b.Blocks, func(x, y conversation.Block) bool {
		return x.Text == y.Text && x.ID == y.ID && slices.EqualFunc(x.Result, y.Result, func(p, q conversation.Block) bool { return p.Text == q.Text })
	})
}

// What is taken over has to be right for the request at hand.
func TestACompressionIsTakenOverByAnotherEndingOnlyWhereItFits(t *testing.T) {
	bound := gpt(6_000)
	bound.Thinking = tokens.ThinkingBound
	signed := `{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"c2ln"},{"type":"text","text":"so"}]}`
	for _, tt := range []struct {
		name string
		// first and then are the requests; then is JSON where it begins with a brace.
		first, then []string
		raw         string // is put before the newest message of then
		model       tokens.Model
		force, hit  bool
	}{
		{name: "another newest message", first: append(turns(14), "u:x"), then: append(turns(14), "u:y"), hit: true},
		{name: "more messages, and another newest one", first: append(turns(14), "u:x"), then: append(turns(15), "u:y"), hit: true},
		{name: "fewer messages: it may be small enough", first: append(turns(14), "u:x", "a:z"), then: append(turns(14), "u:y")},
		{name: "forced: it is compressed as it stands", first: append(turns(14), "u:x"), then: append(turns(14), "u:y"), force: true},
		{name: "an older message is another", first: append(turns(14), "u:x"), then: append(slices.Replace(turns(14), 5, 6, "u:edited"), "u:y")},
		{name: "its newest request would be summarized", first: append(turns(1), slices.Concat(answers(10), []string{"u:x"})...), then: append(turns(1), slices.Concat(answers(10), []string{"a:y"})...)},
		{name: "signed thinking where the model binds it", first: append(turns(14), "u:x"), then: append(turns(14), "u:y"), raw: signed, model: bound},
		{name: "signed thinking where it stands for itself", first: append(turns(14), "u:x"), then: append(turns(14), "u:y"), raw: signed, hit: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			model := tt.model
			if model.ContextWindow == 0 {
				model = gpt(6_000)
			}
			e := newContinuousEngine(t, note())
			ask := func(json string, force bool) *Result {
				return compress(t, e, Request{
					Conversation: parse(t, conversation.FormatOpenAIChat, json), Model: model, Force: force,
					Policy: Policy{ProtectFirstN: ptr(1), ProtectLastN: ptr(4)},
				})
			}
			if r := ask(chat(tt.first...), false); r.Outcome != OutcomeCompressed || r.Report.Continuity.Hit {
				t.Fatalf("first: %v, %+v", r.Outcome, r.Report)
			}
			json := chat(tt.then...)
			if tt.raw != "" {
				at := strings.LastIndex(json, `{"role"`)
				json = json[:at] + tt.raw + "," + json[at:]
			}
			if r := ask(json, tt.force); r.Report.Continuity.Hit != tt.hit {
				t.Errorf("%v, %+v", r.Outcome, r.Report.Continuity)
			}
		})
	}
}

// answers are n calls in a row, without a word of the user.
func answers(n int) []string {
	var words []string
	for i := range n {
		id := fmt.Sprint("d", i)
		words = append(words, "A:"+id, "t:"+id+":"+long(fmt.Sprint("other ", i)))
	}
	return words
}

// The copy that a pointer means has to be in what is taken over.
func TestAPointerToACopyInTheEndingIsNotTakenOverWithoutIt(t *testing.T) {
	copied := "line 1 " + long("the same")
	ending := func(result string) []string {
		return append(turns(14), "A:k", "t:k:"+copied, "a:w", "A:m", "t:m:"+result, "a:v", "A:n", "t:n:last", "a:u", "u:go on")
	}
	e := newContinuousEngine(t, note())
	ask := func(words []string) (*Result, string) {
		r := compress(t, e, Request{
			Conversation: parse(t, conversation.FormatOpenAIChat, chat(words...)), Model: gpt(6_000),
			Policy: Policy{ProtectFirstN: ptr(1), ProtectLastN: ptr(11)},
		})
		return r, r.Rewrite.Render()
	}
	if _, out := ask(ending(copied)); strings.Count(out, copied) != 1 {
		t.Fatalf("%d copies are left", strings.Count(out, copied))
	}
	if r, _ := ask(append(ending(copied)[:len(ending(copied))-1], "u:another")); !r.Report.Continuity.Hit {
		t.Errorf("another newest message: %+v", r.Report.Continuity)
	}
	r, out := ask(ending("something else"))
	if strings.Count(out, copied) == 0 && strings.Contains(out, duplicateText) {
		t.Errorf("%+v: a pointer is left of a result that is nowhere", r.Report.Continuity)
	}
}
