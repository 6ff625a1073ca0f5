package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// module is the path of the Go module; root is its folder as seen from this one.
const (
	module = "github.com/elbowroom/elbowroom"
	root   = "../.."
)

// leftovers are names that say nothing about what a package provides.
var leftovers = []string{"common", "helper", "helpers", "manager", "managers", "misc", "shared", "util", "utils"}

func TestTheHouseIsInOrder(t *testing.T) {
	for _, complaint := range inspect(t, os.DirFS(root)) {
		t.Error(complaint)
	}
}

func TestInspectSeesEveryKindOfDisorder(t *testing.T) {
	for _, test := range []struct {
		name string
		file string
		text string
		want []string
	}{
		{
			name: "an import down the layers",
			file: "compressor/a.go",
			text: `package compressor; import _ "` + module + `/conversation"; import _ "strings"`,
		},
		{
			name: "an import up the layers",
			file: "conversation/a.go",
			text: `package conversation; import _ "` + module + `/tokens"`,
			want: []string{"conversation/a.go: conversation may not import tokens"},
		},
		{
			name: "the generated API in the engine",
			file: "compressor/a.go",
			text: `package compressor; import _ "` + module + `/gen/elbowroom/v1"`,
			want: []string{"compressor/a.go: compressor may not import gen/elbowroom/v1"},
		},
		{
			name: "a folder that only its parent may import",
			file: "breakpoints/a.go",
			text: `package breakpoints; import _ "` + module + `/tokens/inner"`,
			want: []string{"breakpoints/a.go: breakpoints may not import tokens/inner"},
		},
		{
			name: "a third-party module the layer does not have",
			file: "tokens/a.go",
			text: `package tokens; import _ "google.golang.org/grpc/codes"`,
			want: []string{"tokens/a.go: tokens may not import google.golang.org/grpc/codes"},
		},
		{
			name: "a module whose name only begins like an allowed one",
			file: "store/a.go",
			text: `package store; import _ "github.com/maypok86/otter/v22"`,
			want: []string{"store/a.go: store may not import github.com/maypok86/otter/v22"},
		},
		{
			name: "a test may use the oracle",
			file: "tokens/a_test.go",
			text: `package tokens; import _ "github.com/pkoukk/tiktoken-go"; import _ "` + module + `/internal/testdata"`,
		},
		{
			name: "other code may not",
			file: "tokens/a.go",
			text: `package tokens; import _ "github.com/pkoukk/tiktoken-go"`,
			want: []string{"tokens/a.go: tokens may not import github.com/pkoukk/tiktoken-go"},
		},
		{
			name: "nobody imports the binary",
			file: "server/a.go",
			text: `package server; import _ "` + module + `/cmd/elbowroom"`,
			want: []string{"server/a.go: server may not import cmd/elbowroom"},
		},
		{
			name: "a folder without a layer",
			file: "gadgets/a.go",
			text: `package gadgets`,
			want: []string{"gadgets/a.go: no layer for gadgets, add one to layers_test.go"},
		},
		{
			name: "a drawer of leftovers",
			file: "server/utils/a.go",
			text: `package utils`,
			want: []string{"server/utils: name the package by what it provides"},
		},
		{
			name: "code that runs before main",
			file: "store/a.go",
			text: "package store\nfunc init() {}\nfunc (x T) init() {}\ntype T int",
			want: []string{"store/a.go: func init, nothing runs before main"},
		},
		{
			name: "generated code may do as it likes inside",
			file: "gen/elbowroom/v1/a.go",
			text: "package elbowroomv1\nfunc init() {}",
		},
		{
			name: "another module is not looked at",
			file: "tools/thing/a.go",
			text: "package thing\nfunc init() {}",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			tree := fstest.MapFS{
				test.file:            {Data: []byte(test.text)},
				"tools/thing/go.mod": {Data: []byte("module thing")},
			}
			if diff := cmp.Diff(test.want, inspect(t, tree)); diff != "" {
				t.Errorf("complaints (-want +got):\n%s", diff)
			}
		})
	}
}

// inspect returns what is out of order in the Go files of a source tree, in the order of their paths.
func inspect(t *testing.T, tree fs.FS) []string {
	t.Helper()
	var complaints []string
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if skipped(tree, name) {
				return fs.SkipDir
			}
			if slices.Contains(leftovers, path.Base(name)) {
				complaints = append(complaints, name+": name the package by what it provides")
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		complaints = append(complaints, inspectFile(name, file)...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return complaints
}

// skipped reports whether a folder holds none of this module's source: other modules, data, and what begins with a dot.
func skipped(tree fs.FS, dir string) bool {
	if dir == "." {
		return false
	}
	if _, err := fs.Stat(tree, path.Join(dir, "go.mod")); err == nil {
		return true
	}
	base := path.Base(dir)
	// bin holds what make builds and installs, other people's packages among it.
	return dir == "bin" || strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules"
}

// inspectFile checks one file against its layer.
func inspectFile(name string, file *ast.File) []string {
	dir := path.Dir(name)
	own, found := layerOf(dir)
	if !found {
		return []string{fmt.Sprintf("%s: no layer for %s, add one to layers_test.go", name, dir)}
	}
	house, modules := own.house, own.modules
	if strings.HasSuffix(name, "_test.go") {
		house = slices.Concat(house, own.tests, testHouse)
		modules = slices.Concat(modules, own.tests, testModules)
	}
	var complaints []string
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return []string{name + ": " + err.Error()}
		}
		target, isHouse := strings.CutPrefix(imported, module+"/")
		switch {
		case !isHouse && !strings.Contains(strings.Split(imported, "/")[0], "."): // the standard library
		case !isHouse && slices.ContainsFunc(modules, func(m string) bool { return m == "*" || within(imported, m) }):
		case isHouse && within(target, own.dir):
		case isHouse && slices.ContainsFunc(house, func(pattern string) bool { return matches(target, pattern) }):
		default:
			complaints = append(complaints, fmt.Sprintf("%s: %s may not import %s", name, dir, target))
		}
	}
	for _, declaration := range file.Decls {
		function, isFunction := declaration.(*ast.FuncDecl)
		if isFunction && function.Recv == nil && function.Name.Name == "init" && own.dir != "gen" {
			complaints = append(complaints, name+": func init, nothing runs before main")
		}
	}
	return complaints
}

// layerOf returns the layer with the longest folder that holds dir.
func layerOf(dir string) (best layer, found bool) {
	for _, candidate := range layers {
		if within(dir, candidate.dir) && len(candidate.dir) >= len(best.dir) {
			best, found = candidate, true
		}
	}
	return best, found
}

// within reports whether a slash-separated path is dir or lies below it.
func within(name, dir string) bool {
	return name == dir || strings.HasPrefix(name, dir+"/")
}

// matches reports whether a package of this module is meant by a pattern: itself, or with "/..." whatever lies below too.
func matches(target, pattern string) bool {
	if dir, below := strings.CutSuffix(pattern, "/..."); below {
		return within(target, dir)
	}
	return target == pattern
}
