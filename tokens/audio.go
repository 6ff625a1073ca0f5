package tokens

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/elbowroom/elbowroom/conversation"
)

// audioHead is how much of a recording is looked at, in bytes; tagMost how much of a tag before it is passed over: tags
// carry pictures.
const (
	audioHead = 4 << 10
	tagMost   = 16 << 20
)

// audioSeconds reads the length of a recording from the header of a WAV or MP3 file; 0 if it cannot. It counts begun
// seconds.
func audioSeconds(m *conversation.Media) int {
	head := mediaHead(m, audioHead)
	var length float64
	switch {
	case len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WAVE":
		length = wavSeconds(head, mediaLength(m))
	case bytes.HasPrefix(head, []byte("ID3")) && len(head) >= 10:
		// The size of the tag is written in four times seven bits.
		tag := 10 + int(head[6]&0x7f)<<21 + int(head[7]&0x7f)<<14 + int(head[8]&0x7f)<<7 + int(head[9]&0x7f)
		if tag > tagMost {
			return 0
		}
		data := inline(m)
		if _, err := io.CopyN(io.Discard, data, int64(tag)); err != nil {
			return 0
		}
		n, _ := io.ReadFull(data, head)
		length = mp3Seconds(head[:n], mediaLength(m)-tag)
	default:
		length = mp3Seconds(head, mediaLength(m))
	}
	if length <= 0 {
		return 0
	}
	return min(1+int(min(length, longestLength)), longestLength)
}

// wavSeconds walks the chunks to the format, which states the bytes a second.
func wavSeconds(b []byte, size int) float64 {
	for at := 12; at+8 <= len(b); {
		length := int(binary.LittleEndian.Uint32(b[at+4:]))
		if string(b[at:at+4]) == "fmt " && at+20 <= len(b) {
			rate := binary.LittleEndian.Uint32(b[at+16:])
			if rate == 0 {
				return 0
			}
			return float64(size-at-8-length) / float64(rate)
		}
		at += 8 + length + length&1
	}
	return 0
}

// mp3Seconds reads the first frame: its bit rate, and the number of frames if an encoder with a varying rate wrote it.
func mp3Seconds(b []byte, size int) float64 {
	if len(b) < 4 || b[0] != 0xff || b[1]&0xe0 != 0xe0 {
		return 0
	}
	version, layer := b[1]>>3&3, b[1]>>1&3 // version 3 is MPEG 1, 2 is MPEG 2, 0 is MPEG 2.5; layer 1 is layer III
	rates, frequencies := b[2]>>4, b[2]>>2&3
	if version == 1 || layer != 1 || rates == 0 || rates == 15 || frequencies == 3 {
		return 0
	}
	kilobits := [...]int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}[rates]
	frequency := [...]int{44_100, 48_000, 32_000}[frequencies]
	// side is the length of the side information before the encoder's note.
	samples, side, oneChannel := 1152, 32, 17
	if version != 3 {
		kilobits = [...]int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}[rates]
		frequency /= 2
		samples, side, oneChannel = 576, 17, 9
		if version == 0 {
			frequency /= 2
		}
	}
	if b[3]>>6 == 3 {
		side = oneChannel
	}
	if at := 4 + side; len(b) >= at+12 && (string(b[at:at+4]) == "Xing" || string(b[at:at+4]) == "Info") && b[at+7]&1 == 1 {
		return float64(binary.BigEndian.Uint32(b[at+8:])) * float64(samples) / float64(frequency)
	}
	return float64(size) / float64(kilobits*1000/8)
}
