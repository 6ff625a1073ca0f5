package llm

import (
	"errors"
	"fmt"
	"strings"
	"text/template"
)

// The names of the two templates that a template file defines.
const (
	systemTemplate = "system"
	userTemplate   = "user"
)

// TemplateData is what a template is filled with. Conversation, Previous, Latest
// and Focus are finished pieces: text of the caller between lines that carry the
// boundary. A template puts them in their place and writes nothing into them.
type TemplateData struct {
	// Boundary is the code that marks structure; it occurs in none of the data.
	Boundary string
	// Conversation holds the messages, each with a label line.
	Conversation string
	// Previous holds the notes on everything before, "" when there are none. They are
	// to be updated.
	Previous string
	// Latest is the newest request, which stays in the conversation as it is; "" when
	// there is none.
	Latest string
	// Focus is what to keep in most detail, "" for nothing in particular.
	Focus string
	// Language is the language of the user's messages, such as "Portuguese (pt)", ""
	// when it is not certain.
	Language string
	// Tokens is the size to ask for, Words about the same in English words.
	Tokens, Words int
	// More says that further messages follow in another call.
	More bool
	// NoUser says that none of the messages is a user's.
	NoUser bool
}

// Template is a checked prompt. It is safe for concurrent use.
type Template struct {
	text     string
	compiled *template.Template
	outline  *outline
}

// ParseTemplate reads a prompt in the syntax of text/template. It defines two
// templates, "system" and "user", which are filled with a [TemplateData];
// [BuiltinTemplate] is an example. An error says what is wrong or missing: both
// templates, and in them the conversation, the previous notes, the focus and the
// boundary.
//
// The level-two and level-three headings that the prompt shows are the sections an
// answer may have, besides the Section constants of package summarizer. Where a
// prompt shows no heading at all, an answer without sections is taken as it is.
func ParseTemplate(text string) (*Template, error) {
	compiled, err := template.New("prompt").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("llm: template: %w", err)
	}
	for _, name := range [...]string{systemTemplate, userTemplate} {
		if compiled.Lookup(name) == nil {
			return nil, fmt.Errorf("llm: template: {{define %q}} is missing", name)
		}
	}
	t := &Template{text: text, compiled: compiled}
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("llm: template: %w", err)
	}
	return t, nil
}

// check fills the template once with everything and once with next to nothing.
func (t *Template) check() error {
	full := TemplateData{
		Boundary: "@boundary@", Conversation: "@conversation@", Previous: "@previous@", Latest: "@latest@", Focus: "@focus@",
		Language: "English (en)", Tokens: 1000, Words: 700, More: true, NoUser: true,
	}
	system, user, err := t.fill(full)
	if err != nil {
		return err
	}
	var missing []error
	for _, part := range [...]struct{ name, value string }{
		{"Conversation", full.Conversation}, {"Previous", full.Previous}, {"Focus", full.Focus},
	} {
		if !strings.Contains(user, part.value) {
			missing = append(missing, fmt.Errorf("the user template leaves out {{.%s}}", part.name))
		}
	}
	if !strings.Contains(system+user, full.Boundary) {
		missing = append(missing, errors.New("nothing explains {{.Boundary}}"))
	}
	if strings.TrimSpace(system) == "" {
		missing = append(missing, errors.New("the system template is empty"))
	}
	if len(missing) > 0 {
		return errors.Join(missing...)
	}
	t.outline = newOutline(system + "\n" + user)
	_, user, err = t.fill(TemplateData{Conversation: full.Conversation})
	if err == nil && !strings.Contains(user, full.Conversation) {
		err = errors.New("without previous notes the user template leaves out {{.Conversation}}")
	}
	return err
}

func (t *Template) fill(data TemplateData) (system, user string, err error) {
	var out [2]strings.Builder
	for i, name := range [...]string{systemTemplate, userTemplate} {
		if err := t.compiled.ExecuteTemplate(&out[i], name, data); err != nil {
			return "", "", fmt.Errorf("fill: %w", err)
		}
	}
	return strings.TrimSpace(out[0].String()), strings.TrimSpace(out[1].String()), nil
}
