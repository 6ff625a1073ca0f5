package tokens

import (
	"io"
	"strings"

	"github.com/elbowroom/elbowroom/conversation"
)

// Rules for media whose cost depends on their length, in tokens and bytes. The length is read from headers where the data
// is at hand and says it, else guessed from the number of bytes: nothing is decoded. Documents and recordings that are
// named by URL or id count as one page or one minute.
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
	// OpenAI's guide to realtime costs: a token for every 100 ms of audio that is sent. Others are assumed to be as Gemini.
	audioSecond       = 32
	audioSecondOpenAI = 10
	videoSecond       = 263
	videoSecondShort  = 70 + audioSecond
	// Bytes a second: MP3 at 128 kbit/s, video at 1 Mbit/s.
	audioBytes    = 16_000
	videoBytes    = 125_000
	unknownLength = 60 // seconds
	longestLength = 4 * 60 * 60
)

// media adds the cost of a media block. A text document counts as its text.
func (t *tally) media(b *conversation.Block, part *amount) {
	if b.Text != "" {
		t.text(part, b.Text)
		return
	}
	m := b.Media
	if m == nil {
		m = &conversation.Media{}
	}
	if text, ok := inlineText(m); ok {
		t.text(part, text)
		return
	}
	t.mediaCost(m)
}

// isText reports whether a medium's type says that it is text, whatever kind of block it stands in.
func isText(m *conversation.Media) bool {
	mime, _, _ := strings.Cut(m.MIMEType, ";")
	return strings.HasPrefix(mime, "text/") || mime == "application/json"
}

// inlineText returns the text of a document whose type says that it is text.
func inlineText(m *conversation.Media) (text string, ok bool) {
	if !isText(m) || mediaLength(m) == 0 {
		return "", false
	}
	data := inline(m)
	decoded, _ := io.ReadAll(data) // it never fails
	if data.foreign {              // a data: URL without base64
		return m.Data, true
	}
	return string(decoded), true
}

func (t *tally) mediaCost(m *conversation.Media) {
	switch kindOf(m) {
	case conversation.MediaImage:
		t.image(m)
	case conversation.MediaAudio:
		rate := audioSecond
		if t.model.Family == FamilyOpenAI {
			rate = audioSecondOpenAI
		}
		if length := audioSeconds(m); length > 0 {
			t.sized(rate * length)
			return
		}
		t.guessed("the length of a recording is guessed from its bytes", rate, seconds(mediaLength(m), audioBytes))
	case conversation.MediaVideo:
		rate := videoSecond
		if t.model.Image.Kind == imageResolution {
			rate = videoSecondShort
		}
		t.guessed("the length of a video is guessed from its bytes", rate, seconds(mediaLength(m), videoBytes))
	default:
		pages, err := pdfPages(t.ctx, m)
		if err != nil {
			t.err = err
			return
		}
		if pages > 0 {
			t.sized(t.page() * pages)
			return
		}
		pages = 1
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

// sized adds the tokens of a document or recording whose length is known. What a page or a second costs differs with
// what is in it: Claude's pages by about a third.
func (t *tally) sized(tokens int) {
	t.ruled.Media += tokens
	t.slack += (tokens + 2) / 3
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
	case t.model.Image.Kind == imageGeminiTiles:
		return pageGemini2
	case t.model.Image.Kind == imageResolution:
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

// seconds guesses a length from a number of bytes, 0 for unknown.
func seconds(n, bytesPerSecond int) int {
	if n == 0 {
		return unknownLength
	}
	return min(max(1, n/bytesPerSecond), longestLength)
}

// inlineURL adds the cost of a data: URL found inside a block of an unknown type.
func (t *tally) inlineURL(url string) {
	head, data, _ := strings.Cut(url[len(dataScheme):], ",")
	mime, _, _ := strings.Cut(head, ";")
	t.mediaCost(&conversation.Media{Kind: conversation.MediaFile, MIMEType: mime, Data: data})
}
