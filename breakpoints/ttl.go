package breakpoints

import (
	"slices"
	"strings"
)

// TTL is the life of a cached prefix, counted from the start of the request that
// wrote or last read it.
type TTL int

// The lives.
const (
	// TTL5m is the provider's default. It is written without a ttl member, which
	// some platforms refuse even for 5m.
	TTL5m TTL = iota
	TTL1h
	// TTL30m is the one life of [LayoutOpenAI].
	TTL30m
)

// ttlNames are the wire words, by number.
func ttlNames() []string { return []string{"5m", "1h", "30m"} }

// String returns the wire word.
func (t TTL) String() string {
	switch t {
	case TTL1h:
		return "1h"
	case TTL30m:
		return "30m"
	default:
		return "5m"
	}
}

func ttlNamed(word string) (TTL, bool) {
	at := slices.Index(ttlNames(), word)
	return TTL(max(at, 0)), at >= 0
}

// wire is the ttl member's value, empty for none: the defaults of the providers.
func (t TTL) wire() string {
	if t == TTL1h {
		return "1h"
	}
	return ""
}

// ClampTTL returns the life a mark may ask for. Alibaba's and OpenCode's own
// routes, and Qwen models on any other, know five minutes only; the opencode-go
// route takes an hour for all but MiniMax M2.5. A known route decides before the
// model does. Names are compared without regard to case, and of the model's name
// only what follows the vendor counts. Source: the published Hermes Agent.
func ClampTTL(ttl TTL, route, model string) TTL {
	if ttl == TTL5m {
		return ttl
	}
	model = strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	switch strings.ToLower(route) {
	case "opencode-go":
		if model == "minimax-m2.5" {
			return TTL5m
		}
		return ttl
	case "alibaba", "opencode", "opencode-zen":
		return TTL5m
	}
	if strings.HasPrefix(model, "qwen") {
		return TTL5m
	}
	return ttl
}
