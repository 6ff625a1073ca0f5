package compressor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/elbowroom/elbowroom/tokens"
)

// deferLimit is the share of the window above which signed thinking of unknown
// rules no longer defers compression (reference: thinking policy).
const deferLimit = 0.95

// modelThreshold is an operator's threshold for the models whose name contains
// the key.
type modelThreshold struct {
	key       string
	threshold float64
}

// newModelThresholds sorts the overrides so that the longest key comes first.
func newModelThresholds(m map[string]float64) ([]modelThreshold, error) {
	out := make([]modelThreshold, 0, len(m))
	for key, share := range m {
		if key == "" || !(share > 0 && share <= 1) {
			return nil, fmt.Errorf("compressor: model threshold %q: %v is not a share between 0 and 1", key, share)
		}
		out = append(out, modelThreshold{strings.ToLower(key), share})
	}
	slices.SortFunc(out, func(a, b modelThreshold) int {
		return cmp.Or(len(b.key)-len(a.key), strings.Compare(a.key, b.key))
	})
	return out, nil
}

// rulesFor resolves the request's policy: the caller's word, then the operator's
// word for the model, then the layer's.
func (e *Engine) rulesFor(req Request) (rules, error) {
	server := e.policy
	if req.Layer == LayerGateway {
		server.Threshold = &e.gateway
	} else {
		name := strings.ToLower(req.Model.Name)
		for i := range e.models {
			if strings.Contains(name, e.models[i].key) {
				server.Threshold = &e.models[i].threshold
				break
			}
		}
	}
	r, err := resolve(req.Policy, server, req.Layer)
	if err != nil {
		return r, err
	}
	for _, i := range req.Pinned {
		if i < 0 || i >= len(req.Conversation.Messages) {
			return r, &ArgumentError{Field: "pinned", Message: i, Reason: fmt.Sprintf("there is no message %d", i)}
		}
	}
	if r.summarizer != "" && !slices.Contains(e.Summarizers(), r.summarizer) {
		return r, &ArgumentError{Field: "policy.summarizer", Message: -1, Reason: fmt.Sprintf(
			"no summarizer %q here; there is %s", r.summarizer, strings.Join(e.Summarizers(), ", "))}
	}
	return r, nil
}

// judge finds the size that is compared with the threshold: what the provider
// reported for the messages it saw plus the local count of those after them, or
// the local count of all.
func (j *job) judge() {
	r, u := j.report, j.req.LastUsage
	r.JudgedTokens, r.JudgedBy = j.counts.Tokens, "count"
	if u == nil || u.PromptTokens <= 0 {
		return
	}
	anchor := j.sizes.anchor(tokens.Usage{PromptTokens: u.PromptTokens, MessageCount: u.MessageCount})
	if !anchor.Applied {
		r.JudgedBy = "usage ignored: " + anchor.Reason
		return
	}
	r.JudgedTokens, r.JudgedBy = anchor.Tokens, "usage"
}

// gate says whether it is time at all.
func (j *job) gate(ctx context.Context) (verdict, bool) {
	r, n := j.report, len(j.c.Messages)
	switch {
	case !j.rules.enabled:
		return verdict{OutcomeDisabled, "the policy is disabled"}, true
	case n == 0:
		return verdict{OutcomeTooShort, "there are no messages"}, true
	case !j.req.Force && r.JudgedTokens < j.budget.threshold:
		return verdict{OutcomeBelowThreshold, fmt.Sprintf("%s tokens are below the threshold of %s", thousands(r.JudgedTokens), thousands(j.budget.threshold))}, true
	case j.req.Layer == LayerGateway && n < GatewayMinMessages:
		return verdict{OutcomeTooShort, fmt.Sprintf("the gateway layer compresses from %d messages on, there are %d", GatewayMinMessages, n)}, true
	}
	if j.req.Force || j.req.SessionID == "" {
		return verdict{}, false
	}
	if j.rules.failurePolicy == FailureAbort {
		if r.RetryAfter = j.engine.ladder.Cooling(ctx, j.req.Tenant, j.req.SessionID, j.rules.summarizer); r.RetryAfter > 0 {
			return verdict{OutcomeCoolingDown, "the summarizer failed for this session a short while ago"}, true
		}
	}
	if next := j.engine.sessions.thrashing(ctx, j.session()); r.JudgedTokens < next {
		return verdict{OutcomeNoGain, fmt.Sprintf("the last two compressions of this session saved under 10 %%; next from %s tokens on", thousands(next))}, true
	}
	return verdict{}, false
}

// targetReason says what stands in the way of a target. A reason for doing
// nothing counts; what was done does not explain what was not.
func targetReason(r *Report, target int, v verdict) string {
	s := fmt.Sprintf("%s tokens remain, the target is %s", thousands(r.TokensAfter), thousands(target))
	switch {
	case r.BindingConstraint != "":
		return s + ": " + r.BindingConstraint + " takes the room"
	case v.outcome != OutcomeCompressed:
		return s + ": " + v.reason
	default:
		return s + ": head, tail and system prompt take the room"
	}
}
