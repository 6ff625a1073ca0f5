package validation_test

import (
	"context"
	"strings"
	"testing"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/server/interceptors/validation"
)

func interceptor(t *testing.T) grpc.UnaryServerInterceptor {
	t.Helper()
	unary, err := validation.NewUnary(&elbowroomv1.CompressRequest{}, &elbowroomv1.CountTokensRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return unary
}

func call(t *testing.T, req proto.Message) error {
	t.Helper()
	_, err := interceptor(t)(t.Context(), req, nil, func(context.Context, any) (any, error) { return "done", nil })
	return err
}

func TestValidRequestsPass(t *testing.T) {
	text := "hello"
	if err := call(t, &elbowroomv1.CountTokensRequest{Text: &text}); err != nil {
		t.Error(err)
	}
}

func TestViolationsNameTheirFields(t *testing.T) {
	threshold := 1.5
	err := call(t, &elbowroomv1.CompressRequest{
		Conversation: &elbowroomv1.Conversation{Messages: []*elbowroomv1.Message{
			{Role: elbowroomv1.Role_ROLE_USER, Blocks: []*elbowroomv1.Block{{}}},
		}},
		ContextWindow: -1,
		Policy:        &elbowroomv1.CompressionPolicy{Threshold: &threshold},
		Pinned:        []int32{3, -4},
	})
	st := status.Convert(err)
	if st.Code() != codes.InvalidArgument {
		t.Fatalf("error %v, want INVALID_ARGUMENT", err)
	}
	var fields []string
	rules := 0
	for _, d := range st.Details() {
		switch d := d.(type) {
		case *errdetails.BadRequest:
			for _, v := range d.GetFieldViolations() {
				fields = append(fields, v.GetField())
				if v.GetDescription() == "" {
					t.Errorf("%s has no description", v.GetField())
				}
			}
		case *validate.Violations:
			rules = len(d.GetViolations())
		}
	}
	want := []string{"conversation.messages[0].blocks[0].kind", "context_window", "policy.threshold", "pinned[1]"}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if rules != len(want) {
		t.Errorf("buf.validate.Violations lists %d, want %d", rules, len(want))
	}
	if want := "conversation.messages[0].blocks[0].kind: exactly one field is required in oneof (and 3 more)"; st.Message() != want {
		t.Errorf("message %q, want %q", st.Message(), want)
	}
}

// Trailers have room for little: whatever is wrong, an error stays small.
func TestErrorsStaySmall(t *testing.T) {
	many := &elbowroomv1.Conversation{}
	for range 5_000 {
		many.Messages = append(many.Messages, &elbowroomv1.Message{})
	}
	large := &elbowroomv1.Conversation{Messages: []*elbowroomv1.Message{{
		Role: elbowroomv1.Role_ROLE_USER, Blocks: []*elbowroomv1.Block{{Kind: &elbowroomv1.Block_Text{Text: strings.Repeat("x", 100_000)}}, {}, {}},
	}}}
	deep := &elbowroomv1.Block{}
	for range 3_000 {
		deep = &elbowroomv1.Block{Kind: &elbowroomv1.Block_ToolResult{ToolResult: &elbowroomv1.ToolResult{Blocks: []*elbowroomv1.Block{deep}}}}
	}
	for _, c := range []struct {
		name string
		in   *elbowroomv1.Conversation
	}{
		{"many violations", many},
		{"violations in a large request", large},
		{"a violation at the bottom of a deep nest", &elbowroomv1.Conversation{Messages: []*elbowroomv1.Message{{
			Role: elbowroomv1.Role_ROLE_TOOL, Blocks: []*elbowroomv1.Block{deep},
		}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := status.Convert(call(t, &elbowroomv1.CompressRequest{Conversation: c.in}))
			if st.Code() != codes.InvalidArgument {
				t.Fatalf("%v, want INVALID_ARGUMENT", st.Err())
			}
			if size := proto.Size(st.Proto()); size > 5<<10 {
				t.Errorf("the status has %d bytes", size)
			}
		})
	}
}
