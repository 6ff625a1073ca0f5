package tokens

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// BenchmarkCount says how fast made-up texts of 1 MB are counted on one processor: cold with fresh caches, warm when the text
// was counted before. Words are drawn as in real text, a few of them very often, so that the caches do what they do
// for real text; bench/tokens compares with other tokenizers on real text.
func BenchmarkCount(b *testing.B) {
	const length = 1 << 20
	for _, name := range []string{O200kBase, CL100kBase} {
		e := newEncodingOn(b, name, 1)
		for _, corpus := range corpora(length) {
			b.Run(name+"/"+corpus.name+"/cold", func(b *testing.B) {
				b.SetBytes(int64(len(corpus.text)))
				for b.Loop() {
					b.StopTimer()
					fresh := newEncodingLike(b, e)
					count(b, fresh, "worker")
					b.StartTimer()
					count(b, fresh, corpus.text)
				}
			})
			b.Run(name+"/"+corpus.name+"/warm", func(b *testing.B) {
				b.SetBytes(int64(len(corpus.text)))
				count(b, e, corpus.text)
				for b.Loop() {
					count(b, e, corpus.text)
				}
			})
		}
	}
}

// BenchmarkCountOnAllProcessors is the wall time of one text of 8 MB.
func BenchmarkCountOnAllProcessors(b *testing.B) {
	e := newEncoding(b, O200kBase)
	text := corpora(8 << 20)[0].text
	b.SetBytes(int64(len(text)))
	count(b, e, text)
	for b.Loop() {
		count(b, e, text)
	}
}

// BenchmarkLoad is the time until the first count, when the vocabulary is not loaded yet.
func BenchmarkLoad(b *testing.B) {
	for _, name := range []string{O200kBase, CL100kBase} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				count(b, newEncoding(b, name), "first")
			}
		})
	}
}

type corpus struct{ name, text string }

func corpora(length int) []corpus {
	return []corpus{
		{name: "prose", text: madeProse(length)},
		{name: "code", text: madeCode(length)},
		{name: "JSON", text: madeJSON(length)},
		{name: "CJK", text: madeCJK(length)},
	}
}

// madeWords is a list of n words, the more frequent ones first and shorter.
func madeWords(r *rand.Rand, n int) []string {
	common := strings.Fields("the of and to a in is it that for was on are with as be at by this have from or one had not but what all were when we there can an your which their said if do will each about how up out them then she many some so these would other into has more her two like him see time could no make than first been its who now people my made over did down only way find use may water long little very after words called just where most know")
	syllables := strings.Fields("al an ar at ba be bo ca ce co con cu da de di do el en er es ex fa fe fi for ga ge gra ha he im in is ka la le li lo ma me mi mo na ne ni no ob on or pa pe per pla po pre pro qua ra re ri ro sa se si so sta su ta te ter ti to tra tu un ur va ve vi vo wa wi")
	endings := []string{"", "", "s", "ed", "ing", "er", "ly", "tion", "ment", "ness", "able"}
	words := common
	for len(words) < n {
		var b strings.Builder
		for range 1 + r.IntN(3) {
			b.WriteString(syllables[r.IntN(len(syllables))])
		}
		words = append(words, b.String()+endings[r.IntN(len(endings))])
	}
	return words
}

// often draws from n as words are drawn in real text: the i-th with a probability of about 1/i.
func often(r *rand.Rand, n int) int {
	return int(math.Exp(r.Float64()*math.Log(float64(n)))) - 1
}

func madeProse(length int) string {
	r := rand.New(rand.NewPCG(1, 0))
	words := madeWords(r, 30_000)
	var b strings.Builder
	for b.Len() < length {
		for i := range 4 + r.IntN(20) {
			word := words[often(r, len(words))]
			if i == 0 {
				word = strings.ToUpper(word[:1]) + word[1:]
			} else {
				b.WriteByte(' ')
			}
			b.WriteString(word)
			switch r.IntN(40) {
			case 0, 1, 2:
				b.WriteByte(',')
			case 3:
				b.WriteString("'s")
			case 4:
				fmt.Fprintf(&b, " %d", r.IntN(3000))
			}
		}
		b.WriteString([]string{". ", ". ", ". ", "? ", ".\n\n"}[r.IntN(5)])
	}
	return b.String()
}

func madeCode(length int) string {
	r := rand.New(rand.NewPCG(2, 0))
	words := madeWords(r, 3_000)[100:]
	name := func() string {
		first, second := words[often(r, len(words))], words[often(r, len(words))]
		return []string{first, first + strings.ToUpper(second[:1]) + second[1:], first + "_" + second}[r.IntN(3)]
	}
	var b strings.Builder
	for b.Len() < length {
		fmt.Fprintf(&b, "// %s returns the %s of a %s.\nfunc (s *%s) %s(ctx context.Context, %s int) (string, error) {\n", name(), name(), name(), name(), name(), name())
		for range 2 + r.IntN(8) {
			switch r.IntN(4) {
			case 0:
				fmt.Fprintf(&b, "\tif err := s.%s(%s, %d); err != nil {\n\t\treturn \"\", fmt.Errorf(\"%s: %%w\", err)\n\t}\n", name(), name(), r.IntN(1000), name())
			case 1:
				fmt.Fprintf(&b, "\tfor i := range %s {\n\t\ts.%s[i] += 0x%02x\n\t}\n", name(), name(), r.IntN(256))
			case 2:
				fmt.Fprintf(&b, "\t%s := %s.%s(%s)\n", name(), name(), name(), name())
			default:
				fmt.Fprintf(&b, "\ts.%s = append(s.%s, %q)\n", name(), name(), name())
			}
		}
		b.WriteString("\treturn \"\", nil\n}\n\n")
	}
	return b.String()
}

func madeJSON(length int) string {
	r := rand.New(rand.NewPCG(3, 0))
	words := madeWords(r, 2_000)
	var b strings.Builder
	for b.Len() < length {
		fmt.Fprintf(&b, `{"time":"2026-%02d-%02dT%02d:%02d:%02d.%03dZ","level":"info","message":"%s %s %s","trace_id":"%016x","duration_ms":%.3f,"path":"/%s/%s/%d","ok":true,"tags":["%s","%s"]}`+"\n",
			1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1000),
			words[often(r, len(words))], words[often(r, len(words))], words[often(r, len(words))], r.Uint64(), 1000*r.Float64(),
			words[often(r, len(words))], words[often(r, len(words))], r.IntN(100_000), words[often(r, len(words))], words[often(r, len(words))])
	}
	return b.String()
}

func madeCJK(length int) string {
	r := rand.New(rand.NewPCG(4, 0))
	words := make([]string, 8_000)
	for i := range words {
		var b strings.Builder
		for range 1 + r.IntN(3) {
			b.WriteRune(0x4e00 + int32(often(r, 4_000))*5) //nolint:gosec // below 0x9c20
		}
		words[i] = b.String()
	}
	particles := strings.Fields("の は を に が で と も から まで です した 的 了 是 在 和")
	var b strings.Builder
	for b.Len() < length {
		for range 3 + r.IntN(10) {
			b.WriteString(words[often(r, len(words))])
			b.WriteString(particles[r.IntN(len(particles))])
		}
		b.WriteString([]string{"、", "。", "，", "。\n"}[r.IntN(4)])
	}
	return b.String()
}
