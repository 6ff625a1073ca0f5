package breakpoints

import "strings"

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
