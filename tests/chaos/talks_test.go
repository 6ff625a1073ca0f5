package chaos

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conformance"
	"github.com/elbowroom/elbowroom/internal/testdata"
	"github.com/elbowroom/elbowroom/internal/tools/session"
)

// The conversations are cut to a size at which a call takes milliseconds, and their
// window is so small that most turns are above the threshold.
const (
	talkBytes     = 120 << 10
	turnsOfTalk   = 10
	contextWindow = 12_000
)

// talk is a conversation that grows turn by turn.
type talk struct {
	name     string
	dialect  conformance.Dialect
	format   elbowroomv1.Format
	model    string
	before   string            // of the body, up to its messages
	messages []json.RawMessage // without the system message of OpenAI's format, which stands in before
	turns    []int             // how many messages each turn has
}

// body is the request of a turn.
func (k *talk) body(turn int, session int64) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, `%s{"role":"user","content":"This is session %d."}`, k.before, session)
	for i := range turn + 1 {
		k.turn(&out, i, session)
	}
	out.WriteString("]}")
	return out.Bytes()
}

// turn writes what a turn adds. Its request names the session, so that nothing that was
// made for another one fits.
func (k *talk) turn(out *bytes.Buffer, turn int, session int64) {
	from := 0
	if turn > 0 {
		from = k.turns[turn-1]
	}
	for _, m := range k.messages[from:k.turns[turn]] {
		out.WriteByte(',')
		out.Write(m)
	}
	fmt.Fprintf(out, `,{"role":"user","content":"Go on with step %d of session %d."}`, turn, session)
}

// recorded are the conversations that stand beside the repository, of those that are
// legal from the start.
var recorded = []string{"cc-go-unicode-70", "cc-go-parallel-346", "aider-chat-487", "swe-ctf-web-text", "tau-airline-gpt4o-62a"}

// talks are recorded conversations where they are at hand, and the one that the demo makes.
func talks(t *testing.T) []talk {
	t.Helper()
	made, err := session.JSON()
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(made, `"messages":`)
	out := []talk{newTalk(t, "demo", testdata.Anthropic, before+`"messages":[`, made)}
	if _, err := os.Stat("../../../shared/data"); err != nil && os.Getenv("CI") != "true" {
		t.Log("without the recorded conversations: ../shared/data beside the repository is not here")
		return out
	}
	for _, f := range testdata.Conversations(t) {
		if slices.Contains(recorded, f.Name) {
			out = append(out, newTalk(t, f.Name, f.Format, "", f.JSON))
		}
	}
	if len(out) != 1+len(recorded) {
		t.Fatalf("%d conversations, want %d", len(out), 1+len(recorded))
	}
	return out
}

func newTalk(t *testing.T, name, format, before, text string) talk {
	t.Helper()
	var body struct{ Messages []json.RawMessage }
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		t.Fatal(err)
	}
	k := talk{
		name: name, dialect: conformance.Anthropic, format: elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES, model: "claude-sonnet-4-5",
		before: before, messages: body.Messages,
	}
	if before == "" {
		k.before = `{"model":"claude-sonnet-4-5","max_tokens":1024,"system":"You work in a repository.","messages":[`
	}
	if format == testdata.OpenAI {
		k.dialect, k.format, k.model = conformance.OpenAI, elbowroomv1.Format_FORMAT_OPENAI_CHAT, "gpt-4o"
		k.before = `{"model":"gpt-4o","messages":[`
		if roleOf(k.messages[0]) == "system" {
			k.before += string(k.messages[0]) + ","
			k.messages = k.messages[1:]
		}
	}
	k.cut()
	for turn := range k.turns {
		in, err := conformance.Read(k.dialect, k.body(turn, 0))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if faults := in.Faults(); len(faults) > 0 {
			t.Fatalf("%s, turn %d: %v", name, turn, faults)
		}
	}
	return k
}

// cut finds the turns: wherever the assistant is to speak next.
func (k *talk) cut() {
	var all []int
	size := 0
	for i, m := range k.messages {
		if size > talkBytes {
			break
		}
		if i > 3 && roleOf(m) == "assistant" {
			all = append(all, i)
		}
		size += len(m)
	}
	n := min(turnsOfTalk, len(all))
	for i := range n {
		k.turns = append(k.turns, all[(i+1)*len(all)/n-1])
	}
}

func roleOf(message json.RawMessage) string {
	var m struct{ Role string }
	_ = json.Unmarshal(message, &m)
	return m.Role
}
