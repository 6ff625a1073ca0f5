package fidelity

import (
	"strings"

	"github.com/elbowroom/elbowroom/summarizer/facts"
)

// kind is a kind of fact, in the order in which the section lists them.
type kind uint8

const (
	kindNone kind = iota
	kindConstraint
	kindDecision
	kindTodo
	kindCommand
	kindError
	kindPath
	kindURL
	kindEmail
	kindIdentifier
	kindPlace // file:line
	kindNumber
	kindSymbol
	kindCount
)

// kindNames are the words of the report and the section. It is never written to.
var kindNames = [...]string{
	kindNone: "name", kindConstraint: "constraint", kindDecision: "decision", kindTodo: "todo", kindCommand: "command", kindError: "error",
	kindPath: "path", kindURL: "url", kindEmail: "email", kindIdentifier: "identifier", kindPlace: "line", kindNumber: "number", kindSymbol: "symbol",
}

func (k kind) String() string { return kindNames[k] }

// kindWeights say how much a fact of each kind counts. It is never written to.
var kindWeights = [...]float64{
	kindConstraint: 1.5, kindDecision: 0.8, kindTodo: 1.2, kindCommand: 1.2, kindError: 1,
	kindPath: 0.9, kindURL: 1, kindEmail: 1, kindIdentifier: 1, kindPlace: 0.6, kindNumber: 0.6, kindSymbol: 0.35,
}

// strong reports whether a name of the kind is a fact by its shape alone.
func (k kind) strong() bool {
	switch k {
	case kindError, kindPath, kindURL, kindEmail, kindIdentifier:
		return true
	default:
		return false
	}
}

// kindOf is the kind of a name by its shape, kindNone for what is no fact.
func kindOf(text string, c facts.Class) kind {
	switch c {
	case facts.Address:
		if strings.Contains(text, "://") {
			return kindURL
		}
		return kindEmail
	case facts.Path:
		if facts.LooksEncoded(text) {
			return kindNone
		}
		return kindPath
	case facts.Mixed:
		if len(text) < 6 || measured(text) || len(text) >= 24 && facts.LooksEncoded(text) {
			return kindNone
		}
		return kindIdentifier
	case facts.Number:
		if digits(text) < 3 {
			return kindNone
		}
		return kindNumber
	case facts.Symbol:
		if errorClass(text) {
			return kindError
		}
		if fileName(text) {
			return kindPath
		}
		return kindSymbol
	case facts.Caps:
		if len(text) >= 5 && text[0] == 'E' && facts.Alarming(text, c) && text != "ERROR" && text != "ERRORS" && text != "EXCEPTION" {
			return kindError
		}
	case facts.Pair:
		if at := strings.LastIndexByte(text, ':'); at > 0 && at+1 < len(text) && digits(text[at+1:]) == len(text)-at-1 && strings.IndexByte(text[:at], '.') > 0 {
			return kindPlace
		}
	}
	return kindNone
}

// kindOfText is the kind of a name by its shape alone.
func kindOfText(text string) kind {
	k, size := kindNone, 0
	facts.Terms(text, func(start, end int, c facts.Class) {
		if end-start > size {
			if got := kindOf(text[start:end], c); got != kindNone {
				k, size = got, end-start
			}
		}
	})
	return k
}

// measured reports whether a name is a quantity with its unit or a time of day:
// 12.28ms, 2026-03-12T08.
func measured(s string) bool {
	n := 0
	for n < len(s) && (facts.Digit(s[n]) || s[n] == '.' || s[n] == '-') {
		n++
	}
	unit := s[n:]
	return n > 0 && (len(unit) <= 3 && digits(unit) == 0 || n >= 8 && unit[0] == 'T' && digits(unit) == len(unit)-1)
}

// errorClass reports whether a name is that of a class of errors: TimeoutError.
func errorClass(s string) bool {
	for _, end := range [...]string{"Error", "Errors", "Exception"} {
		if len(s) > len(end) && strings.HasSuffix(s, end) {
			return true
		}
	}
	return false
}

func digits(s string) int {
	n := 0
	for i := range len(s) {
		if facts.Digit(s[i]) {
			n++
		}
	}
	return n
}

// fileName reports whether a dotted name ends like a file's.
func fileName(s string) bool {
	dot := strings.LastIndexByte(s, '.')
	if dot < 2 || len(s)-dot < 2 || len(s)-dot > 6 {
		return false
	}
	for i := dot + 1; i < len(s); i++ {
		if c := s[i]; (c < 'a' || c > 'z') && !facts.Digit(c) {
			return false
		}
	}
	return true
}
