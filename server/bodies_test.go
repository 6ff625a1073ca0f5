package server_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/server"
)

// deltaTo is the body as its difference from a base: what stands between the longest
// common start and end.
func deltaTo(base, body string) *elbowroomv1.NativeDelta {
	start := 0
	for start < min(len(base), len(body)) && base[start] == body[start] {
		start++
	}
	end := 0
	for end < min(len(base), len(body))-start && base[len(base)-1-end] == body[len(body)-1-end] {
		end++
	}
	digest := sha256.Sum256([]byte(base))
	return &elbowroomv1.NativeDelta{Base: digest[:], Splices: []*elbowroomv1.Splice{{
		Offset: int64(start), Length: int64(len(base) - start - end), Text: body[start : len(body)-end],
	}}}
}

func sent(delta *elbowroomv1.NativeDelta, keep bool) *elbowroomv1.Conversation {
	return &elbowroomv1.Conversation{Native: &elbowroomv1.NativeRequest{
		Format: elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES, Body: &elbowroomv1.NativeRequest_Delta{Delta: delta}, Keep: keep,
	}}
}

// turns are bodies of one conversation that grows.
func turns(n int) []string {
	var out []string
	var messages []string
	for i := range n {
		messages = append(messages, fmt.Sprintf(`{"role":"user","content":"question %d"}`, i))
		out = append(out, `{"model":"claude-sonnet-5-5","system":"Be brief.","messages":[`+strings.Join(messages, ",")+`],"max_tokens":100}`)
		messages = append(messages, fmt.Sprintf(`{"role":"assistant","content":"answer %d"}`, i))
	}
	return out
}

func TestADeltaIsAnsweredAsTheWholeBodyIs(t *testing.T) {
	f := start(t, nil)
	bodies := turns(4)
	kept := anthropic(bodies[0])
	kept.Native.Keep = true
	if _, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{Conversation: kept}); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(bodies); i++ {
		delta := &elbowroomv1.ApplyCacheControlRequest{Conversation: sent(deltaTo(bodies[i-1], bodies[i]), true)}
		if got, whole := proto.Size(delta), len(bodies[i]); got > 200 {
			t.Errorf("turn %d: the delta takes %d bytes, the body %d", i, got, whole)
		}
		want, err := f.client.ApplyCacheControl(t.Context(), &elbowroomv1.ApplyCacheControlRequest{Conversation: anthropic(bodies[i])})
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.client.ApplyCacheControl(t.Context(), delta)
		if err != nil {
			t.Fatalf("turn %d: %v", i, err)
		}
		if !proto.Equal(want, got) {
			t.Errorf("turn %d: the answers differ:\n%v\n%v", i, want, got)
		}
	}
}

func TestTheResultOfACallCanBeTheBase(t *testing.T) {
	f := start(t, nil)
	bodies := turns(3)
	for _, view := range []elbowroomv1.View{elbowroomv1.View_VIEW_FULL, elbowroomv1.View_VIEW_EDITS} {
		kept := anthropic(bodies[1])
		kept.Native.Keep = true
		full, err := f.client.ApplyCacheControl(t.Context(), &elbowroomv1.ApplyCacheControlRequest{Conversation: anthropic(bodies[1])})
		if err != nil {
			t.Fatal(err)
		}
		marked := full.GetConversation().GetNative().GetJson()
		if marked == bodies[1] {
			t.Fatal("nothing was marked")
		}
		if _, err := f.client.ApplyCacheControl(t.Context(), &elbowroomv1.ApplyCacheControlRequest{Conversation: kept, View: view}); err != nil {
			t.Fatal(err)
		}
		next := strings.Replace(marked, `],"max_tokens"`, `,{"role":"assistant","content":"so"}],"max_tokens"`, 1)
		if _, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{Conversation: sent(deltaTo(marked, next), false)}); err != nil {
			t.Errorf("%v: %v", view, err)
		}
	}
}

func TestADeltaWithoutItsBaseIsRefused(t *testing.T) {
	bodies := turns(2)
	delta := sent(deltaTo(bodies[0], bodies[1]), true)
	for name, f := range map[string]*fixture{
		"never sent":      start(t, nil),
		"nothing is held": start(t, func(o *server.Options) { o.Limits.MaxKeptBytes = -1 }),
	} {
		whole := anthropic(bodies[0])
		whole.Native.Keep = name != "never sent"
		if _, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{Conversation: whole}); err != nil {
			t.Fatal(err)
		}
		_, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{Conversation: delta})
		if st := status.Convert(err); st.Code() != codes.FailedPrecondition || detailsOf(err).reason != "BASE_UNKNOWN" {
			t.Errorf("%s: got %v, want BASE_UNKNOWN", name, err)
		}
	}
}

func TestABadDeltaIsRefused(t *testing.T) {
	f := start(t, func(o *server.Options) { o.Limits.MaxMessageBytes = 4 << 10 })
	body := turns(1)[0]
	kept := anthropic(body)
	kept.Native.Keep = true
	if _, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{Conversation: kept}); err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256([]byte(body))
	splice := func(offset, length int64, text string) *elbowroomv1.Splice {
		return &elbowroomv1.Splice{Offset: offset, Length: length, Text: text}
	}
	for _, c := range []struct {
		name    string
		base    []byte
		splices []*elbowroomv1.Splice
		code    codes.Code
		says    string
	}{
		{"no digest", digest[:5], nil, codes.InvalidArgument, "delta.base"},
		{"behind the end", digest[:], []*elbowroomv1.Splice{splice(int64(len(body)), 1, "")}, codes.InvalidArgument, "delta.splices[0]"},
		{"before the start", digest[:], []*elbowroomv1.Splice{splice(-1, 1, "")}, codes.InvalidArgument, "splices[0]"},
		{"a length below 0", digest[:], []*elbowroomv1.Splice{splice(0, -1, "")}, codes.InvalidArgument, "splices[0]"},
		{"a length that overflows", digest[:], []*elbowroomv1.Splice{splice(5, 1<<63-1, "")}, codes.InvalidArgument, "delta.splices[0]"},
		{"overlapping", digest[:], []*elbowroomv1.Splice{splice(0, 5, ""), splice(4, 1, "")}, codes.InvalidArgument, "delta.splices[1]"},
		{"broken JSON", digest[:], []*elbowroomv1.Splice{splice(int64(len(body))-1, 1, "")}, codes.InvalidArgument, "conversation.native"},
		{"a body over the limit", digest[:], []*elbowroomv1.Splice{splice(1, 0, strings.Repeat(" ", 4000)), splice(2, 0, "")}, codes.ResourceExhausted, "limit"},
	} {
		delta := &elbowroomv1.NativeDelta{Base: c.base, Splices: c.splices}
		_, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{Conversation: sent(delta, false)})
		if st := status.Convert(err); st.Code() != c.code || !strings.Contains(st.Message(), c.says) {
			t.Errorf("%s: got %v, want %v that says %q", c.name, err, c.code, c.says)
		}
	}
}

// Each turn goes on from the body of the turn before, of which there is no room for many.
func TestALongConversationFindsItsBaseWhenTheRoomIsFull(t *testing.T) {
	f := start(t, func(o *server.Options) { o.Limits.MaxKeptBytes = 64 << 10 })
	bodies := turns(200)
	kept := anthropic(bodies[0])
	kept.Native.Keep = true
	if _, err := f.client.ApplyCacheControl(t.Context(), &elbowroomv1.ApplyCacheControlRequest{Conversation: kept}); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(bodies); i++ {
		delta := &elbowroomv1.ApplyCacheControlRequest{Conversation: sent(deltaTo(bodies[i-1], bodies[i]), true)}
		if _, err := f.client.ApplyCacheControl(t.Context(), delta); err != nil {
			t.Fatalf("turn %d: %v", i, err)
		}
	}
}

// A base is named as often as there are requests in a sequence, and each makes a whole body of it.
func TestTheDeltasOfOneRequestAreBoundTogether(t *testing.T) {
	body := turns(20)[19]
	f := start(t, func(o *server.Options) { o.Limits.MaxMessageBytes = 5*len(body) + 100 })
	kept := anthropic(body)
	kept.Native.Keep = true
	if _, err := f.client.CountTokens(t.Context(), &elbowroomv1.CountTokensRequest{Conversation: kept}); err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256([]byte(body))
	for n, want := range map[int]codes.Code{5: codes.OK, 6: codes.ResourceExhausted} {
		in := &elbowroomv1.SimulateCacheRequest{}
		for range n {
			in.Requests = append(in.Requests, &elbowroomv1.SimulatedRequest{Conversation: sent(&elbowroomv1.NativeDelta{Base: digest[:]}, false)})
		}
		if _, err := f.client.SimulateCache(t.Context(), in); status.Code(err) != want {
			t.Errorf("%d deltas: %v, want %v", n, err, want)
		}
	}
}
