package compressor

import (
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/elbowroom/elbowroom/conversation"
)

func emptyConversation() *conversation.Conversation { return &conversation.Conversation{} }

// rowsOf reads "s10 u20 A30 t40": role letter and cost. A is an assistant with
// calls; tool rows after it belong to its unit.
func rowsOf(t *testing.T, spec string) []row {
	t.Helper()
	var rows []row
	unit, inGroup := 0, false
	for i, word := range strings.Fields(spec) {
		cost, err := strconv.Atoi(strings.TrimLeftFunc(word, unicode.IsLetter))
		if err != nil {
			t.Fatal(err)
		}
		if word[0] != 't' || !inGroup {
			unit = i
		}
		if word[0] != 't' {
			inGroup = word[0] == 'A'
		}
		rows = append(rows, row{index: i, cost: cost, unit: unit, request: word[0] == 'u'})
	}
	return rows
}

// The golden vectors of the published walk, recomputed for cuts between whole
// units: a clean cut after a finished group is not pulled back over it.
func TestTailStartMeetsTheGoldenVectors(t *testing.T) {
	tests := []struct {
		rows         string
		head, budget int
		want         int
	}{
		{"u12 a12 u12 a12 u12 a12 u12 a12 u12", 2, 20_000, 6},
		{"u12 u135 a11 u11 a11 u11", 0, 80, 2},
		{"s11 u13 a12 u13 a13 u14 a14 u14 a14 u14 a14 u14 a14 u13", 1, 10, 11},
		{"s10 u20 a20 u30 A20 t2000 A20 t2000 A20 t2000 A20 t2000", 1, 1_000, 8},
		{"s10 u10 a10 u10 A20 t100 u10 a10 u10", 1, 30, 6},
		{"u10 u10 a10 t10 a10", 1, 5, 2},
		{"s10 u10 a10 u10 a50 A20 t3000 A20 t3000 A20 t3000", 1, 1_000, 7},
		{"s10 u100 a100 u100 a100 u100 a100 u100 a100 u100 a100 u100 a100", 1, 1_000, 2},
	}
	for _, tt := range tests {
		t.Run("BD2 "+tt.rows, func(t *testing.T) {
			if got := tailStart(rowsOf(t, tt.rows), tt.head, tt.budget, 3); got != tt.want {
				t.Errorf("tail starts at %d, want %d", got, tt.want)
			}
		})
	}
}

func TestTailStartKeepsTheRules(t *testing.T) {
	tests := []struct {
		name                      string
		rows                      string
		head, budget, protectLast int
		want                      int
	}{
		{"BD9 a row within 1.5 times the budget is taken", "u10 a10 u10 a10 u600", 1, 500, 0, 4},
		{"the fixed count wins over the budget", "s1 u1 a1 u90 a90 u90 a90 u90 a90", 3, 10, 5, 4},
		{"BD12 a cut inside a group moves to its start", "s1 u1 a1 u1 a1 A5 t50 t50 u1", 2, 60, 0, 5},
		{"BD17 a list that fits is cut by the bare budget", "s1 u50 a50 u50 a50 u50", 1, 200, 0, 2},
		{"an oversized last row is the tail", "u1 a1 u1 a1 u9999", 1, 10, 0, 4},
		{"one row of middle is left when the count would take all", "u1 a1 u1 a1 u1", 2, 10, 20, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tailStart(rowsOf(t, tt.rows), tt.head, tt.budget, tt.protectLast); got != tt.want {
				t.Errorf("tail starts at %d, want %d", got, tt.want)
			}
		})
	}
}

func TestPruneBoundaryProtectsTheEnd(t *testing.T) {
	many := strings.TrimSpace(strings.Repeat("t10 ", 100))
	tests := []struct {
		name                string
		rows                string
		budget, protectLast int
		want                int
	}{
		{"PR12 a generous budget protects everything", "t5000 t1 t1 t1", 1_000_000, 4, 0},
		{"PR13 the count is a floor", many, 10_000_000, 20, 0},
		{"PR14 a tight budget leaves something to prune", "u1 t2500 a1 t2500 u1", 1_000, 0, 3},
		{"the row that passes the budget is protected", "t900 t900 t900", 1_000, 0, 1},
		{"the floor beats the budget", "t900 t900 t900 t900", 1_000, 3, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := pruneBoundary(rowsOf(t, tt.rows), tt.budget, tt.protectLast); got != tt.want {
				t.Errorf("first protected row %d, want %d", got, tt.want)
			}
		})
	}
}
