package tokens

import (
	"encoding/binary"
	"strings"

	"github.com/elbowroom/elbowroom/conversation"
)

// Rules for media whose cost depends on their length, in tokens and bytes. The length is guessed from the number of bytes:
// nothing is decoded. Documents and recordings that are named by URL or id count as one page or one minute.
const (
	// A page of a PDF: Claude 2,115 to 2,481 measured for text and tables (the page's image and its text); Gemini 2
	// charges 258 and Gemini 3 560 by its guides. Elsewhere the text and an image of the page are assumed.
	pageClaude  = 2400
	pageGemini2 = 258
	pageGemini3 = 560
	pageOther   = 1500
	// pageBytes is the assumed size of a page, pagesMost the most pages a provider takes.
	pageBytes = 64 << 10
	pagesMost = 1000

	// Gemini's guide: 32 tokens a second of audio, 263 a second of video at one frame a second; Gemini 3: 70 a frame.
	// Others charge less for audio (OpenAI 10 a second).
	audioSecond      = 32
	videoSecond      = 263
	videoSecondShort = 70 + audioSecond
	// Bytes a second: MP3 at 128 kbit/s, video at 1 Mbit/s.
	audioBytes    = 16_000
	videoBytes    = 125_000
	unknownLength = 60 // seconds
	longestLength = 4 * 60 * 60
)

// media adds the cost of a media block. Its text, if it is a text document, counts as text.
func (t *tally) media(b *conversation.Block, part *Classes) {
	if b.Text != "" {
		t.text(part, b.Text)
		return
	}
	m := b.Media
	if m == nil {
		m = &conversation.Media{}
	}
	t.mediaCost(m)
}

func (t *tally) mediaCost(m *conversation.Media) {
	switch kindOf(m) {
	case conversation.MediaImage:
		t.image(m)
	case conversation.MediaAudio:
		t.guessed("the length of a recording is guessed from its bytes", audioSecond, audioSeconds(m))
	case conversation.MediaVideo:
		second := videoSecond
		if t.model.Image.Name == "gemini-3" {
			second = videoSecondShort
		}
		t.guessed("the length of a video is guessed from its bytes", second, seconds(m, videoBytes))
	default:
		pages := 1
		if n := mediaLength(m); n > 0 {
			pages = min((n+pageBytes-1)/pageBytes, pagesMost)
		}
		t.guessed("the number of pages of a document is guessed from its bytes", t.page(), pages)
	}
}

func (t *tally) image(m *conversation.Media) {
	width, height := imageSize(m)
	tokens := t.model.Image.Tokens(width, height, m.Detail)
	t.ruled.Media += tokens
	t.slack += 4 // the block around the image
	if width < 1 || height < 1 {
		t.warn(WarnMediaAssumed, "the size of an image cannot be read; it counts as 1024 x 1024")
		t.slack += tokens
	}
}

// guessed adds units of a rule whose number is a guess: it may be all wrong.
func (t *tally) guessed(detail string, tokens, units int) {
	t.ruled.Media += tokens * units
	t.slack += tokens * units
	t.warn(WarnMediaAssumed, detail)
}

func (t *tally) page() int {
	switch {
	case t.model.Claude:
		return pageClaude
	case t.model.Image.Name == "gemini-2":
		return pageGemini2
	case t.model.Image.Name == "gemini-3":
		return pageGemini3
	default:
		return pageOther
	}
}

// kindOf corrects a file's kind by its MIME type.
func kindOf(m *conversation.Media) conversation.MediaKind {
	if m.Kind != conversation.MediaFile {
		return m.Kind
	}
	switch family, _, _ := strings.Cut(m.MIMEType, "/"); family {
	case "image":
		return conversation.MediaImage
	case "audio":
		return conversation.MediaAudio
	case "video":
		return conversation.MediaVideo
	default:
		return conversation.MediaDocument
	}
}

// mediaLength is the size of inline data in bytes, 0 if there is none.
func mediaLength(m *conversation.Media) int {
	if len(m.Bytes) > 0 {
		return len(m.Bytes)
	}
	return len(m.Data) / 4 * 3
}

func seconds(m *conversation.Media, bytesPerSecond int) int {
	n := mediaLength(m)
	if n == 0 {
		return unknownLength
	}
	return min(max(1, n/bytesPerSecond), longestLength)
}

// audioSeconds uses the byte rate that a WAV header states.
func audioSeconds(m *conversation.Media) int {
	head := mediaHead(m, headerBytes)
	if len(head) >= 32 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WAVE" {
		if rate := int(binary.LittleEndian.Uint32(head[28:])); rate > 0 {
			return seconds(m, rate)
		}
	}
	return seconds(m, audioBytes)
}

// inlineURL adds the cost of a data: URL found inside a block of an unknown type.
func (t *tally) inlineURL(url string) {
	head, data, _ := strings.Cut(strings.TrimPrefix(url, "data:"), ",")
	mime, _, _ := strings.Cut(head, ";")
	t.mediaCost(&conversation.Media{Kind: conversation.MediaFile, MIMEType: mime, Data: data})
}
