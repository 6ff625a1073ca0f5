package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/elbowroom/elbowroom/gen/elbowroom/v1"
)

// TestCheckFindsDamageInRealAnswers breaks answers of the service at every eighth
// message, in every way a codec or an engine could, and expects the checker to see
// each. The report is adjusted to the damage, so that its figures give nothing away.
func TestCheckFindsDamageInRealAnswers(t *testing.T) {
	subjects(t) // skips the whole test where there are none
	w := dial(t)
	step := 8
	if fullProduct() {
		step = 1
	}
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
	var broken atomic.Int32
	t.Run("answers", func(t *testing.T) {
		for _, s := range subjects(t) {
			if s.dialect == Typed {
				continue
			}
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				resp := w.compress(t, s.request(setting{window: 16_000, force: true}))
				if resp.GetOutcome() != pb.Outcome_OUTCOME_COMPRESSED || resp.GetReport().SummaryIndex == nil {
					return
				}
				out := read(t, s.dialect, resp.GetConversation(), s.in)
				for i := 0; i < out.Len(); i += step {
					for _, damage := range damages {
						if s.damaged(t, resp, out, i, damage.name, damage.do) {
							broken.Add(1)
						}
					}
				}
			})
		}
	})
	if broken.Load() < 200 {
		t.Errorf("only %d damages were tried", broken.Load())
	}
}

// damaged breaks message i of an answer and expects the checker to see it. It
// reports whether there was anything to break.
func (s subject) damaged(t *testing.T, resp *pb.CompressResponse, out *Transcript, i int, name string, damage func([][]byte, int) [][]byte) bool {
	t.Helper()
	summary := int(resp.GetReport().GetSummaryIndex())
	if i == summary && name != "dropped" && name != "moved to the end" {
		return false // how the summary is written is its writer's own choice
	}
	list := damage(out.elements(), i)
	if list == nil {
		return false
	}
	broken := read(t, s.dialect, out.with(list), s.in)
	c := s.compression(resp, broken)
	c.Report = proto.CloneOf(resp.GetReport())
	c.Report.MessagesAfter = int32(broken.Len())
	c.Report.SummaryIndex = proto.Int32(int32(broken.at(out.messages[summary].raw, summary)))
	if len(c.Check()) == 0 {
		t.Errorf("message %d %s: the checker sees nothing (%s)", i, name, excerpt(out.messages[i].raw))
	}
	return true
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
