// Package admission decides whether a call is let in: not while the server
// drains, not when as many calls are being worked on as may be, and not when
// the requests being worked on hold too many bytes together.
//
// A call that is let in is worked on at once as long as few others are. More
// than [Limits.Working] would share the processors and all be late, so the
// next ones wait for a moment. One that would have to wait for longer is
// refused, and from then on calls wait less, until nobody is refused any more.
// What a refused call is told is when there will be room, as far as can be
// seen: the places to come are given away one after the other. Small calls have
// places of their own, so that large ones do not keep them waiting, and a call
// that waits for somebody else gives its place away as long as it does; see
// [Aside].
package admission
