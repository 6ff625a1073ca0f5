package tokens

import (
	"context"
	"fmt"
	"runtime"
	"sync"
)

// The vocabularies of Claude, as reconstructed by ctok.
const (
	ClaudeV3Pieces  = "claude-v3 (ctok tiling)"   // Claude 3 to 4.6
	ClaudeV47Pieces = "claude-v4.7 (ctok tiling)" // Claude 4.7 and later
)

// tiling counts text for Claude. Anthropic publishes no vocabulary; this is the model of the Python package ctok, which was
// built from measured counts: a text is normalized, split into runs with marks for words, spaces and capitals, and a run
// costs as many tokens as the fewest pieces of a vocabulary that spell it.
//
// The vocabulary is loaded on first use and shared by all later calls; each processor in use keeps a cache of 1 MB. A
// tiling is safe for concurrent use.
type tiling struct {
	file    string
	glyphs  func() *glyphTable // shared by the tilings of a Counter
	load    sync.Once
	loadErr error
	pieces  *pieceSet
	idle    chan *claudeWorker
}

// newTilings returns the tilings of Claude 3 to 4.6 and of Claude 4.7 and later.
func newTilings() (v3, v47 *tiling) {
	glyphs := sync.OnceValue(newGlyphTable)
	return &tiling{file: "claude-v3", glyphs: glyphs}, &tiling{file: "claude-v4.7", glyphs: glyphs}
}

// count returns the number of tokens of a text that is all of a message, without the message's frame. frameBow: the frame
// ends in a mark that takes a leading space in. known remembers lines; it may be nil. The only errors are the context's (looked at every 64 KB) and a damaged
// binary whose embedded vocabulary does not load.
func (t *tiling) count(ctx context.Context, text string, frameBow bool, known *lines) (int, error) {
	if text == "" {
		return 0, nil
	}
	t.load.Do(t.open)
	if t.loadErr != nil {
		return 0, t.loadErr
	}
	headSpace := text[0] == ' '
	var w *claudeWorker
	select {
	case w = <-t.idle:
	default:
		w = &claudeWorker{tiler: tiler{pieces: t.pieces}, glyphs: t.glyphs()}
	}
	w.lines = known
	n, err := w.count(ctx, w.glyphs.normalize(text, t.pieces.foldQuotes), frameBow, headSpace)
	w.lines = nil
	select {
	case t.idle <- w:
	default: // more calls at a time than processors: this one's cache goes
	}
	return n, err
}

func (t *tiling) open() {
	file, err := pieceFiles.ReadFile("pieces/" + t.file + ".pieces")
	if err != nil {
		t.loadErr = fmt.Errorf("tokens: %w", err)
		return
	}
	t.pieces, t.loadErr = readPieces(file)
	t.idle = make(chan *claudeWorker, runtime.GOMAXPROCS(0))
}
