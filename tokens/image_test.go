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
	"net/url"
	"strings"
	"testing"

	"github.com/elbowroom/elbowroom/conversation"
)

// The Claude numbers are a third party's measurements; the OpenAI and Gemini numbers follow their guides' own worked
// examples where there is one.
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
		{model: "claude-opus-5", width: 1920, height: 1080, detail: "low", want: 2691 + claudeBlock}, // there is no detail here
		{model: "claude-haiku-4-5", width: 512, height: 512, want: 361 + claudeBlock},
		{model: "claude-haiku-4-5", width: 1024, height: 1024, want: 1369 + claudeBlock},
		{model: "claude-haiku-4-5", width: 1920, height: 1080, want: 1560 + claudeBlock},
		{model: "claude-opus-4-7", width: 1920, height: 1080, want: 2691 + claudeBlock},
		{model: "gpt-4o", width: 1024, height: 1024, detail: "high", want: 765},
		{model: "gpt-4o", width: 1024, height: 1024, detail: "auto", want: 765},
		{model: "gpt-4o", width: 2048, height: 4096, detail: "high", want: 1105},
		{model: "gpt-4o", width: 4096, height: 8192, detail: "low", want: 85},
		{model: "gpt-4o", width: 100, height: 100, want: 255},
		{model: "gpt-4o", width: 0, height: 0, want: 765},
		{model: "gpt-4o-mini", width: 512, height: 512, want: 8500},
		{model: "gpt-4o-mini", width: 512, height: 512, detail: "low", want: 2833},
		{model: "gpt-5.1", width: 1024, height: 1024, want: 630},
		{model: "o1", width: 1024, height: 1024, want: 675},
		// A 1800 x 2400 image: the guide's example of a budget of 1,536 patches comes to 33 x 44 = 1,452.
		{model: "o4-mini", width: 1800, height: 2400, want: 2498},
		{model: "gpt-4.1-mini", width: 1024, height: 1024, want: 1659},
		{model: "gpt-4.1-mini", width: 1800, height: 2400, want: 4977}, // fits in 2048: 48 x 64 patches
		{model: "gpt-4.1-nano", width: 1024, height: 1024, want: 2520},
		{model: "gpt-5-mini", width: 1024, height: 1024, want: 1229},
		{model: "gpt-5-nano", width: 1024, height: 1024, want: 1536},
		{model: "gpt-5.2", width: 4096, height: 4096, detail: "low", want: 4916}, // fits in 2048, under the budget of 6,144
		{model: "gpt-5.4", width: 1024, height: 1024, detail: "high", want: 1229},
		{model: "gpt-5.4", width: 2048, height: 2048, detail: "high", want: 3000},
		{model: "gpt-5.4", width: 2048, height: 2048, want: 3000}, // auto is as high
		{model: "gpt-5.4", width: 2048, height: 2048, detail: "low", want: 4916},
		{model: "gpt-5.4", width: 2048, height: 2048, detail: "original", want: 4916},
		{model: "gpt-5.4-nano", width: 1920, height: 1080, want: 2448},
		{model: "gpt-5.5", width: 1024, height: 1024, want: 1229},
		{model: "gpt-5.5", width: 1920, height: 1080, want: 2448},
		{model: "gpt-5.5", width: 1920, height: 1080, detail: "low", want: 173}, // 512 x 288: 16 x 9 patches
		{model: "gpt-5.5", width: 8000, height: 8000, detail: "high", want: 3000},
		{model: "gpt-5.5", width: 8000, height: 8000, want: 12_000},
		{model: "gpt-6", width: 3500, height: 3500, want: 14_520}, // 110 x 110 patches, not scaled
		{model: "gpt-6", width: 2048, height: 2048, detail: "high", want: 3000},
		{model: "gemini-2.5-flash", width: 384, height: 384, want: 258},
		{model: "gemini-2.5-flash", width: 960, height: 540, want: 6 * 258},
		{model: "gemini-2.5-flash", width: 3000, height: 3000, want: 16 * 258},
		{model: "gemini-3-pro", width: 4000, height: 3000, want: 1120},
		{model: "gemini-3-pro", width: 4000, height: 3000, detail: "low", want: 280},
		{model: "gemini-3-pro", width: 40, height: 30, detail: "medium", want: 560},
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
				for _, detail := range []string{"", "low", "high", "original", "what"} {
					if got := m.Image.Tokens(w, h, detail); got < 1 || got > 60_000 {
						t.Fatalf("%s: %d x %d %s costs %d tokens", m.ID, w, h, detail, got)
					}
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
	// Metadata before the size: one segment of 60 KB, and as many as a camera writes with profile, preview and depth map.
	segment := append([]byte{0xff, 0xe1, 0xea, 0x60}, make([]byte, 0xea60-2)...)
	jpegWithMetadata := append(append([]byte{0xff, 0xd8}, segment...), jpegFile[2:]...)
	jpegWithMuchMetadata := append(append([]byte{0xff, 0xd8}, bytes.Repeat(segment, 12)...), jpegFile[2:]...)
	// The preview in the metadata is a JPEG with a size of its own.
	preview := encode(func(b *bytes.Buffer) error {
		return jpeg.Encode(b, image.NewPaletted(image.Rect(0, 0, 16, 8), color.Palette{color.White, color.Black}), nil)
	})
	exif := append([]byte{0xff, 0xe1, byte((len(preview) + 2) >> 8), byte(len(preview) + 2)}, preview...)
	jpegWithPreview := append(append([]byte{0xff, 0xd8, 0xff}, exif...), jpegFile[2:]...)
	crushed := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x04CgBI\x50\x00\x20\x06\x2c\xb8\x77\x66"), pngFile[8:]...)
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
		"jpeg with much metadata": jpegWithMuchMetadata, "jpeg with preview": jpegWithPreview, "crushed png": crushed,
	} {
		for form, media := range map[string]*conversation.Media{
			"base64":  {Data: base64.StdEncoding.EncodeToString(file)},
			"url":     {Data: base64.URLEncoding.EncodeToString(file)},
			"no pad":  {Data: base64.RawStdEncoding.EncodeToString(file)},
			"bytes":   {Bytes: file},
			"stated":  {Data: "AAAA", Width: 321, Height: 123},
			"wrapped": {Data: wrap(base64.StdEncoding.EncodeToString(file))},
			"escaped": {Data: url.QueryEscape(base64.StdEncoding.EncodeToString(file))},
			"plain":   {Data: strings.ReplaceAll(url.QueryEscape(string(file[:min(len(file), 1000)])), "+", "%20") + url.QueryEscape(string(file[min(len(file), 1000):]))},
		} {
			if form == "plain" && len(file) > 200_000 { // three characters a byte: behind what is looked at
				continue
			}
			if w, h := imageSize(media); w != 321 || h != 123 {
				t.Errorf("%s as %s: size %d x %d, want 321 x 123", name, form, w, h)
			}
		}
	}
	for name, data := range map[string]string{
		"empty": "", "not base64": "!!!!", "text": "aGVsbG8gd29ybGQ=", "png cut off": "iVBORw0KGgo=", "letters": strings.Repeat("A", 200_000),
		"jpeg of fill bytes":                base64.StdEncoding.EncodeToString(append([]byte{0xff, 0xd8}, bytes.Repeat([]byte{0xff}, 5000)...)),
		"jpeg without frame":                base64.StdEncoding.EncodeToString([]byte{0xff, 0xd8, 0xff, 0xe0, 0, 2, 0xff, 0xd9, 0, 0, 0, 0, 0, 0, 0, 0}),
		"jpeg with a segment of no length":  base64.StdEncoding.EncodeToString(append([]byte{0xff, 0xd8}, bytes.Repeat([]byte{0xff, 0xe0, 0, 0}, 5000)...)),
		"jpeg with 2 MB of metadata":        base64.StdEncoding.EncodeToString(append(append([]byte{0xff, 0xd8}, bytes.Repeat(segment, 35)...), jpegFile[2:]...)),
		"webp that is no key frame":         base64.StdEncoding.EncodeToString(webp("VP8 ", make([]byte, 10))),
		"webp lossless without a signature": base64.StdEncoding.EncodeToString(webp("VP8L", make([]byte, 10))),
		"png without IHDR":                  base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIDAT0123456701234567")),
	} {
		if w, h := imageSize(&conversation.Media{Data: data}); w != 0 || h != 0 {
			t.Errorf("%s: size %d x %d, want unknown", name, w, h)
		}
	}
}

func TestJPEGSizeIsReadFromEveryKindOfFrame(t *testing.T) {
	for marker := byte(0xc0); marker <= 0xcf; marker++ {
		file := []byte{0xff, 0xd8, 0xff, marker, 0, 17, 8, 0, 123, 1, 65, 3, 0, 0, 0}
		want := 321
		if marker == 0xc4 || marker == 0xc8 || marker == 0xcc { // tables and extensions, no frames
			want = 0
		}
		if w, _ := imageSize(&conversation.Media{Bytes: file}); w != want {
			t.Errorf("marker %x: width %d, want %d", marker, w, want)
		}
	}
}

// The cost of looking does not grow with the image.
func TestOnlyTheHeaderOfAnImageIsRead(t *testing.T) {
	const size = 50 << 20
	head := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x41\x00\x00\x00\x7b\x08"))
	media := &conversation.Media{Data: head + strings.Repeat("A", size)}
	if w, h := imageSize(media); w != 321 || h != 123 {
		t.Errorf("size %d x %d", w, h)
	}
	if n := testing.AllocsPerRun(10, func() { imageSize(media) }); n > 10 {
		t.Errorf("%v allocations", n)
	}
	metadata := &conversation.Media{Data: base64.StdEncoding.EncodeToString(append([]byte{0xff, 0xd8}, bytes.Repeat([]byte{0xff, 0xe1, 0xff, 0xff}, 1000)...)) + strings.Repeat("A", size)}
	allocated := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			imageSize(metadata)
		}
	}).AllocedBytesPerOp()
	if allocated > 8<<20 {
		t.Errorf("%d bytes allocated for an image that has nothing but metadata", allocated)
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

// FuzzMediaHeaders: whatever the bytes, sizes and lengths are in bounds, and base64 gives what the bytes give.
func FuzzMediaHeaders(f *testing.F) {
	f.Add([]byte("\x89PNG\r\n\x1a\n0123456789012345"))
	f.Add([]byte("RIFF1234WEBPVP8L0123456789012345"))
	f.Add([]byte("RIFF1234WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00"))
	f.Add([]byte("ID3\x04\x00\x00\x00\x00\x00\x01\x00\xff\xfb\x90\x00"))
	f.Add([]byte("%PDF-1.4 << /Linearized 1 /N 3 >> /Type /Page /Type/Pages"))
	f.Add([]byte("%25PDF-%2F%zz"))
	f.Add([]byte{0xff, 0xd8, 0xff, 0xc0, 0, 17, 8, 0, 1, 0, 1, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		type reading struct{ width, height, seconds, pages int }
		read := func(m *conversation.Media) reading {
			w, h := imageSize(m)
			pages, err := pdfPages(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			r := reading{w, h, audioSeconds(m), pages}
			if w < 0 || h < 0 || r.seconds < 0 || r.seconds > longestLength || pages < 0 || pages > pagesMost {
				t.Errorf("%+v", r)
			}
			return r
		}
		read(&conversation.Media{Data: string(b)})
		text := base64.StdEncoding.EncodeToString(b)
		plain := read(&conversation.Media{Bytes: b})
		for _, data := range []string{text, base64.RawURLEncoding.EncodeToString(b), url.QueryEscape(text)} {
			got := read(&conversation.Media{Data: data})
			got.seconds, plain.seconds = 0, 0 // the size of base64 text is known to some bytes only
			if got != plain {
				t.Errorf("%+v from bytes, %+v from %q", plain, got, data)
			}
		}
	})
}
