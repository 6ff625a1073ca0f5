package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/conformance"
	"github.com/elbowroom/elbowroom/internal/serverprocess"
)

func TestMain(m *testing.M) {
	standIfAsked()
	os.Exit(m.Run())
}

// data is where the recorded conversations are, seen from this folder.
var data = filepath.Join("..", "..", "..", "shared", "data")

// TestAShortRunKeepsEveryPromise is the whole run, some seconds long and without a look
// at the clock.
func TestAShortRunKeepsEveryPromise(t *testing.T) {
	if _, err := os.Stat(data); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the recorded conversations are not here: %v", err)
		}
		t.Logf("over conversations that are made up: %v", err)
	}
	binary, err := serverprocess.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	out, err := run(t.Context(), settings{
		seconds: 1, clients: 8, seed: 1, data: data, sample: 0.25, binary: binary, cores: 2, most: 1 << 30,
	}, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range out.broken() {
		t.Error(what)
	}
	judged := 0
	for _, p := range out.phases {
		judged += p.judged
	}
	for _, name := range []string{"health", countText, listModels} {
		answers := 0
		for _, p := range out.phases {
			answers += len(p.alone.Took[name])
		}
		if answers == 0 {
			t.Errorf("the bystander got no answer to %s", name)
		}
	}
	if out.answered == 0 || judged == 0 || out.modelCalls == 0 {
		t.Errorf("%d calls were answered, %d answers judged, %d summaries written by the model", out.answered, judged, out.modelCalls)
	}
	if t.Failed() {
		out.print(t.Output())
	}
}

func madeUp(t *testing.T) []*recording {
	t.Helper()
	list, err := generated(7)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestMadeUpConversationsAreLegalInEveryTurn(t *testing.T) {
	for _, r := range madeUp(t) {
		before := ""
		for turn := 0; turn < len(r.turns); turn += 5 {
			body := r.body("s000001 ", turn)
			read, err := conformance.Read(r.dialect, []byte(body))
			if err != nil {
				t.Fatalf("%s, turn %d: %v", r.name, turn, err)
			}
			if faults := read.Faults(); turn < len(r.turns)-1 && len(faults) > 0 {
				t.Errorf("%s, turn %d: %v", r.name, turn, faults)
			}
			if head := r.head("s000001 ", turn); !strings.HasPrefix(head, before) || !strings.HasPrefix(body, head) || len(body) != r.bodyLength(turn) {
				t.Errorf("%s, turn %d does not go on from the one before", r.name, turn)
			} else {
				before = head
			}
			if !strings.Contains(body, `"s000001 `) || strings.Contains(r.body("s000002 ", turn), "s000001") {
				t.Errorf("%s, turn %d: the tag is not in it", r.name, turn)
			}
		}
	}
}

// Requests are put together by hand; what a protobuf library reads must be the message
// that was meant.
func TestRequestsAreEncodedAsTheyAreMeant(t *testing.T) {
	r := madeUp(t)[3]
	s := &session{recording: r, tag: "s000001 ", turn: 1}
	conv := s.native(s.body(s.tag, s.turn))
	held := s.native(s.body(s.tag, s.turn))
	held.Native.Keep = true
	for name, x := range map[string]struct {
		request   request
		got, want proto.Message
	}{
		"plain":    {request{message: s.compress(nil), session: s}, &elbowroomv1.CompressRequest{}, s.compress(conv)},
		"held":     {request{message: s.prepare(keeping()), session: s}, &elbowroomv1.PrepareRequest{}, s.prepare(held)},
		"inside":   {request{message: &elbowroomv1.StreamCompressRequest{Request: s.compress(nil)}, session: s, inside: true}, &elbowroomv1.StreamCompressRequest{}, &elbowroomv1.StreamCompressRequest{Request: s.compress(conv)}},
		"no body":  {request{message: &elbowroomv1.ListModelsRequest{Filter: "x"}}, &elbowroomv1.ListModelsRequest{}, &elbowroomv1.ListModelsRequest{Filter: "x"}},
		"no field": {request{message: &elbowroomv1.CountTokensRequest{}, session: s}, &elbowroomv1.CountTokensRequest{}, &elbowroomv1.CountTokensRequest{Conversation: conv}},
	} {
		encoded, err := x.request.encode(mem.DefaultBufferPool())
		if err != nil {
			t.Fatal(err)
		}
		if err := proto.Unmarshal(*encoded, x.got); err != nil || !proto.Equal(x.got, x.want) {
			t.Errorf("%s: another message, error %v", name, err)
		}
	}
}

func TestTheSameSeedMakesTheSameCalls(t *testing.T) {
	list := madeUp(t)
	a, b := newSource(list, 5), newSource(list, 5)
	seen := map[string]bool{}
	for range 500 {
		x, y := a.next(), b.next()
		seen[x.kind.name] = true
		p, errP := proto.Marshal(x.build().message)
		q, errQ := proto.Marshal(y.build().message)
		if errP != nil || errQ != nil || x.kind.name != y.kind.name || string(p) != string(q) {
			t.Fatalf("%s and %s differ (%v, %v)", x.kind.name, y.kind.name, errP, errQ)
		}
	}
	if len(seen) != len(kinds()) {
		t.Errorf("%d kinds of %d in 500 calls", len(seen), len(kinds()))
	}
}

func TestEveryBrokenPromiseIsFound(t *testing.T) {
	kept := func() *outcome {
		k := &kind{name: "Prepare"}
		times := func(each time.Duration) *phase {
			p := newPhase("phase")
			p.of(k).accepted = slices.Repeat([]time.Duration{each}, leastForTail)
			return p
		}
		o := &outcome{settings: settings{most: 100, timed: true, seconds: leastCompared}, begun: 5, answered: 5, before: 10, after: 10 + strayGoroutines}
		o.ordinary, o.overloaded = times(20*time.Millisecond), times(40*time.Millisecond)
		o.phases = []*phase{o.ordinary, o.overloaded}
		return o
	}
	if list := kept().broken(); len(list) > 0 {
		t.Fatalf("nothing is wrong: %v", list)
	}
	for want, breaks := range map[string]func(o *outcome){
		"out of order (2 times)": func(o *outcome) { o.ordinary.fail("out of order"); o.ordinary.fail("out of order") },
		"a lost message":         func(o *outcome) { o.overloaded.wrong = []string{"a lost message"} },
		"1 of 5 calls":           func(o *outcome) { o.answered-- },
		"10 before, 17 after":    func(o *outcome) { o.after++ },
		"of memory":              func(o *outcome) { o.memory.Peak = 101 },
		"the p50 of Prepare is 2.05": func(o *outcome) {
			for _, m := range o.overloaded.kinds {
				for i := range m.accepted {
					m.accepted[i] = 41 * time.Millisecond
				}
			}
		},
		"the p99 of Prepare is 3.00": func(o *outcome) {
			for _, m := range o.overloaded.kinds {
				for i := range 4 {
					m.accepted[i] = 60 * time.Millisecond
				}
			}
		},
	} {
		o := kept()
		breaks(o)
		if list := o.broken(); len(list) == 0 || !strings.Contains(strings.Join(list, "\n"), want) {
			t.Errorf("%v, want %q", list, want)
		}
	}
	for _, change := range []func(o *outcome){func(o *outcome) { o.timed = false }, func(o *outcome) { o.seconds-- }} {
		untimed := kept()
		change(untimed)
		for _, m := range untimed.overloaded.kinds {
			m.accepted = slices.Repeat([]time.Duration{time.Second}, leastForTail)
		}
		if list := untimed.broken(); len(list) > 0 {
			t.Errorf("without a look at the clock: %v", list)
		}
	}
}

func TestARunThatCannotBeIsRefused(t *testing.T) {
	good := settings{seconds: 1, clients: 1, sample: 1, cores: 1, most: 1 << 20}
	if err := good.check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(s *settings){
		"-seconds 0":   func(s *settings) { s.seconds = 0 },
		"-seconds NaN": func(s *settings) { s.seconds = math.NaN() },
		"-clients 0":   func(s *settings) { s.clients = 0 },
		"-check 0":     func(s *settings) { s.sample = 0 },
		"-check 2":     func(s *settings) { s.sample = 2 },
		"-cores 0":     func(s *settings) { s.cores = 0 },
		"-memory 0":    func(s *settings) { s.most = 0 },
	} {
		bad := good
		change(&bad)
		if err := bad.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
