package testdata

import (
	"encoding/json"
	"testing"
)

func TestEveryConversationIsABodyOfAKnownFormat(t *testing.T) {
	for _, f := range Conversations(t) {
		if f.Format != OpenAI && f.Format != Anthropic {
			t.Errorf("%s: unknown format %q", f.Name, f.Format)
		}
		var body struct{ Messages []json.RawMessage }
		if err := json.Unmarshal([]byte(f.JSON), &body); err != nil || len(body.Messages) == 0 {
			t.Errorf("%s: %d messages, error %v", f.Name, len(body.Messages), err)
		}
	}
}

func TestEveryFieldCaseHasAnInputAndAnExpectation(t *testing.T) {
	seen := make(map[string]bool)
	for _, c := range Cases(t) {
		if (c.JSON == "") == (c.Generator == "") {
			t.Errorf("%s: wants either messages or a generator", c.ID)
		}
		if c.JSON != "" && !json.Valid([]byte(c.JSON)) {
			t.Errorf("%s: the body is not valid JSON", c.ID)
		}
		if len(c.Expect) == 0 || seen[c.ID] {
			t.Errorf("%s: no expectation, or the id was used before", c.ID)
		}
		seen[c.ID] = true
	}
}
