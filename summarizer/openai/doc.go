// Package openai is the summarizer backend that speaks OpenAI's Chat Completions
// API through the official SDK, which most other servers understand as well:
// OpenRouter, vLLM, llama.cpp, Ollama, Gemini's compatible endpoint. It sends the
// model, one system and one user message, the length limit, and nothing else: no
// tools, no temperature. Where a server knows a field by another name or not at
// all, it says so with a 400 that names the field; the backend then leaves the
// field out or renames it, once, and remembers. Where a stream ends before its
// first event, the answer is asked for in one piece, once. Otherwise each call is
// made once. It reads nothing from the environment.
package openai
