package main

import (
	"crypto/sha256"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// call is what a caller wants answered, however many attempts it takes.
type call struct {
	kind *kind
	// build makes the request. It gives the same one every time, so that a call that
	// waits to be made again holds no memory.
	build func() request
	// judge lists what is wrong with the answer.
	judge func(reply raw) []string
	// whole is made in place of a delta whose base the server does not hold.
	whole *call
	// next goes on from the answer, nil for nothing.
	next func(reply raw) *call
}

// kind is one way to use the service.
type kind struct {
	name, method string
	// weight is its share of the calls among the weights of all.
	weight int
	// deadline is what the client gives an attempt.
	deadline time.Duration
	// most is the largest conversation it is used for, in bytes. 0: any.
	most int
	// make makes the call of a turn.
	make func(k *kind, s *session) *call
	// still is set where every turn stands for itself, so that a session begins anywhere.
	still bool
	// modelled is set where the time is that of a model, not the server's.
	modelled bool
}

const (
	// shortDeadline is for calls that the server answers by itself.
	shortDeadline = 10 * time.Second
	// modelDeadline is for those that a model has part in.
	modelDeadline = 60 * time.Second
)

// kinds are the ways to use the service, weighted as many agents might: most prepare
// every turn, some count, some only mark.
func kinds() []*kind {
	return []*kind{
		{name: "Prepare", method: service + "Prepare", weight: 24, deadline: shortDeadline, make: prepareCall},
		{name: "Prepare, delta", method: service + "Prepare", weight: 14, deadline: shortDeadline, make: deltaCall},
		{name: "Compress", method: service + "Compress", weight: 10, deadline: shortDeadline, make: compressCall},
		{name: "Compress, edits", method: service + "Compress", weight: 5, deadline: shortDeadline, make: editsCall},
		{name: "Compress, kept", method: service + "Compress", weight: 4, deadline: shortDeadline, make: keptCall},
		{name: "Compress, typed", method: service + "Compress", weight: 4, deadline: shortDeadline, most: 160 << 10, make: typedCall},
		{name: "Compress, model", method: service + "Compress", weight: 3, deadline: modelDeadline, make: modelCall, modelled: true},
		{name: "StreamCompress", method: service + "StreamCompress", weight: 6, deadline: shortDeadline, make: streamCall},
		{name: "ApplyCacheControl", method: service + "ApplyCacheControl", weight: 12, deadline: shortDeadline, make: markCall, still: true},
		{name: "CountTokens", method: service + "CountTokens", weight: 6, deadline: shortDeadline, make: countCall},
		{name: countText, method: service + "CountTokens", weight: 8, deadline: shortDeadline, make: textCall, still: true},
		{name: "SimulateCache", method: service + "SimulateCache", weight: 2, deadline: shortDeadline, most: 160 << 10, make: simulateCall, still: true},
		{name: listModels, method: service + "ListModels", weight: 2, deadline: shortDeadline, make: modelsCall, still: true},
	}
}

// session is an agent with a conversation that grows.
type session struct {
	*recording
	tag  string
	turn int
}

func (s *session) id() string { return s.name + "/" + s.tag }

// extractive is the policy of calls that want no model.
func extractive() *elbowroomv1.CompressionPolicy {
	return &elbowroomv1.CompressionPolicy{Summarizer: proto.String("extractive")}
}

func (s *session) prepare(conv *elbowroomv1.Conversation) *elbowroomv1.PrepareRequest {
	return &elbowroomv1.PrepareRequest{
		Conversation: conv, Model: s.model, ContextWindow: s.window, Policy: extractive(), SessionId: s.id(),
	}
}

func (s *session) compress(conv *elbowroomv1.Conversation) *elbowroomv1.CompressRequest {
	return &elbowroomv1.CompressRequest{
		Conversation: conv, Model: s.model, ContextWindow: s.window, Policy: extractive(), SessionId: s.id(),
	}
}

// now is what the session sends in this turn, for calls that are made later.
func (s *session) now() func() string {
	r, tag, turn := s.recording, s.tag, s.turn
	return func() string { return r.body(tag, turn) }
}

func prepareCall(k *kind, s *session) *call {
	at, body := *s, s.now()
	return &call{
		kind:  k,
		build: func() request { return request{message: at.prepare(nil), session: &at} },
		judge: func(reply raw) []string { return judgePrepared(at.recording, body(), reply) },
	}
}

// deltaCall sends what was added to the turn before, and the body whole where there was
// none or the server has lost it.
func deltaCall(k *kind, s *session) *call {
	at, body := *s, s.now()
	whole := &call{
		kind:  k,
		build: func() request { return request{message: at.prepare(keeping()), session: &at} },
		judge: func(reply raw) []string { return judgePrepared(at.recording, body(), reply) },
	}
	if s.turn == 0 {
		return whole
	}
	digest := sync.OnceValue(func() [sha256.Size]byte {
		return sha256.Sum256(at.appendBody(make([]byte, 0, at.bodyLength(at.turn-1)), at.tag, at.turn-1))
	})
	return &call{
		kind: k, judge: whole.judge, whole: whole,
		build: func() request {
			base := digest()
			added := &elbowroomv1.Splice{
				Offset: int64(at.taggedLength(0, at.turns[at.turn-1])),
				Text:   string(at.tagged(nil, at.tag, at.turns[at.turn-1], at.turns[at.turn])),
			}
			return request{message: at.prepare(&elbowroomv1.Conversation{Native: &elbowroomv1.NativeRequest{
				Format: at.format, Keep: true, Body: &elbowroomv1.NativeRequest_Delta{
					Delta: &elbowroomv1.NativeDelta{Base: base[:], Splices: []*elbowroomv1.Splice{added}},
				},
			}})}
		},
	}
}

func compressCall(k *kind, s *session) *call {
	at, body := *s, s.now()
	return &call{
		kind:  k,
		build: func() request { return request{message: at.compress(nil), session: &at} },
		judge: func(reply raw) []string { return judgeCompressed(at.recording, body(), reply) },
	}
}

func editsCall(k *kind, s *session) *call {
	at, body := *s, s.now()
	return &call{
		kind: k,
		build: func() request {
			req := at.compress(nil)
			req.View, req.Force = elbowroomv1.View_VIEW_EDITS, true
			return request{message: req, session: &at}
		},
		judge: func(reply raw) []string { return judgeSpliced(at.recording, body(), reply) },
	}
}

// keptCall is an agent that goes on from what came back: its answer becomes the
// conversation, and the next turn is added to that.
func keptCall(k *kind, s *session) *call {
	at, body := *s, s.now()
	c := &call{
		kind:  k,
		build: func() request { return request{message: at.compress(nil), session: &at} },
		judge: func(reply raw) []string { return judgeCompressed(at.recording, body(), reply) },
	}
	if s.turn+1 == len(s.turns) {
		return c
	}
	c.next = func(reply raw) *call {
		var got elbowroomv1.CompressResponse
		if proto.Unmarshal(reply, &got) != nil || got.GetOutcome() != elbowroomv1.Outcome_OUTCOME_COMPRESSED {
			return nil
		}
		answer, tail, head := got.GetConversation().GetNative().GetJson(), at.tail(at.tag), at.head(at.tag, at.turn)
		if len(answer) < len(tail) || answer[len(answer)-len(tail):] != tail {
			return nil // the judge will say so
		}
		grown := answer[:len(answer)-len(tail)] + at.head(at.tag, at.turn+1)[len(head):] + tail
		return &call{
			kind: k,
			build: func() request {
				req := at.compress(at.native(grown))
				req.CompressionState = got.GetCompressionState()
				return request{message: req}
			},
			judge: func(reply raw) []string { return judgeCompressed(at.recording, grown, reply) },
		}
	}
	return c
}

func typedCall(k *kind, s *session) *call {
	at, body := *s, s.now()
	// Reading it is dear, and there are few: it is kept for the attempts to come.
	conv := sync.OnceValue(func() *elbowroomv1.Conversation { return typed(at.recording, body()) })
	return &call{
		kind:  k,
		build: func() request { return request{message: at.compress(conv())} },
		judge: func(reply raw) []string { return judgeTyped(at.recording, body(), reply) },
	}
}

func modelCall(k *kind, s *session) *call {
	at, body := *s, s.now()
	return &call{
		kind: k,
		build: func() request {
			req := at.compress(nil)
			req.Policy, req.Force = nil, true
			return request{message: req, session: &at}
		},
		judge: func(reply raw) []string { return judgeCompressed(at.recording, body(), reply) },
	}
}

func streamCall(k *kind, s *session) *call {
	at, body := *s, s.now()
	return &call{
		kind: k,
		build: func() request {
			return request{message: &elbowroomv1.StreamCompressRequest{Request: at.compress(nil)}, session: &at, inside: true}
		},
		judge: func(reply raw) []string { return judgeStreamed(at.recording, body(), reply) },
	}
}

func markCall(k *kind, s *session) *call {
	at, body := *s, s.now()
	return &call{
		kind: k,
		build: func() request {
			return request{message: &elbowroomv1.ApplyCacheControlRequest{Model: "claude-sonnet-4-5"}, session: &at}
		},
		judge: func(reply raw) []string { return judgeMarked(at.recording, body(), reply) },
	}
}

func countCall(k *kind, s *session) *call {
	at, body := *s, s.now()
	return &call{
		kind: k,
		build: func() request {
			return request{message: &elbowroomv1.CountTokensRequest{Model: at.model}, session: &at}
		},
		judge: func(reply raw) []string { return judgeCounted(at.recording, body(), reply) },
	}
}

// textCall counts some hundred bytes, as an agent does with a message it is about to add.
func textCall(k *kind, s *session) *call {
	const length = 600
	from := s.turns[s.turn]
	text := conversationText(s.text[max(0, from-length):from]) + s.tag
	model := s.model
	return &call{
		kind:  k,
		build: func() request { return request{message: &elbowroomv1.CountTokensRequest{Text: &text, Model: model}} },
		judge: judgeText,
	}
}

// simulateCall asks what three turns in a row would have cost.
func simulateCall(k *kind, s *session) *call {
	at, model := *s, s.model
	from := max(0, min(s.turn, len(s.turns)-3))
	to := min(from+3, len(s.turns))
	return &call{
		kind: k,
		build: func() request {
			req := &elbowroomv1.SimulateCacheRequest{Model: model}
			for turn := from; turn < to; turn++ {
				req.Requests = append(req.Requests, &elbowroomv1.SimulatedRequest{
					Conversation: at.native(at.body(at.tag, turn)), StartMs: int64(turn) * 20_000, DurationMs: 3_000,
				})
			}
			return request{message: req}
		},
		judge: func(reply raw) []string { return judgeSimulated(to-from, reply) },
	}
}

func modelsCall(k *kind, _ *session) *call {
	return &call{
		kind:  k,
		build: func() request { return request{message: &elbowroomv1.ListModelsRequest{Filter: "claude"}} },
		judge: judgeModels,
	}
}
