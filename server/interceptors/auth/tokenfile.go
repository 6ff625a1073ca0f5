package auth

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/elbowroom/elbowroom/internal/watched"
)

// TokenFile admits the tokens that a file lists, and looks at the file again when
// it changes. A file that is gone or cannot be read leaves the old list, and is logged
// as an error; an empty one takes every token back.
type TokenFile struct {
	path    string
	tokens  *Tokens
	watched *watched.Files
	log     *slog.Logger
}

var _ Verifier = (*TokenFile)(nil)

// OpenTokenFile reads a token file; see [Tokens.Load] for its form.
func OpenTokenFile(path string, log *slog.Logger) (*TokenFile, error) {
	f := &TokenFile{path: path, watched: watched.New(path), log: log}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the tokens: %w", err)
	}
	if f.tokens, err = NewTokens(text); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// reload reads the file again.
func (f *TokenFile) reload() error {
	text, err := os.ReadFile(f.path)
	if err != nil {
		return fmt.Errorf("read the tokens: %w", err)
	}
	if err := f.tokens.Load(text); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	return nil
}

// Verify implements [Verifier].
func (f *TokenFile) Verify(ctx context.Context, token string) (Identity, error) {
	if f.watched.Changed() {
		if err := f.reload(); err != nil {
			f.log.ErrorContext(ctx, "the token file changed and cannot be read; the old tokens stay", "error", err)
		} else {
			f.log.InfoContext(ctx, "token file read again")
		}
	}
	return f.tokens.Verify(ctx, token)
}
