package main

import (
	"context"
	"net/http"

	"github.com/elbowroom/elbowroom/internal/config"
	"github.com/elbowroom/elbowroom/tokens/provider"
	"github.com/elbowroom/elbowroom/tokens/provider/anthropic"
	"github.com/elbowroom/elbowroom/tokens/provider/gemini"
	"github.com/elbowroom/elbowroom/tokens/provider/openai"
)

// providerCounts builds the counter that asks providers. Keys and addresses come from the variables that the providers' own
// SDKs read; getenv looks one up. A provider without a key is no error: its calls say that the key is missing.
func providerCounts(ctx context.Context, c config.Count, getenv func(string) string) (*provider.Counter, error) {
	client := provider.NewHTTPClient(nil)
	var backends []provider.Backend
	for _, name := range c.Providers {
		b, err := providerBackend(ctx, name, client, getenv)
		if err != nil {
			return nil, err
		}
		backends = append(backends, b)
	}
	return provider.New(provider.Options{Backends: backends, Timeout: c.Timeout, Concurrency: c.Concurrency})
}

// providerBackend builds one backend. The configuration has checked the name.
func providerBackend(ctx context.Context, name string, client *http.Client, getenv func(string) string) (provider.Backend, error) {
	switch name {
	case "anthropic":
		if key := getenv("ANTHROPIC_API_KEY"); key != "" {
			return anthropic.New(anthropic.Options{Key: key, BaseURL: getenv("ANTHROPIC_BASE_URL"), HTTP: client}), nil
		}
		return provider.WithoutKey(anthropic.Name, "ANTHROPIC_API_KEY"), nil
	case "openai":
		if key := getenv("OPENAI_API_KEY"); key != "" {
			return openai.New(openai.Options{Key: key, BaseURL: getenv("OPENAI_BASE_URL"), HTTP: client}), nil
		}
		return provider.WithoutKey(openai.Name, "OPENAI_API_KEY"), nil
	default:
		for _, variable := range []string{"GOOGLE_API_KEY", "GEMINI_API_KEY"} { // the order of Google's SDK
			if key := getenv(variable); key != "" {
				return gemini.New(ctx, gemini.Options{Key: key, BaseURL: getenv("GOOGLE_GEMINI_BASE_URL"), HTTP: client})
			}
		}
		return provider.WithoutKey(gemini.Name, "GEMINI_API_KEY"), nil
	}
}
