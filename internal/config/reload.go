package config

import "reflect"

// Reloaded returns what a server that runs with c works with once next was loaded:
// next where a setting is reloadable, c elsewhere. waiting are the keys whose new
// values need a restart. The error says why the two do not go together; nothing of
// next may then be used.
func (c *Config) Reloaded(next *Config) (merged *Config, waiting []string, err error) {
	taken := *next
	for _, s := range Settings() {
		if s.Reloadable {
			continue
		}
		running, loaded := s.value(c), s.value(&taken)
		if !reflect.DeepEqual(running.Interface(), loaded.Interface()) {
			waiting = append(waiting, s.Key)
		}
		loaded.Set(running)
	}
	if err := taken.Validate(); err != nil {
		return nil, waiting, err
	}
	return &taken, waiting, nil
}
