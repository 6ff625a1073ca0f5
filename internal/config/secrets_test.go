package config_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elbowroom/elbowroom/internal/config"
)

func TestKeysAreReadFromTheirFiles(t *testing.T) {
	const one, two = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210ff"
	kinds := map[string]func(c *config.Config) ([][]byte, error){
		"state_key_file":            (*config.Config).StateKeys,
		"store.encryption_key_file": (*config.Config).EncryptionKeys,
	}
	for _, c := range []struct {
		name, text string
		want       [][]byte
		err        string
	}{
		{"one a line, newest first", "# newest\n" + one + "\n\n" + two + "\n", [][]byte{[]byte(one), []byte(two)}, ""},
		{"too short", one + "\nshort\n", nil, "KEY: FILE: the key on line 2 has fewer than 32 characters"},
		{"empty", "\n# nothing\n", nil, "KEY: FILE holds no key"},
	} {
		for key, keys := range kinds {
			t.Run(c.name+", "+key, func(t *testing.T) {
				path := writeFile(t, c.text)
				got, err := keys(load(t, config.Sources{Flags: map[string]any{key: path}}))
				text := ""
				if err != nil {
					text = strings.NewReplacer(path, "FILE", key+":", "KEY:").Replace(err.Error())
				}
				if text != c.err {
					t.Errorf("error %q, want %q", text, c.err)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("keys (-want +got):\n%s", diff)
				}
			})
		}
	}
	for key, keys := range kinds {
		if got, err := keys(load(t, config.Sources{})); got != nil || err != nil {
			t.Errorf("%s without a file: %v, %v", key, got, err)
		}
	}
}

func TestTheAddressOfRedisComesFromTheSettingOrItsFile(t *testing.T) {
	for _, c := range []struct {
		name    string
		environ []string
		file    *string
		want    string
		err     string
	}{
		{"neither", nil, nil, "", ""},
		{"the variable", []string{"ELBOWROOM_STORE_REDIS_URL=redis://:pw@a:1/2"}, nil, "redis://:pw@a:1/2", ""},
		{"the file", nil, new(" redis://:pw@a:1/2\n"), "redis://:pw@a:1/2", ""},
		{"an empty file", nil, new("\n"), "", "store.redis_url_file: FILE is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src, path := config.Sources{Environ: c.environ}, ""
			if c.file != nil {
				path = writeFile(t, *c.file)
				src.Flags = map[string]any{"store.redis_url_file": path}
			}
			got, err := load(t, src).RedisURL()
			text := ""
			if err != nil {
				text = strings.ReplaceAll(err.Error(), path, "FILE")
			}
			if got != c.want || text != c.err {
				t.Errorf("%q, %q; want %q, %q", got, text, c.want, c.err)
			}
		})
	}
	if _, err := load(t, config.Sources{Flags: map[string]any{"store.redis_url_file": "/does/not/exist"}}).RedisURL(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	c := load(t, config.Sources{Environ: []string{"ELBOWROOM_STORE_REDIS_URL=redis://:hunter2@a:1"}})
	text := c.YAML()
	if strings.Contains(text, "hunter2") || !strings.Contains(text, `redis_url: "" # set; a secret is not printed`) {
		t.Errorf("printed:\n%s", text)
	}
	again := load(t, config.Sources{File: writeFile(t, text)})
	again.Store.RedisURL = c.Store.RedisURL
	if diff := cmp.Diff(c, again); diff != "" {
		t.Errorf("what was printed reads as another configuration (-want +got):\n%s", diff)
	}
	for _, s := range config.Settings() {
		if s.Secret && (s.Flag() != "" || s.Reloadable) {
			t.Errorf("%s is a secret with the flag %q, reloadable %v", s.Key, s.Flag(), s.Reloadable)
		}
	}
}
