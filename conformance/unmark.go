package conformance

import "bytes"

// Unmark returns a native conversation without its breakpoints, byte for byte as it
// was before they were set, so that what was compressed and marked in one go is judged
// by [Compression.Check]. A mark makes a list of one text of a string: like, the
// conversation before, tells which of the two it was; nil leaves lists.
func Unmark(t, like *Transcript) []byte {
	u := unmarker{known: map[string]bool{}}
	if like != nil {
		for _, m := range like.messages {
			u.known[string(m.raw)] = true
		}
		u.folds = true
		u.system = like.system != nil && like.system.content.shape == shapeString
	}
	if t.bare {
		return u.list(t.list, u.message)
	}
	return u.object(&t.body, func(key string, value []byte) []byte {
		switch key {
		case "messages":
			return u.list(t.list, u.message)
		case "tools":
			return u.each(value, u.tool)
		case "system":
			plain, folded := u.content(value)
			if u.system {
				return folded
			}
			return plain
		default:
			return value
		}
	})
}

type unmarker struct {
	known  map[string]bool // messages as they were
	folds  bool
	system bool // the system prompt was a string
}

// object writes an object without its mark, its values as edit makes them.
func (u *unmarker) object(o *object, edit func(key string, value []byte) []byte) []byte {
	var out []byte
	open := false // the first member was left out: the next one's comma goes
	for i, m := range o.members {
		glue := o.glue[i]
		if m.key == "cache_control" {
			open = open || i == 0
			continue
		}
		if open {
			glue, open = append([]byte("{"), glue[bytes.IndexByte(glue, ',')+1:]...), false
		}
		out = append(append(out, glue...), edit(m.key, m.value)...)
	}
	if open {
		out = append(out, '{')
	}
	return append(out, o.glue[len(o.members)]...)
}

func (u *unmarker) list(a array, edit func(raw []byte) []byte) []byte {
	var out []byte
	for i, element := range a.elements {
		out = append(append(out, a.glue[i]...), edit(element)...)
	}
	return append(out, a.glue[len(a.elements)]...)
}

// each edits the elements of what may be a list.
func (u *unmarker) each(raw []byte, edit func(raw []byte) []byte) []byte {
	if a, err := splitArray(raw); err == nil {
		return u.list(a, edit)
	}
	return raw
}

func (u *unmarker) tool(raw []byte) []byte {
	o, err := splitObject(raw)
	if err != nil {
		return raw
	}
	return u.object(&o, func(key string, value []byte) []byte {
		if fn, err := splitObject(value); key == "function" && err == nil {
			return u.object(&fn, func(_ string, value []byte) []byte { return value })
		}
		return value
	})
}

// message is a message as it was, or, where that is not known, with a string for a
// list of one text.
func (u *unmarker) message(raw []byte) []byte {
	if u.known[string(raw)] {
		return raw
	}
	o, err := splitObject(raw)
	if err != nil {
		return raw
	}
	write := func(fold bool) []byte {
		return u.object(&o, func(key string, value []byte) []byte {
			if key != "content" {
				return value
			}
			plain, folded := u.content(value)
			if fold {
				return folded
			}
			return plain
		})
	}
	plain := write(false)
	if !u.folds || u.known[string(plain)] || bytes.Equal(plain, raw) {
		return plain
	}
	return write(true)
}

// content is a value without marks, and the same with a string for a list of one text.
func (u *unmarker) content(raw []byte) (plain, folded []byte) {
	plain = u.each(raw, u.block)
	folded = plain
	if c, err := readContent(plain); err == nil {
		folded = c.flat()
	}
	return plain, folded
}

func (u *unmarker) block(raw []byte) []byte {
	o, err := splitObject(raw)
	if err != nil {
		return raw
	}
	return u.object(&o, func(key string, value []byte) []byte {
		if key == "content" {
			return u.each(value, u.block)
		}
		return value
	})
}
