package config

import "reflect"

// Change is what a reload does, as keys in the order of [Settings].
type Change struct {
	// Taken have new values from now on; Waiting have new values that need a restart.
	Taken, Waiting []string
}

// Reloaded returns what a server that runs with c works with once next was loaded:
// next where a setting is reloadable, c elsewhere. The error says why the two do not
// go together; nothing of next may then be used.
func (c *Config) Reloaded(next *Config) (*Config, Change, error) {
	merged := *next
	var change Change
	for _, s := range Settings() {
		running, loaded := s.value(c), s.value(&merged)
		switch same := reflect.DeepEqual(running.Interface(), loaded.Interface()); {
		case same:
		case s.Reloadable:
			change.Taken = append(change.Taken, s.Key)
		default:
			change.Waiting = append(change.Waiting, s.Key)
			loaded.Set(running)
		}
	}
	if err := merged.Validate(); err != nil {
		return nil, change, err
	}
	return &merged, change, nil
}
