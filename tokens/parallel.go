package tokens

import (
	"context"
	"sync"
)

const (
	// parallelLength is the text length, in bytes, from which several processors count one text. Below some hundred
	// kilobytes there is little to win.
	parallelLength = 256 << 10
	// partLength is the length of a part, in bytes, before it is stretched to the next safe cut.
	partLength = 64 << 10
)

// countParts counts a long text cut into parts. Helpers join in as long as fewer than GOMAXPROCS-1 are at work for this
// encoding. All have ended when it returns. The result does not depend on who counted what.
func (e *Encoding) countParts(ctx context.Context, text string) (Classes, error) {
	parts := &parts{split: e.split, text: text}
	var group sync.WaitGroup
	for range min(cap(e.helpers), len(text)/parallelLength) {
		select {
		case e.helpers <- struct{}{}:
			group.Go(func() {
				defer func() { <-e.helpers }()
				e.countSome(ctx, parts)
			})
		default: // other calls keep the processors busy
		}
	}
	e.countSome(ctx, parts)
	group.Wait()
	return parts.sum, parts.err
}

// countSome counts parts until none is left or an error ends the work.
func (e *Encoding) countSome(ctx context.Context, parts *parts) {
	w := e.takeWorker()
	defer e.returnWorker(w)
	var sum Classes
	for {
		part := parts.next()
		if part == "" {
			break
		}
		classes, err := w.count(ctx, part)
		if err != nil {
			parts.fail(err)
			break
		}
		sum = sum.Add(classes)
	}
	parts.add(sum)
}

// parts hands out a text piece by piece and collects the counts. It is safe for concurrent use.
type parts struct {
	split *splitter

	mu   sync.Mutex
	text string // what is not yet handed out
	sum  Classes
	err  error
}

// next returns the next part, empty at the end and after an error.
func (p *parts) next() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return ""
	}
	end := p.split.nextCut(p.text, min(partLength, len(p.text)))
	part := p.text[:end]
	p.text = p.text[end:]
	return part
}

func (p *parts) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = err
}

func (p *parts) add(sum Classes) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sum = p.sum.Add(sum)
}
