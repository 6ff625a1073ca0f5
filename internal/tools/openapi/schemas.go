package main

import (
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// schemas are the components that were asked for, in the order of asking.
type schemas struct {
	names []string
	made  map[string]object
}

func newSchemas() *schemas { return &schemas{made: map[string]object{}} }

func (s *schemas) list() object {
	var out object
	for _, name := range s.names {
		out = append(out, member{name, s.made[name]})
	}
	return out
}

func ref(name string) object { return object{{"$ref", "#/components/schemas/" + name}} }

// add makes a component once. Its place is taken first: messages can hold
// themselves.
func (s *schemas) add(name string, build func() object) object {
	if _, known := s.made[name]; !known {
		s.names = append(s.names, name)
		s.made[name] = nil
		s.made[name] = build()
	}
	return ref(name)
}

// message is the schema of a message in protobuf's JSON.
func (s *schemas) message(d protoreflect.MessageDescriptor) object {
	if d.FullName() == "google.protobuf.Duration" {
		return object{{"type", "string"}, {"pattern", `^-?[0-9]+(\.[0-9]+)?s$`}}
	}
	return s.add(string(d.Name()), func() object { return s.fields(d) })
}

// fields is the schema of a message without the fields that are left out.
func (s *schemas) fields(d protoreflect.MessageDescriptor, without ...protoreflect.Name) object {
	var properties object
	var required, choices []any
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		if contains(without, f.Name()) {
			continue
		}
		properties = append(properties, member{f.JSONName(), described(s.field(f), comment(f))})
		if isRequired(f) {
			required = append(required, f.JSONName())
		}
	}
	for i := range d.Oneofs().Len() {
		choice := d.Oneofs().Get(i)
		rules, _ := proto.GetExtension(choice.Options(), validate.E_Oneof).(*validate.OneofRules)
		if choice.IsSynthetic() || !rules.GetRequired() {
			continue
		}
		for j := range choice.Fields().Len() {
			choices = append(choices, object{{"required", []any{choice.Fields().Get(j).JSONName()}}})
		}
	}
	return object{}.with("type", "object").with("description", comment(d)).
		with("properties", properties).with("required", required).with("oneOf", choices)
}

// field is the schema of a field's value.
func (s *schemas) field(f protoreflect.FieldDescriptor) object {
	rules := rulesOf(f)
	switch {
	case f.IsMap():
		return object{{"type", "object"}, {"additionalProperties", s.single(f.MapValue(), nil)}}
	case f.IsList():
		return object{}.with("type", "array").with("items", s.single(f, rules.GetRepeated().GetItems()))
	default:
		return s.single(f, rules)
	}
}

func (s *schemas) single(f protoreflect.FieldDescriptor, rules *validate.FieldRules) object {
	switch f.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return s.message(f.Message())
	case protoreflect.EnumKind:
		return s.enum(f.Enum())
	case protoreflect.BoolKind:
		return object{{"type", "boolean"}}
	case protoreflect.StringKind:
		out := object{{"type", "string"}}
		if rules.GetString().HasMaxLen() {
			out = append(out, member{"maxLength", rules.GetString().GetMaxLen()})
		}
		if rules.GetString().HasMinLen() {
			out = append(out, member{"minLength", rules.GetString().GetMinLen()})
		}
		return out
	case protoreflect.BytesKind:
		return object{{"type", "string"}, {"contentEncoding", "base64"}}
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return object{{"type", "number"}}
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind, protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return object{{"type", []any{"string", "integer"}}, {"format", "int64"}}
	default:
		out := object{{"type", "integer"}, {"format", "int32"}}
		if rules.GetInt32().HasGte() {
			out = append(out, member{"minimum", rules.GetInt32().GetGte()})
		}
		if rules.GetInt32().HasLte() {
			out = append(out, member{"maximum", rules.GetInt32().GetLte()})
		}
		return out
	}
}

func (s *schemas) enum(d protoreflect.EnumDescriptor) object {
	return s.add(string(d.Name()), func() object {
		var names []any
		text := comment(d)
		for i := range d.Values().Len() {
			v := d.Values().Get(i)
			names = append(names, string(v.Name()))
			text += "\n- `" + string(v.Name()) + "`: " + comment(v)
		}
		return object{}.with("type", "string").with("description", text).with("enum", names)
	})
}

func rulesOf(f protoreflect.FieldDescriptor) *validate.FieldRules {
	rules, _ := proto.GetExtension(f.Options(), validate.E_Field).(*validate.FieldRules)
	return rules
}

// isRequired reports whether the value that stands for "not set" is refused.
func isRequired(f protoreflect.FieldDescriptor) bool {
	rules := rulesOf(f)
	return rules.GetRequired() || contains(rules.GetEnum().GetNotIn(), 0) ||
		rules.GetString().GetMinLen() > 0 && !f.HasPresence()
}

func contains[T comparable](list []T, wanted T) bool {
	for _, e := range list {
		if e == wanted {
			return true
		}
	}
	return false
}

// described adds a description, beside a reference too, which OpenAPI 3.1 allows.
func described(schema object, text string) object { return schema.with("description", text) }

// comment is the comment before a declaration, as one paragraph for each of its own.
func comment(d protoreflect.Descriptor) string {
	text := d.ParentFile().SourceLocations().ByDescriptor(d).LeadingComments
	var paragraphs []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if line := strings.Join(strings.Fields(paragraph), " "); line != "" {
			paragraphs = append(paragraphs, line)
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

func firstSentence(text string) string {
	if head, _, found := strings.Cut(text, ". "); found {
		return head + "."
	}
	return text
}

// join puts paragraphs together.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
