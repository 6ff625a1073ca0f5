package tokens

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/conversation"
)

func TestImagesNeverCountByTheirLength(t *testing.T) {
	c, r := NewCounter(), newRegistry(t)
	data := strings.Repeat("QUJD", 50_000)
	openAIBody := `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + data + `"}}]},
		{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"shot","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"a","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + data + `"}}]}]`
	anthropicBody := `[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data + `"}}]},
		{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"shot","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data + `"}}]}]}]`
	for _, conv := range []*conversation.Conversation{openAI(t, openAIBody), anthropic(t, anthropicBody)} {
		for _, name := range []string{"gpt-4o", "claude-opus-5", "gemini-3-pro", "qwen3", "unknown-model"} {
			m := r.Lookup(name)
			got := report(t, c, conv, m)
			if want := 2 * m.Image.Tokens(0, 0, ""); got.Parts.Media != want {
				t.Errorf("%s, %s: media %d, want %d", conv.Format, name, got.Parts.Media, want)
			}
			if got.Tokens-got.Parts.Media > 200 {
				t.Errorf("%s, %s: %d tokens beside the images", conv.Format, name, got.Tokens-got.Parts.Media)
			}
			if len(got.Warnings) != 2 || got.Warnings[0].Code != WarnMediaAssumed || got.Warnings[0].Message != 0 || got.Warnings[1].Message != 2 {
				t.Errorf("%s, %s: warnings %v", conv.Format, name, got.Warnings)
			}
		}
	}
}

func TestDocumentsAndRecordingsCountByRule(t *testing.T) {
	c, r := NewCounter(), newRegistry(t)
	block := func(kind, mime string, bytes int) string {
		return `[{"role":"user","content":[{"type":"` + kind + `","source":{"type":"base64","media_type":"` + mime + `","data":"` + base64.StdEncoding.EncodeToString(make([]byte, bytes)) + `"}}]}]`
	}
	for _, x := range []struct {
		name, model, body string
		media, text       int
	}{
		{name: "one page", model: "claude-opus-5", body: block("document", "application/pdf", 10), media: 2400},
		{name: "five pages", model: "claude-opus-5", body: block("document", "application/pdf", 5*64<<10-9), media: 12_000},
		{name: "gemini 2", model: "gemini-2.5-pro", body: block("document", "application/pdf", 10), media: 258},
		{name: "gemini 3", model: "gemini-3-pro", body: block("document", "application/pdf", 10), media: 560},
		{name: "other", model: "gpt-4o", body: block("document", "application/pdf", 10), media: 1500},
		{name: "audio", model: "gemini-2.5-pro", body: block("audio", "audio/mp3", 160_000), media: 320},
		{name: "file with image", model: "claude-opus-5", body: block("file", "image/png", 10), media: 1373},
		{name: "text", model: "gpt-4o", body: `[{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"hello world"}}]}]`, text: 2},
	} {
		got := report(t, c, anthropic(t, x.body), r.Lookup(x.model))
		if got.Parts.Media != x.media || got.Parts.Text != x.text {
			t.Errorf("%s: media %d, text %d; want %d, %d", x.name, got.Parts.Media, got.Parts.Text, x.media, x.text)
		}
	}
}
