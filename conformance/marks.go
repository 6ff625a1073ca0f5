package conformance

import (
	"bytes"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// place is a mark and what carries it.
type place struct {
	section pb.Section
	index   int // message, tool; 0 for the system prompt
	hour    bool
	wrong   string // why it may not stand there, "" for a legal place
	auto    bool   // top-level cache_control
}

// partOfResult is a place that only some layouts have.
const partOfResult = "a part of a tool result"

// insideBlock is deeper in a block than any provider takes a mark.
const insideBlock = "the inside of a block"

// marks lists the breakpoints in the order tools, system, messages.
func (t *Transcript) marks() []place {
	var out []place
	for i, raw := range t.tools.elements {
		o, err := splitObject(raw)
		if err != nil {
			continue
		}
		for _, holder := range []*object{&o, inner(&o, "function")} {
			if mark := markOf(holder); !isNull(mark) {
				p := place{section: pb.Section_SECTION_TOOLS, index: i, hour: isHour(mark)}
				if string(o.get("defer_loading")) == "true" {
					p.wrong = "a deferred tool"
				}
				out = append(out, p)
			}
		}
	}
	programmatic := make(map[string]bool)
	if t.system != nil {
		own, inside := t.contentMarks(&t.system.content, pb.Section_SECTION_SYSTEM, 0, programmatic)
		out = append(append(out, own...), inside...)
	}
	for i, m := range t.messages {
		section := pb.Section_SECTION_MESSAGES
		own, inside := t.contentMarks(&m.content, section, i, programmatic)
		out = append(out, own...)
		for c := range m.calls {
			for _, hour := range m.calls[c].marks() {
				out = append(out, place{section, i, hour, "a call beside the content", false})
			}
		}
		out = append(out, inside...)
		if mark := markOf(&m.object); !isNull(mark) {
			out = append(out, place{section, i, isHour(mark), "a message and not a block", false})
		}
	}
	if mark := t.body.get("cache_control"); !isNull(mark) {
		out = append(out, place{section: pb.Section_SECTION_MESSAGES, index: -1, hour: isHour(mark), auto: true})
	}
	return out
}

// markOf returns the breakpoint that an object carries, as either provider writes it.
func markOf(o *object) []byte {
	if mark := o.get("cache_control"); !isNull(mark) {
		return mark
	}
	return o.get("prompt_cache_breakpoint")
}

// inner returns the object under a key, taken apart; empty when there is none.
func inner(o *object, key string) *object {
	value := o.get(key)
	if isNull(value) || value[0] != '{' {
		return &object{}
	}
	in, err := splitObject(value)
	if err != nil {
		return &object{}
	}
	return &in
}

// marks lists the marks of an OpenAI call and of the function in it, by whether they ask
// for an hour.
func (c *call) marks() (hours []bool) {
	o, err := splitObject(c.raw)
	if err != nil {
		return nil
	}
	for _, holder := range []*object{&o, inner(&o, "function"), inner(&o, "custom")} {
		if mark := holder.get("cache_control"); !isNull(mark) {
			hours = append(hours, isHour(mark))
		}
	}
	return hours
}

// contentMarks lists the marks of one content value: those of its blocks and of the parts
// of results, which end before the block around them, and those deeper inside.
func (t *Transcript) contentMarks(c *content, section pb.Section, index int, programmatic map[string]bool) (out, inside []place) {
	for i := range c.blocks {
		b := &c.blocks[i]
		if !b.isObject {
			continue
		}
		for _, hour := range t.dialect.marksInside(b) {
			inside = append(inside, place{section, index, hour, insideBlock, false})
		}
		if caller := inner(&b.object, "caller"); b.isCall() && bytes.Contains(caller.get("type"), []byte("code_execution")) {
			programmatic[b.id] = true
		}
		if b.kind == "tool_result" {
			nested, _ := readContent(b.object.get("content"))
			for j := range nested.blocks {
				if mark := markOf(&nested.blocks[j].object); !isNull(mark) {
					out = append(out, place{section, index, isHour(mark), partOfResult, false})
				}
			}
		}
		if mark := markOf(&b.object); !isNull(mark) {
			p := place{section: section, index: index, hour: isHour(mark)}
			switch {
			case b.isThinking():
				p.wrong = "a thinking block"
			case b.isBlank():
				p.wrong = "a blank text"
			case (b.isCall() || b.isAnswer()) && programmatic[b.id]:
				p.wrong = "a call of the provider's code"
			case t.dialect == OpenAI && !b.isText() && b.kind != "image_url" && b.kind != "file" && b.kind != "input_audio":
				p.wrong = "a part that takes none"
			}
			out = append(out, p)
		}
	}
	return out, inside
}

func isHour(mark []byte) bool {
	o, err := splitObject(mark)
	return err == nil && o.text("ttl") == "1h"
}
