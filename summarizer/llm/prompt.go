package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/elbowroom/elbowroom/summarizer"
)

// The pieces of a prompt, as their BEGIN and END lines name them.
const (
	pieceConversation = "CONVERSATION"
	pieceNotes        = "EARLIER NOTES"
	pieceLatest       = "NEWEST REQUEST"
	pieceFocus        = "FOCUS"
)

// wordShare is how many English words a token stands for, about.
const wordShare = 0.7

// widestBoundary stands in for the boundary where a prompt is measured.
const widestBoundary = "9b1d7f3a"

// prompt writes the prompt of a part. boundary is what marks its structure.
func (r *run) prompt(p part) (prompt summarizer.Prompt, boundary string, err error) {
	boundary = boundaryFor(append(texts(p.entries), p.notes, r.from.latest, r.from.focus))
	data := r.data(boundary)
	data.Previous = piece(pieceNotes, boundary, p.notes)
	data.Conversation = conversationPiece(p.entries, boundary)
	data.More = !p.last
	maxTokens := r.maxTokens(p.limit)
	data.Tokens = int(askedShare * float64(min(p.limit, r.req.Budget, maxTokens)))
	data.Words = int(wordShare * float64(data.Tokens))
	prompt.MaxTokens = maxTokens
	prompt.System, prompt.User, err = r.s.template.fill(data)
	return prompt, boundary, err
}

// data is what all parts of a request share.
func (r *run) data(boundary string) TemplateData {
	return TemplateData{
		Boundary: boundary,
		Latest:   piece(pieceLatest, boundary, r.from.latest),
		Focus:    piece(pieceFocus, boundary, r.from.focus),
		Language: r.from.language,
		NoUser:   r.from.noUser,
	}
}

// measureFrame counts a prompt that holds neither messages nor notes.
func (r *run) measureFrame() (int, error) {
	data := r.data(widestBoundary)
	data.Previous = piece(pieceNotes, widestBoundary, "-")
	data.Conversation = conversationPiece(nil, widestBoundary)
	data.More = true
	data.Tokens, data.Words = r.req.Budget, r.req.Budget
	system, user, err := r.s.template.fill(data)
	if err != nil {
		return 0, err
	}
	return r.count(system + "\n" + user)
}

// piece puts a text between the lines that mark it; "" stays "".
func piece(name, boundary, text string) string {
	if text == "" {
		return ""
	}
	return beginLine(name, boundary) + "\n" + text + "\n" + endLine(name, boundary)
}

func conversationPiece(entries []entry, boundary string) string {
	var b strings.Builder
	b.WriteString(beginLine(pieceConversation, boundary))
	for _, e := range entries {
		b.WriteString("\n" + labelHead(boundary) + e.label + "]\n" + e.text + "\n")
	}
	if len(entries) == 0 {
		b.WriteString("\n(no messages)\n")
	}
	b.WriteString(endLine(pieceConversation, boundary))
	return b.String()
}

func beginLine(name, boundary string) string {
	return "===== BEGIN " + name + " " + boundary + " ====="
}
func endLine(name, boundary string) string { return "===== END " + name + " " + boundary + " =====" }
func labelHead(boundary string) string     { return "[" + boundary + " " }

func texts(entries []entry) []string {
	out := make([]string, 0, 2*len(entries)+3)
	for _, e := range entries {
		out = append(out, e.label, e.text)
	}
	return out
}

// boundaryFor derives a code from the data that does not occur in it. The same
// data gives the same code.
func boundaryFor(data []string) string {
	h := sha256.New()
	for _, text := range data {
		h.Write([]byte(strconv.Itoa(len(text)) + ":" + text))
	}
	return freeCode(h.Sum(nil), data)
}

// freeCode is the first code of a chain of hashes that occurs in none of the data.
func freeCode(seed []byte, data []string) string {
	for {
		code := hex.EncodeToString(seed[:4])
		if !anyContains(data, code) {
			return code
		}
		next := sha256.Sum256(seed)
		seed = next[:]
	}
}

func anyContains(data []string, code string) bool {
	for _, text := range data {
		if strings.Contains(text, code) {
			return true
		}
	}
	return false
}
