package tokens

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/conversation"
)

func TestImagesNeverCountByTheirLength(t *testing.T) {
	c, r := NewCounter(), newRegistry(t)
	data := strings.Repeat("QUJD", 50_000)
	openAIBody := `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + data + `"}}]},
		{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"shot","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"a","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + data + `"}}]}]`
	anthropicBody := `[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data + `"}}]},
		{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"shot","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data + `"}}]}]}]`
	for _, conv := range []*conversation.Conversation{openAI(t, openAIBody), anthropic(t, anthropicBody)} {
		for _, name := range []string{"gpt-4o", "claude-opus-5", "gemini-3-pro", "qwen3", "unknown-model"} {
			m := r.Lookup(name)
			got := report(t, c, conv, m)
			if want := 2 * m.Image.Tokens(0, 0, ""); got.Parts.Media != want {
				t.Errorf("%s, %s: media %d, want %d", conv.Format, name, got.Parts.Media, want)
			}
			if got.Tokens-got.Parts.Media > 200 {
				t.Errorf("%s, %s: %d tokens beside the images", conv.Format, name, got.Tokens-got.Parts.Media)
			}
			if len(got.Warnings) != 2 || got.Warnings[0].Code != WarnMediaAssumed || got.Warnings[0].Message != 0 || got.Warnings[1].Message != 2 {
				t.Errorf("%s, %s: warnings %v", conv.Format, name, got.Warnings)
			}
		}
	}
}

func TestDocumentsAndRecordingsCountByRule(t *testing.T) {
	c, r := NewCounter(), newRegistry(t)
	block := func(kind, mime string, bytes int) string {
		return `[{"role":"user","content":[{"type":"` + kind + `","source":{"type":"base64","media_type":"` + mime + `","data":"` + base64.StdEncoding.EncodeToString(make([]byte, bytes)) + `"}}]}]`
	}
	for _, x := range []struct {
		name, model, body string
		media, text       int
	}{
		{name: "one page", model: "claude-opus-5", body: block("document", "application/pdf", 10), media: 2400},
		{name: "five pages", model: "claude-opus-5", body: block("document", "application/pdf", 5*64<<10-9), media: 12_000},
		{name: "gemini 2", model: "gemini-2.5-pro", body: block("document", "application/pdf", 10), media: 258},
		{name: "gemini 3", model: "gemini-3-pro", body: block("document", "application/pdf", 10), media: 560},
		{name: "other", model: "gpt-4o", body: block("document", "application/pdf", 10), media: 1500},
		{name: "audio of unknown form", model: "gemini-2.5-pro", body: block("audio", "audio/mp3", 160_000), media: 320},
		{name: "audio to OpenAI", model: "gpt-4o-audio-preview", body: block("audio", "audio/mp3", 160_000), media: 100},
		{name: "video", model: "gemini-2.5-pro", body: block("video", "video/mp4", 1_250_000), media: 2630},
		{name: "video to Gemini 3", model: "gemini-3-pro", body: block("video", "video/mp4", 1_250_000), media: 1020},
		{name: "file with image", model: "claude-opus-5", body: block("file", "image/png", 10), media: 1373},
		{name: "text", model: "gpt-4o", body: `[{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"hello world"}}]}]`, text: 2},
		{name: "text in base64", model: "gpt-4o", body: `[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"text/plain; charset=utf-8","data":"aGVsbG8gd29ybGQ="}}]}]`, text: 2},
		{name: "text as a data URL", model: "gpt-4o", body: `[{"role":"user","content":[{"type":"document","source":{"type":"url","url":"DATA:text/plain;charset=utf-8,hello, world"}}]}]`, text: 3},
		{name: "a page by address", model: "claude-opus-5", body: `[{"role":"user","content":[{"type":"document","source":{"type":"url","url":"https://example.org/a.pdf"}}]}]`, media: 2400},
		{name: "a page by id", model: "claude-opus-5", body: `[{"role":"user","content":[{"type":"document","source":{"type":"file","file_id":"file_1"}}]}]`, media: 2400},
		{name: "a document of three pages", model: "claude-opus-5", body: `[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + base64.StdEncoding.EncodeToString(pdfFile(3)) + `"}}]}]`, media: 7200},
	} {
		got := report(t, c, anthropic(t, x.body), r.Lookup(x.model))
		if got.Parts.Media != x.media || got.Parts.Text != x.text {
			t.Errorf("%s: media %d, text %d; want %d, %d", x.name, got.Parts.Media, got.Parts.Text, x.media, x.text)
		}
	}
}

// pdfFile is what a simple writer makes: a catalog, a list of pages, the pages.
func pdfFile(pages int) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<</Type/Pages/Kids[")
	for i := range pages {
		fmt.Fprintf(&b, "%d 0 R ", i+3)
	}
	fmt.Fprintf(&b, "]/Count %d>>\nendobj\n", pages)
	for i := range pages {
		fmt.Fprintf(&b, "%d 0 obj\n<< /Parent 2 0 R /MediaBox [0 0 595 842] /Type%s/Page >>\nendobj\n", i+3, []string{"", " ", "\r\n"}[i%3])
		b.WriteString(strings.Repeat("0123456789abcdef", i%7*100)) // something to read past
	}
	return b.Bytes()
}

func TestPagesOfAPDFAreCountedWithoutUnpacking(t *testing.T) {
	linearized := func(dictionary string) []byte {
		return append([]byte("%PDF-1.5\n9 0 obj\n<< /Linearized 1 /L 1000 /H [ 1 2 ] "+dictionary+" >>\nendobj\n"), pdfFile(1)...)
	}
	for _, c := range []struct {
		name string
		file []byte
		want int
	}{
		{"one", pdfFile(1), 1},
		{"many, across the pieces", pdfFile(700), 700},
		{"more than a provider takes", pdfFile(2000), pagesMost},
		{"linearized", linearized("/NN 9 /N 42"), 42},
		{"linearized without a number", linearized("/N x"), 1},
		{"linearized with a number of many digits", linearized("/N 99999999999999999999"), pagesMost},
		{"bytes before the signature", append([]byte("\n\n"), pdfFile(4)...), 4},
		{"names that only begin alike", []byte("%PDF-1.4 /Type /PageLabel /Type /Pages /TypePage /Type /Page"), 1},
		{"compressed objects only", []byte("%PDF-1.7 << /Type /ObjStm >>"), 0},
		{"no PDF", bytes.Repeat([]byte("/Type /Page "), 10), 0},
		{"nothing", nil, 0},
	} {
		got, err := pdfPages(t.Context(), &conversation.Media{Bytes: c.file})
		if err != nil || got != c.want {
			t.Errorf("%s: %d pages, error %v, want %d", c.name, got, err, c.want)
		}
		if got, _ := pdfPages(t.Context(), &conversation.Media{Data: wrap(base64.StdEncoding.EncodeToString(c.file))}); got != c.want {
			t.Errorf("%s in lines of base64: %d pages, want %d", c.name, got, c.want)
		}
	}
	// A page object on the edge of a piece counts once.
	for at := 47 << 10; at < 49<<10; at++ {
		file := append(append([]byte("%PDF-1.4\n"), make([]byte, at)...), "<< /Type   /Page >>"...)
		file = append(file, make([]byte, 2<<10)...)
		if got, err := pdfPages(t.Context(), &conversation.Media{Bytes: file}); err != nil || got != 1 {
			t.Fatalf("an object at %d: %d pages, error %v", at, got, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := pdfPages(ctx, &conversation.Media{Bytes: pdfFile(1)}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestLengthOfARecordingIsReadFromItsHeader(t *testing.T) {
	chunk := func(name string, payload []byte) []byte {
		return append(binary.LittleEndian.AppendUint32([]byte(name), uint32(len(payload))), payload...)
	}
	format := chunk("fmt ", []byte{1, 0, 1, 0, 0x40, 0x1f, 0, 0, 0x40, 0x1f, 0, 0, 1, 0, 8, 0}) // 8,000 bytes a second
	wav := func(chunks ...[]byte) []byte {
		return append([]byte("RIFF\x00\x00\x00\x00WAVE"), bytes.Join(chunks, nil)...)
	}
	sound := chunk("data", make([]byte, 80_000-100))
	frame := func(header ...byte) []byte { return append(header, make([]byte, 160_000-4)...) }
	varying := frame(0xff, 0xfb, 0x90, 0x00)
	copy(varying[36:], "Xing\x00\x00\x00\x01\x00\x00\x03\xe8") // 1,000 frames of 1,152 samples at 44,100 a second
	oneChannel := frame(0xff, 0xf3, 0x90, 0xc0)
	copy(oneChannel[13:], "Info\x00\x00\x00\x01\x00\x00\x03\xe8") // 1,000 frames of 576 samples at 22,050 a second
	tag := append([]byte("ID3\x04\x00\x00\x00\x00\x7f\x7f"), make([]byte, 127<<7|127)...)
	for _, c := range []struct {
		name string
		file []byte
		want int
	}{
		{"wav", wav(format, sound), 10},
		{"wav with a chunk before", wav(chunk("JUNK", make([]byte, 28)), format, sound), 10},
		{"wav with an odd chunk before", wav(append(chunk("LIST", make([]byte, 3)), 0), format, sound), 10},
		{"wav without a rate", wav(chunk("fmt ", make([]byte, 16)), sound), 0},
		{"wav cut off", wav(), 0},
		{"mp3 at 128 kbit", frame(0xff, 0xfb, 0x90, 0x00), 11},
		{"mp3 at 80 kbit, MPEG 2", frame(0xff, 0xf3, 0x90, 0x00), 17},
		{"mp3 of varying rate", varying, 27},
		{"mp3 of one channel", oneChannel, 27},
		{"mp3 after a tag", append(tag, frame(0xff, 0xfb, 0x90, 0x00)...), 11},
		{"mp3 of no rate", frame(0xff, 0xfb, 0x00, 0x00), 0},
		{"mp3 of no frequency", frame(0xff, 0xfb, 0x9c, 0x00), 0},
		{"a tag and no more", tag, 0},
		{"AAC", frame(0xff, 0xf1, 0x50, 0x80), 0},
		{"nothing", nil, 0},
	} {
		if got := audioSeconds(&conversation.Media{Bytes: c.file}); got != c.want {
			t.Errorf("%s: %d seconds, want %d", c.name, got, c.want)
		}
		if got := audioSeconds(&conversation.Media{Data: base64.StdEncoding.EncodeToString(c.file)}); got != c.want {
			t.Errorf("%s in base64: %d seconds, want %d", c.name, got, c.want)
		}
	}
}

// What is read is a better number than what is guessed: no warning, and bounds that say so.
func TestReadLengthsNeedNoWarning(t *testing.T) {
	c, m := NewCounter(), newRegistry(t).Lookup("claude-opus-5")
	size := func(data []byte) Report {
		return report(t, c, anthropic(t, `[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"`+base64.StdEncoding.EncodeToString(data)+`"}}]}]`), m)
	}
	if read := size(pdfFile(3)); len(read.Warnings) != 0 || read.Lower < 4000 || read.Upper > 10_000 {
		t.Errorf("pages read: %+v", read)
	}
	if guessed := size(make([]byte, 3*pageBytes)); len(guessed.Warnings) != 1 || guessed.Warnings[0].Code != WarnMediaAssumed || guessed.Upper < 14_400 {
		t.Errorf("pages guessed: %+v", guessed)
	}
}
