// Package openai counts by OpenAI's responses/input_tokens endpoint. It takes the input of the Responses API, so every
// conversation is rendered to that, chat completions included.
package openai
