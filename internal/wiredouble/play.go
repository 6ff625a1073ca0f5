package wiredouble

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// player answers one HTTP request.
type player struct {
	double  *Double
	wire    wire
	w       http.ResponseWriter
	r       *http.Request
	request Request
}

func (p *player) play(step Step) {
	if step.gate != nil && !p.wait(step.gate) {
		return
	}
	for name, values := range step.header {
		p.w.Header()[name] = values
	}
	switch step.kind {
	case plays, computed:
		p.send(p.script(step.answer), "")
	case plainStatus:
		p.document(step.status, "application/json", p.wire.errorBody(step.status))
	case contextLength:
		status, body := p.wire.tooLong()
		p.document(status, "application/json", body)
	case rawBody:
		p.document(step.status, step.contentType, step.body)
	case garbage:
		p.send([]string{p.framed("{this is not JSON")}, "")
	case wrongType:
		p.send(p.script(step.answer), "text/plain; charset=utf-8")
	case unstreamed:
		p.document(http.StatusOK, "application/json", p.wire.whole(step.answer))
	case errorInside:
		p.document(http.StatusOK, "application/json", p.wire.errorBody(http.StatusServiceUnavailable))
	case errorMidway:
		if !p.request.Stream {
			p.document(http.StatusOK, "application/json", p.wire.errorBody(http.StatusServiceUnavailable))
			return
		}
		p.send(append(p.half(step.answer), p.wire.errorEvent()), "")
	case truncated:
		whole := strings.Join(p.script(step.answer), "")
		p.send([]string{whole[:len(whole)/2]}, "")
	case earlyEnd:
		p.breakOff(step.answer)
	case reset:
		p.reset()
	case resetMidway:
		p.send(p.half(step.answer), "")
		p.reset()
	case hang:
		p.wait(nil)
	case hangMidway:
		p.send(p.half(step.answer), "")
		p.wait(nil)
	case drip:
		p.repeat(step.every, p.drop())
	case pings:
		if p.request.Stream {
			p.repeat(step.every, p.wire.ping())
		} else {
			p.repeat(step.every, "\n") // What OpenRouter sends while a model thinks.
		}
	case huge:
		p.huge(step.size)
	}
}

// script is the answer in the pieces it is sent in.
func (p *player) script(a answer) []string {
	if p.request.Stream {
		return p.wire.events(a, p.request)
	}
	return []string{p.wire.whole(a)}
}

// half is the first half of the answer.
func (p *player) half(a answer) []string {
	if p.request.Stream {
		all := p.wire.events(a, p.request)
		return all[:(len(all)+1)/2]
	}
	whole := p.wire.whole(a)
	return []string{whole[:len(whole)/2]}
}

func (p *player) framed(text string) string {
	if p.request.Stream {
		return "event: message_start\ndata: " + text + "\n\n"
	}
	return text
}

// header begins a successful answer; contentType "" is the right one.
func (p *player) header(contentType string) {
	if contentType == "" {
		contentType = "application/json"
		if p.request.Stream {
			contentType = "text/event-stream; charset=utf-8"
		}
	}
	p.w.Header().Set("Content-Type", contentType)
	p.w.WriteHeader(http.StatusOK)
}

func (p *player) send(pieces []string, contentType string) {
	p.header(contentType)
	for _, piece := range pieces {
		if !p.write(piece) {
			return
		}
	}
}

func (p *player) document(status int, contentType, body string) {
	p.w.Header().Set("Content-Type", contentType)
	p.w.WriteHeader(status)
	_, _ = io.WriteString(p.w, body)
}

// write reports whether the caller is still there.
func (p *player) write(text string) bool {
	if _, err := io.WriteString(p.w, text); err != nil {
		return false
	}
	return http.NewResponseController(p.w).Flush() == nil
}

// breakOff ends the answer before its time.
func (p *player) breakOff(a answer) {
	if p.request.Stream {
		p.send(p.half(a), "")
		return
	}
	whole := p.wire.whole(a)
	p.w.Header().Set("Content-Length", fmt.Sprint(len(whole)))
	p.send([]string{whole[:len(whole)/2]}, "")
}

// reset closes the connection so that the other side sees a reset.
func (p *player) reset() {
	conn, _, err := http.NewResponseController(p.w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// wait waits for the gate, and reports whether it opened before the caller left
// or the test ended. A nil gate never opens.
func (p *player) wait(gate <-chan struct{}) bool {
	select {
	case <-gate:
		return true
	case <-p.r.Context().Done():
	case <-p.double.stop:
	}
	return false
}

// drop is what a dripping answer repeats.
func (p *player) drop() string {
	if p.request.Stream {
		return p.wire.piece("drip ")
	}
	return " "
}

// repeat sends the piece again and again.
func (p *player) repeat(every time.Duration, piece string) {
	p.header("")
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for p.write(piece) {
		select {
		case <-ticker.C:
		case <-p.r.Context().Done():
			return
		case <-p.double.stop:
			return
		}
	}
}

// huge sends so many bytes of text without holding them.
func (p *player) huge(size int64) {
	block := strings.Repeat("0123456789abcdef", 4096)
	p.header("")
	if p.request.Stream {
		event := p.wire.piece(block)
		for sent := int64(0); sent < size && p.write(event); sent += int64(len(block)) {
		}
		return
	}
	opening, closing := p.wire.around()
	if !p.write(opening) {
		return
	}
	for sent := int64(0); sent < size; sent += int64(len(block)) {
		if !p.write(block) {
			return
		}
	}
	p.write(closing)
}

// chop cuts a text into the pieces of a stream.
func chop(text string) []string {
	var pieces []string
	for text != "" {
		cut := 0
		for i := range text { // On a rune's border.
			if i > 12 {
				cut = i
				break
			}
		}
		if cut == 0 {
			cut = len(text)
		}
		pieces = append(pieces, text[:cut])
		text = text[cut:]
	}
	return pieces
}
