package wire

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// body is large enough to be read without a copy, and holds characters of every width.
var body = `{"messages":[{"role":"user","content":"` + strings.Repeat("häßlich 漢字 😀 ", large/20) + `"}]}`

func withBody(native *elbowroomv1.NativeRequest) *elbowroomv1.ApplyCacheControlRequest {
	return &elbowroomv1.ApplyCacheControlRequest{
		Model: "claude-sonnet-4-5", Reserved: 1, CacheState: []byte{1, 2, 3}, StaticSystemPrefix: "You",
		Conversation: &elbowroomv1.Conversation{Native: native},
	}
}

func mustMarshal(t testing.TB, m proto.Message) []byte {
	t.Helper()
	out, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// inFrames cuts a message as a connection delivers it.
func inFrames(message []byte, size int) mem.BufferSlice {
	var out mem.BufferSlice
	for frame := range slices.Chunk(message, size) {
		out = append(out, mem.SliceBuffer(frame))
	}
	return out
}

// field writes a field that holds bytes.
func field(number protowire.Number, value []byte) []byte {
	return append(appendHead(nil, number, len(value)), value...)
}

// requests are messages in the protobuf encoding: quick are those whose body is not to be
// copied, and the others what gRPC's own codec has to read.
func requests(t testing.TB) (quick, others map[string][]byte) {
	t.Helper()
	asJSON := &elbowroomv1.NativeRequest{Format: elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES, Keep: true, Body: &elbowroomv1.NativeRequest_Json{Json: body}}
	asBytes := &elbowroomv1.NativeRequest{Format: elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES, Body: &elbowroomv1.NativeRequest_JsonBytes{JsonBytes: []byte(body)}}
	asDelta := &elbowroomv1.NativeRequest{Body: &elbowroomv1.NativeRequest_Delta{Delta: &elbowroomv1.NativeDelta{Splices: []*elbowroomv1.Splice{{Text: body}}}}}
	whole := mustMarshal(t, withBody(asJSON))
	rest := mustMarshal(t, &elbowroomv1.ApplyCacheControlRequest{Model: "gpt-5", Ttl: elbowroomv1.CacheTtl_CACHE_TTL_1H})
	native := mustMarshal(t, asJSON)
	conversation := field(conversationNative, native)
	json := field(nativeJSON, []byte(body))
	typed := mustMarshal(t, &elbowroomv1.Conversation{Messages: []*elbowroomv1.Message{{Name: "ann"}}})
	unknown := field(1000, []byte("later"))
	quick = map[string][]byte{
		"all fields":            whole,
		"the body alone":        field(1, field(conversationNative, json)),
		"other fields before":   slices.Concat(rest, field(1, conversation)),
		"other fields around":   slices.Concat(rest, field(1, conversation), rest),
		"format behind":         field(1, field(conversationNative, slices.Concat(json, native[:2]))),
		"messages besides":      field(1, slices.Concat(typed, conversation)),
		"unknown fields":        slices.Concat(unknown, field(1, slices.Concat(unknown, field(conversationNative, slices.Concat(unknown, native)))), unknown),
		"more than is accepted": field(1, field(conversationNative, field(nativeJSON, []byte(body+`{`)))),
	}
	others = map[string][]byte{
		"json_bytes":                mustMarshal(t, withBody(asBytes)),
		"delta":                     mustMarshal(t, withBody(asDelta)),
		"typed":                     mustMarshal(t, &elbowroomv1.ApplyCacheControlRequest{Conversation: &elbowroomv1.Conversation{Messages: []*elbowroomv1.Message{{Name: body}}}}),
		"no conversation":           mustMarshal(t, &elbowroomv1.ApplyCacheControlRequest{StaticSystemPrefix: body}),
		"two conversations":         slices.Concat(whole, field(1, typed)),
		"two natives":               field(1, slices.Concat(conversation, field(conversationNative, mustMarshal(t, &elbowroomv1.NativeRequest{Keep: true})))),
		"two bodies":                field(1, field(conversationNative, slices.Concat(json, field(nativeJSON, []byte("[]"))))),
		"json, then json_bytes":     field(1, field(conversationNative, slices.Concat(json, field(nativeJSONBytes, []byte("[]"))))),
		"json_bytes, then json":     field(1, field(conversationNative, slices.Concat(field(nativeJSONBytes, []byte("[]")), json))),
		"no UTF-8 in the body":      field(1, field(conversationNative, field(nativeJSON, []byte(body+"\xff")))),
		"a character in two halves": field(1, field(conversationNative, field(nativeJSON, []byte(body+"\xc3")))),
		"no UTF-8 elsewhere":        slices.Concat(whole, field(2, []byte("\xff"))),
		"body of another type":      field(1, field(conversationNative, slices.Concat(protowire.AppendVarint(protowire.AppendTag(nil, nativeJSON, protowire.VarintType), 7), json))),
		"cut off":                   whole[:len(whole)-1],
		"cut off in the body":       whole[:len(whole)/2],
		"nonsense behind":           slices.Concat(whole, []byte{0xff}),
		"an end of no group":        slices.Concat(whole, protowire.AppendTag(nil, 5, protowire.EndGroupType)),
	}
	return quick, others
}

func TestRequestsReadAsGRPCsOwnCodecReadsThem(t *testing.T) {
	quick, others := requests(t)
	for _, set := range []map[string][]byte{quick, others} {
		for name, message := range set {
			t.Run(name, func(t *testing.T) {
				for _, size := range []int{7, 16 << 10, len(message)} {
					want, got := &elbowroomv1.ApplyCacheControlRequest{}, &elbowroomv1.ApplyCacheControlRequest{Model: "of before"}
					wantErr := plain().Unmarshal(inFrames(message, size), want)
					err := Codec{}.Unmarshal(inFrames(message, size), got)
					if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
						t.Fatalf("error %v, want %v", err, wantErr)
					}
					if diff := cmp.Diff(want, got, protocmp.Transform()); err == nil && diff != "" {
						t.Fatalf("(-want +got):\n%s", diff)
					}
				}
			})
		}
	}
}

func TestALargeBodyIsNotCopiedOnceMore(t *testing.T) {
	quick, others := requests(t)
	for name, message := range quick {
		into := &elbowroomv1.ApplyCacheControlRequest{}
		m, field := carrier(into)
		if !unmarshal(inFrames(message, 16<<10), m, field) {
			t.Errorf("%s: was copied", name)
		}
	}
	for name, message := range others {
		into := &elbowroomv1.ApplyCacheControlRequest{}
		m, field := carrier(into)
		if unmarshal(inFrames(message, 16<<10), m, field) {
			t.Errorf("%s: was read", name)
		}
	}
}

// The buffers of a connection are used again for other requests.
func TestARequestKeepsNothingOfTheConnectionsBuffers(t *testing.T) {
	quick, _ := requests(t)
	message := quick["all fields"]
	got := &elbowroomv1.ApplyCacheControlRequest{}
	if err := (Codec{}).Unmarshal(inFrames(message, 16<<10), got); err != nil {
		t.Fatal(err)
	}
	want := proto.Clone(got)
	copy(message, bytes.Repeat([]byte("x"), len(message)))
	if diff := cmp.Diff(want, proto.Message(got), protocmp.Transform()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

func TestRepliesReadAsTheResponseWithItsConversation(t *testing.T) {
	pieces := []string{`{"messages":[`, `{"x":"ä"}`, "", body, "]}"}
	for _, response := range []proto.Message{
		&elbowroomv1.ApplyCacheControlResponse{LayoutReason: "ä", CacheState: []byte{0xff}, Breakpoints: []*elbowroomv1.Breakpoint{{Tokens: 7}}},
		&elbowroomv1.CompressResponse{Outcome: 2, Summary: "short"},
		&elbowroomv1.PrepareResponse{Outcome: 2, Layout: 1},
		&elbowroomv1.ApplyCacheControlResponse{},
	} {
		for _, native := range []Native{
			{Format: elbowroomv1.Format_FORMAT_ANTHROPIC_MESSAGES, Pieces: pieces},
			{Format: elbowroomv1.Format_FORMAT_OPENAI_CHAT, Bytes: true, Pieces: pieces},
			{Pieces: nil},
			{Format: elbowroomv1.Format_FORMAT_OPENAI_CHAT, Bytes: true, Pieces: []string{""}},
		} {
			data, err := Codec{}.Marshal(&Reply{Message: response, Native: native})
			if err != nil {
				t.Fatal(err)
			}
			got := response.ProtoReflect().New().Interface()
			if err := proto.Unmarshal(data.Materialize(), got); err != nil {
				t.Fatal(err)
			}
			want := proto.Clone(response)
			_, field := carrier(want)
			want.ProtoReflect().Set(field, protoreflect.ValueOfMessage(native.Message().ProtoReflect()))
			if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
				t.Errorf("%T (-want +got):\n%s", response, diff)
			}
		}
	}
}

func TestAReplyWithoutRoomForAConversationIsRefused(t *testing.T) {
	if _, err := (Codec{}).Marshal(&Reply{Message: &elbowroomv1.CountTokensResponse{}}); err == nil {
		t.Error("no error")
	}
}

func TestTheFieldsHaveTheNumbersOfTheirMessages(t *testing.T) {
	number := func(m proto.Message, name protoreflect.Name) protowire.Number {
		return m.ProtoReflect().Descriptor().Fields().ByName(name).Number()
	}
	native := &elbowroomv1.NativeRequest{}
	got := []protowire.Number{
		number(&elbowroomv1.Conversation{}, "native"),
		number(native, "format"), number(native, "json"), number(native, "json_bytes"), number(native, "delta"),
	}
	if want := []protowire.Number{conversationNative, nativeFormat, nativeJSON, nativeJSONBytes, nativeDelta}; !slices.Equal(got, want) {
		t.Errorf("numbers %v, want %v", got, want)
	}
	if n := native.ProtoReflect().Descriptor().Oneofs().ByName("body").Fields().Len(); n != 3 {
		t.Errorf("a body has %d forms, cut looks for 3", n)
	}
}

func FuzzUnmarshal(f *testing.F) {
	short := strings.NewReplacer(body, `{"messages":[]}`)
	quick, others := requests(f)
	for _, set := range []map[string][]byte{quick, others} {
		for _, message := range set {
			f.Add([]byte(short.Replace(string(message))))
		}
	}
	f.Add(mustMarshal(f, withBody(&elbowroomv1.NativeRequest{Body: &elbowroomv1.NativeRequest_Json{Json: "[]"}})))
	f.Fuzz(func(t *testing.T, message []byte) {
		got, want := &elbowroomv1.ApplyCacheControlRequest{}, &elbowroomv1.ApplyCacheControlRequest{}
		m, field := carrier(got)
		if !unmarshal(inFrames(message, 5), m, field) {
			return
		}
		if err := proto.Unmarshal(message, want); err != nil {
			t.Fatalf("read what is refused with %v", err)
		}
		if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}
