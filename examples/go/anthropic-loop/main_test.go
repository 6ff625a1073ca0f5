package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/internal/agentdouble"
	"github.com/elbowroom/elbowroom/internal/testutil/localserver"
)

// filesRead is how many files the double asks for, each of some 24 KB: far more than
// half of the model's window together.
const filesRead = 40

// prepare makes a directory with the files and leads the SDK to the double.
func prepare(t *testing.T) *agentdouble.Double {
	t.Helper()
	dir := t.TempDir()
	for i := range filesRead {
		text := strings.Repeat(fmt.Sprintf("Line of file %d: value <%d> & more.\n", i, i*31), 640)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file_%d.txt", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	d := agentdouble.Anthropic(t, filesRead)
	t.Setenv("ANTHROPIC_BASE_URL", d.URL)
	t.Setenv("MODEL", "claude-sonnet-4-5")
	t.Setenv("ANTHROPIC_API_KEY", "key-of-the-double")
	return d
}

func TestTheLoopStaysWithinItsWindow(t *testing.T) {
	d := prepare(t)
	t.Setenv("ELBOWROOM_ADDR", localserver.Start(t))
	var out strings.Builder
	if err := run(t.Context(), "What do the files say?", &out); err != nil {
		t.Fatal(err)
	}
	bodies := d.Bodies()
	if out.String() != agentdouble.Answer+"\n" || len(bodies) != filesRead+1 {
		t.Errorf("%q after %d requests", out.String(), len(bodies))
	}
	if d.Changes() == 0 {
		t.Error("nothing was compressed")
	}
	largest := 0
	for _, b := range bodies {
		largest = max(largest, len(b))
	}
	if all := filesRead * 24_000; largest > all*3/4 {
		t.Errorf("a request of %d bytes, the whole history has some %d", largest, all)
	}
	if last := string(bodies[len(bodies)-1]); !strings.Contains(last, "What do the files say?") {
		t.Error("the question is lost")
	}
	t.Logf("%d requests, %d compressions, the largest of %d bytes", len(bodies), d.Changes(), largest)
}

func TestTheLoopGoesOnWithoutTheService(t *testing.T) {
	d := prepare(t)
	lis := localserver.Listen(t, "127.0.0.1:0")
	t.Setenv("ELBOWROOM_ADDR", lis.Addr().String())
	if err := lis.Close(); err != nil {
		t.Fatal(err)
	}
	d.End(2)
	var out strings.Builder
	if err := run(t.Context(), "What do the files say?", &out); err != nil || out.String() != agentdouble.Answer+"\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	if d.Changes() != 0 || len(d.Bodies()) != 3 {
		t.Errorf("%d changes in %d requests", d.Changes(), len(d.Bodies()))
	}
}
