// Package storetest is the conformance suite of package store: what every
// implementation does alike, from the embedded one to a shared server.
package storetest
