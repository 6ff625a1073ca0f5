package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// A message that is kept leaves byte for byte, and so does the body around it.
func TestKeptMessagesLeaveByteForByte(t *testing.T) {
	f := start(t, nil)
	in := anthropicBody()
	out := nativeText(compress(t, f, anthropic(in), elbowroomv1.View_VIEW_FULL).GetConversation())
	if !strings.HasPrefix(out, `{ "max_tokens":1.0e3, "model": "claude-sonnet-4-5", "system":"You fix \u0062ugs.`) {
		t.Errorf("the head of the body was changed: %.120s", out)
	}
	before, after := sections(t, in)[elbowroomv1.Section_SECTION_MESSAGES], sections(t, out)[elbowroomv1.Section_SECTION_MESSAGES]
	if before[0] != after[0] {
		t.Errorf("the first message left as %s, came as %s", after[0], before[0])
	}
	for i := 1; i <= 3; i++ {
		if a, b := after[len(after)-i], before[len(before)-i]; a != b {
			t.Errorf("message %d from the end left as %s, came as %s", i, a, b)
		}
	}
}

// Prepare is Compress followed by ApplyCacheControl.
func TestPrepareIsCompressThenApplyCacheControl(t *testing.T) {
	f := start(t, nil)
	for form, c := range forms() {
		t.Run(form, func(t *testing.T) {
			shorter := compress(t, f, c, elbowroomv1.View_VIEW_FULL).GetConversation()
			want := mark(t, f, shorter, elbowroomv1.View_VIEW_FULL).GetConversation()
			got := prepare(t, f, c, elbowroomv1.View_VIEW_FULL).GetConversation()
			if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
				t.Errorf("Prepare (-two calls +one call):\n%s", diff)
			}
		})
	}
}

func TestNothingChangedIsTheSameConversationAndNoEdits(t *testing.T) {
	f := start(t, nil)
	for form, c := range forms() {
		for _, view := range []elbowroomv1.View{elbowroomv1.View_VIEW_FULL, elbowroomv1.View_VIEW_EDITS} {
			t.Run(fmt.Sprint(form, " ", view), func(t *testing.T) {
				out, err := f.client.Compress(t.Context(), &elbowroomv1.CompressRequest{Conversation: c, Model: testModel, View: view})
				if err != nil {
					t.Fatal(err)
				}
				if out.GetOutcome() != elbowroomv1.Outcome_OUTCOME_BELOW_THRESHOLD {
					t.Errorf("outcome %v, want BELOW_THRESHOLD", out.GetOutcome())
				}
				if out.GetEdits() != nil || out.GetSplices() != nil {
					t.Errorf("edits of a conversation that did not change: %v", out)
				}
				want := c
				if view == elbowroomv1.View_VIEW_EDITS {
					want = nil
				}
				if diff := cmp.Diff(want, out.GetConversation(), protocmp.Transform()); diff != "" {
					t.Errorf("conversation (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestMarkingAMarkedConversationChangesNothing(t *testing.T) {
	f := start(t, nil)
	for form, c := range forms() {
		t.Run(form, func(t *testing.T) {
			once := mark(t, f, c, elbowroomv1.View_VIEW_FULL).GetConversation()
			if edits := mark(t, f, once, elbowroomv1.View_VIEW_EDITS); edits.GetEdits() != nil || edits.GetSplices() != nil {
				t.Errorf("the second marking has edits: %v", edits)
			}
		})
	}
}

func TestPlanOnlyChangesNothing(t *testing.T) {
	f := start(t, nil)
	out, err := f.client.Compress(t.Context(), &elbowroomv1.CompressRequest{
		Conversation: anthropic(anthropicBody()), ContextWindow: 8_000, PlanOnly: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if out.GetOutcome() != elbowroomv1.Outcome_OUTCOME_PLANNED || nativeText(out.GetConversation()) != anthropicBody() {
		t.Errorf("outcome %v, unchanged %v", out.GetOutcome(), nativeText(out.GetConversation()) == anthropicBody())
	}
	if len(out.GetReport().GetRegions()) == 0 {
		t.Error("the plan has no regions")
	}
}
