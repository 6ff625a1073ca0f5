// Package bedrock reads requests of Bedrock's Converse API far enough to place
// cachePoint blocks in them.
//
// [Parse] gives the domain view, in which a cachePoint is a mark on the block
// before it; [breakpoints.Place] decides with the layout BEDROCK; [Request.Splices]
// writes the decision into the caller's bytes, [Request.Program] says it in elements of
// its arrays. Nothing else can be rewritten.
package bedrock
