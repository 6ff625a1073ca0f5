package llm

import (
	"strings"
	"unicode"
)

// How much of the users' words is looked at: the newest messages, and the first
// characters of each.
const (
	maxSamples = 20
	maxSample  = 600
)

// tongue is a language, the script or the letters that give it away, and words
// that nearly every text in it has.
type tongue struct {
	name    string
	letters string
	words   string
}

// tongues lists the languages that are told apart by words. The lists are short,
// of words that are frequent and, together with the letters, rarely another's.
func tongues() []tongue {
	return []tongue{
		{"English (en)", "", "the and is are to of in that it for with this you not what please can have be on"},
		{"German (de)", "ßäöü", "der die das und ist nicht ein eine mit für auf den dem zu wir ich bitte von wie auch"},
		{"French (fr)", "çèêàœù", "le la les des est et un une pour dans que pas vous nous je avec sur du ce il"},
		{"Spanish (es)", "ñ¿¡", "el la los las es y un una para con por no que en del se lo pero como favor"},
		{"Portuguese (pt)", "ãõ", "o os as um uma para com não por que em do da no na se mas você depois favor"},
		{"Italian (it)", "ìò", "il lo gli che di è un una per con non sono del della nel questo come ma anche si"},
		{"Dutch (nl)", "", "de het een en is niet van voor met dat op te zijn ik wij graag ook naar aan maar"},
		{"Polish (pl)", "ąęłśżźćń", "i w nie na się jest do to z że jak dla po od ale czy proszę oraz tylko już"},
		{"Czech (cs)", "ěřůčž", "a je v na se že to s z do pro jako ale by jsem není prosím také jen už"},
		{"Swedish (sv)", "åäö", "och är att det en som på för med inte av jag vi har den till kan om ett men"},
		{"Turkish (tr)", "ğışİ", "ve bir bu için ile de da ne değil var çok gibi ben lütfen olarak daha sonra ama mı mi"},
		{"Vietnamese (vi)", "đơưạếệộ", "và là của không có cho được một các với trong này tôi người để những khi đã như bạn"},
		{"Indonesian (id)", "", "yang dan di untuk dengan tidak ini itu dari ke pada adalah akan saya tolong bisa juga sudah atau kita"},
		{"Russian (ru)", "ыэё", "и в не на что с это как по для но из у к мы я все так уже или"},
		{"Ukrainian (uk)", "іїєґ", "і в не на що з це як по для але із у до ми я все так вже або"},
		{"Arabic (ar)", "ةىأإ", "في من على إلى أن هذا ما لا هل مع عن التي الذي هذه كان قد كل بعد ثم من"},
		{"Persian (fa)", "پچژگک", "و در به از که این را با است برای آن یک تا بر هم می من شما لطفا کنید"},
		{"Hindi (hi)", "", "है के में की और को से का यह नहीं पर हैं एक कि लिए भी कृपया मैं हम तो"},
	}
}

// Points: a letter that few other languages have counts like two words.
const (
	letterPoints = 2
	leastPoints  = 4
)

// languageOf names the language of what users said, with its ISO 639 code, or ""
// where it is not certain: then the model is told to find out by itself.
func languageOf(said []string) string {
	scripts := make(map[string]int) // read by name only
	letters := make(map[rune]bool)
	words := make(map[string]int)
	total := 0
	for _, text := range said {
		text = strings.ToLower(firstRunes(text, maxSample))
		for _, c := range text {
			if unicode.IsLetter(c) {
				letters[c] = true
				scripts[scriptOf(c)]++
				total++
			}
		}
		for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsMark(c) }) {
			words[word]++
		}
	}
	if total == 0 {
		return ""
	}
	// A text of one of these scripts has many Latin letters too: names, code, paths.
	switch {
	case scripts["kana"]*10 > total:
		return "Japanese (ja)"
	case scripts["hangul"]*5 > total:
		return "Korean (ko)"
	case scripts["han"]*5 > total:
		return "Chinese (zh)"
	case scripts["thai"]*5 > total:
		return "Thai (th)"
	case scripts["hebrew"]*5 > total:
		return "Hebrew (he)"
	case scripts["greek"]*5 > total:
		return "Greek (el)"
	}
	best, second, name := 0, 0, ""
	for _, t := range tongues() {
		points := 0
		for word := range strings.FieldsSeq(t.words) {
			points += min(words[word], 3)
		}
		for _, c := range t.letters {
			if letters[c] {
				points += letterPoints
			}
		}
		switch {
		case points > best:
			best, second, name = points, best, t.name
		case points > second:
			second = points
		}
	}
	if best < leastPoints || best*2 < second*3 {
		return ""
	}
	return name
}

func scriptOf(c rune) string {
	switch {
	case c < 0x300:
		return "latin"
	case unicode.In(c, unicode.Hiragana, unicode.Katakana):
		return "kana"
	case unicode.Is(unicode.Han, c):
		return "han"
	case unicode.Is(unicode.Hangul, c):
		return "hangul"
	case unicode.Is(unicode.Thai, c):
		return "thai"
	case unicode.Is(unicode.Hebrew, c):
		return "hebrew"
	case unicode.Is(unicode.Greek, c):
		return "greek"
	default:
		return "other"
	}
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
