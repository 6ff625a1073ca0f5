// Package gemini counts by the Gemini API's countTokens endpoint. No native form of Gemini is read, so every conversation is
// rendered.
package gemini
