package tokens

import (
	"bytes"
	"context"
	"io"
	"strconv"

	"github.com/elbowroom/elbowroom/conversation"
)

// pdfScanned is how much of a PDF is looked at, in bytes: the largest request that a provider takes.
const pdfScanned = 32 << 20

// pdfPages counts the pages of an inline PDF without unpacking anything: the number that a linearized file states at its
// front, else the page objects that stand in the open. It is 0 if the data is no PDF or keeps its page objects in
// compressed streams, as many files of version 1.5 and later do. Errors are the context's.
func pdfPages(ctx context.Context, m *conversation.Media) (int, error) {
	if !bytes.Contains(mediaHead(m, 1<<10), []byte("%PDF-")) { // readers allow for some bytes before it
		return 0, nil
	}
	// A piece keeps the last bytes of the one before, so that no object is cut in two.
	const piece, overlap = 48 << 10, 64
	data := io.LimitReader(inline(m), pdfScanned)
	buffer := make([]byte, overlap+piece)
	kept, pages := 0, 0
	for first := true; ; first = false {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, _ := io.ReadFull(data, buffer[kept:kept+piece]) // it fails at the end only
		text := buffer[:kept+n]
		if first {
			if pages = linearizedPages(text[:min(len(text), 1<<10)]); pages > 0 {
				break
			}
		}
		last := n < piece
		// What begins in the overlap at the end is counted with the next piece.
		end := len(text)
		if !last {
			end -= overlap
		}
		pages += pageObjects(text, end)
		if last {
			break
		}
		kept = copy(buffer, text[end:])
	}
	return min(pages, pagesMost), nil
}

// pageObjects counts "/Type /Page" that begins before end.
func pageObjects(text []byte, end int) int {
	name, value := []byte("/Type"), []byte("/Page")
	count := 0
	for at := 0; at < end; {
		next := bytes.Index(text[at:], name)
		if next < 0 || at+next >= end {
			return count
		}
		at += next + len(name)
		rest := bytes.TrimLeft(text[at:min(len(text), at+32)], "\x00\t\n\f\r ")
		if after, ok := bytes.CutPrefix(rest, value); ok && (len(after) == 0 || !isNameByte(after[0])) {
			count++
		}
	}
	return count
}

// isNameByte reports whether a byte may continue a PDF name.
func isNameByte(c byte) bool {
	return c > ' ' && c < 0x7f && !bytes.ContainsRune([]byte("()<>[]{}/%"), rune(c))
}

// linearizedPages reads /N of the linearization dictionary, which is the first object of a file that has one.
func linearizedPages(head []byte) int {
	at := bytes.Index(head, []byte("/Linearized"))
	if at < 0 {
		return 0
	}
	dictionary, _, found := bytes.Cut(head[at:], []byte(">>"))
	if !found {
		return 0
	}
	for {
		_, after, ok := bytes.Cut(dictionary, []byte("/N"))
		if !ok {
			return 0
		}
		dictionary = after
		if len(after) == 0 || isNameByte(after[0]) && (after[0] < '0' || after[0] > '9') {
			continue // another name that begins with N
		}
		digits := bytes.TrimLeft(after, "\x00\t\n\f\r ")
		n := 0
		for n < len(digits) && n < 9 && digits[n] >= '0' && digits[n] <= '9' {
			n++
		}
		pages, err := strconv.Atoi(string(digits[:n]))
		if err != nil {
			return 0
		}
		return pages
	}
}
