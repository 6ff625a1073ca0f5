package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/internal/config"
)

func TestReloadTakesWhatIsReloadableAndNamesTheRest(t *testing.T) {
	running := load(t, config.Sources{File: writeFile(t, "compression: {threshold: 0.4}\ngrpc_addr: 127.0.0.1:1\n")})
	for _, c := range []struct {
		name, file string
		change     config.Change
		threshold  float64
		err        string
	}{
		{"nothing", "compression: {threshold: 0.4}\ngrpc_addr: 127.0.0.1:1\n", config.Change{}, 0.4, ""},
		{
			"both kinds", "log_level: debug\ncompression: {threshold: 0.6}\ngrpc_addr: 127.0.0.1:2\nsummarizers: [openai:a]\n",
			config.Change{Taken: []string{"log_level", "compression.threshold"}, Waiting: []string{"grpc_addr", "summarizers"}}, 0.6, "",
		},
		{
			// Good by itself, not beside the message size that stays.
			"a value that does not go with what stays", "grpc_addr: 127.0.0.1:1\nlimits: {max_message_bytes: 1MiB, max_in_flight_bytes: 2MiB}\n",
			config.Change{Taken: []string{"compression.threshold", "limits.max_in_flight_bytes"}, Waiting: []string{"limits.max_message_bytes"}}, 0,
			"limits.max_in_flight_bytes: 2MiB has no room for one message of limits.max_message_bytes, 64MiB",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := *running
			merged, change, err := running.Reloaded(load(t, config.Sources{File: writeFile(t, c.file)}))
			if diff := cmp.Diff(c.change, change); diff != "" {
				t.Errorf("change (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(&before, running); diff != "" {
				t.Errorf("the running settings were changed:\n%s", diff)
			}
			if c.err != "" {
				if err == nil || err.Error() != c.err || merged != nil {
					t.Errorf("%v, %v, want %s", merged, err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if merged.Compression.Threshold != c.threshold || merged.GRPCAddr != running.GRPCAddr {
				t.Errorf("merged %+v", merged)
			}
		})
	}
}
