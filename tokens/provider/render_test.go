package provider_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/conversation"
)

var update = flag.Bool("update", false, "write the golden files anew")

// conversations are one of each form.
func conversations(t *testing.T) map[string]*conversation.Conversation {
	return map[string]*conversation.Conversation{
		"anthropic": native(t, conversation.FormatAnthropicMessages, "anthropic.json"),
		"openai":    native(t, conversation.FormatOpenAIChat, "openai.json"),
		"typed":     typed(),
	}
}

func native(t *testing.T, format conversation.Format, file string) *conversation.Conversation {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	c, err := conversation.Parse(format, string(text), conversation.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// typed has what the native ones have not: odd JSON, raw bytes, a call by name, results in odd places.
func typed() *conversation.Conversation {
	text := func(s string) conversation.Block { return conversation.Block{Kind: conversation.KindText, Text: s} }
	return &conversation.Conversation{
		Tools: []conversation.Tool{
			{Name: "tide_table", Description: "Times of high and low water.", Schema: `{"type":"object","properties":{"zone":{"type":"string"}}}`},
			{Name: "broken", Schema: `{"type":`},
			{Name: "bare"},
		},
		Messages: []conversation.Message{
			{Role: conversation.RoleSystem, RawRole: "system", Blocks: []conversation.Block{text("You answer for the harbour office.")}},
			{Role: conversation.RoleUser, RawRole: "user", Blocks: []conversation.Block{
				text("Read this \"table\" \x01 & tell me."),
				{Kind: conversation.KindMedia, Media: &conversation.Media{Kind: conversation.MediaImage, MIMEType: "image/png", Bytes: []byte("\x89PNG")}},
				{Kind: conversation.KindMedia, Media: &conversation.Media{Kind: conversation.MediaDocument, MIMEType: "text/plain", Bytes: []byte("High water 14:20")}},
				{Kind: conversation.KindMedia, Media: &conversation.Media{Kind: conversation.MediaImage}},
				{Kind: conversation.KindOpaque, Raw: `{"type":"map_tile","x":1}`},
			}},
			{Role: conversation.RoleAssistant, RawRole: "assistant", Blocks: []conversation.Block{
				{Kind: conversation.KindThinking, Text: "The tide comes first.", Signed: true},
				text("I look at the tide."),
				{Kind: conversation.KindToolUse, ID: "c1", Name: "tide_table", Input: `{"zone":"north"}`},
				{Kind: conversation.KindToolUse, ID: "c2", Name: "broken", Input: `{"zone":`},
			}},
			{Role: conversation.RoleTool, RawRole: "tool", Blocks: []conversation.Block{
				{Kind: conversation.KindToolResult, ID: "c1", Result: []conversation.Block{text("High water"), text("14:20")}},
				{Kind: conversation.KindToolResult, ID: "c2", IsError: true},
			}},
			{Role: conversation.RoleUser, RawRole: "user", Blocks: []conversation.Block{
				text("And tomorrow?"),
				{Kind: conversation.KindToolResult, ID: "c9", Result: []conversation.Block{text("late")}},
			}},
			{Role: conversation.RoleOther, RawRole: "critic", Blocks: []conversation.Block{text("Too long.")}},
		},
	}
}

// TestRequestBodies compares what every provider is sent for every form with a golden file, warnings included.
func TestRequestBodies(t *testing.T) {
	for _, a := range apis() {
		for _, form := range []string{"anthropic", "openai", "typed"} {
			t.Run(form+" to "+a.name, func(t *testing.T) {
				d := newDouble(t, a, nil)
				got, err := d.counter(t, 0).Count(t.Context(), conversations(t)[form], lookup(t, a.model))
				if err != nil {
					t.Fatal(err)
				}
				var page bytes.Buffer
				if err := json.Indent(&page, d.requests()[0], "", "  "); err != nil {
					t.Fatalf("the body is no JSON: %v", err)
				}
				page.WriteByte('\n')
				for _, w := range got.Warnings {
					fmt.Fprintf(&page, "%s %d: %s\n", w.Code, w.Message, w.Detail)
				}
				file := filepath.Join("testdata", a.name+"-from-"+form+".golden")
				if *update {
					if err := os.WriteFile(file, page.Bytes(), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), page.String()); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		}
	}
}

func TestAnthropicGetsTheCallersBytes(t *testing.T) {
	a := apis()[0]
	c := native(t, conversation.FormatAnthropicMessages, "anthropic.json")
	members, _ := conversation.Members(c.Source)
	d := newDouble(t, a, nil)
	if _, err := d.counter(t, 0).Count(t.Context(), c, lookup(t, a.model)); err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	want.WriteString(`{"model":"claude-sonnet-4-5-20250929"`)
	for _, m := range members {
		switch m.Key {
		case "system", "tools", "tool_choice", "thinking", "messages":
			want.WriteString(`,"` + m.Key + `":` + m.Value)
		}
	}
	want.WriteString("}")
	if diff := cmp.Diff(want.String(), string(d.requests()[0])); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestABareListOfMessagesIsCounted(t *testing.T) {
	a := apis()[0]
	c, err := conversation.Parse(conversation.FormatAnthropicMessages, `[ {"role":"user","content":"hi"} ]`, conversation.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	d := newDouble(t, a, nil)
	if _, err := d.counter(t, 0).Count(t.Context(), c, lookup(t, "claude-opus-4-8")); err != nil {
		t.Fatal(err)
	}
	const want = `{"model":"claude-opus-4-8","messages":[ {"role":"user","content":"hi"} ]}`
	if got := string(d.requests()[0]); got != want {
		t.Errorf("body %s, want %s", got, want)
	}
}

func TestModelNamesAreTheProvidersOwn(t *testing.T) {
	for provider, names := range map[string][][2]string{
		"anthropic": {
			{"claude-sonnet-4-5", "claude-sonnet-4-5"},
			{"anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"},
			{"anthropic/claude-3.7-sonnet:thinking", "claude-3-7-sonnet"},
			{"us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5-20250929"},
			{"claude-opus-4-1@20250805", "claude-opus-4-1-20250805"},
			{"claude-opus-4-8@default", "claude-opus-4-8"},
			{"claude-sonnet-4-5[1m]", "claude-sonnet-4-5"},
		},
		"openai": {
			{"gpt-4.1-mini", "gpt-4.1-mini"},
			{"openai/gpt-4o:extended", "gpt-4o"},
			{"openai:gpt-4o", "gpt-4o"},
			{"ft:gpt-4o-mini-2024-07-18:org::id", "ft:gpt-4o-mini-2024-07-18:org::id"},
		},
		"google": {
			{"gemini-2.5-pro", "models/gemini-2.5-pro"},
			{"models/gemini-2.5-flash", "models/gemini-2.5-flash"},
			{"google/gemini-2.5-pro:thinking", "models/gemini-2.5-pro"},
		},
	} {
		for _, a := range apis() {
			if a.name != provider {
				continue
			}
			for _, n := range names {
				t.Run(n[0], func(t *testing.T) {
					a := a
					a.path = strings.Replace(a.path, "models/gemini-2.5-pro", n[1], 1)
					d := newDouble(t, a, nil)
					if _, err := d.counter(t, 0).Count(t.Context(), greeting(), lookup(t, n[0])); err != nil {
						t.Fatal(err)
					}
					body := members(d.requests()[0])
					if a.inside != "" {
						body = members(body[a.inside])
					}
					if got, want := string(body["model"]), `"`+n[1]+`"`; got != want {
						t.Errorf("model %s, want %s", got, want)
					}
				})
			}
		}
	}
}
