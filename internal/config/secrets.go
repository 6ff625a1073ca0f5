package config

import (
	"fmt"
	"os"
	"strings"
)

// minKey is the shortest allowed key in characters: 128 bits in hexadecimal.
const minKey = 32

// StateKeys reads the keys that sign compression states, nil when no file is set.
func (c *Config) StateKeys() ([][]byte, error) { return readKeys("state_key_file", c.StateKeyFile) }

// EncryptionKeys reads the keys that encrypt what is kept in Redis, nil when no file
// is set.
func (c *Config) EncryptionKeys() ([][]byte, error) {
	return readKeys("store.encryption_key_file", c.Store.EncryptionKeyFile)
}

// RedisURL is where the shared store is, from the setting or from its file; "" for
// none.
func (c *Config) RedisURL() (string, error) {
	if c.Store.RedisURLFile == "" {
		return c.Store.RedisURL, nil
	}
	text, err := os.ReadFile(c.Store.RedisURLFile)
	if err != nil {
		return "", fmt.Errorf("store.redis_url_file: %w", err)
	}
	url := strings.TrimSpace(string(text))
	if url == "" {
		return "", fmt.Errorf("store.redis_url_file: %s is empty", c.Store.RedisURLFile)
	}
	return url, nil
}

// readKeys reads a file of keys, one a line, for the setting that names it.
func readKeys(setting, file string) ([][]byte, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	var keys [][]byte
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case len(line) < minKey:
			return nil, fmt.Errorf("%s: %s: the key on line %d has fewer than %d characters", setting, file, i+1, minKey)
		default:
			keys = append(keys, []byte(line))
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s: %s holds no key", setting, file)
	}
	return keys, nil
}
