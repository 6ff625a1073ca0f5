package simulator

import (
	"fmt"
	"strconv"
	"time"

	"github.com/elbowroom/elbowroom/breakpoints"
	"github.com/elbowroom/elbowroom/conversation"
)

// Rejection is a reason for which the provider answers HTTP 400.
type Rejection struct {
	// Code is one of the codes of findings, for example [CodeTooManyMarkers].
	Code string
	// At is the mark that is one too many or stands wrong. Section messages with Message -1 is the request as a whole.
	At breakpoints.Position
	// Text is what the provider says, or what is known of it.
	Text string
}

// String says where and why.
func (r *Rejection) String() string { return fmt.Sprintf("%v: %s", r.At, r.Text) }

// reject lists what the provider refuses of a request.
func reject(m *Material, rules *Rules) []Rejection {
	var out []Rejection
	unmarkable := func(at breakpoints.Position, text string) {
		out = append(out, Rejection{Code: CodeUnmarkable, At: at, Text: text})
	}
	marks := m.marks
	if rules.RefusesMarks && len(marks) > 0 {
		unmarkable(marks[0].at, "this endpoint refuses cache_control")
	}
	if rules.Mode != ModeMarks {
		return out
	}
	native := m.conv.Format == conversation.FormatAnthropicMessages
	effective := make([]found, 0, len(marks))
	for _, f := range marks {
		if f.wire != conversation.WireCacheControl {
			continue
		}
		switch {
		case f.message && native:
			unmarkable(f.at, "cache_control stands on the message; extra inputs are not permitted there")
		case f.message && rules.Layout != breakpoints.LayoutLiteLLM, f.nested && !native:
			continue // lost on the way
		case f.nested:
			unmarkable(f.at, "cache_control stands inside a block; the block itself must carry it")
		case f.part && (native || rules.Layout == breakpoints.LayoutLiteLLM):
			unmarkable(f.at, "cache_control stands inside a tool result; the result itself must carry it")
		case f.tool >= 0 && m.conv.Tools[f.tool].Deferred:
			unmarkable(f.at, "Tools with defer_loading cannot use prompt caching")
		case f.block != nil && f.block.Kind == conversation.KindText && conversation.Blank(f.block.Text):
			unmarkable(f.at, "cache_control cannot be set for empty text blocks")
		case f.unknown != "":
			out = append(out, Rejection{Code: CodeUnknownTTL, At: f.at, Text: fmt.Sprintf("cache_control.ttl is %q; it is '5m' or '1h'", f.unknown)})
		}
		if f.unknown != "" {
			f.ttl = 0 // is neither before nor after another life
		}
		effective = append(effective, f)
	}
	for i := range m.messages {
		for j := range m.messages[i] {
			b := &m.messages[i][j]
			if b.source.block.Mark != nil && b.Refused != "" && b.Kind != conversation.KindText {
				unmarkable(b.At, b.Refused)
			}
		}
	}
	out = append(out, judge(placesOf(effective), rules)...)
	out = append(out, m.automatic(rules)...)
	return append(out, m.prewarm()...)
}

// place is a mark by its position and life.
type place struct {
	at      breakpoints.Position
	ttl     time.Duration
	request bool
}

func placesOf(marks []found) []place {
	out := make([]place, len(marks))
	for i, f := range marks {
		out[i] = place{f.at, f.ttl, f.request}
	}
	return out
}

// judge looks at the number and the order of marks.
func judge(marks []place, rules *Rules) []Rejection {
	var out []Rejection
	if rules.MaxMarks > 0 && len(marks) > rules.MaxMarks {
		r := Rejection{
			Code: CodeTooManyMarkers, At: marks[rules.MaxMarks].at,
			Text: fmt.Sprintf("A maximum of %d blocks with cache_control may be provided. Found %d.", rules.MaxMarks, len(marks)),
		}
		if last := marks[len(marks)-1]; last.request && len(marks) == rules.MaxMarks+1 {
			r.Code, r.At = CodeAutoConflict, last.at
			r.Text = fmt.Sprintf("automatic caching takes one of the %d marks, and %d are set explicitly", rules.MaxMarks, rules.MaxMarks)
		}
		out = append(out, r)
	}
	short := false
	for _, m := range marks {
		if m.ttl == TTL1h && short {
			return append(out, Rejection{
				Code: CodeTTLOrder, At: m.at,
				Text: "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: tools, system, messages.",
			})
		}
		short = short || m.ttl == TTL5m
	}
	return out
}

// automatic looks at the request's own mark.
func (m *Material) automatic(rules *Rules) []Rejection {
	if len(m.marks) == 0 || !m.marks[len(m.marks)-1].request {
		return nil
	}
	auto := m.marks[len(m.marks)-1]
	if rules.RefusesAutomatic {
		return []Rejection{{CodeAutoConflict, auto.at, "this model takes no cache_control on the request as a whole here"}}
	}
	if len(m.marks) < 2 || len(m.messages) == 0 {
		return nil
	}
	blocks := m.messages[len(m.messages)-1]
	last := m.marks[len(m.marks)-2]
	if len(blocks) > 0 && last.block == blocks[len(blocks)-1].source.block && last.ttl != auto.ttl {
		return []Rejection{{CodeAutoConflict, auto.at, fmt.Sprintf("the last block asks for %s and automatic caching for %s", ttlWord(last.ttl), ttlWord(auto.ttl))}}
	}
	return nil
}

func ttlWord(d time.Duration) string {
	switch d {
	case TTL1h:
		return "1h"
	case TTL5m:
		return "5m"
	default:
		return d.String()
	}
}

// prewarm looks at what max_tokens 0 cannot be combined with.
func (m *Material) prewarm() []Rejection {
	c := m.conv
	if c.Bare || c.Source == "" {
		return nil
	}
	members, _ := conversation.Members(c.Source)
	warm := false
	with := ""
	for i := range members {
		switch v := &members[i]; v.Key {
		case "max_tokens":
			n, err := strconv.ParseFloat(v.Value, 64)
			warm = err == nil && n == 0
		case "stream":
			if v.Value == "true" {
				with = "stream"
			}
		case "thinking":
			if memberText(v.Value, "type") == "enabled" {
				with = "thinking.type enabled"
			}
		case "tool_choice":
			if kind := memberText(v.Value, "type"); kind == "any" || kind == "tool" {
				with = "tool_choice " + kind
			}
		case "output_config":
			inner, _ := conversation.Members(v.Value)
			for k := range inner {
				if inner[k].Key == "format" && inner[k].Value != "null" {
					with = "output_config.format"
				}
			}
		}
	}
	if !warm || with == "" {
		return nil
	}
	at := breakpoints.Position{Section: conversation.SectionMessages, Message: -1, Block: -1}
	return []Rejection{{CodePrewarm, at, "invalid_request_error: max_tokens 0 does not go with " + with}}
}

// check looks at marks that were placed on a prompt.
func (p *Prompt) check(rules *Rules) []Rejection {
	if rules.Mode != ModeMarks {
		return nil
	}
	var out []Rejection
	places := make([]place, 0, len(p.Marks)+1)
	for _, m := range p.Marks {
		b := &p.Blocks[m.Block]
		if b.Refused != "" {
			out = append(out, Rejection{CodeUnmarkable, b.At, b.Refused})
		}
		places = append(places, place{at: b.At, ttl: m.TTL})
	}
	if p.Automatic > 0 {
		whole := breakpoints.Position{Section: conversation.SectionMessages, Message: -1, Block: -1}
		places = append(places, place{whole, p.Automatic, true})
	}
	return append(out, judge(places, rules)...)
}
