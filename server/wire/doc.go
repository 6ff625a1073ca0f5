// Package wire is the codec of the server: protobuf as gRPC's own codec reads and
// writes it, but that the JSON of a native conversation is not copied more often than
// it must be. That JSON is nearly all of a large message. In a request it becomes a
// string where it was gathered from the connection, and a response sends it as pieces
// of that string with what was changed between them.
//
// What is on the wire is the same message: only the order of its fields may differ.
package wire
