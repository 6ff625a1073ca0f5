package server

import (
	"sync"

	"github.com/elbowroom/elbowroom/conversation"
)

// rooms lends room for the conversations of calls that are done with them when they
// return. The zero value is ready to use.
type rooms struct{ free sync.Pool }

// borrow returns a room that is empty.
func (r *rooms) borrow() *conversation.Room {
	if room, ok := r.free.Get().(*conversation.Room); ok {
		return room
	}
	return &conversation.Room{}
}

// giveBack clears a room before anybody else can have it.
func (r *rooms) giveBack(room *conversation.Room) {
	room.Clear()
	r.free.Put(room)
}
