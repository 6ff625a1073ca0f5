package tokens

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/conversation"
)

// The Claude and patch numbers are a third party's measurements; the tile numbers follow OpenAI's own worked examples.
func TestImageRulesGiveTheKnownCosts(t *testing.T) {
	r := newRegistry(t)
	const claudeBlock = 4
	for _, c := range []struct {
		model         string
		width, height int
		detail        string
		want          int
	}{
		{model: "claude-opus-5", width: 256, height: 256, want: 100 + claudeBlock},
		{model: "claude-opus-5", width: 512, height: 512, want: 361 + claudeBlock},
		{model: "claude-opus-5", width: 1024, height: 1024, want: 1369 + claudeBlock},
		{model: "claude-opus-5", width: 1920, height: 1080, want: 2691 + claudeBlock},
		{model: "claude-haiku-4-5", width: 1920, height: 1080, want: 1560 + claudeBlock},
		{model: "gpt-4o", width: 1024, height: 1024, detail: "high", want: 765},
		{model: "gpt-4o", width: 2048, height: 4096, detail: "high", want: 1105},
		{model: "gpt-4o", width: 4096, height: 8192, detail: "low", want: 85},
		{model: "gpt-4o", width: 100, height: 100, want: 255},
		{model: "gpt-4o-mini", width: 512, height: 512, want: 8500},
		{model: "gpt-5.5", width: 1024, height: 1024, want: 1229},
		{model: "gpt-5.5", width: 1920, height: 1080, want: 2448},
		{model: "gpt-5.5", width: 8000, height: 8000, detail: "high", want: 3000},
		{model: "gpt-4.1-mini", width: 1024, height: 1024, want: 1659},
		{model: "gemini-2.5-flash", width: 384, height: 384, want: 258},
		{model: "gemini-2.5-flash", width: 1000, height: 700, want: 516},
		{model: "gemini-3-pro", width: 4000, height: 3000, want: 1120},
		{model: "gpt-4o", width: 0, height: 0, want: 765},
	} {
		if got := r.Lookup(c.model).Image.Tokens(c.width, c.height, c.detail); got != c.want {
			t.Errorf("%s: %d x %d %s = %d tokens, want %d", c.model, c.width, c.height, c.detail, got, c.want)
		}
	}
}

func TestImageCostsAreBoundedForAnySize(t *testing.T) {
	sizes := []int{1, 2, 383, 385, 1 << 10, 1 << 16, 1<<31 - 1, 1 << 32}
	for _, m := range newRegistry(t).All() {
		for _, w := range sizes {
			for _, h := range sizes {
				got := m.Image.Tokens(w, h, "high")
				if got < 1 || got > 60_000 {
					t.Fatalf("%s: %d x %d costs %d tokens", m.ID, w, h, got)
				}
			}
		}
	}
}

func TestImageSizeIsReadFromTheHeader(t *testing.T) {
	picture := image.NewPaletted(image.Rect(0, 0, 321, 123), color.Palette{color.White, color.Black})
	encode := func(write func(*bytes.Buffer) error) []byte {
		t.Helper()
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	pngFile := encode(func(b *bytes.Buffer) error { return png.Encode(b, picture) })
	jpegFile := encode(func(b *bytes.Buffer) error { return jpeg.Encode(b, picture, nil) })
	gifFile := encode(func(b *bytes.Buffer) error { return gif.Encode(b, picture, nil) })
	// A JPEG with 60 KB of metadata before the size.
	segment := append([]byte{0xff, 0xe1, 0xea, 0x60}, make([]byte, 0xea60-2)...)
	jpegWithMetadata := append(append([]byte{0xff, 0xd8}, segment...), jpegFile[2:]...)
	webp := func(chunk string, payload []byte) []byte {
		b := append([]byte("RIFF\x00\x00\x00\x00WEBP"), chunk...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
		return append(append(b, payload...), make([]byte, 8)...)
	}
	lossy := webp("VP8 ", []byte{0, 0, 0, 0x9d, 0x01, 0x2a, 0x41, 0x01, 0x7b, 0x00})
	lossless := webp("VP8L", binary.LittleEndian.AppendUint32([]byte{0x2f}, 320|122<<14))
	extended := webp("VP8X", []byte{0, 0, 0, 0, 0x40, 1, 0, 122, 0, 0})

	for name, file := range map[string][]byte{
		"png": pngFile, "jpeg": jpegFile, "jpeg with metadata": jpegWithMetadata, "gif": gifFile,
		"webp lossy": lossy, "webp lossless": lossless, "webp extended": extended,
	} {
		for form, media := range map[string]*conversation.Media{
			"base64":  {Data: base64.StdEncoding.EncodeToString(file)},
			"url":     {Data: base64.URLEncoding.EncodeToString(file)},
			"no pad":  {Data: base64.RawStdEncoding.EncodeToString(file)},
			"bytes":   {Bytes: file},
			"stated":  {Data: "AAAA", Width: 321, Height: 123},
			"wrapped": {Data: wrap(base64.StdEncoding.EncodeToString(file))},
		} {
			if w, h := imageSize(media); w != 321 || h != 123 {
				t.Errorf("%s as %s: size %d x %d, want 321 x 123", name, form, w, h)
			}
		}
	}
	for name, data := range map[string]string{
		"empty": "", "not base64": "!!!!", "text": "aGVsbG8gd29ybGQ=", "png cut off": "iVBORw0KGgo=", "letters": strings.Repeat("A", 200_000),
		"jpeg of fill bytes": base64.StdEncoding.EncodeToString(append([]byte{0xff, 0xd8}, bytes.Repeat([]byte{0xff}, 5000)...)),
		"jpeg without frame": base64.StdEncoding.EncodeToString([]byte{0xff, 0xd8, 0xff, 0xe0, 0, 2, 0xff, 0xd9, 0, 0, 0, 0, 0, 0, 0, 0}),
	} {
		if w, h := imageSize(&conversation.Media{Data: data}); w != 0 || h != 0 {
			t.Errorf("%s: size %d x %d, want unknown", name, w, h)
		}
	}
}

func wrap(s string) string {
	var b strings.Builder
	for len(s) > 76 {
		b.WriteString(s[:76] + "\n")
		s = s[76:]
	}
	return b.String() + s
}

func FuzzImageSizeNeverPanics(f *testing.F) {
	f.Add([]byte("\x89PNG\r\n\x1a\n0123456789012345"))
	f.Add([]byte("RIFF1234WEBPVP8L0123456789012345"))
	f.Add([]byte{0xff, 0xd8, 0xff, 0xc0, 0, 17, 8, 0, 1, 0, 1, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, m := range []*conversation.Media{{Bytes: b}, {Data: string(b)}, {Data: base64.StdEncoding.EncodeToString(b)}} {
			if w, h := imageSize(m); w < 0 || h < 0 {
				t.Errorf("size %d x %d", w, h)
			}
			if s := audioSeconds(m); s < 1 {
				t.Errorf("%d seconds", s)
			}
		}
	})
}
