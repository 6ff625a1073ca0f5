package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
)

// Sources are where settings come from, beside the defaults.
type Sources struct {
	// File is the path of a YAML file, empty for none.
	File string
	// Environ is the environment as os.Environ gives it.
	Environ []string
	// Flags are the flags that were given, by key.
	Flags map[string]any
}

// Load returns the settings: flags over environment over file over defaults. A
// key of the file that does not exist is an error, and so is a value that does
// not fit. Unknown variables are no error; see [UnknownVariables].
func Load(src Sources) (*Config, error) {
	c, err := defaults()
	if err != nil {
		return nil, err
	}
	if src.File != "" {
		if err := c.loadFile(src.File); err != nil {
			return nil, err
		}
	}
	if err := c.loadEnviron(src.Environ); err != nil {
		return nil, err
	}
	for _, s := range Settings() {
		if value, given := src.Flags[s.Key]; given {
			if err := s.set(c, value); err != nil {
				return nil, fmt.Errorf("%s: %w", s.Flag(), err)
			}
		}
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return c, nil
}

// defaults returns the settings of a server that was told nothing.
func defaults() (*Config, error) {
	c := &Config{}
	for _, s := range Settings() {
		if err := s.set(c, s.Default); err != nil {
			return nil, fmt.Errorf("default of %s: %w", s.Key, err)
		}
	}
	return c, nil
}

// loadFile sets what a YAML file holds.
func (c *Config) loadFile(path string) error {
	k := koanf.New(".")
	if err := k.Load(file.Provider(path), document{yaml.Parser()}); err != nil {
		var missing *fs.PathError
		if errors.As(err, &missing) {
			return fmt.Errorf("read the configuration: %w", err)
		}
		return fmt.Errorf("read the configuration: %s: %w", path, err)
	}
	settings := Settings()
	for _, name := range slices.Sorted(maps.Keys(k.Raw())) {
		value := k.Raw()[name]
		isGroup := slices.ContainsFunc(settings, func(s Setting) bool { return strings.HasPrefix(s.Key, name+".") })
		if _, hasKeys := value.(map[string]any); isGroup && !hasKeys && value != nil {
			return fmt.Errorf("%s: %s: a group of keys is wanted here, not a single value or a list", path, name)
		}
	}
	if unknown := unknownKeys(k.Raw(), settings, ""); len(unknown) > 0 {
		return fmt.Errorf("%s: unknown key %s", path, strings.Join(unknown, ", "))
	}
	for _, s := range settings {
		value := k.Get(s.Key)
		if value == nil { // absent, or written without a value
			continue
		}
		if err := s.set(c, value); err != nil {
			return fmt.Errorf("%s: %s: %w", path, s.Key, err)
		}
	}
	return nil
}

// unknownKeys lists the keys of a tree that are no setting, sorted.
func unknownKeys(tree map[string]any, settings []Setting, prefix string) []string {
	var out []string
	for name, value := range tree {
		key := prefix + name
		isSetting := slices.ContainsFunc(settings, func(s Setting) bool { return s.Key == key })
		isGroup := slices.ContainsFunc(settings, func(s Setting) bool { return strings.HasPrefix(s.Key, key+".") })
		group, hasKeys := value.(map[string]any)
		switch {
		case isSetting:
		case isGroup && hasKeys:
			out = append(out, unknownKeys(group, settings, key+".")...)
		case isGroup && value == nil:
		default:
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// loadEnviron sets what the environment holds.
func (c *Config) loadEnviron(environ []string) error {
	settings := Settings()
	k := koanf.New(".")
	provider := env.Provider(".", env.Opt{
		Prefix:      Prefix,
		EnvironFunc: func() []string { return environ },
		TransformFunc: func(name, value string) (string, any) {
			for _, s := range settings {
				if s.Variable() == name {
					return s.Key, value
				}
			}
			return "", nil
		},
	})
	if err := k.Load(provider, nil); err != nil {
		return fmt.Errorf("read the environment: %w", err)
	}
	for _, s := range settings {
		if !k.Exists(s.Key) {
			continue
		}
		if err := s.set(c, k.Get(s.Key)); err != nil {
			return fmt.Errorf("%s: %w", s.Variable(), err)
		}
	}
	return nil
}

// UnknownVariables lists the variables that begin with [Prefix] and are no
// setting: misspelled ones, to be warned of. Those that Kubernetes sets for a
// service named elbowroom are left out.
func UnknownVariables(environ []string) []string {
	settings := Settings()
	var out []string
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		switch {
		case !strings.HasPrefix(name, Prefix), name == FileVariable, name == Prefix+"TOKEN", name == Prefix+"TOKEN_FILE":
		case slices.ContainsFunc(settings, func(s Setting) bool { return s.Variable() == name }):
		case strings.Contains(name, "_SERVICE_"), strings.HasSuffix(name, "_PORT"), strings.Contains(name, "_PORT_"):
		default:
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
