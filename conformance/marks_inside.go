package conformance

import (
	"bytes"
	"encoding/json"
)

// marksInside lists the marks deeper in a block than the places that [Transcript.marks]
// looks at, by whether they ask for an hour: on what its content or the content of its
// source consists of, and on its citations. A call's input is data of the caller, whatever
// its keys are. It takes time linear in the block, however deep that is.
func (d Dialect) marksInside(b *block) []bool {
	w := insideWalk{dialect: d}
	for _, m := range b.object.members {
		w.dec, w.err = json.NewDecoder(bytes.NewReader(m.value)), nil
		// What a tool's result consists of is looked at by itself.
		w.member(m.key, b.kind == "tool_result")
	}
	return w.hours
}

// insideWalk reads values token by token, and stops where one cannot be read.
type insideWalk struct {
	dialect Dialect
	dec     *json.Decoder
	err     error
	hours   []bool
}

// member reads the value of a block's member. ofResult says that marks on the elements of
// its content are somebody else's.
func (w *insideWalk) member(key string, ofResult bool) {
	switch key {
	case "content":
		w.list(func() { w.block(ofResult) })
	case "citations":
		w.list(func() {
			w.object(func(key string) {
				if key == "cache_control" {
					w.mark()
				} else {
					w.skip()
				}
			})
		})
	case "source", "image_url", "input_audio", "file", "video_url", "audio_url":
		w.object(func(key string) {
			if key == "content" {
				w.list(func() { w.block(false) })
			} else {
				w.skip()
			}
		})
	default:
		w.skip()
	}
}

// block reads an element of a content.
func (w *insideWalk) block(unmarked bool) {
	w.object(func(key string) {
		switch {
		case key == "cache_control" || key == "prompt_cache_breakpoint" && w.dialect == OpenAI:
			if unmarked {
				w.skip()
			} else {
				w.mark()
			}
		default:
			w.member(key, false)
		}
	})
}

// list reads a value, with each for its elements where it is a list.
func (w *insideWalk) list(each func()) {
	w.open('[', each)
}

// object reads a value, with each for its members where it is an object.
func (w *insideWalk) object(each func(key string)) {
	w.open('{', func() {
		key, _ := w.token().(string)
		each(key)
	})
}

func (w *insideWalk) open(delim json.Delim, each func()) {
	token := w.token()
	if token != delim {
		w.rest(token)
		return
	}
	for w.err == nil && w.dec.More() {
		each()
	}
	w.token()
}

// rest reads to the end of a list or an object that has begun with token.
func (w *insideWalk) rest(token json.Token) {
	for depth := 0; w.err == nil; token = w.token() {
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return
		}
	}
}

func (w *insideWalk) token() json.Token {
	if w.err != nil {
		return nil
	}
	var token json.Token
	token, w.err = w.dec.Token()
	return token
}

func (w *insideWalk) value() (raw json.RawMessage) {
	if w.err == nil {
		w.err = w.dec.Decode(&raw)
	}
	return raw
}

func (w *insideWalk) skip() { w.value() }

func (w *insideWalk) mark() {
	if value := w.value(); w.err == nil && !isNull(value) {
		w.hours = append(w.hours, isHour(value))
	}
}
