package deploy

import (
	"errors"
	"fmt"
	"os"
	"testing"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/buffer/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/retry/host/previous_hosts/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"
	"google.golang.org/protobuf/types/descriptorpb"
	"sigs.k8s.io/yaml"
)

func TestEnvoyConfiguration(t *testing.T) {
	text, err := os.ReadFile(root + "/deploy/envoy/envoy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	js, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		t.Fatal(err)
	}
	// Unknown fields and types are errors, inside of typed_config too.
	var bootstrap bootstrapv3.Bootstrap
	if err := protojson.Unmarshal(js, &bootstrap); err != nil {
		t.Fatal(err)
	}
	if err := validate(&bootstrap); err != nil {
		t.Error(err)
	}
	clusters := map[string]bool{}
	for _, c := range bootstrap.GetStaticResources().GetClusters() {
		clusters[c.GetName()] = true
	}
	if !clusters["elbowroom"] {
		t.Error("there is no cluster elbowroom")
	}
}

// validate applies the rules in Envoy's protos to a message and to every message in an Any, and refuses deprecated fields.
func validate(m proto.Message) error {
	errs := []error{ruled(m)}
	err := protorange.Range(m.ProtoReflect(), func(path protopath.Values) error {
		last := path.Index(-1)
		if last.Step.Kind() == protopath.FieldAccessStep {
			field := last.Step.FieldDescriptor()
			if o, ok := field.Options().(*descriptorpb.FieldOptions); ok && o.GetDeprecated() {
				errs = append(errs, fmt.Errorf("%v is deprecated", field.FullName()))
			}
		}
		if last.Step.Kind() == protopath.AnyExpandStep {
			errs = append(errs, ruled(last.Value.Message().Interface()))
		}
		return nil
	})
	return errors.Join(append(errs, err)...)
}

func ruled(m proto.Message) error {
	if v, ok := m.(interface{ ValidateAll() error }); ok {
		return v.ValidateAll()
	}
	return nil
}
