package compressor

import (
	"errors"
	"testing"
)

func ptr[T any](v T) *T { return &v }

func mustResolve(t *testing.T, p Policy, layer Layer) rules {
	t.Helper()
	r, err := resolve(p, Policy{}, layer)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestThresholdAndTailFollowFromTheWindow(t *testing.T) {
	tests := []struct {
		name            string
		policy          Policy
		layer           Layer
		window, output  int
		threshold, tail int
	}{
		{"published figures at 200,000", Policy{}, LayerAgent, 200_000, 0, 100_000, 20_000},
		{"gateway layer", Policy{}, LayerGateway, 200_000, 0, 170_000, 34_000},
		{"small window has no floor", Policy{}, LayerAgent, 8_000, 0, 4_000, 800},
		{"TR5 answer reserved", Policy{}, LayerAgent, 200_000, 65_536, 67_232, 13_446},
		{"TR6 answer reserved", Policy{}, LayerAgent, 128_000, 65_536, 31_232, 6_246},
		{"TR7 reservation larger than the window is ignored", Policy{}, LayerAgent, 64_000, 70_000, 32_000, 6_400},
		{"TR8 no reservation", Policy{}, LayerAgent, 64_000, -5, 32_000, 6_400},
		{"TR11 absolute cap", Policy{ThresholdTokens: ptr(200_000)}, LayerAgent, 1_000_000, 0, 200_000, 40_000},
		{"TR12 cap of 0 is none", Policy{ThresholdTokens: ptr(0)}, LayerAgent, 1_000_000, 0, 500_000, 100_000},
		{"TR12 negative cap is none", Policy{ThresholdTokens: ptr(-100)}, LayerAgent, 1_000_000, 0, 500_000, 100_000},
		{"TR15 ratio clamped from below", Policy{TargetRatio: ptr(0.05)}, LayerAgent, 200_000, 0, 100_000, 10_000},
		{"TR15 ratio clamped from above", Policy{TargetRatio: ptr(0.95)}, LayerAgent, 200_000, 0, 100_000, 80_000},
		{"shares are exact", Policy{Threshold: ptr(0.29)}, LayerAgent, 100, 0, 29, 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := mustResolve(t, tt.policy, tt.layer).newBudgets(tt.window, tt.output)
			if got.threshold != tt.threshold || got.tail != tt.tail {
				t.Errorf("threshold %d, tail %d; want %d, %d", got.threshold, got.tail, tt.threshold, tt.tail)
			}
		})
	}
}

func TestSummaryBudgetIsAFifthBetweenFloorAndCap(t *testing.T) {
	tests := []struct {
		name               string
		window, summarized int
		want               int
	}{
		{"TR17 floor", 200_000, 5_000, 2_000},
		{"TR17 a fifth", 200_000, 30_000, 6_000},
		{"TR17 cap is 5 % of the window", 200_000, 80_000, 10_000},
		{"TR16 cap at one million", 1_000_000, 900_000, 12_000},
		{"floor wins on a small window", 16_000, 9_000, 2_000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := mustResolve(t, Policy{}, LayerAgent).summary(tt.window, tt.summarized); got != tt.want {
				t.Errorf("budget %d, want %d", got, tt.want)
			}
		})
	}
}

func TestTheLongestModelKeyDecidesTheThreshold(t *testing.T) {
	models, err := newModelThresholds(map[string]float64{"glm-5.2": 0.40, "glm-5.2-1M": 0.25})
	if err != nil {
		t.Fatal(err)
	}
	e := &Engine{models: models, gateway: DefaultGatewayThreshold}
	for name, want := range map[string]float64{"glm-5.2-1M": 0.25, "zai/GLM-5.2": 0.40, "glm-5": 0.50} {
		req := Request{Conversation: emptyConversation()}
		req.Model.Name = name
		r, err := e.rulesFor(req)
		if err != nil || r.threshold != want {
			t.Errorf("TR13 %s: threshold %v (%v), want %v", name, r.threshold, err, want)
		}
	}
}

func TestThresholdsOutsideZeroToOneAreRefused(t *testing.T) {
	var argument *ArgumentError
	if _, err := resolve(Policy{Threshold: ptr(1.5)}, Policy{}, LayerAgent); !errors.As(err, &argument) {
		t.Errorf("policy: got %v", err)
	}
	if _, err := newModelThresholds(map[string]float64{"x": 0}); err == nil {
		t.Error("model threshold of 0 was accepted")
	}
}
