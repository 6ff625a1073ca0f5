package llm

import "strings"

// refusal reports whether a text begins as a model's way to decline.
func refusal(text string) bool {
	head := strings.NewReplacer("’", "'", "*", "", "_", "").Replace(strings.ToLower(firstRunes(strings.TrimSpace(text), 160)))
	head = strings.TrimLeft(head, " \t-")
	for _, polite := range [...]string{"i'm sorry, but ", "i am sorry, but ", "sorry, but ", "i'm sorry. ", "sorry, ", "i apologize, but ", "unfortunately, "} {
		head = strings.TrimPrefix(head, polite)
	}
	for _, opening := range [...]string{
		"i can't help", "i cannot help", "i can't assist", "i cannot assist", "i can't comply", "i cannot comply", "i can't fulfill", "i cannot fulfill",
		"i can't provide", "i cannot provide", "i can't summarize", "i cannot summarize", "i can't create", "i cannot create", "i can't do that",
		"i am unable to", "i'm unable to", "i am not able to", "i'm not able to", "i won't be able to", "i must decline", "i have to decline",
		"as an ai language model", "as an ai assistant", "as an ai, ", "i can't continue with", "i cannot continue with", "i can't engage", "i cannot engage",
		"lo siento, pero no puedo", "je suis désolé", "désolé, je ne peux pas", "es tut mir leid", "tut mir leid", "desculpe, mas não", "mi dispiace, ma non",
		"извините, но я не", "к сожалению, я не могу", "对不起，我", "抱歉，我", "很抱歉，我", "申し訳ありません", "申し訳ございません", "죄송합니다", "عذرًا، لا", "عذرا، لا",
	} {
		if strings.HasPrefix(head, opening) {
			return true
		}
	}
	return false
}

// longestRefusal is how many words a refusal has at most. What is longer says
// something besides.
const longestRefusal = 60

// declined reports whether the notes as a whole are a model's way to decline, to
// ask for what it was given, or the notice of a filter. Only the first sentence
// behind an apology is looked at: reasons follow it.
func (d *draft) declined() bool {
	first, count := "", 0
	for _, lines := range d.lines {
		for _, line := range lines {
			if line.code {
				return false
			}
			lower := strings.ReplaceAll(strings.ToLower(line.text), "’", "'")
			if count += len(strings.Fields(lower)); count > longestRefusal {
				return false
			}
			if first != "" || strings.HasPrefix(strings.TrimLeft(lower, " \t"), ">") {
				continue
			}
			for _, sentence := range sentences(unquoted(lower)) {
				if len(withoutApology(wordsOf(sentence))) > 0 {
					first = sentence
					break
				}
			}
		}
	}
	return declines(withoutApology(wordsOf(first))) || declinesElsewhere(first)
}

func withoutApology(words []string) []string {
	for len(words) > 0 {
		switch words[0] {
		case "sorry", "apologies", "unfortunately", "but", "and", "however", "regrettably":
			words = words[1:]
			continue
		case "i'm", "i", "my", "we":
			if rest := words[1:]; len(rest) > 0 {
				if rest[0] == "am" || rest[0] == "sincerely" || rest[0] == "really" {
					rest = rest[1:]
				}
				if len(rest) > 0 && (rest[0] == "sorry" || rest[0] == "apologize" || rest[0] == "apologise" || rest[0] == "apologies") {
					words = rest[1:]
					continue
				}
			}
		}
		break
	}
	return words
}

// The kinds of words that a refusal is made of.
const (
	wordFirst   = 1 << iota // the model speaks
	wordCannot              // "cannot", "unable"
	wordAct                 // to summarize
	wordMake                // to write, of notes
	wordNotes               // notes, a summary
	wordMatter              // what is to be summarized
	wordVerdict             // "violates"
	wordRule                // policy, filter
	wordRemoved             // "removed", "blocked"
	wordGive                // "provide", asked of the reader
	wordGiven               // "provided"
)

func kindOf(word string) int {
	if strings.HasPrefix(word, "summariz") || strings.HasPrefix(word, "summaris") {
		return wordAct
	}
	switch word {
	case "i", "i'm", "i'd", "i've", "i'll", "we", "we're":
		return wordFirst
	case "cannot", "can't", "not", "won't", "couldn't", "don't", "unable", "uncomfortable", "decline", "refuse":
		return wordCannot
	case "comply", "assist":
		return wordAct
	case "write", "produce", "create", "generate", "make":
		return wordMake
	case "notes", "summary":
		return wordNotes
	case "conversation", "transcript", "content", "request", "discussion", "material", "chat", "text", "messages", "context", "topic":
		return wordMatter
	case "violates", "violate", "against", "flagged", "inappropriate":
		return wordVerdict
	case "policy", "policies", "guidelines", "moderation", "safety", "filter", "filtering", "terms":
		return wordRule
	case "removed", "filtered", "blocked", "withheld", "redacted", "omitted", "unavailable":
		return wordRemoved
	case "provide", "share", "paste", "send", "supply":
		return wordGive
	case "provided", "given", "included", "shared", "pasted", "written", "produced", "created", "generated":
		return wordGiven
	default:
		return 0
	}
}

// declines reports whether a sentence declines: the model or the matter is its
// subject, and it says that there will be no notes, that a rule forbids them, or
// that there is nothing to write them on. "The API refused with 403: content
// policy" has another subject, "I can't open the page" is about something else.
func declines(words []string) bool {
	if len(words) == 0 {
		return false
	}
	kinds, all := make([]int, len(words)), 0
	for i, word := range words {
		kinds[i] = kindOf(word)
		all |= kinds[i]
	}
	// near are the kinds of up to n words from i on.
	near := func(i, n int) int {
		found := 0
		for _, kind := range kinds[min(i, len(kinds)):min(i+n, len(kinds))] {
			found |= kind
		}
		return found
	}
	opening := near(0, 4)
	if all&wordVerdict != 0 && all&wordRule != 0 && opening&(wordMatter|wordAct) != 0 {
		return true // "this request goes against policy"
	}
	notice := near(0, 1)&(wordMatter|wordNotes) != 0 || words[0] == "output" || words[0] == "response" || words[0] == "message"
	if notice && near(1, 4)&wordRemoved != 0 && all&wordRule != 0 {
		return true // "content removed by the safety filter"
	}
	model := all&wordFirst != 0
	for i, word := range words {
		next := near(i+1, 5)
		switch {
		case kinds[i] == wordCannot && (model || opening&wordMatter != 0 || i == 0):
			if next&wordAct != 0 || model && next&wordMake != 0 && near(i+1, 8)&wordNotes != 0 {
				return true
			}
		case (word == "with" || word == "process") && model && all&wordCannot != 0:
			if i+1 < len(words) && words[i+1] == "this" && near(i+2, 2)&wordMatter != 0 {
				return true // "not comfortable with this topic"
			}
		case word == "no" || word == "any":
			if near(i+1, 2)&wordMatter != 0 && next&(wordGiven|wordAct) != 0 || near(i+1, 1) == wordNotes && near(i+2, 2)&wordGiven != 0 {
				return true // "no conversation to summarize", "no notes were written"
			}
		case word == "more" && model && near(i+1, 1) == wordMatter:
			if all&(wordAct|wordNotes) != 0 {
				return true // "I need more context before I can write the notes"
			}
		case kinds[i] == wordGive && i < 4:
			// "Provide notes on the text" asks for notes, not for the text.
			if near(i+1, 3)&(wordMatter|wordNotes) == wordMatter && all&(wordAct|wordNotes) != 0 {
				return true
			}
		}
	}
	return false
}

// declinesElsewhere knows "cannot" and "summarize" in other languages, as stems
// of which a refusal has one of each.
func declinesElsewhere(sentence string) bool {
	for _, pair := range [...][2]string{
		{"nicht|keine", "zusammenfass|zusammenzufass"}, {"no puedo|no se puede|no es posible", "resum"}, {"ne peux pas|ne peut pas|impossible|ne suis pas", "résum"},
		{"não posso|não é possível|não consigo", "resum"}, {"non posso|non si può|non sono in grado", "riassum"}, {"не могу|невозможно|не удалось", "резюм|обобщ|краткое"},
		{"无法|不能|不便|無法", "总结|摘要|概括|總結"}, {"できません|できない|出来ません", "要約"}, {"수 없|어렵습니다", "요약"}, {"لا أستطيع|لا يمكنني|لا يمكن", "تلخيص"},
	} {
		if anyIn(sentence, pair[0]) && anyIn(sentence, pair[1]) {
			return true
		}
	}
	return false
}

// anyIn reports whether one of the stems, parted by bars, occurs.
func anyIn(sentence, stems string) bool {
	for stem := range strings.SplitSeq(stems, "|") {
		if strings.Contains(sentence, stem) {
			return true
		}
	}
	return false
}
