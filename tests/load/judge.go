package main

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conformance"
)

// smallBody is the size in bytes below which a stand-in can be longer than what it
// stands for, so that only tokens are compared.
const smallBody = 64 << 10

func typed(r *recording, body string) *elbowroomv1.Conversation {
	t, err := conformance.Read(r.dialect, []byte(body))
	if err != nil {
		return &elbowroomv1.Conversation{}
	}
	return conformance.TypedForm(t)
}

// conversationText makes plain text of a piece of JSON.
func conversationText(piece string) string { return strings.ToValidUTF8(piece, "") }

// decode reads an answer.
func decode(reply raw, into proto.Message) []string {
	if err := proto.Unmarshal(reply, into); err != nil {
		return []string{"the answer cannot be decoded: " + err.Error()}
	}
	return nil
}

func texts(list []conformance.Violation) []string {
	var out []string
	for _, v := range list {
		out = append(out, v.String())
	}
	return out
}

// compression is what Compress and Prepare have in common.
type compression interface {
	GetOutcome() elbowroomv1.Outcome
	GetReport() *elbowroomv1.CompressionReport
	GetSummary() string
	GetConversation() *elbowroomv1.Conversation
}

func judgeCompression(in, out *conformance.Transcript, got compression, size int) []string {
	// On a continuity hit the messages behind the compressed ones stay as they are, with
	// whatever a provider would refuse in them.
	covered := int(got.GetReport().GetContinuity().GetMessagesCovered())
	if covered > 0 && got.GetSummary() != "" && in.LastFault() >= covered {
		return nil
	}
	return texts((&conformance.Compression{
		Input: in, Output: out, Outcome: got.GetOutcome(), Report: got.GetReport(), Summary: got.GetSummary(),
		Handoffs: in.Handoffs(), KeepThinking: true, TokensOnly: size < smallBody,
	}).Check())
}

// judgeOutput judges a native answer by its bytes.
func judgeOutput(r *recording, body, answer string, got compression) []string {
	in, err := conformance.Read(r.dialect, []byte(body))
	if err != nil {
		return []string{"the request: " + err.Error()}
	}
	out, err := conformance.ReadLike(r.dialect, []byte(answer), in)
	if err != nil {
		return []string{"the answer: " + err.Error()}
	}
	return judgeCompression(in, out, got, len(body))
}

func judgeCompressed(r *recording, body string, reply raw) []string {
	var got elbowroomv1.CompressResponse
	if wrong := decode(reply, &got); wrong != nil {
		return wrong
	}
	return judgeOutput(r, body, got.GetConversation().GetNative().GetJson(), &got)
}

func judgeStreamed(r *recording, body string, reply raw) []string {
	var last elbowroomv1.StreamCompressResponse
	if wrong := decode(reply, &last); wrong != nil {
		return wrong
	}
	if last.GetResult() == nil {
		return []string{"the stream ended without a result"}
	}
	return judgeOutput(r, body, last.GetResult().GetConversation().GetNative().GetJson(), last.GetResult())
}

func judgeSpliced(r *recording, body string, reply raw) []string {
	var got elbowroomv1.CompressResponse
	if wrong := decode(reply, &got); wrong != nil {
		return wrong
	}
	answer, err := conformance.ApplySplices([]byte(body), got.GetSplices())
	if err != nil {
		return []string{"splices: " + err.Error()}
	}
	return judgeOutput(r, body, string(answer), &got)
}

func judgeTyped(r *recording, body string, reply raw) []string {
	var got elbowroomv1.CompressResponse
	if wrong := decode(reply, &got); wrong != nil {
		return wrong
	}
	in, err := conformance.ReadTyped(typed(r, body), nil)
	if err != nil {
		return []string{"the request: " + err.Error()}
	}
	out, err := conformance.ReadTyped(got.GetConversation(), in)
	if err != nil {
		return []string{"the answer: " + err.Error()}
	}
	return judgeCompression(in, out, &got, len(body))
}

// judgePrepared judges the marks, and without them the compression.
func judgePrepared(r *recording, body string, reply raw) []string {
	var got elbowroomv1.PrepareResponse
	if wrong := decode(reply, &got); wrong != nil {
		return wrong
	}
	in, err := conformance.Read(r.dialect, []byte(body))
	if err != nil {
		return []string{"the request: " + err.Error()}
	}
	out, err := conformance.ReadLike(r.dialect, []byte(got.GetConversation().GetNative().GetJson()), in)
	if err != nil {
		return []string{"the answer: " + err.Error()}
	}
	bare, err := conformance.Read(r.dialect, conformance.Unmark(in, nil))
	if err != nil {
		return []string{"the request without marks: " + err.Error()}
	}
	unmarked, err := conformance.ReadLike(r.dialect, conformance.Unmark(out, bare), bare)
	if err != nil {
		return []string{"the answer without marks: " + err.Error()}
	}
	wrong := texts((&conformance.Marking{Input: unmarked, Output: out, Breakpoints: got.GetBreakpoints()}).Check())
	return append(wrong, judgeCompression(bare, unmarked, &got, len(body))...)
}

func judgeMarked(r *recording, body string, reply raw) []string {
	var got elbowroomv1.ApplyCacheControlResponse
	if wrong := decode(reply, &got); wrong != nil {
		return wrong
	}
	in, err := conformance.Read(r.dialect, []byte(body))
	if err != nil {
		return []string{"the request: " + err.Error()}
	}
	out, err := conformance.ReadLike(r.dialect, []byte(got.GetConversation().GetNative().GetJson()), in)
	if err != nil {
		return []string{"the answer: " + err.Error()}
	}
	wrong := texts((&conformance.Marking{Input: in, Output: out, Breakpoints: got.GetBreakpoints()}).Check())
	if len(got.GetBreakpoints()) == 0 {
		wrong = append(wrong, "no breakpoint was placed")
	}
	return wrong
}

func judgeCounted(r *recording, body string, reply raw) []string {
	var got elbowroomv1.CountTokensResponse
	if wrong := decode(reply, &got); wrong != nil {
		return wrong
	}
	in, err := conformance.Read(r.dialect, []byte(body))
	if err != nil {
		return []string{"the request: " + err.Error()}
	}
	p := got.GetParts()
	sum := p.GetSystem() + p.GetTools() + p.GetText() + p.GetToolCalls() + p.GetToolResults() + p.GetMedia() + p.GetFraming() + p.GetReasoning()
	var wrong []string
	if sum != got.GetTokens() {
		wrong = append(wrong, fmt.Sprintf("the parts add up to %d of %d tokens", sum, got.GetTokens()))
	}
	if got.GetTokens() <= 0 || got.GetLowerBound() > got.GetTokens() || got.GetUpperBound() < got.GetTokens() {
		wrong = append(wrong, fmt.Sprintf("%d tokens are not between %d and %d", got.GetTokens(), got.GetLowerBound(), got.GetUpperBound()))
	}
	if len(got.GetMessages()) != in.Len() {
		wrong = append(wrong, fmt.Sprintf("%d messages were counted of %d", len(got.GetMessages()), in.Len()))
	}
	return wrong
}

func judgeText(reply raw) []string {
	var got elbowroomv1.CountTokensResponse
	if wrong := decode(reply, &got); wrong != nil {
		return wrong
	}
	if got.GetTokens() <= 0 {
		return []string{"a text has no tokens"}
	}
	return nil
}

func judgeSimulated(turns int, reply raw) []string {
	var got elbowroomv1.SimulateCacheResponse
	if wrong := decode(reply, &got); wrong != nil {
		return wrong
	}
	if len(got.GetTurns()) != turns {
		return []string{fmt.Sprintf("%d turns were simulated of %d", len(got.GetTurns()), turns)}
	}
	return nil
}

func judgeModels(reply raw) []string {
	var got elbowroomv1.ListModelsResponse
	if wrong := decode(reply, &got); wrong != nil {
		return wrong
	}
	if len(got.GetModels()) == 0 {
		return []string{"no model was listed"}
	}
	return nil
}
