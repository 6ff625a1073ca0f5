package tokens

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"math"
	"strings"

	"github.com/elbowroom/elbowroom/conversation"
)

// ImageRule is how a provider charges an image.
type ImageRule struct {
	// Name is the rule's name in the registry, Source where it is from.
	Name   string `json:"name"`
	Source string `json:"source"`
	Kind   string `json:"kind"`
	// Base and Tile are tokens: for the image, and for each tile of it.
	Base int `json:"base"`
	Tile int `json:"tile"`
	// Multiplier turns patches into tokens.
	Multiplier float64 `json:"multiplier"`
	// MaxEdge is the longest side in pixels and MaxTokens the most patches an image may have before it is scaled down;
	// MaxTokensHigh replaces MaxTokens when the caller asked for detail "high".
	MaxEdge       int `json:"max_edge"`
	MaxTokens     int `json:"max_tokens"`
	MaxTokensHigh int `json:"max_tokens_high"`
	// Block is what the block around the image costs, in tokens.
	Block int `json:"block"`
}

// The kinds of image rule. Every other kind, and the zero rule, charges Base.
const (
	imageTiles        = "tiles"         // OpenAI: fit in 2048 x 2048, short side to 768, Base + Tile per 512 x 512
	imagePatches      = "patches"       // OpenAI: 32 x 32 patches, scaled to MaxTokens, times Multiplier
	imageVisualTokens = "visual-tokens" // Anthropic: 28 x 28 patches, scaled to MaxEdge and MaxTokens
	imageGeminiTiles  = "gemini-tiles"  // Gemini 2: one Tile up to 384 x 384, else fit in 3072 x 3072, one per 768 x 768
)

// assumedEdge is the side in pixels of an image whose size cannot be read: a format other than PNG, JPEG, GIF and WebP, a
// damaged header, or a URL or file id. Such an image counts as 1024 x 1024.
const assumedEdge = 1024

// Tokens returns the cost of an image of the given size in pixels; a size below 1 counts as 1024 x 1024. Detail is
// OpenAI's: "low", "high", "auto" or empty.
func (r ImageRule) Tokens(width, height int, detail string) int {
	if width < 1 || height < 1 {
		width, height = assumedEdge, assumedEdge
	}
	w, h := float64(width), float64(height)
	switch r.Kind {
	case imageTiles:
		if detail == "low" {
			return r.Base + r.Block
		}
		w, h = fit(w, h, math.Min(1, 2048/math.Max(w, h)))
		w, h = fit(w, h, math.Min(1, 768/math.Min(w, h)))
		return r.Base + r.Block + r.Tile*int(patches(w, h, 512))
	case imagePatches:
		limit := r.MaxTokens
		if detail == "high" && r.MaxTokensHigh > 0 {
			limit = r.MaxTokensHigh
		}
		return r.Block + int(math.Ceil(scaledPatches(w, h, 32, limit)*r.Multiplier))
	case imageVisualTokens:
		w, h = fit(w, h, math.Min(1, float64(r.MaxEdge)/math.Max(w, h)))
		return r.Block + int(scaledPatches(w, h, 28, r.MaxTokens))
	case imageGeminiTiles:
		if width <= 384 && height <= 384 {
			return r.Tile + r.Block
		}
		w, h = fit(w, h, math.Min(1, 3072/math.Max(w, h)))
		return r.Block + r.Tile*int(patches(w, h, 768))
	default:
		return r.Base + r.Block
	}
}

// fit scales a size; no side falls below one pixel.
func fit(w, h, scale float64) (scaledWidth, scaledHeight float64) {
	return math.Max(1, w*scale), math.Max(1, h*scale)
}

func patches(w, h, edge float64) float64 { return math.Ceil(w/edge) * math.Ceil(h/edge) }

// scaledPatches is the number of patches after the image was scaled down, as little as possible, to at most limit.
func scaledPatches(w, h, edge float64, limit int) float64 {
	if patches(w, h, edge) <= float64(limit) {
		return patches(w, h, edge)
	}
	low, high := 0.0, 1.0 // scales: low fits, high does not
	for range 50 {
		middle := (low + high) / 2
		if sw, sh := fit(w, h, middle); patches(sw, sh, edge) <= float64(limit) {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Min(patches(math.Max(1, w*low), math.Max(1, h*low), edge), float64(limit))
}

// Image headers are read from the first bytes. JPEG puts the size behind metadata, which may be tens of kilobytes.
const (
	headerBytes     = 48
	jpegHeaderBytes = 96 << 10
)

// imageSize reads the size in pixels from the first bytes of an image; zeros if it cannot. Nothing is decoded but those
// bytes.
func imageSize(m *conversation.Media) (width, height int) {
	if m.Width > 0 && m.Height > 0 {
		return m.Width, m.Height
	}
	head := mediaHead(m, headerBytes)
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")) && len(head) >= 24:
		return int(binary.BigEndian.Uint32(head[16:])), int(binary.BigEndian.Uint32(head[20:]))
	case bytes.HasPrefix(head, []byte("GIF8")) && len(head) >= 10:
		return int(binary.LittleEndian.Uint16(head[6:])), int(binary.LittleEndian.Uint16(head[8:]))
	case bytes.HasPrefix(head, []byte("RIFF")) && len(head) >= 30 && string(head[8:12]) == "WEBP":
		return webpSize(head)
	case bytes.HasPrefix(head, []byte("\xff\xd8")):
		return jpegSize(mediaHead(m, jpegHeaderBytes))
	default:
		return 0, 0
	}
}

// mediaHead returns up to n of the first bytes of inline data.
func mediaHead(m *conversation.Media, n int) []byte {
	if len(m.Bytes) > 0 {
		return m.Bytes[:min(len(m.Bytes), n)]
	}
	text := m.Data[:min(len(m.Data), n/3*4)]
	encoding := base64.StdEncoding
	if strings.ContainsAny(text, "-_") {
		encoding = base64.URLEncoding
	}
	head := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	read, _ := encoding.Decode(head, []byte(text)) // what was read before an error, or a cut quartet, is enough
	return head[:read]
}

// webpSize reads the three kinds of WebP: lossy (VP8), lossless (VP8L) and extended (VP8X).
func webpSize(b []byte) (width, height int) {
	switch string(b[12:16]) {
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(b[26:]) & 0x3fff), int(binary.LittleEndian.Uint16(b[28:]) & 0x3fff)
	case "VP8L":
		bits := binary.LittleEndian.Uint32(b[21:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	case "VP8X":
		return 1 + int(b[24]) + int(b[25])<<8 + int(b[26])<<16, 1 + int(b[27]) + int(b[28])<<8 + int(b[29])<<16
	default:
		return 0, 0
	}
}

// jpegSize walks the segments up to the frame header.
func jpegSize(b []byte) (width, height int) {
	for at := 2; at+9 < len(b); {
		if b[at] != 0xff {
			return 0, 0
		}
		marker := b[at+1]
		switch {
		case marker == 0xff: // fill byte
			at++
			continue
		case marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc:
			return int(binary.BigEndian.Uint16(b[at+7:])), int(binary.BigEndian.Uint16(b[at+5:]))
		case marker == 0x01 || marker >= 0xd0 && marker <= 0xd8: // no length
			at += 2
			continue
		case marker == 0xd9 || marker == 0xda:
			return 0, 0
		}
		at += 2 + int(binary.BigEndian.Uint16(b[at+2:]))
	}
	return 0, 0
}
