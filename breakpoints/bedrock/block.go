package bedrock

import (
	"github.com/elbowroom/elbowroom/conversation"
)

// content reads a list of blocks into a message. A value that is no list is carried
// and holds no blocks.
func (r *reader) content(value conversation.Member, m *conversation.Message) (list, []list, error) {
	if value.Value == "" || value.Value[0] != '[' {
		m.Shape = conversation.ShapeOther
		return list{}, nil, nil
	}
	m.Shape = conversation.ShapeList
	elements, err := r.elements(value.Value, value.At.Start)
	if err != nil {
		return list{}, nil, err
	}
	var out list
	var results []list
	for _, e := range elements {
		base := value.At.Start + e.At.Start
		one := element{at: conversation.Span{Start: base, End: base + len(e.Value)}}
		key, body, err := r.kind(e, base)
		if err != nil {
			return list{}, nil, err
		}
		if key == "cachePoint" {
			one.point = true
			mark := readPoint(body.Value)
			if out.add(one) {
				m.Blocks[len(m.Blocks)-1].Mark = mark
			} else {
				m.Strays = append(m.Strays, mark)
			}
			continue
		}
		b := conversation.Block{Type: key}
		if key == "text" && body.IsString {
			one.text = body.At
		}
		if key == "toolResult" {
			inner, strays, err := r.result(&b, body)
			if err != nil {
				return list{}, nil, err
			}
			results = append(results, inner)
			m.Strays = append(m.Strays, strays...)
		} else {
			fill(&b, body, e.Value)
		}
		m.Blocks = append(m.Blocks, b)
		out.add(one)
	}
	return out, results, nil
}

// kind is the key that says what a block is, with its value at its place in the
// source.
func (r *reader) kind(e conversation.Member, base int) (string, conversation.Member, error) {
	if e.Value == "" || e.Value[0] != '{' {
		return "", e, nil
	}
	members, err := r.members(e.Value, base)
	if err != nil || len(members) == 0 {
		return "", e, err
	}
	m := members[0]
	m.At.Start += base
	m.At.End += base
	return m.Key, m, nil
}

// fill describes a block.
func fill(b *conversation.Block, body conversation.Member, raw string) {
	switch b.Type {
	case "text":
		b.Kind, b.Text = conversation.KindText, body.Text
	case "image":
		b.Kind, b.Media = conversation.KindMedia, &conversation.Media{Kind: conversation.MediaImage}
	case "document":
		b.Kind, b.Media = conversation.KindMedia, &conversation.Media{Kind: conversation.MediaDocument}
	case "video":
		b.Kind, b.Media = conversation.KindMedia, &conversation.Media{Kind: conversation.MediaVideo}
	case "audio":
		b.Kind, b.Media = conversation.KindMedia, &conversation.Media{Kind: conversation.MediaAudio}
	case "reasoningContent":
		b.Kind = conversation.KindThinking
	case "toolUse":
		b.Kind, b.InputShape = conversation.KindToolUse, conversation.ShapeOther
		members, _ := conversation.Members(body.Value)
		for _, m := range members {
			switch m.Key {
			case "toolUseId":
				b.ID = m.Text
			case "name":
				b.Name = m.Text
			case "input":
				b.Input = m.Value
			}
		}
		return
	case "searchResult":
		b.Kind, b.Type = conversation.KindOpaque, "search_result"
	default:
		b.Kind = conversation.KindOpaque
	}
	if b.Kind != conversation.KindText {
		b.Raw = raw
	}
}

// result reads a tool result. A cachePoint among its parts is a stray.
func (r *reader) result(b *conversation.Block, body conversation.Member) (list, []*conversation.Mark, error) {
	b.Kind, b.ResultShape = conversation.KindToolResult, conversation.ShapeList
	members, err := r.members(body.Value, body.At.Start)
	if err != nil {
		return list{}, nil, err
	}
	var out list
	var strays []*conversation.Mark
	for _, m := range members {
		switch {
		case m.Key == "toolUseId":
			b.ID = m.Text
		case m.Key == "status":
			b.IsError = m.Text == "error"
		case m.Key == "content" && m.Value[0] == '[':
			at := body.At.Start + m.At.Start
			elements, err := r.elements(m.Value, at)
			if err != nil {
				return list{}, nil, err
			}
			for _, e := range elements {
				base := at + e.At.Start
				key, part, err := r.kind(e, base)
				if err != nil {
					return list{}, nil, err
				}
				one := element{at: conversation.Span{Start: base, End: base + len(e.Value)}}
				if one.point = key == "cachePoint"; one.point {
					one.stray = true
					strays = append(strays, readPoint(part.Value))
				} else {
					p := conversation.Block{Type: key}
					fill(&p, part, e.Value)
					b.Result = append(b.Result, p)
				}
				out.elements = append(out.elements, one)
			}
		}
	}
	return out, strays, nil
}
