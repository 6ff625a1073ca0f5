// Package admission decides whether a call is let in: not while the server
// drains, not when as many calls are being worked on as may be, and not when
// the requests being worked on hold too many bytes together.
package admission
