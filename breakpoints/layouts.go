package breakpoints

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/elbowroom/elbowroom/conversation"
)

// layoutData is the table built into the binary: one dated row a layout, with its
// source.
//
//go:embed layouts.json
var layoutData []byte

// Rules are what one layout takes: a row of the table.
type Rules struct {
	Layout Layout `json:"-"`
	// Name is the layout's public name, Title what it is in words.
	Name  string `json:"name"`
	Title string `json:"title"`
	// Mark is how a breakpoint is written: cache_control, cachePoint or
	// prompt_cache_breakpoint; empty where none is taken.
	Mark string `json:"mark"`
	// Forms are the forms of a conversation it fits: anthropic-messages, openai-chat
	// or typed.
	Forms []string `json:"forms"`
	// ChosenFor are words in the names of the models it is for: a conversation of the
	// Anthropic form takes it when none is asked for, and no marks at all where the
	// layout takes none.
	ChosenFor []string `json:"chosen_for"`
	// Tools, Calls, Media and Assistant say whether tool definitions, calls and server
	// results, media, and anything in an assistant message may carry a mark. The
	// system prompt and text always may.
	Tools     bool `json:"tools"`
	Calls     bool `json:"calls"`
	Media     bool `json:"media"`
	Assistant bool `json:"assistant"`
	// Results says where the mark of a tool result stands: on the block, on a text
	// part inside it, or nowhere (none).
	Results string `json:"results"`
	// MaxMarks is how many marks of one request count. 0: the provider takes none.
	MaxMarks int `json:"max_marks"`
	// Automatic says that the request may carry a cache_control of its own.
	Automatic bool `json:"automatic"`
	// TTLs are the lives it takes; the first is its default, written without a ttl.
	TTLs []string `json:"ttls"`
	// Window is how many positions back from a mark an entry is found, the mark's own
	// included; 0 means no bound. Collapse says that a run of calls, or of results, is
	// one position. LookUp bounds how many of the latest marks are looked up, 0 for
	// all.
	Window   int  `json:"window"`
	Collapse bool `json:"collapse"`
	LookUp   int  `json:"look_up"`
	// Cached says what a provider that takes no marks finds again: a prefix, up to the
	// first byte that differs, or nothing that is known.
	Cached string `json:"cached"`
	// Step is what reads are rounded down to, Steps that of single models.
	Step  int            `json:"step"`
	Steps []modelMinimum `json:"steps"`
	// Minimum names the table of the smallest cacheable prefixes, see
	// [Layouts.Minimum].
	Minimum string `json:"minimum"`
	// Hint is what leads the requests of one conversation to one cache; nil for none.
	Hint *Hint `json:"hint"`
	// Date is that of the facts, Source where they are from.
	Date   string `json:"date"`
	Source string `json:"source"`
	Note   string `json:"note"`
}

// Hint names a member of the request body, or a header, that the caller should set
// to one value for each conversation. It is never set here.
type Hint struct {
	Name  string `json:"name"`
	Where string `json:"where"` // body or header
}

// Layouts is the table of layouts. It is immutable and safe for concurrent use.
type Layouts struct {
	rows     []Rules
	minimums map[string][]modelMinimum
}

// modelMinimum is the smallest cacheable prefix of the models that a word names.
type modelMinimum struct {
	Tokens int      `json:"tokens"`
	Models []string `json:"models"`
}

// layoutFile is the table as it is written. Rows are read one by one, so that an error
// can name its row.
type layoutFile struct {
	Minimums map[string]json.RawMessage `json:"minimums"`
	Layouts  []json.RawMessage          `json:"layouts"`
}

// NewLayouts returns the table built into the binary. override, when it is not
// empty, is a table in the same form: its rows and its tables of minimums take the
// place of those with the same name. Errors name the row.
func NewLayouts(override []byte) (*Layouts, error) {
	l := &Layouts{rows: make([]Rules, len(layoutNames())), minimums: make(map[string][]modelMinimum)}
	if err := l.add(layoutData); err != nil {
		return nil, err
	}
	if len(override) > 0 {
		if err := l.add(override); err != nil {
			return nil, err
		}
	}
	for i := range l.rows[1:] {
		if l.rows[i+1].Name == "" {
			return nil, fmt.Errorf("layouts: no row for %v", Layout(i+1))
		}
	}
	return l, nil
}

func (l *Layouts) add(data []byte) error {
	var file layoutFile
	if err := strict(data, &file); err != nil {
		return fmt.Errorf("layouts: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(file.Minimums)) {
		var rows []modelMinimum
		if err := strict(file.Minimums[name], &rows); err != nil {
			return fmt.Errorf("layouts: minimums.%s: %w", name, err)
		}
		for i := range rows {
			if rows[i].Tokens <= 0 || len(rows[i].Models) == 0 {
				return fmt.Errorf("layouts: minimums.%s[%d]: a row has models and tokens above 0", name, i)
			}
		}
		l.minimums[name] = rows
	}
	for i, text := range file.Layouts {
		var row Rules
		err := strict(text, &row)
		if err == nil {
			err = l.check(&row)
		}
		if err != nil {
			return fmt.Errorf("layouts: layouts[%d] (%s): %w", i, nameIn(text), err)
		}
		row.Layout = Layout(slices.Index(layoutNames(), row.Name))
		l.rows[row.Layout] = row
	}
	return nil
}

// check refuses a row that cannot be worked with.
func (l *Layouts) check(row *Rules) error {
	_, minimum := l.minimums[row.Minimum]
	switch {
	case slices.Index(layoutNames(), row.Name) < 1:
		return fmt.Errorf("no layout is named %q", row.Name)
	case row.MaxMarks < 0 || row.MaxMarks > MaxMarks:
		return fmt.Errorf("max_marks %d, want 0 to %d", row.MaxMarks, MaxMarks)
	case row.MaxMarks > 0 && !slices.Contains([]string{"cache_control", "cachePoint", "prompt_cache_breakpoint"}, row.Mark):
		return fmt.Errorf("unknown mark %q", row.Mark)
	case row.MaxMarks > 0 && !slices.Contains([]string{"block", "part", "none"}, row.Results):
		return fmt.Errorf("results %q, want block, part or none", row.Results)
	case row.MaxMarks > 0 && len(row.TTLs) == 0:
		return errors.New("no ttl")
	case len(row.Forms) == 0:
		return errors.New("no forms")
	case row.Minimum != "" && !minimum:
		return fmt.Errorf("no table of minimums is named %q", row.Minimum)
	case row.Window < 0 || row.LookUp < 0:
		return fmt.Errorf("window %d and look_up %d, want 0 or more", row.Window, row.LookUp)
	}
	for _, ttl := range row.TTLs {
		if _, ok := ttlNamed(ttl); !ok {
			return fmt.Errorf("unknown ttl %q", ttl)
		}
	}
	for _, form := range row.Forms {
		if !slices.Contains([]string{"anthropic-messages", "openai-chat", "typed"}, form) {
			return fmt.Errorf("unknown form %q, want anthropic-messages, openai-chat or typed", form)
		}
	}
	return nil
}

// strict reads one JSON value, in which no member is unknown.
func strict(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the table")
	}
	return nil
}

// nameIn is a row's name, as far as it can be read.
func nameIn(row json.RawMessage) string {
	var named struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(row, &named) != nil || named.Name == "" {
		return "no name"
	}
	return named.Name
}

// Rules returns a layout's row, the zero Rules for [LayoutUnset] and for numbers
// that are no layout.
func (l *Layouts) Rules(layout Layout) Rules {
	if layout < 0 || int(layout) >= len(l.rows) {
		return Rules{}
	}
	return l.rows[layout]
}

// All returns every row, in the order of the [Layout] values.
func (l *Layouts) All() []Rules { return slices.Clone(l.rows[1:]) }

// Minimum returns the smallest prefix in tokens that a layout's provider caches for
// a model, 0 when it is not known. The longest name that the model's contains wins.
func (l *Layouts) Minimum(layout Layout, model string) int {
	name := plain(model)
	tokens, longest := 0, 0
	for _, row := range l.minimums[l.Rules(layout).Minimum] {
		for _, word := range row.Models {
			if word = plain(word); len(word) > longest && strings.Contains(name, word) {
				tokens, longest = row.Tokens, len(word)
			}
		}
	}
	return tokens
}

// Step returns what a layout's provider rounds reads down to for a model, 0 for nothing.
func (l *Layouts) Step(layout Layout, model string) int {
	row := l.Rules(layout)
	for _, s := range row.Steps {
		if slices.ContainsFunc(s.Models, func(word string) bool { return strings.Contains(plain(model), plain(word)) }) {
			return s.Tokens
		}
	}
	return row.Step
}

// Caching is how a provider's cache works.
type Caching int

// The ways.
const (
	// CachesNothing: nothing is known to be cached.
	CachesNothing Caching = iota
	// CachesAtMarks: what ends at a mark is stored, and looked for in a window before each
	// mark (Anthropic).
	CachesAtMarks
	// CachesAtBreakpoints: so, and where a message ends, with no window (OpenAI from
	// GPT-5.6 on).
	CachesAtBreakpoints
	// CachesPrefix: the longest prefix that an earlier request had too.
	CachesPrefix
)

// Caches says how the layout's provider caches.
func (r *Rules) Caches() Caching {
	switch {
	case r.Mark == "prompt_cache_breakpoint":
		return CachesAtBreakpoints
	case r.Mark != "":
		return CachesAtMarks
	case r.Cached == "prefix":
		return CachesPrefix
	default:
		return CachesNothing
	}
}

// plain is a model's name without what gateways spell differently.
func plain(model string) string {
	return strings.ReplaceAll(strings.ToLower(model), ".", "-")
}

// forModel finds the layout that the models of this name are known for.
func (l *Layouts) forModel(model string) (Rules, bool) {
	name := plain(model)
	for _, row := range l.rows {
		for _, word := range row.ChosenFor {
			if strings.Contains(name, word) {
				return row, true
			}
		}
	}
	return Rules{}, false
}

// choose settles the layout of a conversation and says why.
func (l *Layouts) choose(c *conversation.Conversation, o *Options) (Layout, string) {
	known, isKnown := l.forModel(o.Model)
	switch {
	case o.Layout != LayoutUnset:
		return o.Layout, "layout " + o.Layout.String() + " as requested"
	case isKnown && known.MaxMarks == 0:
		return LayoutUnset, "no marks: model " + o.Model + " takes none (" + known.Title + " " + known.Note + ")"
	case isKnown && c.Format == conversation.FormatAnthropicMessages && known.fits(c):
		return known.Layout, known.Title + " model, native Anthropic conversation"
	case c.Format == conversation.FormatAnthropicMessages:
		return LayoutAnthropic, "native Anthropic conversation"
	case o.Claude && c.Format == conversation.FormatOpenAIChat:
		return LayoutOpenRouter, "Claude model on OpenAI chat"
	case o.Claude:
		return LayoutAnthropic, "Claude model, typed form"
	case isKnown:
		return LayoutUnset, "no marks: model " + o.Model + " takes them only where its route is named; choose layout " + known.Name
	case o.Model != "":
		return LayoutUnset, "no marks: model " + o.Model + " takes none"
	default:
		return LayoutUnset, "no marks: no model is named; name a Claude model or choose a layout"
	}
}

// fits reports whether the layout can be asked for with a conversation's form.
func (r *Rules) fits(c *conversation.Conversation) bool {
	return slices.Contains(r.Forms, c.Format.String())
}
