package architecture

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/descriptorpb"

	// Links the generated files, and with them those they import.
	_ "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// The descriptor set is built from the proto files that stand in the repository, the Go code from the modules in go.mod. Both
// must say the same, for third_party/ above all: its text is copied, its Go package is a dependency with its own version.
func TestDescriptorSetEqualsTheLinkedDescriptors(t *testing.T) {
	data := read(t, "gen/descriptor/elbowroom.binpb")
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(data, set); err != nil {
		t.Fatal(err)
	}
	for _, got := range set.GetFile() {
		linked, err := protoregistry.GlobalFiles.FindFileByPath(got.GetName())
		if err != nil {
			t.Errorf("%s: %v", got.GetName(), err)
			continue
		}
		// The Go packages of protobuf's own files carry what Go needs, not the options that other languages need.
		if strings.HasPrefix(got.GetName(), "google/protobuf/") {
			continue
		}
		if diff := cmp.Diff(protodesc.ToFileDescriptorProto(linked), got, protocmp.Transform()); diff != "" {
			t.Errorf("%s (-linked +descriptor set):\n%s", got.GetName(), diff)
		}
	}
	if _, err := protodesc.NewFiles(set); err != nil {
		t.Errorf("the descriptor set does not stand alone: %v", err)
	}
}

// buf can be had from npm or built from source; it must be the same either way.
func TestBothRoutesToBufPinOneVersion(t *testing.T) {
	var manifest struct {
		DevDependencies map[string]string `json:"devDependencies"`
	}
	if err := json.Unmarshal(read(t, "tools/npm/package.json"), &manifest); err != nil {
		t.Fatal(err)
	}
	fromNPM := manifest.DevDependencies["@bufbuild/buf"]
	match := regexp.MustCompile(`github\.com/bufbuild/buf v(\S+)`).FindSubmatch(read(t, "tools/buf/go.mod"))
	if match == nil {
		t.Fatal("tools/buf/go.mod does not require buf")
	}
	if fromSource := string(match[1]); fromNPM != fromSource {
		t.Errorf("buf %q in tools/npm, %q in tools/buf", fromNPM, fromSource)
	}
}

// read returns a file by its path from the root of the module.
func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
