package main

import (
	"bytes"
	"encoding/json"
)

// object is a JSON object whose members keep their order, so that the document reads
// like the proto files.
type object []member

type member struct {
	key   string
	value any
}

// with adds a member unless its value is empty.
func (o object) with(key string, value any) object {
	switch v := value.(type) {
	case string:
		if v == "" {
			return o
		}
	case object:
		if len(v) == 0 {
			return o
		}
	case []any:
		if len(v) == 0 {
			return o
		}
	}
	return append(o, member{key, value})
}

// MarshalJSON implements [json.Marshaler].
func (o object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		value, err := encode(m.value)
		if err != nil {
			return nil, err
		}
		out.Write(key)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// encode is json.Marshal with <, > and & as they are: descriptions are no HTML.
func encode(value any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimRight(out.Bytes(), "\n"), err
}
