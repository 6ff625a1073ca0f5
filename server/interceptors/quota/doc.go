// Package quota bounds what one tenant may ask of the server: calls by their cost
// over time, and calls at one time.
package quota
