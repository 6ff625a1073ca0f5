package server

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// BoundConnections returns a listener that keeps at most limit connections open; 0 or
// less is no bound. One more is closed at once rather than left waiting, so that its
// client tries another replica. The log is told when that begins.
func BoundConnections(lis net.Listener, limit int, log *slog.Logger) net.Listener {
	if limit <= 0 {
		return lis
	}
	return &boundListener{Listener: lis, limit: int64(limit), log: log}
}

type boundListener struct {
	net.Listener
	limit int64
	open  atomic.Int64
	full  atomic.Bool // and the log knows
	log   *slog.Logger
}

// Accept returns the next connection that there is room for.
func (l *boundListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= l.limit {
			l.full.Store(false)
			return &boundConn{Conn: conn, listener: l}, nil
		}
		l.open.Add(-1)
		_ = conn.Close() // nobody has used it
		if !l.full.Swap(true) {
			l.log.WarnContext(context.Background(), "connections are refused", "addr", l.Addr().String(), "limit", l.limit)
		}
	}
}

// boundConn gives its place back once.
type boundConn struct {
	net.Conn
	listener *boundListener
	once     sync.Once
}

func (c *boundConn) Close() error {
	c.once.Do(func() { c.listener.open.Add(-1) })
	return c.Conn.Close()
}

// greeted returns a listener that, when it is closed, closes the connections whose peer
// has not said yet that it speaks HTTP/2. gRPC waits for them even when it is told to stop
// at once, for as long as a handshake may take.
func greeted(lis net.Listener) net.Listener {
	return &greetedListener{Listener: lis, greeting: map[*greetingConn]struct{}{}}
}

type greetedListener struct {
	net.Listener

	mu       sync.Mutex
	closed   bool
	greeting map[*greetingConn]struct{}
}

// Accept returns the next connection, of which nothing has been heard.
func (l *greetedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &greetingConn{Conn: conn, listener: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = conn.Close() // nobody has used it
	} else {
		l.greeting[c] = struct{}{}
	}
	return c, nil
}

func (l *greetedListener) Close() error {
	err := l.Listener.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for c := range l.greeting {
		_ = c.Conn.Close() // who waits for it is told
	}
	clear(l.greeting)
	return err
}

// greetingConn is a connection whose peer is known to speak HTTP/2 when gRPC lifts the
// deadline that it sets for the handshake.
type greetingConn struct {
	net.Conn
	listener *greetedListener
}

func (c *greetingConn) forget() {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	delete(c.listener.greeting, c)
}

func (c *greetingConn) SetDeadline(at time.Time) error {
	if at.IsZero() {
		c.forget()
	}
	return c.Conn.SetDeadline(at)
}

func (c *greetingConn) Close() error {
	c.forget()
	return c.Conn.Close()
}
