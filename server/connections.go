package server

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
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
