// Package provider asks a model's provider how many tokens a conversation has.
//
// It is the one way of counting that leaves the machine, and it is taken only when a caller asks for it: the text of the
// conversation goes to the provider as it is, for a count of anything else would be the count of another text. One
// package a provider renders the conversation and calls the endpoint through the provider's own SDK; a build that does not
// import a package does not link its SDK. [Counter] picks the provider by the model, bounds time, size and concurrency,
// and turns every failure into a short reason that holds neither key nor content, so that the caller can fall back to the
// local count and say why.
package provider
