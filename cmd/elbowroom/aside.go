package main

import (
	"context"
	"time"

	"github.com/elbowroom/elbowroom/server/interceptors/admission"
	"github.com/elbowroom/elbowroom/store"
)

// asideStore is a store on another machine: while a call waits for it, the processors
// are somebody else's.
type asideStore struct{ store.Store }

func (s asideStore) Get(ctx context.Context, key string) ([]byte, bool, error) {
	defer admission.Aside(ctx)()
	return s.Store.Get(ctx, key)
}

func (s asideStore) Set(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	defer admission.Aside(ctx)()
	return s.Store.Set(ctx, key, value, ttl)
}

func (s asideStore) Delete(ctx context.Context, key string) error {
	defer admission.Aside(ctx)()
	return s.Store.Delete(ctx, key)
}

func (s asideStore) Claim(ctx context.Context, key string, value []byte, ttl time.Duration) (bool, error) {
	defer admission.Aside(ctx)()
	return s.Store.Claim(ctx, key, value, ttl)
}

func (s asideStore) Swap(ctx context.Context, key string, old, value []byte, ttl time.Duration) (bool, error) {
	defer admission.Aside(ctx)()
	return s.Store.Swap(ctx, key, old, value, ttl)
}

func (s asideStore) Add(ctx context.Context, key string, n int64, ttl time.Duration) (int64, error) {
	defer admission.Aside(ctx)()
	return s.Store.Add(ctx, key, n, ttl)
}
