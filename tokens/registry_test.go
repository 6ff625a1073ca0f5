package tokens

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func newRegistry(t testing.TB) *Registry {
	t.Helper()
	r, err := NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLookupFindsTheRowWhateverTheSpelling(t *testing.T) {
	r := newRegistry(t)
	for name, want := range map[string]string{
		"gpt-4o":                               "gpt-4o",
		"gpt-4o-2024-08-06":                    "gpt-4o",
		"chatgpt-4o-latest":                    "gpt-4o",
		"GPT-4o-Mini":                          "gpt-4o-mini",
		"openai/gpt-4.1":                       "gpt-4.1",
		"azure/gpt-4.1-mini-2025-04-14":        "gpt-4.1-mini",
		"gpt-4":                                "gpt-4",
		"gpt-4-0613":                           "gpt-4",
		"gpt-4-1106-preview":                   "gpt-4-turbo",
		"gpt-3.5-turbo-0125":                   "gpt-3.5-turbo",
		"gpt-5-2025-08-07":                     "gpt-5",
		"gpt-5.2-pro":                          "gpt-5.2",
		"gpt-6-sol":                            "gpt-6",
		"gpt-9-ultra-2031":                     "gpt",
		"gpt-oss-120b":                         "gpt-oss",
		"ft:gpt-4o-mini-2024-07-18:org:name:x": "gpt-4o-mini",
		"o3":                                   "o1-pro",
		"o4-mini-2025-04-16":                   "o4-mini",
		"openai:gpt-4o":                        "gpt-4o",
		"claude-sonnet-4-5":                    "claude-sonnet-4-5",
		"claude-sonnet-4.5":                    "claude-sonnet-4-5",
		"anthropic/claude-sonnet-4.5:beta":     "claude-sonnet-4-5",
		"claude-sonnet-4-5-20250929":           "claude-sonnet-4-5",
		"claude-sonnet-4-20250514":             "claude-sonnet-4",
		"claude-sonnet-4@20250514":             "claude-sonnet-4",
		"us.anthropic.claude-opus-4-5-20251101-v1:0":                                        "claude-opus-4-5",
		"bedrock/eu.anthropic.claude-haiku-4-5-20251001-v1:0":                               "claude-haiku-4-5",
		"arn:aws:bedrock:us-east-1:1:inference-profile/global.anthropic.claude-opus-4-6-v1": "claude-opus-4-6",
		"vertex_ai/claude-3-5-sonnet@20240620":                                              "claude-3-5-sonnet-20240620",
		"claude-3.7-sonnet:thinking":                                                        "claude-3-7-sonnet",
		"claude-opus-5":                                                                     "claude-opus-5",
		"claude-opus-5-5":                                                                   "claude-opus-5-5",
		"claude-opus-5.5-20261001":                                                          "claude-opus-5-5",
		"claude-quartz-9":                                                                   "claude",
		"my-proxy-claude-x":                                                                 "claude",
		"gemini-2.5-pro":                                                                    "gemini-2.5-pro",
		"models/gemini-2.5-flash-lite":                                                      "gemini-2.5-flash",
		"publishers/google/models/gemini-3-pro-preview":                                     "gemini-3-pro",
		"meta-llama/Llama-3.3-70B-Instruct-Turbo":                                           "llama-3.1",
		"meta.llama3-1-70b-instruct-v1:0":                                                   "llama-3.1",
		"accounts/fireworks/models/llama-v3p1-8b-instruct":                                  "llama-3.1",
		"llama3:8b":                           "llama-3",
		"ollama/qwen3:30b":                    "qwen3",
		"Qwen/Qwen3-Coder-480B-A35B-Instruct": "qwen3-coder",
		"deepseek.v3-v1:0":                    "deepseek-v3",
		"deepseek/deepseek-chat":              "deepseek-chat",
		"mistral.mistral-large-2407-v1:0":     "mistral",
		"moonshotai/kimi-k2-0905":             "kimi-k2-0905",
		"zai-org/GLM-5.2-FP8":                 "glm-5.2",
		"amazon.nova-pro-v1:0":                "nova",
		"x-ai/grok-4":                         "grok-4",
		"some-model":                          "",
		"":                                    "",
		"gpt-4oh":                             "gpt",
	} {
		got := r.Lookup(name)
		if got.ID != want {
			t.Errorf("Lookup(%q).ID = %q, want %q", name, got.ID, want)
		}
		if got.Name != name {
			t.Errorf("Lookup(%q).Name = %q", name, got.Name)
		}
	}
}

func TestLookupOfUnknownModelsIsConservativeAndNeverFails(t *testing.T) {
	r := newRegistry(t)
	m := r.Lookup("acme/brain-1")
	if m.Known || m.Family != FamilyUnknown || m.ContextWindow != DefaultContextWindow || m.EncodingExact || m.Claude || m.Provider != "unknown" {
		t.Errorf("Lookup(acme/brain-1) = %+v, want an unknown model with the default window", m)
	}
	if m.Image.Tokens(100, 100, "") == 0 {
		t.Error("images of an unknown model cost nothing")
	}
	m = r.Lookup("claude-quartz-9")
	if m.Known || !m.Claude || m.Thinking != ThinkingBound || m.ContextWindow != 200_000 {
		t.Errorf("Lookup(claude-quartz-9) = %+v, want a prefix-bound Claude with a window of 200,000", m)
	}
	m = r.Lookup("gpt-9-ultra-2031")
	if m.Known || m.EncodingExact || m.Encoding != O200kBase {
		t.Errorf("Lookup(gpt-9-ultra-2031) = %+v, want an estimate over o200k_base", m)
	}
	r.Lookup(strings.Repeat("a-", 1<<20))
	r.Lookup("\xff\xfe/\x00")
}

func TestLookupKnowsWindowsEncodingsAndRegimes(t *testing.T) {
	r := newRegistry(t)
	for _, c := range []struct {
		name     string
		window   int
		encoding string
		exact    bool
		thinking Thinking
		minimum  int
		claude   bool
	}{
		{name: "gpt-4o", window: 128_000, encoding: O200kBase, exact: true, thinking: ThinkingNone, minimum: 1024},
		{name: "gpt-4.1", window: 1_047_576, encoding: O200kBase, exact: true, thinking: ThinkingNone, minimum: 1024},
		{name: "gpt-4", window: 8_192, encoding: CL100kBase, exact: true, thinking: ThinkingNone},
		{name: "gpt-5", window: 400_000, encoding: O200kBase, exact: true, thinking: ThinkingNone, minimum: 1024},
		{name: "gpt-6", window: 1_050_000, encoding: O200kBase, thinking: ThinkingNone, minimum: 1024},
		{name: "claude-sonnet-4-5", window: 200_000, encoding: ClaudeV3Pieces, exact: true, thinking: ThinkingUnbound, minimum: 1024, claude: true},
		{name: "claude-sonnet-4-5[1m]", window: 1_000_000, encoding: ClaudeV3Pieces, exact: true, thinking: ThinkingUnbound, minimum: 1024, claude: true},
		{name: "claude-haiku-4-5", window: 200_000, encoding: ClaudeV3Pieces, exact: true, thinking: ThinkingUnbound, minimum: 4096, claude: true},
		{name: "claude-3-5-sonnet", window: 200_000, encoding: ClaudeV3Pieces, exact: true, thinking: ThinkingNone, minimum: 1024, claude: true},
		{name: "claude-opus-5", window: 1_000_000, encoding: ClaudeV47Pieces, exact: true, thinking: ThinkingUnbound, minimum: 512, claude: true},
		{name: "claude-sonnet-5", window: 1_000_000, encoding: ClaudeV47Pieces, exact: true, thinking: ThinkingUnbound, minimum: 1024, claude: true},
		{name: "claude-mythos-5.1", window: 1_000_000, encoding: ClaudeV47Pieces, thinking: ThinkingUnbound, minimum: 512, claude: true},
		{name: "claude-fable-5-1", window: 1_000_000, encoding: ClaudeV47Pieces, exact: true, thinking: ThinkingBound, minimum: 512, claude: true},
		{name: "claude-sonnet-5-5", window: 1_000_000, encoding: ClaudeV47Pieces, exact: true, thinking: ThinkingBound, minimum: 512, claude: true},
		{name: "gemini-2.5-flash", window: 1_048_576, encoding: O200kBase, thinking: ThinkingNone, minimum: 1024},
		{name: "deepseek-chat", window: 128_000, encoding: O200kBase, thinking: ThinkingNone},
		{name: "llama-3.1-70b", window: 131_072, encoding: O200kBase, thinking: ThinkingNone},
	} {
		m := r.Lookup(c.name)
		if m.ContextWindow != c.window || m.Encoding != c.encoding || m.EncodingExact != c.exact || m.Thinking != c.thinking || m.CacheMinimum != c.minimum || m.Claude != c.claude {
			t.Errorf("Lookup(%q) = %+v, want %+v", c.name, m, c)
		}
	}
}

func TestAllIsSortedCompleteAndDated(t *testing.T) {
	all := newRegistry(t).All()
	if len(all) < 80 {
		t.Fatalf("%d models", len(all))
	}
	if !slices.IsSortedFunc(all, func(a, b Model) int { return strings.Compare(a.ID, b.ID) }) {
		t.Error("All is not sorted by ID")
	}
	for _, m := range all {
		if _, err := time.Parse(time.DateOnly, m.Date); err != nil {
			t.Errorf("%s: %v", m.ID, err)
		}
		if m.Image.Source == "" {
			t.Errorf("%s: its image rule %s has no source", m.ID, m.Image.Name)
		}
		if hasPrompt := m.Claude && m.ID != "claude-2"; hasPrompt != (m.ToolPrompt > 0) || hasPrompt != (m.ToolPromptForced > 0) {
			t.Errorf("%s: tool system prompts of %d and %d tokens", m.ID, m.ToolPrompt, m.ToolPromptForced)
		}
		if m.Date == "" || m.Source == "" || m.Provider == "" || m.Family == "" || m.ContextWindow <= 0 || m.MaxOutput <= 0 || m.Image.Kind == "" {
			t.Errorf("%s: a field is missing: %+v", m.ID, m)
		}
		want := []string{O200kBase, CL100kBase}
		switch m.Family {
		case FamilyClaude3:
			want = []string{ClaudeV3Pieces}
		case FamilyClaude47, FamilyClaude5:
			want = []string{ClaudeV47Pieces}
		}
		if !slices.Contains(want, m.Encoding) {
			t.Errorf("%s: encoding %q", m.ID, m.Encoding)
		}
		if m.Thinking != ThinkingNone && m.Thinking != ThinkingUnbound && m.Thinking != ThinkingBound {
			t.Errorf("%s: thinking %q", m.ID, m.Thinking)
		}
		if m.Claude != (m.Provider == "anthropic") {
			t.Errorf("%s: provider %s, claude %t", m.ID, m.Provider, m.Claude)
		}
		if m.MaxOutput > m.ContextWindow {
			t.Errorf("%s: answers of %d tokens in a window of %d", m.ID, m.MaxOutput, m.ContextWindow)
		}
	}
}

// The models that people ask about have rows of their own, not a guess from the vendor's name.
func TestCurrentModelsAreKnown(t *testing.T) {
	r := newRegistry(t)
	for name, want := range map[string]Family{
		"gpt-6": FamilyOpenAI, "gpt-6-sol": FamilyOpenAI, "gpt-5.6-luna": FamilyOpenAI, "gpt-5.5-pro": FamilyOpenAI, "gpt-5.4-nano": FamilyOpenAI,
		"gpt-5.2-chat-latest": FamilyOpenAI, "gpt-oss-20b": FamilyOpenAI, "o1": FamilyOpenAI, "o3-mini": FamilyOpenAI, "o4-mini": FamilyOpenAI, "codex-mini-latest": FamilyOpenAI,
		"claude-opus-4-7": FamilyClaude47, "claude-opus-4-8": FamilyClaude5, "claude-opus-5": FamilyClaude5, "claude-sonnet-5": FamilyClaude5,
		"claude-opus-5-5": FamilyClaude5, "claude-sonnet-5.5": FamilyClaude5, "claude-haiku-5-5": FamilyClaude5, "claude-fable-5-1": FamilyClaude5,
		"gemini-3-pro-preview": FamilyGemini, "gemini-3.1-flash-lite": FamilyGemini, "gemini-2.5-flash-lite": FamilyGemini, "gemma-3-27b-it": FamilyGemini,
		"llama-3.3-70b-versatile": FamilyLlama3, "qwen3-235b-a22b": FamilyQwen3, "qwen3-max": FamilyQwen3, "deepseek-v3.2": FamilyDeepSeek, "deepseek-r1": FamilyDeepSeek,
		"mistral-large-2512": FamilyMistral, "mistral-small-latest": FamilyMistral, "kimi-k2-thinking": FamilyKimi, "glm-4.7": FamilyGLM,
		"minimax-m2.5": FamilyUnknown, "grok-4-1-fast-reasoning": FamilyUnknown,
	} {
		if m := r.Lookup(name); !m.Known || m.Family != want {
			t.Errorf("Lookup(%q): row %q, known %t, family %s, want a known one of %s", name, m.ID, m.Known, m.Family, want)
		}
	}
}

func TestReadRegistryRefusesFaultyData(t *testing.T) {
	const rule = `{"image_rules":[{"name":"g","kind":"fixed","base":1}],`
	for name, data := range map[string]string{
		"not JSON":       `{`,
		"no ids":         rule + `"models":[{"image":"g"}]}`,
		"no image rule":  `{"models":[{"ids":["a"],"image":"g"}]}`,
		"two of a name":  rule + `"models":[{"ids":["a.b"],"image":"g"},{"ids":["a-b"],"image":"g"}]}`,
		"alias repeated": rule + `"models":[{"ids":["a","a"],"image":"g"}]}`,
	} {
		if _, err := readRegistry([]byte(data)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
