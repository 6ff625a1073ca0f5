package chaos

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
)

// valve is a way to a server that can be shut: whoever comes then is refused, and whoever
// is connected is cut off.
type valve struct {
	addr, to string

	mu    sync.Mutex
	lis   net.Listener // nil while it is shut
	conns map[net.Conn]bool
	group sync.WaitGroup
}

// newValve opens a way to an address until the test ends.
func newValve(t *testing.T, to string) *valve {
	t.Helper()
	v := &valve{addr: "127.0.0.1:0", to: to, conns: map[net.Conn]bool{}}
	v.open(t)
	t.Cleanup(v.shut)
	return v
}

// open listens at the same address as before.
func (v *valve) open(t *testing.T) {
	t.Helper()
	lis, err := new(net.ListenConfig).Listen(context.Background(), "tcp", v.addr)
	if err != nil {
		t.Fatal(err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.lis, v.addr = lis, lis.Addr().String()
	v.group.Go(func() {
		for {
			in, err := lis.Accept()
			if err != nil {
				return
			}
			v.group.Go(func() { v.join(in) })
		}
	})
}

// shut closes the way and everything that goes through it.
func (v *valve) shut() {
	v.mu.Lock()
	if v.lis != nil {
		_ = v.lis.Close()
		v.lis = nil
	}
	for c := range v.conns {
		_ = c.Close()
	}
	v.mu.Unlock()
	v.group.Wait()
}

// join copies both ways until one of them ends.
func (v *valve) join(in net.Conn) {
	defer v.drop(in)
	out, err := new(net.Dialer).DialContext(context.Background(), "tcp", v.to)
	if err != nil {
		return
	}
	defer v.drop(out)
	v.mu.Lock()
	open := v.lis != nil
	v.conns[in], v.conns[out] = true, true
	v.mu.Unlock()
	if !open {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(in, out)
		_ = in.Close()
	})
	_, _ = io.Copy(out, in)
	_ = out.Close()
	back.Wait()
}

func (v *valve) drop(c net.Conn) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.conns, c)
	_ = c.Close()
}
