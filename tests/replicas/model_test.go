package replicas

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/elbowroom/elbowroom/internal/wiredouble"
)

// model is the summarizing model that the servers ask. It knows which matter a call is
// about, and what becomes of it.
type model struct {
	*wiredouble.Double

	mu    sync.Mutex
	calls map[string]int // by matter
	plan  func(call) wiredouble.Step
}

// call is one call of the model.
type call struct {
	matter string
	// number counts the calls about the matter from 1.
	number int
	prompt string
}

func newModel(t *testing.T) *model {
	t.Helper()
	m := &model{calls: map[string]int{}}
	m.plan = writes
	m.Double = wiredouble.OpenAI(t, wiredouble.Func(func(r wiredouble.Request) wiredouble.Step {
		m.mu.Lock()
		defer m.mu.Unlock()
		matter := matterOf(r.User)
		m.calls[matter]++
		return m.plan(call{matter, m.calls[matter], r.User})
	}))
	return m
}

// follow changes what becomes of calls that come from now on.
func (m *model) follow(plan func(call) wiredouble.Step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.plan = plan
}

// called is how often the model was called about a matter.
func (m *model) called(matter string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls[matter]
}

// total is how often it was called.
func (m *model) total() int { return len(m.Requests()) }

// numbers are words, because the service takes out of a summary what the conversation
// does not have.
var numbers = strings.Fields("anchor buoy chart crane dock ferry gate harbour hull keel lantern mast pier rope sail tide")

// writes answers each call about a matter with another summary.
func writes(c call) wiredouble.Step {
	return says(c.matter, strconv.FormatInt(int64(c.number), len(numbers)))
}

// repeats answers what is asked alike with the same summary.
func repeats(c call) wiredouble.Step {
	sum := sha256.Sum256([]byte(c.prompt))
	return says(c.matter, hex.EncodeToString(sum[:6]))
}

// says is a summary with a number in hexadecimal, in words.
func says(matter, number string) wiredouble.Step {
	var text strings.Builder
	for _, digit := range number {
		text.WriteString(" " + numbers[strings.IndexRune("0123456789abcdef", digit)])
	}
	return wiredouble.Text("## Goal\n- Go on with the matter of " + matter + ":" + text.String() + ".\n")
}

var matterPattern = regexp.MustCompile(`the matter of ([a-z]+)`)

// matterOf is the matter of a prompt.
func matterOf(prompt string) string {
	if found := matterPattern.FindStringSubmatch(prompt); found != nil {
		return found[1]
	}
	return ""
}
