package elbowroom

import (
	"encoding/json"
	"fmt"
	"math"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// reported is a provider's usage: Anthropic's or OpenAI's members, or a response
// that holds one.
type reported struct {
	Usage *reported `json:"usage"`

	InputTokens              int64 `json:"input_tokens"`
	CacheReadInputTokens     int64 `json:"cache_read_input_tokens"`
	CacheCreationInputTokens int64 `json:"cache_creation_input_tokens"`
	OutputTokens             int64 `json:"output_tokens"`

	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
}

// usageOf reads a usage in whatever form the caller holds it. SDK objects remember
// the JSON they came from.
func usageOf(usage any) (*elbowroomv1.Usage, error) {
	if raw, ok := usage.(interface{ RawJSON() string }); ok && raw.RawJSON() != "" {
		usage = raw.RawJSON()
	}
	text, err := JSON(usage)
	if err != nil {
		return nil, err
	}
	var r reported
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("elbowroom: usage: %w", err)
	}
	if r.Usage != nil {
		r = *r.Usage
	}
	// Anthropic names what was read from the cache and written to it beside the rest.
	prompt := r.PromptTokens + r.InputTokens + r.CacheReadInputTokens + r.CacheCreationInputTokens
	completion := r.CompletionTokens + r.OutputTokens
	if prompt <= 0 || prompt > math.MaxInt32 || completion < 0 || completion > math.MaxInt32 {
		return nil, nil // nothing that could be true: streams report zeros, for example
	}
	return &elbowroomv1.Usage{PromptTokens: int32(prompt), CompletionTokens: int32(completion)}, nil
}
