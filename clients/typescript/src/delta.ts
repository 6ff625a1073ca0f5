/** Sends a growing body as its difference from one that the server holds. */

import { create } from "@bufbuild/protobuf";
import { createHash } from "node:crypto";
import { type NativeDelta, NativeDeltaSchema } from "./gen/elbowroom/v1/conversation_pb.js";
import { spliceBetween } from "./splice.js";

/** A splice with its framing in a request: digest, offsets and field tags. */
const deltaOverhead = 80; // bytes

/**
 * The shortest delta that leads to a body from one of the bases, or undefined where none is shorter than the body
 * itself.
 */
export function deltaTo(body: Buffer, bases: readonly Buffer[]): NativeDelta | undefined {
  let best: { base: Buffer; splice: ReturnType<typeof spliceBetween>; size: number } | undefined;
  for (const base of bases) {
    const splice = spliceBetween(base, body);
    const size = deltaOverhead + (splice === undefined ? 0 : Buffer.byteLength(splice.text));
    if (best === undefined || size < best.size) {
      best = { base, splice, size };
    }
  }
  if (best === undefined || best.size >= body.length) {
    return undefined;
  }
  const { base, splice } = best;
  return create(NativeDeltaSchema, {
    base: createHash("sha256").update(base).digest(),
    splices:
      splice === undefined ? [] : [{ offset: BigInt(splice.offset), length: BigInt(splice.length), text: splice.text }],
  });
}
