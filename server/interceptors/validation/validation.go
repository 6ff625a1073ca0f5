package validation

import (
	"context"
	"errors"
	"fmt"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
)

// Errors travel in HTTP/2 trailers, which many clients bound at 8 KiB, so they
// are kept small.
const (
	// maxViolations is how many violations are listed.
	maxViolations = 8
	// maxText bounds a field path and a description, in bytes.
	maxText = 200
	// maxDetails bounds the encoded buf.validate.Violations; larger ones are left out.
	maxDetails = 2 << 10
	// listAllUpTo is the request size, in bytes, up to which all violations are
	// looked for. In larger requests the search stops at the first one, so that its
	// cost stays in proportion.
	listAllUpTo = 64 << 10
)

// NewUnary returns the interceptor. messages are the requests it will see; their
// rules are compiled at once. The error is a fault of the rules.
func NewUnary(messages ...proto.Message) (grpc.UnaryServerInterceptor, error) {
	validator, err := protovalidate.New(protovalidate.WithMessages(messages...))
	if err != nil {
		return nil, fmt.Errorf("compile validation rules: %w", err)
	}
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		if m, ok := req.(proto.Message); ok {
			if err := check(validator, m); err != nil {
				return nil, err
			}
		}
		return handler(ctx, req)
	}, nil
}

func check(validator protovalidate.Validator, m proto.Message) error {
	err := validator.Validate(m, protovalidate.WithFailFast())
	if err == nil {
		return nil
	}
	if proto.Size(m) <= listAllUpTo {
		err = validator.Validate(m)
	}
	var invalid *protovalidate.ValidationError
	if !errors.As(err, &invalid) || len(invalid.Violations) == 0 {
		return fmt.Errorf("validate %s: %w", m.ProtoReflect().Descriptor().FullName(), err)
	}
	return statusOf(invalid).Err()
}

// statusOf writes the violations into a status.
func statusOf(invalid *protovalidate.ValidationError) *status.Status {
	bad := &errdetails.BadRequest{}
	rules := &validate.Violations{}
	for _, v := range invalid.Violations[:min(len(invalid.Violations), maxViolations)] {
		bad.FieldViolations = append(bad.FieldViolations, &errdetails.BadRequest_FieldViolation{
			Field:       clip(protovalidate.FieldPathString(v.Proto.GetField())),
			Description: clip(v.Proto.GetMessage()),
		})
		rules.Violations = append(rules.Violations, v.Proto)
	}
	first := bad.GetFieldViolations()[0]
	text := first.GetDescription()
	if first.GetField() != "" {
		text = first.GetField() + ": " + text
	}
	if more := len(invalid.Violations) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	details := []protoadapt.MessageV1{bad}
	if proto.Size(rules) <= maxDetails {
		details = append(details, protoadapt.MessageV1Of(rules))
	}
	st := status.New(codes.InvalidArgument, text)
	if detailed, err := st.WithDetails(details...); err == nil {
		return detailed
	}
	return st
}

// clip shortens a text. Paths are longest at their end, which says least.
func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	return s[:maxText] + "..."
}
