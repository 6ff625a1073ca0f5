package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// colourful reports whether a file is a terminal whose user has not asked for
// plain text (no-color.org).
func colourful(f *os.File, environ []string) bool {
	for _, pair := range environ {
		if value, ok := strings.CutPrefix(pair, "NO_COLOR="); ok && value != "" {
			return false
		}
		if pair == "TERM=dumb" {
			return false
		}
	}
	return term.IsTerminal(int(f.Fd()))
}

// page writes for people.
type page struct {
	out    io.Writer
	colour bool
}

// newPage writes to out; only standard output is ever coloured.
func newPage(p process, out io.Writer) page { return page{out, p.colour && out == p.stdout} }

// bold is for headings.
func (p page) bold(s string) string {
	if !p.colour {
		return s
	}
	return "\x1b[1m" + s + "\x1b[0m"
}

func (p page) printf(format string, args ...any) { fmt.Fprintf(p.out, format, args...) }

func (p page) heading(format string, args ...any) {
	p.printf("\n%s\n", p.bold(fmt.Sprintf(format, args...)))
}

// table aligns rows of cells in columns.
func (p page) table(rows [][]string) {
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintf(w, "  %s\n", strings.TrimRight(strings.Join(row, "\t"), "\t"))
	}
	_ = w.Flush()
}

// grouped writes a number with a comma between thousands.
func grouped[N int | int32 | int64](n N) string {
	s := fmt.Sprint(n)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// plural writes a number with its noun.
func plural[N int | int32 | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(n) + " " + noun + "s"
}

// word makes a word for people of an enum's name: OUTCOME_BELOW_THRESHOLD with
// the prefix OUTCOME_ becomes "below threshold".
func word(name, prefix string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, prefix), "_", " "))
}

// printJSON writes a message as JSON, every field present. The library varies its
// white space from build to build on purpose, so it is laid out again.
func printJSON(out io.Writer, m proto.Message) error {
	text, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(m)
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	var laidOut bytes.Buffer
	if err := json.Indent(&laidOut, text, "", "  "); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	laidOut.WriteByte('\n')
	if _, err := laidOut.WriteTo(out); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}
