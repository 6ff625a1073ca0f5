package conversation

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// checkSpans checks with encoding/json that every span of a conversation is what
// it claims to be.
func checkSpans(t testing.TB, c *Conversation) {
	t.Helper()
	for i := range c.Messages {
		checkMessageSpans(t, c, &c.Messages[i], fmt.Sprint("message ", i))
	}
	if c.System != nil {
		checkMessageSpans(t, c, c.System, "system")
	}
	for i := range c.Tools {
		tool := &c.Tools[i]
		if tool.Raw != c.Raw(tool.Span) || !json.Valid([]byte(tool.Raw)) {
			t.Fatalf("tool %d: raw %q at %v", i, tool.Raw, tool.Span)
		}
		checkMark(t, c, tool.Mark, tool.Span)
	}
	checkMark(t, c, c.AutoMark, Span{0, len(c.Source)})
}

func checkMessageSpans(t testing.TB, c *Conversation, m *Message, name string) {
	t.Helper()
	if !json.Valid([]byte(c.Raw(m.Span))) {
		t.Fatalf("%s: span %v is not a JSON value: %q", name, m.Span, c.Raw(m.Span))
	}
	if (m.Shape == ShapeAbsent) != (m.Content == Span{}) {
		t.Fatalf("%s: shape %d, content %v", name, m.Shape, m.Content)
	}
	checkMark(t, c, m.Mark, m.Span)
	for _, s := range m.Strays {
		checkMark(t, c, s, m.Span)
	}
	for i := range m.Blocks {
		checkBlockSpans(t, c, &m.Blocks[i], m.Span, fmt.Sprint(name, ", block ", i))
	}
}

func checkBlockSpans(t testing.TB, c *Conversation, b *Block, within Span, name string) {
	t.Helper()
	if b.Span.Start < within.Start || b.Span.End > within.End || !json.Valid([]byte(c.Raw(b.Span))) {
		t.Fatalf("%s: span %v inside %v is %q", name, b.Span, within, c.Raw(b.Span))
	}
	if b.TextSpan != (Span{}) {
		var text string
		if err := json.Unmarshal([]byte(c.Raw(b.TextSpan)), &text); err != nil || text != b.Text {
			t.Fatalf("%s: text %q, its span holds %s: %v", name, b.Text, c.Raw(b.TextSpan), err)
		}
	}
	if b.Raw != "" && b.Raw != c.Raw(b.Span) {
		t.Fatalf("%s: raw %q, its span holds %q", name, b.Raw, c.Raw(b.Span))
	}
	switch raw := c.Raw(b.InputSpan); b.InputShape {
	case ShapeString:
		var text string
		if err := json.Unmarshal([]byte(raw), &text); err != nil || text != b.Input {
			t.Fatalf("%s: input %q, its span holds %s: %v", name, b.Input, raw, err)
		}
	case ShapeOther:
		if raw != b.Input || !json.Valid([]byte(raw)) {
			t.Fatalf("%s: input %q, its span holds %q", name, b.Input, raw)
		}
	case ShapeNull:
		if raw != "null" || b.Input != "" {
			t.Fatalf("%s: input %q, its span holds %q", name, b.Input, raw)
		}
	}
	checkMark(t, c, b.Mark, b.Span)
	for i := range b.Result {
		checkBlockSpans(t, c, &b.Result[i], b.ResultSpan, fmt.Sprint(name, ", part ", i))
	}
}

// checkMark checks that a mark's member is a cache_control with one comma to spare
// and that the JSON stays valid without it.
func checkMark(t testing.TB, c *Conversation, m *Mark, within Span) {
	t.Helper()
	if m == nil {
		return
	}
	if m.Member.Start < within.Start || m.Member.End > within.End {
		t.Fatalf("mark %+v is not in %v", m, within)
	}
	what := "{" + strings.Trim(c.Raw(m.Member), ", \t\r\n") + "}"
	members, err := object([]byte(what))
	if err != nil || len(members) != 1 || members[0].key != m.Wire.Key() || string(members[0].value) != c.Raw(m.Value) {
		t.Fatalf("the member of mark %+v is %s: %v", m, what, err)
	}
	if after := c.spliced(within, []Splice{cut(m.Member)}); !json.Valid([]byte(after)) {
		t.Fatalf("without its mark\n%s\nis\n%s", c.Raw(within), after)
	}
}
