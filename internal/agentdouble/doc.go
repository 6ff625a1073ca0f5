// Package agentdouble stands for a model in tests of agent loops, on a loopback port
// and over the provider's own wire: it asks for a number of tool calls and then ends
// the turn. It refuses what the provider would refuse, and it sees where a request's
// prefix is not the one before it, which a prompt cache would not find again.
// [Judge] does the same for tests that have bodies and no loop.
package agentdouble
