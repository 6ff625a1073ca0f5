// Package admin serves what an operator asks of a running server: metrics, whether it
// lives and is ready, and profiles. Nothing here says anything of a conversation.
package admin
