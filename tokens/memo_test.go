package tokens

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/conversation"
	"github.com/elbowroom/elbowroom/internal/testdata"
)

func recorded(t testing.TB, f testdata.File) *conversation.Conversation {
	t.Helper()
	format := conversation.FormatOpenAIChat
	if f.Format == testdata.Anthropic {
		format = conversation.FormatAnthropicMessages
	}
	return parse(t, format, f.JSON)
}

func largest(t testing.TB) testdata.File {
	t.Helper()
	return slices.MaxFunc(testdata.Conversations(t), func(a, b testdata.File) int { return len(a.JSON) - len(b.JSON) })
}

func TestRememberedCountsEqualFreshOnes(t *testing.T) {
	models := onePerFamily(newRegistry(t).All())
	fresh := NewCounter(RememberedCounts(0))
	c := NewCounter()
	crowded := NewCounter(RememberedCounts(2 * memoShards)) // forgets all the time
	for _, f := range testdata.Conversations(t) {
		conv := recorded(t, f)
		for _, model := range models {
			want := report(t, fresh, conv, model)
			for round := range 2 {
				for name, c := range map[string]*Counter{"counter": c, "crowded counter": crowded} {
					if diff := cmp.Diff(want, report(t, c, conv, model)); diff != "" {
						t.Fatalf("%s, %s, %s, round %d (-fresh +remembered):\n%s", f.Name, model.ID, name, round, diff)
					}
				}
			}
		}
	}
	for i := range crowded.memo.shards {
		if s := &crowded.memo.shards[i]; len(s.slots) > 2 || len(s.at) != len(s.slots) {
			t.Errorf("shard %d has %d slots and %d keys, its limit is 2", i, len(s.slots), len(s.at))
		}
	}
}

func TestWhatIsRememberedIsNotCountedAgain(t *testing.T) {
	c, gpt := NewCounter(), newRegistry(t).Lookup("gpt-4o")
	conv := anthropic(t, `{"system":"`+strings.Repeat("Be brief. ", 50)+`","tools":[{"name":"look","description":"`+strings.Repeat("long ", 80)+`"}],
		"messages":[{"role":"user","content":"`+strings.Repeat("kelp ", 100)+`"},{"role":"user","content":"`+strings.Repeat("tide ", 100)+`"},{"role":"user","content":"hi"}]}`)
	want := report(t, c, conv, gpt)
	if n := remembered(c); n != 4 {
		t.Errorf("%d pieces are remembered, want the two long messages, the system prompt and the tools", n)
	}
	// A count that was tampered with shows that it is used.
	for i := range c.memo.shards {
		for s := range c.memo.shards[i].slots {
			c.memo.shards[i].slots[s].cost.Parts.Media += 1000
		}
	}
	if got := report(t, c, conv, gpt); got.Tokens != want.Tokens+4000 {
		t.Errorf("%d tokens, want %d", got.Tokens, want.Tokens+4000)
	}
}

func remembered(c *Counter) int {
	n := 0
	for i := range c.memo.shards {
		n += len(c.memo.shards[i].at)
	}
	return n
}

func TestWarningsOfARememberedCountAreTheCallersOwn(t *testing.T) {
	c, claude := NewCounter(), newRegistry(t).Lookup("claude-opus-5")
	long := `{"role":"user","content":[{"type":"mystery_block","text":"` + strings.Repeat("kelp ", 100) + `"}]}`
	conv := anthropic(t, `[{"role":"user","content":"hi"},`+long+`,`+long+`]`)
	for range 3 {
		r := report(t, c, conv, claude)
		if len(r.Warnings) != 2 || r.Warnings[0].Message != 1 || r.Warnings[1].Message != 2 {
			t.Fatalf("%+v", r.Warnings)
		}
		r.Warnings[0].Code = "CHANGED"
	}
	for range 2 {
		cost, err := c.CountMessage(t.Context(), &conv.Messages[1], claude)
		if err != nil || len(cost.Warnings) != 1 || cost.Warnings[0].Message != -1 || cost.Warnings[0].Code != WarnUnknownBlock {
			t.Fatalf("%+v, %v", cost.Warnings, err)
		}
		cost.Warnings[0] = conversation.Warning{Code: "CHANGED"}
	}
}

func TestACountWithMuchToWarnOfIsNotRemembered(t *testing.T) {
	claude := newRegistry(t).Lookup("claude-opus-5")
	for name, x := range map[string]struct {
		content string
		want    int
	}{
		"a warning":          {`{"type":"mystery_block","text":"kelp forest, kelp forest, kelp forest"}`, 1},
		"many warnings":      {strings.Repeat(`{"type":"mystery_block"},`, 20) + `{"type":"mystery_block"}`, 0},
		"a very long detail": {`{"type":"` + strings.Repeat("mystery", 100) + `"}`, 0},
	} {
		c := NewCounter()
		r := report(t, c, anthropic(t, `[{"role":"user","content":[`+x.content+`]}]`), claude)
		if n := remembered(c); n != x.want || len(r.Warnings) == 0 {
			t.Errorf("%s: %d pieces are remembered, want %d; warnings %v", name, n, x.want, r.Warnings)
		}
	}
}

// costless are the fields that a key leaves out, each because no count depends on it.
var costless = map[string]bool{
	// Positions in the source, and marks, which move from request to request.
	"Message.Span": true, "Message.Content": true, "Message.Mark": true, "Message.Strays": true,
	"Block.Span": true, "Block.TextSpan": true, "Block.InputSpan": true, "Block.ResultSpan": true, "Block.Mark": true,
	"Tool.Span": true, "Tool.Mark": true, "Tool.Strays": true,
	// How an outline left a text: what is counted is decoded first.
	"Block.Escaped": true, "Block.Uncommon": true,
	// What models of one row may differ in.
	"Model.Name": true, "Model.Date": true, "Model.Source": true, "Model.Note": true, "Model.Thinking": true,
	"Model.ContextWindow": true, "Model.MaxOutput": true, "Model.CacheMinimum": true,
}

// Every field of what is counted changes the key, so a field that is added must be decided on.
func TestEveryFieldThatMayCostChangesTheKey(t *testing.T) {
	m := newMemo(16)
	rules := m.ofModel(Model{})
	each(t, "Message", conversation.Message{}, func(x *conversation.Message) any { return m.ofMessage(rules, memoMessage, x) })
	each(t, "Block", conversation.Block{}, func(b *conversation.Block) any {
		return m.ofMessage(rules, memoMessage, &conversation.Message{Blocks: []conversation.Block{*b}})
	})
	each(t, "Media", conversation.Media{}, func(x *conversation.Media) any {
		return m.ofMessage(rules, memoMessage, &conversation.Message{Blocks: []conversation.Block{{Media: x}}})
	})
	each(t, "Tool", conversation.Tool{}, func(x *conversation.Tool) any { return m.ofTools(rules, []conversation.Tool{*x}) })
	each(t, "Model", Model{}, func(x *Model) any { return m.ofModel(*x) })
	each(t, "ImageRule", ImageRule{}, func(x *ImageRule) any { return m.ofModel(Model{Image: *x}) })
}

func each[T any](t *testing.T, name string, zero T, key func(*T) any) {
	t.Helper()
	before := key(&zero)
	kind := reflect.TypeFor[T]()
	for i := range kind.NumField() {
		x := zero
		field := reflect.ValueOf(&x).Elem().Field(i)
		id := name + "." + kind.Field(i).Name
		if !field.CanSet() {
			t.Errorf("%s: cannot be set here; decide whether it may cost", id)
			continue
		}
		if !otherValue(field) {
			t.Errorf("%s: a kind of field this test knows nothing about: %s", id, field.Kind())
		}
		if changed := key(&x) != before; changed == costless[id] {
			t.Errorf("%s: another value changes the key: %v", id, changed)
		}
	}
}

// otherValue sets something other than the zero value.
func otherValue(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int8:
		v.SetInt(3)
	case reflect.Float64:
		v.SetFloat(3)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Struct:
		return otherValue(v.Field(0))
	default:
		return false
	}
	return true
}

// What stands in one field or element is never taken for what stands in the next.
func TestNeighboursAreKeptApart(t *testing.T) {
	m := newMemo(16)
	rules := m.ofModel(Model{})
	text := func(s ...string) []conversation.Block {
		var blocks []conversation.Block
		for _, s := range s {
			blocks = append(blocks, conversation.Block{Kind: conversation.KindText, Text: s})
		}
		return blocks
	}
	long := strings.Repeat("a", 1000)
	seen := make(map[memoKey]string)
	for name, blocks := range map[string][]conversation.Block{
		"nothing":             nil,
		"an empty text":       text(""),
		"two empty texts":     text("", ""),
		"ab":                  text("ab"),
		"a, b":                text("a", "b"),
		"b, a":                text("b", "a"),
		"text and name":       {{Text: "a", Name: "b"}},
		"name and input":      {{Name: "a", Input: "b"}},
		"one long":            text(long),
		"one longer":          text(long + "a"),
		"two long":            text(long, long),
		"cut elsewhere":       text(long+"a", long[1:]),
		"inside a result":     {{Kind: conversation.KindToolResult, Result: text("a", "b")}},
		"beside a result":     {{Kind: conversation.KindToolResult, Result: text("a")}, text("b")[0]},
		"after a result":      {{Kind: conversation.KindToolResult}, text("a")[0], text("b")[0]},
		"nothing in results":  {{Kind: conversation.KindToolResult, Result: make([]conversation.Block, 2)}},
		"nothing beside":      {{Kind: conversation.KindToolResult, Result: make([]conversation.Block, 1)}, {}},
		"data":                {{Media: &conversation.Media{Data: long}}},
		"bytes":               {{Media: &conversation.Media{Bytes: []byte(long)}}},
		"data of an image":    {{Media: &conversation.Media{Kind: conversation.MediaImage, Data: long}}},
		"a document's length": {{Media: &conversation.Media{Data: strings.Repeat("a", 300_000)}}},
		"an image's length":   {{Media: &conversation.Media{Kind: conversation.MediaImage, Data: strings.Repeat("a", 300_000)}}},
		"a longer image":      {{Media: &conversation.Media{Kind: conversation.MediaImage, Data: strings.Repeat("a", 300_001)}}},
	} {
		for _, section := range []memoSection{memoMessage, memoSystem} {
			key := m.ofMessage(rules, section, &conversation.Message{Blocks: blocks})
			if other, taken := seen[key]; taken {
				t.Errorf("%s has the key of %s", name, other)
			}
			seen[key] = fmt.Sprint(name, " in section ", section)
			if again := m.ofMessage(rules, section, &conversation.Message{Blocks: blocks}); again != key {
				t.Errorf("%s: two keys", name)
			}
			if foreign := newMemo(16).ofMessage(rules, section, &conversation.Message{Blocks: blocks}); foreign == key {
				t.Errorf("%s: the key is the same with other seeds", name)
			}
		}
	}
}

// The key of an image covers its first bytes and its length only: no size stands behind those.
func TestImagesAreKnownByTheirHead(t *testing.T) {
	c, claude := NewCounter(RememberedCounts(0)), newRegistry(t).Lookup("claude-opus-5")
	head := "\xff\xd8" + strings.Repeat("\xff\xe2\xff\xff"+strings.Repeat("x", 0xfffd), jpegHeaderBytes>>16+1) // metadata past the last byte that is read
	for _, image := range []string{head, head + "\xff\xc0\x00\x11\x08\x01\x00\x01\x00"} {
		m := conversation.Message{Blocks: []conversation.Block{{Kind: conversation.KindMedia, Media: &conversation.Media{
			Kind: conversation.MediaImage, Bytes: []byte(image),
		}}}}
		cost, err := c.CountMessage(t.Context(), &m, claude)
		if err != nil || len(cost.Warnings) != 1 || cost.Warnings[0].Code != WarnMediaAssumed {
			t.Errorf("%d bytes: %+v, %v", len(image), cost, err)
		}
	}
}

func TestOneMemoryServesManyCallers(t *testing.T) {
	c, models := NewCounter(RememberedCounts(64)), onePerFamily(newRegistry(t).All())[:3]
	var messages []string
	for i := range 200 {
		messages = append(messages, fmt.Sprintf(`{"role":"user","content":"%d %s"}`, i, strings.Repeat("kelp forest ", 30+i)))
	}
	conv := openAI(t, "["+strings.Join(messages, ",")+"]")
	var callers sync.WaitGroup
	for i := range 8 {
		model := models[i%len(models)]
		want := report(t, NewCounter(RememberedCounts(0)), conv, model)
		callers.Go(func() {
			for range 5 {
				if got := report(t, c, conv, model); !cmp.Equal(want, got) {
					t.Errorf("%s: counts differ: %s", model.ID, cmp.Diff(want, got))
				}
			}
		})
	}
	callers.Wait()
}

// BenchmarkCountGrown counts the largest recorded conversation: with nothing remembered, with all of it remembered, and
// grown by one message since.
func BenchmarkCountGrown(b *testing.B) {
	f := largest(b)
	conv := recorded(b, f)
	for _, name := range []string{"claude-sonnet-4-5", "gpt-4o"} {
		model := newRegistry(b).Lookup(name)
		run := func(name string, c *Counter, change func(i int)) {
			b.Run(model.ID+"/"+name, func(b *testing.B) {
				report(b, c, conv, model)
				b.SetBytes(int64(len(f.JSON)))
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					change(i)
					report(b, c, conv, model)
				}
			})
		}
		run("nothing remembered", NewCounter(RememberedCounts(0)), func(int) {})
		run("all remembered", NewCounter(), func(int) {})
		last := &conv.Messages[len(conv.Messages)-1]
		for last.Blocks[0].Text == "" {
			last = &conv.Messages[slices.IndexFunc(conv.Messages, func(m conversation.Message) bool { return m.Blocks[0].Text != "" })]
		}
		long := strings.Repeat("The nightly import of bookings writes 4711 rows.\n", 60)
		run("one new message of 3 KB", NewCounter(), func(i int) { last.Blocks[0].Text = fmt.Sprint(i, long) })
	}
}

// BenchmarkMemo says from which size a message is worth remembering.
func BenchmarkMemo(b *testing.B) {
	gpt := newRegistry(b).Lookup("gpt-4o")
	words := strings.Fields(largest(b).JSON)
	for _, size := range []int{32, 64, 128, 256, 512, 4096} {
		text := strings.Join(words[2000:], " ")[:size]
		message := conversation.Message{Role: conversation.RoleUser, Blocks: []conversation.Block{{Kind: conversation.KindText, Text: text}}}
		messages := slices.Repeat([]conversation.Message{message}, 100)
		c := NewCounter(RememberedCounts(1000))
		_, _ = c.countMessage(b.Context(), &message, gpt) // loads the vocabulary
		b.Run(fmt.Sprintf("count/%d", size), func(b *testing.B) {
			for b.Loop() {
				for i := range messages {
					_, _ = c.countMessage(b.Context(), &messages[i], gpt)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(messages)), "ns/message")
		})
		rules := c.memo.ofModel(gpt)
		c.memo.put(c.memo.ofMessage(rules, memoMessage, &messages[0]), Cost{})
		b.Run(fmt.Sprintf("recall/%d", size), func(b *testing.B) {
			for b.Loop() {
				for i := range messages {
					if _, found := c.memo.get(c.memo.ofMessage(rules, memoMessage, &messages[i])); !found {
						b.Fatal("forgotten")
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(messages)), "ns/message")
		})
		b.Run(fmt.Sprintf("put/%d", size), func(b *testing.B) {
			n := uint64(0)
			for b.Loop() {
				for range messages {
					n++
					c.memo.put(memoKey{n * 0x9e3779b97f4a7c15, n}, Cost{})
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(messages)), "ns/message")
		})
	}
}
