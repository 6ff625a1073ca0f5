// Package tokens says how many tokens a text or a conversation costs a model, and how sure that number is.
//
// One pass over a text counts the tokens of an OpenAI encoding exactly and sorts them into classes (Latin words,
// digits, CJK, ...). For models whose vocabulary is public the total is the answer; for the others the classes are
// weighted into an estimate with stated bounds. Costs of messages, tools and media are added by rule, a message at a
// time, so a caller that changed one message recounts one message.
//
// What a model is (its family, context window, media rule, cache minimum) comes from the registry in models.json.
// Nothing here reaches the network, decodes an image or fails on odd content.
package tokens
