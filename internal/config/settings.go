package config

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Prefix begins the name of every environment variable of the server.
const Prefix = "ELBOWROOM_"

// FileVariable is the environment variable that names the file, beside --config.
const FileVariable = Prefix + "CONFIG"

// Setting describes one setting.
type Setting struct {
	// Key is the setting's place in the file, for example compression.threshold.
	Key     string
	Default string
	Help    string
	// Reloadable is set where a running server takes a changed value over.
	Reloadable bool
	// Secret is set where the value is never printed and cannot be a flag.
	Secret bool

	field []int // index of the field in Config
}

// Flag is the setting's flag, for example --compression-threshold; "" for a secret,
// which has none.
func (s Setting) Flag() string {
	if s.Secret {
		return ""
	}
	return "--" + strings.NewReplacer(".", "-", "_", "-").Replace(s.Key)
}

// Variable is the setting's environment variable, for example
// ELBOWROOM_COMPRESSION_THRESHOLD.
func (s Setting) Variable() string {
	return Prefix + strings.ToUpper(strings.ReplaceAll(s.Key, ".", "_"))
}

// Settings lists every setting, in the order of [Config].
func Settings() []Setting {
	var out []Setting
	var walk func(t reflect.Type, prefix string, index []int)
	walk = func(t reflect.Type, prefix string, index []int) {
		for i := range t.NumField() {
			f := t.Field(i)
			at := append(slices.Clone(index), i)
			key := prefix + f.Tag.Get("key")
			if f.Type.Kind() == reflect.Struct {
				walk(f.Type, key+".", at)
				continue
			}
			out = append(out, Setting{
				Key: key, Default: f.Tag.Get("default"), Help: f.Tag.Get("help"),
				Reloadable: f.Tag.Get("reload") != "", Secret: f.Tag.Get("secret") != "", field: at,
			})
		}
	}
	walk(reflect.TypeFor[Config](), "", nil)
	return out
}

// Text returns the value that c has for the setting.
func (s Setting) Text(c *Config) string {
	return format(s.value(c))
}

// value is the setting's field of c.
func (s Setting) value(c *Config) reflect.Value {
	return reflect.ValueOf(c).Elem().FieldByIndex(s.field)
}

// set gives the setting a value as a file, a variable or a flag brings it.
func (s Setting) set(c *Config, value any) error {
	return assign(s.value(c), value)
}

// assign converts a value to the field's type by way of its text.
func assign(field reflect.Value, value any) error {
	switch field.Interface().(type) {
	case []string:
		list, err := texts(value)
		if err != nil {
			return err
		}
		field.Set(reflect.ValueOf(list))
		return nil
	case map[string]float64:
		shares, err := shares(value)
		if err != nil {
			return err
		}
		field.Set(reflect.ValueOf(shares))
		return nil
	}
	text, err := scalar(value)
	if err != nil {
		return err
	}
	if u, ok := field.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	switch field.Interface().(type) {
	case time.Duration:
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%q is not a duration such as 500ms, 30s or 5m", text)
		}
		field.SetInt(int64(d))
		return nil
	}
	switch field.Kind() {
	case reflect.String:
		field.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		field.SetBool(b)
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
		field.SetInt(int64(n))
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%q is not a number", text)
		}
		field.SetFloat(x)
	default:
		return fmt.Errorf("a setting of type %s cannot be read", field.Type())
	}
	return nil
}

// scalar writes a single value as text.
func scalar(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case fmt.Stringer:
		return v.String(), nil
	case bool, int, int64, uint64, float64:
		return fmt.Sprint(v), nil
	default:
		return "", fmt.Errorf("a single value is wanted here, not a list or a group of keys")
	}
}

// texts reads a list: a list of texts, or one text with commas.
func texts(value any) ([]string, error) {
	var parts []string
	switch v := value.(type) {
	case []string:
		parts = v
	case []any:
		for _, e := range v {
			text, err := scalar(e)
			if err != nil {
				return nil, err
			}
			parts = append(parts, text)
		}
	default:
		text, err := scalar(value)
		if err != nil {
			return nil, err
		}
		parts = strings.Split(text, ",")
	}
	out := []string{}
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out, nil
}

// shares reads a map from names to numbers: a group of keys, or one text of the
// form NAME=SHARE,NAME=SHARE.
func shares(value any) (map[string]float64, error) {
	out := map[string]float64{}
	add := func(name, text string) error {
		x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || strings.TrimSpace(name) == "" {
			return fmt.Errorf("%q is not of the form NAME=SHARE", name+"="+text)
		}
		out[strings.TrimSpace(name)] = x
		return nil
	}
	switch v := value.(type) {
	case map[string]float64:
		maps.Copy(out, v)
		return out, nil
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			text, err := scalar(v[name])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if err := add(name, text); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	list, err := texts(value)
	if err != nil {
		return nil, err
	}
	for _, pair := range list {
		name, text, _ := strings.Cut(pair, "=")
		if err := add(name, text); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// format writes a value as [assign] reads it.
func format(field reflect.Value) string {
	switch v := field.Interface().(type) {
	case []string:
		return strings.Join(v, ",")
	case map[string]float64:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, name+"="+strconv.FormatFloat(v[name], 'g', -1, 64))
		}
		return strings.Join(parts, ",")
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}

// YAML writes the settings as a configuration file that [Load] reads, with comments
// that say which of them a running server takes over. Secrets are left empty.
func (c *Config) YAML() string {
	var out strings.Builder
	group := ""
	for _, s := range Settings() {
		name, indent := s.Key, ""
		if head, rest, nested := strings.Cut(s.Key, "."); nested {
			if head != group {
				fmt.Fprintf(&out, "%s:\n", head)
			}
			group, name, indent = head, rest, "  "
		}
		value, comment := s.yaml(c), ""
		switch {
		case s.Secret && s.Text(c) != "":
			value, comment = `""`, " # set; a secret is not printed"
		case s.Reloadable:
			comment = " # reloadable"
		}
		fmt.Fprintf(&out, "%s%s: %s%s\n", indent, name, value, comment)
	}
	return out.String()
}

// yaml writes one value. Texts are quoted the way JSON does it, which YAML reads.
func (s Setting) yaml(c *Config) string {
	field := s.value(c)
	switch v := field.Interface().(type) {
	case []string:
		quoted := make([]string, len(v))
		for i, text := range v {
			quoted[i] = strconv.Quote(text)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	case map[string]float64:
		var pairs []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			pairs = append(pairs, strconv.Quote(name)+": "+strconv.FormatFloat(v[name], 'g', -1, 64))
		}
		return "{" + strings.Join(pairs, ", ") + "}"
	case bool, int, float64:
		return format(field)
	default:
		return strconv.Quote(format(field))
	}
}
