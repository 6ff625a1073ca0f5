// Package session is the conversation that the demo compresses: a coding agent
// looks for the cause of duplicate charges, fixes it, migrates the database and
// repairs the data. The people, the company and the code are made up. The long
// tool outputs are generated, the same ones every time.
package session
