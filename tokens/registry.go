package tokens

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// modelData is the registry: one row a model or group of models, dated, with its source.
//
//go:embed models.json
var modelData []byte

// Registry answers what is known about a model. It is immutable and safe for concurrent use.
type Registry struct {
	rows    []Model
	byID    map[string]int // normalized id -> index in rows
	generic ImageRule      // for models that are not in it
}

// modelRow is one row of models.json. The first id names the row; the others are further names of the same model. An id
// also stands for every longer name that continues it after a hyphen, a dot or the like (dates, sizes, variants);
// the longest id that fits wins. Rows named by a vendor's bare word ("claude", "gpt") catch all that vendor's names.
type modelRow struct {
	IDs             []string `json:"ids"`
	Provider        string   `json:"provider"`
	Family          Family   `json:"family"`
	Encoding        string   `json:"encoding"`
	EncodingAssumed bool     `json:"encoding_assumed"`
	Window          int      `json:"window"`
	MaxOutput       int      `json:"max_output"`
	Thinking        Thinking `json:"thinking"`
	Image           string   `json:"image"`
	CacheMinimum    int      `json:"cache_minimum"`
	ToolPrompt      int      `json:"tool_prompt"`
	ToolForced      int      `json:"tool_prompt_forced"`
	Date            string   `json:"date"`
	Source          string   `json:"source"`
	Note            string   `json:"note"`
}

// NewRegistry returns the registry built into the binary. The error is a fault of the embedded data.
func NewRegistry() (*Registry, error) { return readRegistry(modelData) }

func readRegistry(data []byte) (*Registry, error) {
	var file struct {
		ImageRules []ImageRule `json:"image_rules"`
		Models     []modelRow  `json:"models"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("model registry: %w", err)
	}
	images := make(map[string]ImageRule, len(file.ImageRules))
	for _, rule := range file.ImageRules {
		images[rule.Name] = rule
	}
	r := &Registry{byID: make(map[string]int), generic: images["generic"]}
	for _, row := range file.Models {
		if len(row.IDs) == 0 {
			return nil, fmt.Errorf("model registry: a row without ids")
		}
		image, ok := images[row.Image]
		if !ok {
			return nil, fmt.Errorf("model registry: %s: no image rule %q", row.IDs[0], row.Image)
		}
		r.rows = append(r.rows, row.model(image))
		for _, id := range row.IDs {
			key := normalize(id)
			if at, taken := r.byID[key]; taken {
				return nil, fmt.Errorf("model registry: %q names both %s and %s", id, r.rows[at].ID, row.IDs[0])
			}
			r.byID[key] = len(r.rows) - 1
		}
	}
	return r, nil
}

func (row *modelRow) model(image ImageRule) Model {
	return Model{
		ID: row.IDs[0], Name: row.IDs[0],
		Known:    row.Source != "assumption",
		Provider: row.Provider, Family: row.Family,
		Encoding: row.Encoding, EncodingExact: row.encodingExact(),
		ContextWindow: row.Window, MaxOutput: row.MaxOutput, Thinking: row.Thinking, Image: image,
		CacheMinimum: row.CacheMinimum, Claude: isClaude(row.Family), ToolPrompt: row.ToolPrompt, ToolPromptForced: row.ToolForced,
		Date: row.Date, Source: row.Source, Note: row.Note,
	}
}

func (row *modelRow) encodingExact() bool {
	return (row.Family == FamilyOpenAI || isClaude(row.Family)) && !row.EncodingAssumed
}

func isClaude(f Family) bool {
	return f == FamilyClaude3 || f == FamilyClaude47 || f == FamilyClaude5
}

// All returns one Model per row, sorted by ID.
func (r *Registry) All() []Model {
	all := slices.Clone(r.rows)
	slices.SortFunc(all, func(a, b Model) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// Lookup returns what is known about a model, whatever gateway's spelling its name has: vendor and region prefixes
// ("anthropic/", "us.anthropic.", "vertex_ai/", ARNs), dates, versions and variant suffixes, dots for hyphens, and case
// make no difference. The suffixes "[1m]" and "-1m" set the window to 1,000,000 tokens.
//
// An unknown name is no error: it yields FamilyUnknown, DefaultContextWindow and Known false. An unknown name that
// contains "claude" is taken for the newest Claude with prefix-bound thinking and a window of 200,000.
func (r *Registry) Lookup(name string) Model {
	m := r.find(name)
	m.Name = name
	if long := strings.ToLower(name); strings.HasSuffix(long, "[1m]") || strings.HasSuffix(long, "-1m") {
		m.ContextWindow = 1_000_000
	}
	return m
}

func (r *Registry) find(name string) Model {
	short := shorten(name)
	for _, key := range []string{normalize(withoutVendor(short)), normalize(short)} {
		if at, ok := r.longestMatch(key); ok {
			return r.rows[at]
		}
	}
	if at, ok := r.byID["claude"]; ok && strings.Contains(strings.ToLower(name), "claude") {
		return r.rows[at]
	}
	return Model{
		Provider: "unknown", Family: FamilyUnknown, Encoding: O200kBase,
		ContextWindow: DefaultContextWindow, MaxOutput: DefaultMaxOutput, Thinking: ThinkingNone, Image: r.generic,
		Note: "not in the registry: window, tokenizer and media costs are assumed",
	}
}

// longestMatch finds the row whose id is key or the longest part of it that ends at a hyphen.
func (r *Registry) longestMatch(key string) (row int, ok bool) {
	for {
		if at, ok := r.byID[key]; ok {
			return at, true
		}
		cut := strings.LastIndexByte(key, '-')
		if cut < 0 {
			return 0, false
		}
		key = key[:cut]
	}
}

// longestName is how much of a model name is looked at, in bytes. No real name comes near it.
const longestName = 200

// shorten takes the part of a name after the last slash: gateways, clouds and ARNs put the model last.
func shorten(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if at := strings.LastIndexByte(name, '/'); at >= 0 {
		name = name[at+1:]
	}
	return strings.TrimPrefix(name[:min(len(name), longestName)], "ft:")
}

// withoutVendor takes regions, vendors and gateways off the front: "us.anthropic.claude-opus-4-5", "openai:gpt-4o".
func withoutVendor(name string) string {
	for {
		at := strings.IndexAny(name, ".:")
		if at < 0 || !namesNoModel(name[:at]) {
			return name
		}
		name = name[at+1:]
	}
}

func namesNoModel(word string) bool {
	switch word {
	case "us", "eu", "ap", "apac", "jp", "au", "ca", "sa", "me", "us-gov", "global",
		"anthropic", "openai", "meta", "mistral", "google", "deepseek", "qwen", "amazon", "cohere", "moonshot",
		"moonshotai", "zai", "minimax", "xai", "nvidia", "writer", "ai21",
		"azure", "bedrock", "vertex", "google-gla", "google-vertex", "groq", "ollama", "openrouter", "fireworks", "together":
		return true
	default:
		return false
	}
}

// normalize puts a hyphen for every separator, so that "4.5", "4-5" and "4@5" are one.
func normalize(name string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return '-'
	}, strings.ToLower(name))
}
