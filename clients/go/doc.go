// Package elbowroom is the Go client of Elbowroom, the service that keeps long
// agent conversations inside a model's context window.
package elbowroom
