package main

import (
	"context"
	"log/slog"
	"os"
	"reflect"
	"slices"
	"time"

	"github.com/elbowroom/elbowroom/internal/config"
	"github.com/elbowroom/elbowroom/internal/watched"
)

// reloader gives a running server the settings that have changed: on SIGHUP, and when
// a file that they come from has changed.
type reloader struct {
	// load reads all layers anew.
	load func() (*config.Config, error)
	// front and level take what is reloadable over.
	front reconfigurable
	level *slog.LevelVar
	log   *slog.Logger
	// file is the configuration file, "" for none.
	file string
	// running are the settings in force, loaded those that were read last.
	running, loaded *config.Config
	// hangup asks for a reload.
	hangup <-chan os.Signal
	// done is told of every reload: whether it was applied.
	done func(ctx context.Context, applied bool)
}

// reconfigurable is what takes settings over: a front, or a stand-in in tests.
type reconfigurable interface {
	reconfigure(ctx context.Context, c *config.Config) error
}

// start watches for the front until ctx ends or stop is called, which waits for the end.
func (r *reloader) start(ctx context.Context, front reconfigurable) (stop func()) {
	r.front = front
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

func (r *reloader) run(ctx context.Context) {
	r.loaded = r.running
	files := watched.New(r.paths()...)
	// The file may have changed while the server started.
	if c, err := r.load(); err != nil || !reflect.DeepEqual(c, r.running) {
		r.reload(ctx)
	}
	look := time.NewTicker(watched.Interval)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.hangup:
		case <-look.C:
			if !files.Changed() {
				continue
			}
		}
		// Before they are read: what changes meanwhile is found the next time.
		paths := r.paths()
		files = watched.New(paths...)
		r.reload(ctx)
		if !slices.Equal(paths, r.paths()) {
			files = watched.New(r.paths()...)
		}
	}
}

// paths are the files that reloadable settings come from.
func (r *reloader) paths() []string {
	return []string{r.file, r.loaded.StateKeyFile, r.loaded.PromptCaching.LayoutsFile, r.loaded.PromptCaching.PricesFile}
}

// reload takes the settings over as they are now. Where they are no good those in
// force stay.
func (r *reloader) reload(ctx context.Context) {
	change, err := r.take(ctx)
	if err != nil {
		r.done(ctx, false)
		r.log.ErrorContext(ctx, "the configuration was not reloaded: the settings in force stay", "error", err.Error())
		return
	}
	r.done(ctx, true)
	r.log.InfoContext(ctx, "the configuration was reloaded", "changed", change.Taken)
	if len(change.Waiting) > 0 {
		r.log.WarnContext(ctx, "settings have changed that need a restart", "settings", change.Waiting)
	}
}

func (r *reloader) take(ctx context.Context) (config.Change, error) {
	next, err := r.load()
	if err != nil {
		return config.Change{}, err
	}
	r.loaded = next
	merged, change, err := r.running.Reloaded(next)
	if err != nil {
		return change, err
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(merged.LogLevel)); err != nil {
		return change, err
	}
	if err := r.front.reconfigure(ctx, merged); err != nil {
		return change, err
	}
	r.level.Set(level)
	r.running = merged
	return change, nil
}
