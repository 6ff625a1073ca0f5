package ladder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/elbowroom/elbowroom/store"
	"github.com/elbowroom/elbowroom/summarizer"
)

// DefaultKeep is how long a finished summary is found again.
const DefaultKeep = 24 * time.Hour

// finished remembers the summaries that models wrote, so that the same request pays
// once. A store that fails costs a call, never an answer.
type finished struct {
	store store.Store
	keep  time.Duration
}

// written is a summary as it is stored.
type written struct {
	Text       string                 `json:"text"`
	Tokens     int                    `json:"tokens"`
	Model      string                 `json:"model,omitempty"`
	Redactions []summarizer.Redaction `json:"redactions,omitempty"`
}

func (f finished) get(ctx context.Context, key string) (summarizer.Response, bool) {
	value, found, err := f.store.Get(ctx, key)
	var w written
	if err != nil || !found || json.Unmarshal(value, &w) != nil || w.Text == "" {
		return summarizer.Response{}, false
	}
	return summarizer.Response{Text: w.Text, Tokens: w.Tokens, Model: w.Model, Redactions: w.Redactions}, true
}

func (f finished) put(ctx context.Context, key string, r summarizer.Response) {
	value, err := json.Marshal(written{r.Text, r.Tokens, r.Model, r.Redactions})
	if err == nil {
		_ = f.store.Set(ctx, key, value, f.keep) // see the type's comment
	}
}

// versioned is a summarizer whose answers depend on more than its name and the
// request, such as the text of its prompt.
type versioned interface{ Version() string }

// finishedKey names the summary of a request by one rung for one tenant. It covers
// all that a summarizer sees.
func finishedKey(tenant string, rung summarizer.Summarizer, req *summarizer.Request) string {
	h := sha256.New()
	if v, ok := rung.(versioned); ok {
		fmt.Fprintf(h, "%q\n", v.Version())
	}
	fmt.Fprintf(h, "%q %d %q %q %d %t %d\n", req.Previous, req.Round, req.Latest, req.Focus, req.Budget, req.KeepSecrets, len(req.Turns))
	for _, turn := range req.Turns {
		turn.Message.WriteContent(h)
	}
	return storeKey("summary", tenant, rung.Name(), hex.EncodeToString(h.Sum(nil)))
}

// storeKey joins parts so that no two lists of parts make one key.
func storeKey(kind string, parts ...string) string {
	var b strings.Builder
	b.WriteString(kind)
	for _, part := range parts {
		b.WriteByte('/')
		b.WriteString(strconv.Itoa(len(part)))
		b.WriteByte(':')
		b.WriteString(part)
	}
	return b.String()
}
