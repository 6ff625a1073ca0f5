// Package telemetry sets up what the server tells its operator: at present its
// log. Nothing of a conversation is ever part of it.
package telemetry
