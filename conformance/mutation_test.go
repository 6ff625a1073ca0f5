package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// TestCheckFindsDamageInRealAnswers breaks answers of the service at every third
// message, in every way a codec or an engine could, and expects the checker to see
// each. The report is adjusted to the damage, so that its figures give nothing away.
func TestCheckFindsDamageInRealAnswers(t *testing.T) {
	w := dial(t)
	damages := []struct {
		name string
		// do returns the damaged list, nil where the damage would not be one.
		do func(list [][]byte, i int) [][]byte
	}{
		{"dropped", func(list [][]byte, i int) [][]byte { return slices.Delete(list, i, i+1) }},
		{"swapped with the next", func(list [][]byte, i int) [][]byte {
			if i+1 == len(list) || bytes.Equal(list[i], list[i+1]) {
				return nil
			}
			list[i], list[i+1] = list[i+1], list[i]
			return list
		}},
		{"moved to the end", func(list [][]byte, i int) [][]byte {
			if i+1 == len(list) {
				return nil
			}
			moved := list[i]
			return append(slices.Delete(list, i, i+1), moved)
		}},
		{"doubled", func(list [][]byte, i int) [][]byte { return slices.Insert(list, i, list[i]) }},
		{"white space added", func(list [][]byte, i int) [][]byte {
			list[i] = append([]byte("{ "), list[i][1:]...)
			return list
		}},
		{"a key added", func(list [][]byte, i int) [][]byte {
			list[i] = append([]byte(`{"damage":1,`), list[i][1:]...)
			return list
		}},
		{"its last key lost", func(list [][]byte, i int) [][]byte {
			o, err := splitObject(list[i])
			if err != nil || len(o.members) < 2 {
				return nil
			}
			last := len(o.members) - 1
			cut := len(list[i]) - len(o.glue[last+1]) - len(o.members[last].value) - len(o.glue[last])
			list[i] = append(slices.Clone(list[i][:cut]), '}')
			return list
		}},
		{"its first keys swapped", func(list [][]byte, i int) [][]byte {
			o, err := splitObject(list[i])
			if err != nil || len(o.members) < 2 {
				return nil
			}
			a, b := o.members[0], o.members[1]
			rest := list[i][len(o.glue[0])+len(a.value)+len(o.glue[1])+len(b.value):]
			list[i] = append(fmt.Appendf(nil, "{%q:%s,%q:%s", b.key, b.value, a.key, a.value), rest...)
			return list
		}},
		{"a letter changed", func(list [][]byte, i int) [][]byte {
			at := bytes.LastIndexAny(list[i], "abcdefgh")
			list[i] = slices.Clone(list[i])
			list[i][at] ^= 'a' ^ 'A'
			if !json.Valid(list[i]) {
				return nil
			}
			return list
		}},
	}
	broken := 0
	for _, s := range subjects(t) {
		resp := w.compress(t, s.request(setting{window: 16_000, force: true}))
		if s.dialect == Typed || resp.GetOutcome() != pb.Outcome_OUTCOME_COMPRESSED || resp.GetReport().SummaryIndex == nil {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			out := read(t, s.dialect, resp.GetConversation(), s.in)
			summary := int(resp.GetReport().GetSummaryIndex())
			for i := 0; i < out.Len(); i += 3 {
				for _, damage := range damages {
					list := damage.do(out.elements(), i)
					if i == summary && damage.name != "dropped" && damage.name != "moved to the end" {
						continue // how the summary is written is its writer's own choice
					}
					if list == nil {
						continue
					}
					damaged := read(t, s.dialect, out.with(list), s.in)
					c := s.compression(resp, damaged)
					c.Report = proto.CloneOf(resp.GetReport())
					c.Report.MessagesAfter = int32(damaged.Len())
					c.Report.SummaryIndex = proto.Int32(int32(damaged.at(out.messages[summary].raw, summary)))
					if found := c.Check(); len(found) == 0 {
						t.Errorf("message %d %s: the checker sees nothing (%s)", i, damage.name, excerpt(out.messages[i].raw))
					}
					broken++
				}
			}
		})
	}
	if broken < 500 {
		t.Errorf("only %d damages were tried", broken)
	}
}

// at finds a message by its bytes, or returns the given index.
func (t *Transcript) at(raw []byte, otherwise int) int {
	for i, m := range t.messages {
		if bytes.Equal(m.raw, raw) {
			return i
		}
	}
	return otherwise
}
