package main

import "google.golang.org/protobuf/reflect/protoreflect"

// about is the description of the document.
const about = "Every RPC is a POST of the Connect protocol in the JSON of protobuf: names in lowerCamelCase (those of the proto files are " +
	"taken too), enums by name, int64 as strings, bytes in base64, fields with their default left out. Unknown fields are refused. " +
	"A native conversation is one string of JSON in it and comes back byte for byte."

// text is a string with a description.
func text(description string) object {
	return object{{"type", "string"}, {"description", description}}
}

// number is an integer with a description.
func number(description string) object {
	return object{{"type", "integer"}, {"format", "int32"}, {"minimum", 0}, {"description", description}}
}

// answer is a response in JSON.
func answer(description string, schema object) object {
	return object{{"description", description}, {"content", object{{"application/json", object{{"schema", schema}}}}}}
}

// failure is every other response.
func failure() member {
	return member{"default", object{{"$ref", "#/components/responses/Error"}}}
}

// otherPaths are the calls that are no RPCs of the service.
func otherPaths(s *schemas, sd protoreflect.ServiceDescriptor) object {
	compress := sd.Methods().ByName("Compress")
	report := compress.Output().Fields().ByName("report").Message()
	s.add("Error", func() object {
		return object{
			{"type", "object"},
			{"description", "An error as Connect writes it."},
			{"properties", object{
				{"code", object{{"type", "string"}, {"enum", []any{
					"canceled", "unknown", "invalid_argument", "deadline_exceeded", "not_found", "already_exists", "permission_denied",
					"resource_exhausted", "failed_precondition", "aborted", "out_of_range", "unimplemented", "internal", "unavailable",
					"data_loss", "unauthenticated",
				}}}},
				{"message", text("What is wrong, for people.")},
				{"details", object{{"type", "array"}, {"items", object{
					{"type", "object"},
					{"properties", object{
						{"type", text("The type of the detail, for example google.rpc.ErrorInfo.")},
						{"value", text("The detail in protobuf, in base64 without padding.")},
						{"debug", object{{"description", "The detail in JSON. ErrorInfo has the reason and in metadata byte_offset and message_index."}}},
					}},
					{"required", []any{"type", "value"}},
				}}}},
			}},
			{"required", []any{"code"}},
		}
	})
	options := s.add("CompressOptions", func() object {
		out := s.fields(compress.Input(), "conversation", "view")
		out[1].value = "The fields of CompressRequest that the call does not set itself."
		return out
	})
	return object{
		{"/v1/compress", object{{"post", object{
			{"operationId", "GatewayCompress"},
			{"tags", []any{"gateways"}},
			{"summary", "Compress as gateways call it."},
			{"description", "The list of messages comes back shorter where it is time for it, in the form in which it came. What is kept is kept " +
				"byte for byte, and as long as nothing is compressed anew each answer begins with the one before."},
			{"parameters", []any{object{
				{"name", "x-agw-compression-version"}, {"in", "header"}, {"description", "Version of the contract. Only 1 is known."},
				{"schema", object{{"type", "string"}, {"enum", []any{"1"}}}},
			}}},
			{"requestBody", object{{"required", true}, {"content", object{{"application/json", object{{"schema", object{
				{"type", "object"},
				{"properties", object{
					{"messages", object{
						{"type", "array"}, {"items", object{{"type", "object"}}},
						{"description", "The whole history, in the form of OpenAI Chat Completions or Anthropic Messages."},
					}},
					{"model", text("The main model, which sets tokenizer and window.")},
					{"context_window", number("The model's context window in tokens; overrides what is known of the model.")},
					{"session_id", text("Names the conversation over its turns; scopes cooldown and anti-thrash.")},
					{"elbowroom", options},
				}},
				{"required", []any{"messages"}},
			}}}}}}}},
			{"responses", object{
				{"200", answer("The messages to send.", object{
					{"type", "object"},
					{"properties", object{
						{"messages", object{{"type", "array"}, {"items", object{{"type", "object"}}}}},
						{"tokens_before", number("Tokens of the list that was sent.")},
						{"tokens_after", number("Tokens of the list that comes back, by the same counter.")},
						{"compression_ratio", object{{"type", "number"}, {"description", "tokens_after / tokens_before; 1 when nothing changed."}}},
						{"outcome", s.enum(compress.Output().Fields().ByName("outcome").Enum())},
						{"report", s.message(report)},
					}},
					{"required", []any{"messages", "tokens_before", "tokens_after", "compression_ratio", "outcome", "report"}},
				})},
				failure(),
			}},
		}}}},
		{"/grpc.health.v1.Health/Check", object{{"post", object{
			{"operationId", "Check"},
			{"tags", []any{"gateways"}},
			{"summary", "Whether the server is serving."},
			{"requestBody", object{{"required", true}, {"content", object{{"application/json", object{{"schema", object{
				{"type", "object"}, {"properties", object{{"service", text("A service. Empty: the server as a whole.")}}},
			}}}}}}}},
			{"responses", object{
				{"200", answer("Its status.", object{
					{"type", "object"},
					{"properties", object{{"status", object{{"type", "string"}, {"enum", []any{"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"}}}}}},
				})},
				failure(),
			}},
		}}}},
		{"/openapi.json", object{{"get", object{
			{"operationId", "GetDocument"},
			{"tags", []any{"gateways"}},
			{"summary", "This document."},
			{"responses", object{{"200", answer("The document.", object{{"type", "object"}})}, failure()}},
		}}}},
	}
}
