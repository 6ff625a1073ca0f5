package tokens

import (
	"bytes"
	"encoding/binary"
	"math"

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
	// ImageLimit is what the image is scaled down to. Low, High and Original replace it for callers who ask for that
	// detail; a level without a limit of its own has the common one.
	ImageLimit
	Low      *ImageLimit `json:"low"`
	High     *ImageLimit `json:"high"`
	Original *ImageLimit `json:"original"`
	// Block is what the block around the image costs, in tokens.
	Block int `json:"block"`
}

// ImageLimit is the most an image may have before it is scaled down: MaxEdge pixels on the longest side, and MaxTokens
// patches. 0 is no limit.
type ImageLimit struct {
	MaxEdge   int `json:"max_edge"`
	MaxTokens int `json:"max_tokens"`
}

// The kinds of image rule. Every other kind, and the zero rule, charges Base.
const (
	imageTiles        = "tiles"         // OpenAI: fit in 2048 x 2048, short side to 768, Base + Tile per 512 x 512
	imagePatches      = "patches"       // OpenAI: fit in MaxEdge, 32 x 32 patches, scaled to MaxTokens, times Multiplier
	imageVisualTokens = "visual-tokens" // Anthropic: 28 x 28 patches, scaled to MaxEdge and MaxTokens
	imageGeminiTiles  = "gemini-tiles"  // Gemini 2: one Tile up to 384 x 384, else one per square of 2/3 of the short side
	imageResolution   = "resolution"    // Gemini 3: Base whatever the size; a quarter for detail "low", half for "medium"
)

// assumedEdge is the side in pixels of an image whose size cannot be read: a format other than PNG, JPEG, GIF and WebP, a
// damaged header, or a URL or file id. Such an image counts as 1024 x 1024.
const assumedEdge = 1024

// Tokens returns the cost of an image of the given size in pixels; a size below 1 counts as 1024 x 1024. Detail is
// OpenAI's: "low", "high", "original", "auto" or empty.
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
		limit := r.limit(detail)
		if limit.MaxEdge > 0 {
			w, h = fit(w, h, math.Min(1, float64(limit.MaxEdge)/math.Max(w, h)))
			w, h = math.Round(w), math.Round(h)
		}
		return r.Block + int(math.Ceil(shrunkPatches(w, h, 32, limit.MaxTokens)*r.Multiplier))
	case imageVisualTokens:
		w, h = fit(w, h, math.Min(1, float64(r.MaxEdge)/math.Max(w, h)))
		return r.Block + int(scaledPatches(w, h, 28, r.MaxTokens))
	case imageGeminiTiles:
		if width <= 384 && height <= 384 {
			return r.Tile + r.Block
		}
		w, h = fit(w, h, math.Min(1, 3072/math.Max(w, h)))
		edge := math.Min(768, math.Max(256, math.Floor(math.Min(w, h)/1.5)))
		return r.Block + r.Tile*int(patches(w, h, edge))
	case imageResolution:
		switch detail {
		case "low":
			return r.Base/4 + r.Block
		case "medium":
			return r.Base/2 + r.Block
		}
		return r.Base + r.Block
	default:
		return r.Base + r.Block
	}
}

// limit is the limit for a level of detail.
func (r ImageRule) limit(detail string) ImageLimit {
	var own *ImageLimit
	switch detail {
	case "low":
		own = r.Low
	case "high":
		own = r.High
	case "original":
		own = r.Original
	}
	if own == nil {
		return r.ImageLimit
	}
	return *own
}

// fit scales a size; no side falls below one pixel.
func fit(w, h, scale float64) (scaledWidth, scaledHeight float64) {
	return math.Max(1, w*scale), math.Max(1, h*scale)
}

func patches(w, h, edge float64) float64 { return math.Ceil(w/edge) * math.Ceil(h/edge) }

// shrunkPatches is the number of patches after the image was scaled down to at most limit by OpenAI's rule: to the area
// of that many patches, then a little more, so that one side is a whole number of them, then to whole pixels.
func shrunkPatches(w, h, edge float64, limit int) float64 {
	if limit == 0 || patches(w, h, edge) <= float64(limit) {
		return patches(w, h, edge)
	}
	scale := math.Sqrt(edge * edge * float64(limit) / (w * h))
	across, down := w*scale/edge, h*scale/edge
	if across >= 1 && down >= 1 { // else a strip, which the second step would shrink to nothing
		scale *= math.Min(math.Floor(across)/across, math.Floor(down)/down)
	}
	w, h = fit(math.Floor(w*scale), math.Floor(h*scale), 1)
	return math.Min(float64(limit), patches(w, h, edge))
}

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

// Image headers are read from the first bytes. JPEG puts the size behind metadata: an EXIF block with a preview has up to
// 64 KB, a colour profile, a depth map or a gain map some more. What lies behind a megabyte counts as unreadable.
const (
	headerBytes     = 48
	jpegHeaderBytes = 1 << 20
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
		return pngSize(head)
	case bytes.HasPrefix(head, []byte("GIF8")) && len(head) >= 10:
		return int(binary.LittleEndian.Uint16(head[6:])), int(binary.LittleEndian.Uint16(head[8:]))
	case bytes.HasPrefix(head, []byte("RIFF")) && len(head) >= 30 && string(head[8:12]) == "WEBP":
		return webpSize(head)
	case bytes.HasPrefix(head, []byte("\xff\xd8")):
		for n := 4 << 10; n <= jpegHeaderBytes; n *= 4 {
			before := len(head)
			head = mediaHead(m, n)
			width, height, cut := jpegSize(head)
			if !cut || len(head) == before {
				return width, height
			}
		}
		return 0, 0
	default:
		return 0, 0
	}
}

// pngSize reads the first chunk, which is IHDR, or the second in files that Apple's tools have crushed.
func pngSize(b []byte) (width, height int) {
	at := 8
	if string(b[at+4:at+8]) == "CgBI" {
		at += 12 + 4
	}
	if len(b) < at+16 || string(b[at+4:at+8]) != "IHDR" {
		return 0, 0
	}
	return int(binary.BigEndian.Uint32(b[at+8:])), int(binary.BigEndian.Uint32(b[at+12:]))
}

// webpSize reads the three kinds of WebP: lossy (VP8), lossless (VP8L) and extended (VP8X).
func webpSize(b []byte) (width, height int) {
	switch string(b[12:16]) {
	case "VP8 ":
		if string(b[23:26]) != "\x9d\x01\x2a" { // the start code of a key frame
			return 0, 0
		}
		return int(binary.LittleEndian.Uint16(b[26:]) & 0x3fff), int(binary.LittleEndian.Uint16(b[28:]) & 0x3fff)
	case "VP8L":
		if b[20] != 0x2f {
			return 0, 0
		}
		bits := binary.LittleEndian.Uint32(b[21:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	case "VP8X":
		return 1 + int(b[24]) + int(b[25])<<8 + int(b[26])<<16, 1 + int(b[27]) + int(b[28])<<8 + int(b[29])<<16
	default:
		return 0, 0
	}
}

// jpegSize walks the segments up to the frame header. A frame header is any of SOF0 to SOF15: the codings (baseline,
// progressive, lossless, arithmetic) all write the size alike. It says cut if the bytes end before one.
func jpegSize(b []byte) (width, height int, cut bool) {
	for at := 2; at+9 <= len(b); {
		if b[at] != 0xff {
			return 0, 0, false
		}
		marker := b[at+1]
		switch {
		case marker == 0xff: // fill byte
			at++
			continue
		case marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc:
			return int(binary.BigEndian.Uint16(b[at+7:])), int(binary.BigEndian.Uint16(b[at+5:])), false
		case marker == 0x01 || marker >= 0xd0 && marker <= 0xd8: // no length
			at += 2
			continue
		case marker == 0xd9 || marker == 0xda:
			return 0, 0, false
		}
		length := int(binary.BigEndian.Uint16(b[at+2:]))
		if length < 2 {
			return 0, 0, false
		}
		at += 2 + length
	}
	return 0, 0, true
}
