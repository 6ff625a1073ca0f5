package conversation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/internal/testdata"
)

// checkPairing checks what holds of the pairing of any conversation.
func checkPairing(t testing.TB, c *Conversation) *Pairing {
	t.Helper()
	p := Pair(c)
	if len(p.Unit) != len(c.Messages) {
		t.Fatalf("%d units for %d messages", len(p.Unit), len(c.Messages))
	}
	for i, u := range p.Unit {
		// A unit is a run of messages that begins at the index it is named by.
		if u != i && (u > i || p.Unit[i-1] != u || p.Unit[u] != u) {
			t.Fatalf("units %v: message %d", p.Unit, i)
		}
	}
	answers := make(map[Ref]Ref, len(p.CallOf))
	for result, call := range p.CallOf {
		if c.At(result).Kind != KindToolResult || c.At(call).Kind != KindToolUse {
			t.Fatalf("%v answers %v", result, call)
		}
		if _, twice := answers[call]; twice {
			t.Fatalf("call %v has two results", call)
		}
		answers[call] = result
		if call.Message >= result.Message || p.Unit[call.Message] != p.Unit[result.Message] {
			t.Fatalf("result %v and its call %v are not in one unit: %v", result, call, p.Unit)
		}
	}
	// Every call of an assistant is answered, missing or in flight, every result
	// answers, is an orphan or a duplicate; each is one of these only.
	seen := make(map[Ref]int)
	for _, refs := range [][]Ref{p.Missing, p.InFlight, p.Orphans, p.Duplicates} {
		for _, r := range refs {
			seen[r]++
		}
	}
	for result, call := range p.CallOf {
		seen[result]++
		seen[call]++
	}
	want := 0
	for i := range c.Messages {
		for b := range c.Messages[i].Blocks {
			ref := Ref{i, b}
			kind := c.At(ref).Kind
			if kind == KindToolResult || kind == KindToolUse && c.Messages[i].takesTurn() {
				want++
				if seen[ref] != 1 {
					t.Fatalf("%v is named %d times: %+v", ref, seen[ref], p)
				}
			}
		}
	}
	if len(seen) != want {
		t.Fatalf("%d calls and results are named, want %d", len(seen), want)
	}
	return p
}

// The notation of pairing tests: one line a message, a role and its calls and
// results. "a f1 f2" is an assistant with two calls, "t f1" a result of the first,
// "u text" a user, "s" a system message. In Anthropic's form results stand in user
// messages: "u =f1 =f2 text". "a (f)" is a legacy call, "t (f)" its result.
func pairingInput(t *testing.T, format Format, lines string) *Conversation {
	t.Helper()
	var out []string
	for _, line := range strings.Split(lines, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		switch format {
		case FormatAnthropicMessages:
			out = append(out, anthropicLine(words))
		default:
			out = append(out, openAILine(words))
		}
	}
	return mustParse(t, format, "["+strings.Join(out, ",")+"]")
}

func openAILine(words []string) string {
	role, rest := words[0], words[1:]
	switch role {
	case "u", "s":
		return `{"role":"` + map[string]string{"u": "user", "s": "system"}[role] + `","content":"x"}`
	case "t":
		if name, ok := strings.CutPrefix(rest[0], "("); ok {
			return `{"role":"function","name":"` + strings.TrimSuffix(name, ")") + `","content":"x"}`
		}
		return `{"role":"tool","tool_call_id":"` + rest[0] + `","content":"x"}`
	}
	if len(rest) == 0 {
		return `{"role":"assistant","content":"x"}`
	}
	if name, ok := strings.CutPrefix(rest[0], "("); ok {
		return `{"role":"assistant","function_call":{"name":"` + strings.TrimSuffix(name, ")") + `","arguments":"{}"}}`
	}
	var calls []string
	for _, id := range rest {
		id, second, _ := strings.Cut(id, "/")
		calls = append(calls, `{"id":"`+id+`","call_id":"`+second+`","type":"function","function":{"name":"f","arguments":"{}"}}`)
	}
	return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(calls, ",") + `]}`
}

func anthropicLine(words []string) string {
	var blocks []string
	for _, w := range words[1:] {
		if id, ok := strings.CutPrefix(w, "="); ok {
			blocks = append(blocks, `{"type":"tool_result","tool_use_id":"`+id+`","content":"x"}`)
		} else if w == "text" {
			blocks = append(blocks, `{"type":"text","text":"x"}`)
		} else {
			blocks = append(blocks, `{"type":"tool_use","id":"`+w+`","name":"f","input":{}}`)
		}
	}
	role := map[string]string{"u": "user", "a": "assistant", "s": "system"}[words[0]]
	return `{"role":"` + role + `","content":[` + strings.Join(blocks, ",") + `]}`
}

// pairs lists who answers whom, in order: "2.0=1.0" says that block 0 of message 2
// answers block 0 of message 1.
func pairs(p *Pairing) string {
	var out []string
	for result, call := range p.CallOf {
		out = append(out, fmt.Sprintf("%d.%d=%d.%d", result.Message, result.Block, call.Message, call.Block))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func refs(list []Ref) string {
	var out []string
	for _, r := range list {
		out = append(out, fmt.Sprintf("%d.%d", r.Message, r.Block))
	}
	return strings.Join(out, " ")
}

func TestCallsAndResultsArePaired(t *testing.T) {
	for _, c := range []struct {
		name   string
		format Format
		lines  string
		pairs  string
		unit   []int
		// missing, in flight, orphans, duplicates, ambiguous: those that are not empty
		faults map[string]string
	}{
		{"no calls", FormatOpenAIChat, "s\nu\na\nu", "", []int{0, 1, 2, 3}, nil},
		{"one call", FormatOpenAIChat, "u\na c1\nt c1\na", "2.0=1.0", []int{0, 1, 1, 3}, nil},
		{"parallel calls, results in another order", FormatOpenAIChat, "a c1 c2 c3\nt c3\nt c1\nt c2", "1.0=0.2 2.0=0.0 3.0=0.1", []int{0, 0, 0, 0}, nil},
		{"an id used again in a later turn", FormatOpenAIChat, "a c1\nt c1\na c1\nt c1", "1.0=0.0 3.0=2.0", []int{0, 0, 2, 2}, nil},
		{"an id used again, only the second answered", FormatOpenAIChat, "a c1\na c1\nt c1", "2.0=1.0", []int{0, 1, 1}, map[string]string{"missing": "0.0"}},
		{"one id twice in a turn, answered twice", FormatOpenAIChat, "a c1 c1\nt c1\nt c1", "1.0=0.0 2.0=0.1", []int{0, 0, 0}, nil},
		{"a second result", FormatOpenAIChat, "a c1\nt c1\nt c1\nu", "1.0=0.0", []int{0, 0, 0, 3}, map[string]string{"duplicates": "2.0"}},
		{"a result without a call", FormatOpenAIChat, "u\nt c1\nu", "", []int{0, 1, 2}, map[string]string{"orphans": "1.0"}},
		{"a result of an unknown id inside a turn", FormatOpenAIChat, "a c1\nt zz\nt c1", "2.0=0.0", []int{0, 0, 0}, map[string]string{"orphans": "1.0"}},
		{"a result before its call", FormatOpenAIChat, "u\nt c1\na c1\nu", "", []int{0, 1, 2, 3}, map[string]string{"orphans": "1.0", "in flight": "2.0"}},
		{"a late result", FormatOpenAIChat, "a c1\nu\nt c1\na", "", []int{0, 1, 2, 3}, map[string]string{"missing": "0.0", "orphans": "2.0"}},
		{"a result after the next assistant message", FormatOpenAIChat, "a c1\na\nt c1", "", []int{0, 1, 2}, map[string]string{"missing": "0.0", "orphans": "2.0"}},
		{"a call never answered", FormatOpenAIChat, "a c1 c2\nt c2\na\nu", "1.0=0.1", []int{0, 0, 2, 3}, map[string]string{"missing": "0.0"}},
		{"a call in flight", FormatOpenAIChat, "u\na c1", "", []int{0, 1}, map[string]string{"in flight": "1.0"}},
		{"a turn partly answered is in flight", FormatOpenAIChat, "u\na c1 c2 c3\nt c2", "2.0=1.1", []int{0, 1, 1}, map[string]string{"in flight": "1.0 1.2"}},
		{"in flight although a user spoke meanwhile", FormatOpenAIChat, "a c1\nu", "", []int{0, 1}, map[string]string{"in flight": "0.0"}},
		{"a system message ends a turn", FormatOpenAIChat, "a c1\ns\nt c1\na", "", []int{0, 1, 2, 3}, map[string]string{"missing": "0.0", "orphans": "2.0"}},
		{"the second id of a call", FormatOpenAIChat, "a fc_1/call_1\nt call_1", "1.0=0.0", []int{0, 0}, nil},
		{"the first id of a call", FormatOpenAIChat, "a fc_1/call_1\nt fc_1", "1.0=0.0", []int{0, 0}, nil},
		{"a joined id, answered by its first half", FormatOpenAIChat, "a call_1|fc_1\nt call_1", "1.0=0.0", []int{0, 0}, nil},
		{"a joined id, answered by its second half", FormatOpenAIChat, "a call_1|fc_1\nt fc_1", "1.0=0.0", []int{0, 0}, nil},
		{"a joined id in the result only", FormatOpenAIChat, "a fc_1/call_1\nt call_1|fc_1", "1.0=0.0", []int{0, 0}, nil},
		{"halves of two joined ids", FormatOpenAIChat, "a x|1 x|2\nt 2\nt x", "1.0=0.1 2.0=0.0", []int{0, 0, 0}, nil},
		{"a legacy call", FormatOpenAIChat, "u\na (f)\nt (f)\na", "2.0=1.0", []int{0, 1, 1, 3}, nil},
		{"legacy calls pair by order, not by name", FormatOpenAIChat, "a (f)\nt (g)\na (f)\nt (f)", "1.0=0.0 3.0=2.0", []int{0, 0, 2, 2}, nil},
		{"a legacy call in flight", FormatOpenAIChat, "a (f)", "", []int{0}, map[string]string{"in flight": "0.0"}},
		{"a legacy call never answered", FormatOpenAIChat, "a (f)\na\nt (f)", "", []int{0, 1, 2}, map[string]string{"missing": "0.0", "orphans": "2.0"}},

		{"Anthropic: one call", FormatAnthropicMessages, "u text\na text f1\nu =f1 text\na text", "2.0=1.1", []int{0, 1, 1, 3}, nil},
		{"Anthropic: parallel calls", FormatAnthropicMessages, "a f1 f2\nu =f2 =f1", "1.0=0.1 1.1=0.0", []int{0, 0}, nil},
		{"Anthropic: results in two user messages", FormatAnthropicMessages, "a f1 f2\nu =f1\nu =f2\na", "1.0=0.0 2.0=0.1", []int{0, 0, 0, 3}, nil},
		{"Anthropic: a user message between results", FormatAnthropicMessages, "a f1 f2\nu =f1\nu text\nu =f2\nu text", "1.0=0.0 3.0=0.1", []int{0, 0, 0, 0, 4}, nil},
		{"Anthropic: a user message before the results", FormatAnthropicMessages, "a f1\nu text\nu =f1\na text", "2.0=0.0", []int{0, 0, 0, 3}, nil},
		{"Anthropic: a result after another turn", FormatAnthropicMessages, "a f1\nu text\na text\nu =f1", "", []int{0, 1, 2, 3}, map[string]string{"missing": "0.0", "orphans": "3.0"}},
		{"Anthropic: adjacent assistant messages are one turn", FormatAnthropicMessages, "a f1\na f2\nu =f1 =f2", "2.0=0.0 2.1=1.0", []int{0, 0, 0}, nil},
		{"Anthropic: text after the calls, as a message of its own", FormatAnthropicMessages, "a f1\na text\nu =f1", "2.0=0.0", []int{0, 0, 0}, nil},
		{"Anthropic: text before the calls is a unit of its own", FormatAnthropicMessages, "a text\na f1\nu =f1", "2.0=1.0", []int{0, 1, 1}, nil},
		{"Anthropic: a user message between assistant messages parts them", FormatAnthropicMessages, "a f1\nu =zz\na f2\nu =f2", "3.0=2.0", []int{0, 0, 2, 2}, map[string]string{"missing": "0.0", "orphans": "1.0"}},
		{"Anthropic: an id used again in a turn", FormatAnthropicMessages, "a f1 f1\nu =f1 =f1", "1.0=0.0 1.1=0.1", []int{0, 0}, map[string]string{"ambiguous": "0.1"}},
		{"Anthropic: an id used again across adjacent assistant messages", FormatAnthropicMessages, "a f1\na f1\nu =f1", "2.0=0.0", []int{0, 0, 0}, map[string]string{"ambiguous": "1.0", "in flight": "1.0"}},
		{"Anthropic: an id used again in a later turn", FormatAnthropicMessages, "a f1\nu =f1\na f1\nu =f1", "1.0=0.0 3.0=2.0", []int{0, 0, 2, 2}, nil},
		{"Anthropic: a second result", FormatAnthropicMessages, "a f1\nu =f1 =f1", "1.0=0.0", []int{0, 0}, map[string]string{"duplicates": "1.1"}},
		{"Anthropic: a second result in the next user message", FormatAnthropicMessages, "a f1\nu =f1\nu =f1\na text", "1.0=0.0", []int{0, 0, 0, 3}, map[string]string{"duplicates": "2.0"}},
		{"Anthropic: a second result after all are in, behind a user message", FormatAnthropicMessages, "a f1\nu =f1\nu text\nu =f1\na", "1.0=0.0", []int{0, 0, 2, 3, 4}, map[string]string{"orphans": "3.0"}},
		{"Anthropic: a result without a call", FormatAnthropicMessages, "u =f1 text\na text", "", []int{0, 1}, map[string]string{"orphans": "0.0"}},
		{"Anthropic: in flight, partly answered", FormatAnthropicMessages, "a f1 f2\nu =f1", "1.0=0.0", []int{0, 0}, map[string]string{"in flight": "0.1"}},
		{"Anthropic: in flight over adjacent assistant messages", FormatAnthropicMessages, "u text\na f1\na text", "", []int{0, 1, 1}, map[string]string{"in flight": "1.0"}},
		{"Anthropic: never answered", FormatAnthropicMessages, "a f1 f2\nu =f2 text\na text", "1.0=0.1", []int{0, 0, 2}, map[string]string{"missing": "0.0"}},
		{"Anthropic: a result in an assistant message answers nothing", FormatAnthropicMessages, "a f1\na =f1 f2\nu =f1 =f2", "2.0=0.0 2.1=1.1", []int{0, 0, 0}, map[string]string{"orphans": "1.0"}},
		{"Anthropic: a call in a user message is nobody's", FormatAnthropicMessages, "u f1\nu =f1", "", []int{0, 1}, map[string]string{"orphans": "1.0"}},
		{"Anthropic: a system message ends a turn", FormatAnthropicMessages, "a f1\ns text\nu =f1", "", []int{0, 1, 2}, map[string]string{"in flight": "0.0", "orphans": "2.0"}},
		{"Anthropic: a result in a system message at the end", FormatAnthropicMessages, "a f1\ns =zz", "", []int{0, 1}, map[string]string{"in flight": "0.0", "orphans": "1.0"}},
		{"Anthropic: a result in a system message", FormatAnthropicMessages, "a f1\ns =zz\na text", "", []int{0, 1, 2}, map[string]string{"missing": "0.0", "orphans": "1.0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := checkPairing(t, pairingInput(t, c.format, c.lines))
			if got := pairs(p); got != c.pairs {
				t.Errorf("pairs %q, want %q", got, c.pairs)
			}
			checkSame(t, "units", c.unit, p.Unit)
			got := map[string]string{}
			for name, list := range map[string][]Ref{
				"missing": p.Missing, "in flight": p.InFlight, "orphans": p.Orphans, "duplicates": p.Duplicates, "ambiguous": p.Ambiguous,
			} {
				if len(list) > 0 {
					got[name] = refs(list)
				}
			}
			if c.faults == nil {
				c.faults = map[string]string{}
			}
			checkSame(t, "faults", c.faults, got)
		})
	}
}

func TestCallsUnderAnUnknownRoleArePairedToo(t *testing.T) {
	c, err := Parse(FormatOpenAIChat, `[{"role":"user","content":"q"},
		{"role":"model","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"c1","content":"r"},{"role":"exit","content":"done"}]`, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	p := checkPairing(t, c)
	if len(p.Orphans) > 0 || p.CallOf[Ref{2, 0}] != (Ref{1, 1}) || p.Unit[2] != 1 || p.Unit[3] != 3 {
		t.Errorf("%+v", p)
	}
}

func TestALegacyCallWithAnIdIsAnsweredByEither(t *testing.T) {
	const call = `{"role":"assistant","function_call":{"id":"c1","name":"f","arguments":"{}"}}`
	for _, result := range []string{`{"role":"function","name":"f","content":"x"}`, `{"role":"tool","tool_call_id":"c1","content":"x"}`} {
		p := checkPairing(t, mustParse(t, FormatOpenAIChat, `[`+call+`,`+result+`]`))
		if got := pairs(p); got != "1.0=0.0" {
			t.Errorf("%s: pairs %q", result, got)
		}
	}
}

func TestTheTypedFormIsPaired(t *testing.T) {
	use := func(id string) Block { return Block{Kind: KindToolUse, ID: id} }
	answer := func(id string) Block { return Block{Kind: KindToolResult, ID: id} }
	typed := func(messages ...Message) *Conversation { return &Conversation{Messages: messages} }
	p := checkPairing(t, typed(
		Message{Role: RoleUser, Blocks: []Block{{Kind: KindText, Text: "go"}}},
		Message{Role: RoleAssistant, Blocks: []Block{use("a"), use("b")}},
		Message{Role: RoleTool, Blocks: []Block{answer("b"), answer("a"), answer("a")}},
		Message{Role: RoleAssistant, Blocks: []Block{use("c")}},
		Message{Role: RoleUser, Blocks: []Block{answer("c"), {Kind: KindText, Text: "more"}}},
		Message{Role: RoleAssistant, Blocks: []Block{use("d")}},
	))
	if got, want := pairs(p), "2.0=1.1 2.1=1.0 4.0=3.0"; got != want {
		t.Errorf("pairs %q, want %q", got, want)
	}
	checkSame(t, "units", []int{0, 1, 1, 3, 3, 5}, p.Unit)
	checkSame(t, "duplicates", []Ref{{2, 2}}, p.Duplicates)
	checkSame(t, "in flight", []Ref{{5, 0}}, p.InFlight)
}

// TestPairingOfHostileInputIsLinear runs inputs on which a quadratic step would
// take minutes: it fails by the test's own deadline.
func TestPairingOfHostileInputIsLinear(t *testing.T) {
	const n = 100_000
	text := Message{Role: RoleUser, Blocks: []Block{{Kind: KindText, Text: "x"}}}
	calls := func(n int, id func(int) string) Message {
		m := Message{Role: RoleAssistant, Blocks: make([]Block, n)}
		for i := range m.Blocks {
			m.Blocks[i] = Block{Kind: KindToolUse, ID: id(i)}
		}
		return m
	}
	result := func(id string) Message {
		return Message{Role: RoleUser, Blocks: []Block{{Kind: KindToolResult, ID: id}}}
	}
	same := func(int) string { return "same" }
	halves := func(i int) string { return fmt.Sprintf("same|%d", i) }
	own := func(i int) string { return fmt.Sprint(i) }
	repeat := func(m Message, n int) []Message { return slices.Repeat([]Message{m}, n) }
	for name, messages := range map[string][]Message{
		"user messages after an open call":                     append(repeat(calls(1, own), 1), repeat(text, n)...),
		"user messages between an open call and a result":      slices.Concat(repeat(calls(1, own), 1), repeat(text, n), repeat(result("zz"), 1)),
		"many open calls, then many user messages, a result":   slices.Concat(repeat(calls(n, own), 1), repeat(text, n), repeat(result("zz"), 1)),
		"calls of one id, then their results":                  slices.Concat(repeat(calls(n, same), 1), repeat(result("same"), n)),
		"calls of one id, twice as many results":               slices.Concat(repeat(calls(n, same), 1), repeat(result("same"), 2*n)),
		"calls of joined ids, results of the shared half":      slices.Concat(repeat(calls(n, halves), 1), repeat(result("same"), n)),
		"one large turn, then many small ones":                 slices.Concat(repeat(calls(n, own), 1), repeat(calls(1, own), n)),
		"calls and user messages in turn, a result at the end": slices.Concat(slices.Repeat([]Message{calls(1, own), text}, n/2), repeat(result("zz"), 1)),
		"adjacent assistant messages":                          append(repeat(calls(1, same), n), repeat(result("same"), n)...),
	} {
		for _, format := range []Format{FormatOpenAIChat, FormatAnthropicMessages} {
			t.Run(name+", "+format.String(), func(t *testing.T) {
				p := Pair(&Conversation{Format: format, Messages: messages})
				if len(p.Unit) != len(messages) {
					t.Errorf("%d units", len(p.Unit))
				}
			})
		}
	}
}

// TestPairingOfRealConversations compares with the counts that came with the data.
func TestPairingOfRealConversations(t *testing.T) {
	calls := map[string]int{
		"cc-go-dirty-106": 45, "cc-go-image-94": 58, "cc-go-parallel-346": 220, "cc-go-thinking-590": 303, "cc-go-unicode-70": 38,
		"ccsdk-ja-18": 8, "pi-ts-session-907": 391, "deer-research-74": 35, "deer-zh-website-39": 17, "deersse-zh-delivery-25": 10,
		"gemini-cli-21": 9, "mini-deepseek-astroid-378": 188, "swe-marshmallow-28": 13, "tau-airline-gpt4o-62a": 27,
		"tau2-airline-sonnet45-51": 36, "toolbench-legacy-12a": 5, "wire-openai-images-4": 1,
	}
	unanswered := map[string]int{"pi-ts-session-907": 18, "deersse-zh-delivery-25": 1, "mini-deepseek-astroid-378": 1, "toolbench-legacy-12a": 1}
	for _, f := range testdata.Conversations(t) {
		p := checkPairing(t, mustParse(t, nativeFormat(f.Format), f.JSON))
		open := len(p.Missing) + len(p.InFlight)
		if open != unanswered[f.Name] || len(p.CallOf)+open != calls[f.Name] || len(p.Orphans)+len(p.Duplicates)+len(p.Ambiguous) > 0 {
			t.Errorf("%s: %d pairs, %d missing, %d in flight, %d orphans, %d duplicates, %d ambiguous",
				f.Name, len(p.CallOf), len(p.Missing), len(p.InFlight), len(p.Orphans), len(p.Duplicates), len(p.Ambiguous))
		}
	}
}

// A tool's message that answers nothing is no turn of anybody's: the results behind it
// still answer. Found by the fuzzer over the wire.
func TestAToolThatSaysNothingPartsNobody(t *testing.T) {
	call := func(id string) Block { return Block{Kind: KindToolUse, ID: id} }
	result := func(id string) Block { return Block{Kind: KindToolResult, ID: id} }
	for name, c := range map[string]struct {
		between Message
		joined  bool
	}{
		"nothing":                   {Message{Role: RoleTool}, true},
		"something odd":             {Message{Role: RoleTool, Blocks: []Block{{Kind: KindOpaque}}}, true},
		"an orphan":                 {Message{Role: RoleTool, Blocks: []Block{result("x")}}, true},
		"orphans of a user's":       {Message{Role: RoleUser, Blocks: []Block{result("x")}}, true},
		"a user with an orphan":     {Message{Role: RoleUser, Blocks: []Block{{Kind: KindText, Text: "hi"}, result("x")}}, false},
		"the system with an orphan": {Message{Role: RoleSystem, Blocks: []Block{{Kind: KindText, Text: "hi"}, result("x")}}, false},
	} {
		p := checkPairing(t, &Conversation{Format: FormatOpenAIChat, Messages: []Message{
			{Role: RoleAssistant, Blocks: []Block{call("a")}}, c.between, {Role: RoleTool, Blocks: []Block{result("a")}}, {Role: RoleUser},
		}})
		if got := len(p.CallOf) == 1; got != c.joined {
			t.Errorf("%s: answered %v, want %v", name, got, c.joined)
		}
	}
}
