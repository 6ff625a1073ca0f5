// Package compressor decides how a conversation becomes shorter.
//
// [Engine.Compress] runs four phases, one file each. Every phase looks at the
// read-only conversation and adds to one plan; nothing is written before all of
// them are done:
//
//   - repair (repair.go): which results lack a call and which calls a result;
//   - boundaries (boundaries.go): head, tail and the middle between them, cut
//     only between whole units;
//   - prune (prune.go): old tool results become one line, repeated ones a
//     pointer, long arguments of answered calls are cut inside their JSON;
//   - summarize and assemble (summarize.go, assemble.go): the middle becomes a
//     structured summary, a message of its own.
//
// Before them the gate (gate.go) says whether it is time at all; after them the
// check (verify.go) proves that the result is legal, smaller and complete, and
// thinking.go sees to signed reasoning. The package knows no wire format, no
// transport and no provider.
package compressor
