package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	elbowroomv1 "github.com/elbowroom/elbowroom/gen/elbowroom/v1"

	"github.com/elbowroom/elbowroom/internal/config"
	"github.com/elbowroom/elbowroom/internal/wiredouble"
)

const (
	reloaded    = "the configuration was reloaded"
	notReloaded = "the configuration was not reloaded: the settings in force stay"
	needRestart = "settings have changed that need a restart"
)

// rewrite gives a file new content in one step, as orchestrators do.
func rewrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// fronted is a front that records what it was given.
type fronted struct {
	given []*config.Config
	err   error
}

func (f *fronted) reconfigure(_ context.Context, c *config.Config) error {
	if f.err == nil {
		f.given = append(f.given, c)
	}
	return f.err
}

func TestReloadsHappenOnSIGHUPAndWhenAFileHasChanged(t *testing.T) {
	dir := t.TempDir()
	file, keys := filepath.Join(dir, "elbowroom.yaml"), filepath.Join(dir, "keys")
	rewrite(t, keys, strings.Repeat("k", 32))
	base := "state_key_file: " + keys + "\n"
	rewrite(t, file, base)
	synctest.Test(t, func(t *testing.T) {
		load := func() (*config.Config, error) { return config.Load(config.Sources{File: file}) }
		running, err := load()
		if err != nil {
			t.Fatal(err)
		}
		log := newSyncBuffer()
		f := &fronted{}
		var applied, refused atomic.Int32
		done := func(_ context.Context, good bool) {
			if good {
				applied.Add(1)
			} else {
				refused.Add(1)
			}
		}
		hangup := make(chan os.Signal)
		r := &reloader{done: done, load: load, front: f, level: new(slog.LevelVar), log: slog.New(slog.NewJSONHandler(log, nil)), file: file, running: running, hangup: hangup}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go r.run(ctx)
		// stamp makes what was written differ in the clock of this bubble, too.
		later := time.Now()
		write := func(path, text string) {
			rewrite(t, path, text)
			later = later.Add(time.Second)
			if err := os.Chtimes(path, later, later); err != nil {
				t.Fatal(err)
			}
		}
		for _, x := range []struct {
			name             string
			do               func()
			applied, refused int32
			level            slog.Level
			logged           string
		}{
			{"nothing", func() {}, 0, 0, slog.LevelInfo, ""},
			{"a change", func() { write(file, base+"log_level: warn\ncompression: {threshold: 0.3}\n") }, 1, 0, slog.LevelWarn, `"changed":["log_level","compression.threshold"]`},
			{"nothing more", func() {}, 1, 0, slog.LevelWarn, ""},
			{"a file that is being written", func() {
				write(file, "") // good, and all defaults
				<-time.After(1100 * time.Millisecond)
				write(file, base+"log_level: warn\ncompression: {threshold: 0.3}\n")
			}, 2, 0, slog.LevelWarn, `"changed":null`},
			{"broken YAML", func() { write(file, base+"log_level: [") }, 2, 1, slog.LevelWarn, notReloaded},
			{"a bad value", func() { write(file, base+"log_level: loud") }, 2, 2, slog.LevelWarn, "loud"},
			{"no file", func() { _ = os.Remove(file) }, 2, 3, slog.LevelWarn, "no such file"},
			{"mended, with a setting that needs a restart", func() { write(file, base+"log_level: debug\nsummarizer: {retries: 1}\n") }, 3, 3, slog.LevelDebug, `"settings":["summarizer.retries"]`},
			{"other keys", func() { write(keys, strings.Repeat("n", 32)) }, 4, 3, slog.LevelDebug, reloaded},
			{"a signal", func() { hangup <- syscall.SIGHUP }, 5, 3, slog.LevelDebug, reloaded},
			{"what the server refuses", func() { f.err = errors.New("it cannot be"); hangup <- syscall.SIGHUP }, 5, 4, slog.LevelDebug, "it cannot be"},
		} {
			before := len(log.String())
			x.do()
			<-time.After(2500 * time.Millisecond)
			synctest.Wait()
			lines := log.String()[before:]
			if applied.Load() != x.applied || refused.Load() != x.refused || r.level.Level() != x.level || !strings.Contains(lines, x.logged) || (x.logged == "") != (lines == "") {
				t.Errorf("%s: %d applied, %d refused, level %v, log:\n%s", x.name, applied.Load(), refused.Load(), r.level.Level(), lines)
			}
		}
		if len(f.given) != 5 {
			t.Fatalf("%d configurations", len(f.given))
		}
		if got := f.given[0].Compression.Threshold; got != 0.3 {
			t.Errorf("threshold %v", got)
		}
		for _, c := range f.given {
			if c.Summarizer.Retries != 2 {
				t.Errorf("%d retries: it takes a restart", c.Summarizer.Retries)
			}
		}
	})
}

func TestAServerTakesAChangedFileOverWithoutARestart(t *testing.T) {
	gate := make(chan struct{})
	model := wiredouble.OpenAI(t, wiredouble.Text("## Goal\n- Watch the tide at the pier.\n").Until(gate))
	t.Setenv("OPENAI_BASE_URL", model.URL)
	t.Setenv("OPENAI_API_KEY", model.Key)
	file := filepath.Join(t.TempDir(), "elbowroom.yaml")
	const base = "summarizers: [openai:m, extractive]\n"
	rewrite(t, file, base)
	r := startReplica(t, []string{config.FileVariable + "=" + file})
	request := &elbowroomv1.CompressRequest{Conversation: talk(60), Model: "gpt-4o", ContextWindow: 32_000}

	type answer struct {
		*elbowroomv1.CompressResponse
		err error
	}
	under := make(chan answer, 1)
	go func() {
		out, err := r.Compress(t.Context(), request)
		under <- answer{out, err}
	}()
	await(t, "the model's call", func() bool { return model.Active() > 0 })
	rewrite(t, file, base+"compression: {enabled: false}\nlimits: {max_concurrent_calls: 2}\nhttp: {allowed_origins: [https://app.example]}\n")
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if got := r.logged(t, reloaded)["changed"]; !cmp.Equal(got, []any{"compression.enabled", "limits.max_concurrent_calls"}) {
		t.Errorf("changed %v", got)
	}
	if got := r.logged(t, needRestart)["settings"]; !cmp.Equal(got, []any{"http.allowed_origins"}) {
		t.Errorf("waiting %v", got)
	}
	out, err := r.Compress(t.Context(), request)
	if err != nil || out.GetOutcome() != elbowroomv1.Outcome_OUTCOME_DISABLED {
		t.Errorf("a call that began later: %v, %v", out.GetOutcome(), err)
	}
	rewrite(t, file, base+"compression: {enabled: perhaps}\n")
	if got := r.logged(t, notReloaded)["error"].(string); !strings.Contains(got, `compression.enabled: "perhaps" is neither true nor false`) {
		t.Errorf("error %q", got)
	}
	close(gate)
	if first := <-under; first.err != nil || first.GetOutcome() != elbowroomv1.Outcome_OUTCOME_COMPRESSED || first.GetReport().GetRung() != elbowroomv1.Rung_RUNG_LLM {
		t.Errorf("the call that began before: %v, %v", first.GetOutcome(), first.err)
	}
	if code := r.stop(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

// A backend that never answers neither holds the process up nor costs the caller its
// answer.
func TestAHangingBackendDoesNotHoldUpTheEnd(t *testing.T) {
	model := wiredouble.OpenAI(t, wiredouble.Hang())
	t.Setenv("OPENAI_BASE_URL", model.URL)
	t.Setenv("OPENAI_API_KEY", model.Key)
	for _, x := range []struct {
		name   string
		policy elbowroomv1.FailurePolicy
		code   codes.Code
	}{
		{"with a fallback", elbowroomv1.FailurePolicy_FAILURE_POLICY_FALLBACK, codes.OK},
		{"without one", elbowroomv1.FailurePolicy_FAILURE_POLICY_ABORT, codes.Unavailable},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := startReplica(t, nil, "--summarizers", "openai:m,extractive", "--shutdown-timeout", "2s")
			done := make(chan error, 1)
			var out *elbowroomv1.CompressResponse
			go func() {
				var err error
				out, err = r.Compress(t.Context(), &elbowroomv1.CompressRequest{
					Conversation: talk(60), Model: "gpt-4o", ContextWindow: 32_000, Force: true,
					Policy: &elbowroomv1.CompressionPolicy{FailurePolicy: x.policy},
				})
				done <- err
			}()
			await(t, "the model's call", func() bool { return model.Active() > 0 })
			if code := r.stop(); code != exitOK {
				t.Errorf("exit code %d: calls were broken off", code)
			}
			err := <-done
			if status.Code(err) != x.code {
				t.Fatalf("%v, want %v", err, x.code)
			}
			if err == nil && (out.GetReport().GetRung() != elbowroomv1.Rung_RUNG_EXTRACTIVE || out.GetReport().GetFailedRungs()[0].GetCode() != "closing") {
				t.Errorf("rung %v after %v", out.GetReport().GetRung(), out.GetReport().GetFailedRungs())
			}
			if err != nil && len(status.Convert(err).Details()) != 2 {
				t.Errorf("details %v, want what failed and when to come again", status.Convert(err).Details())
			}
			await(t, "the end of the call", func() bool { return model.Active() == 0 })
		})
	}
}

func TestASignalToReloadDoesNotEndAServerThatStarts(t *testing.T) {
	r, ended := beginProcess(t, []string{"ELBOWROOM_NO_SUCH_SETTING=1"})
	r.logged(t, "unknown environment variable") // long before it serves
	r.signal(syscall.SIGHUP)
	listening(t, r, ended)
	r.logged(t, reloaded)
}
