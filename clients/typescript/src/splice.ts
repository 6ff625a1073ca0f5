/** Byte splices: applying those of a response, and finding the one between two bodies. */

/** A range of bytes and the text that takes its place. Offsets and lengths are UTF-8 bytes. */
export interface ByteSplice {
  offset: bigint | number;
  length: bigint | number;
  text: string;
}

/** Applies ascending, disjoint splices to bytes. Throws RangeError for splices that are not. */
export function applySplices(bytes: Buffer, splices: readonly ByteSplice[]): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (const splice of splices) {
    const offset = Number(splice.offset);
    const end = offset + Number(splice.length);
    if (offset < at || end < offset || end > bytes.length) {
      throw new RangeError(`splice of bytes ${offset} to ${end} is not within ${at} to ${bytes.length}`);
    }
    parts.push(bytes.subarray(at, offset), Buffer.from(splice.text, "utf8"));
    at = end;
  }
  parts.push(bytes.subarray(at));
  return Buffer.concat(parts);
}

/**
 * The one splice that leads from one UTF-8 text to another, cut at character boundaries: what lies between their
 * longest common beginning and end. Undefined when they are equal.
 */
export function spliceBetween(from: Buffer, to: Buffer): { offset: number; length: number; text: string } | undefined {
  const shorter = Math.min(from.length, to.length);
  let head = 0;
  while (head < shorter && from[head] === to[head]) {
    head++;
  }
  if (head === from.length && head === to.length) {
    return undefined;
  }
  while (head > 0 && (continues(from[head]) || continues(to[head]))) {
    head--;
  }
  let tail = 0;
  while (tail < shorter - head && from[from.length - 1 - tail] === to[to.length - 1 - tail]) {
    tail++;
  }
  // Both tails are equal, so they begin with the same byte.
  while (tail > 0 && continues(from[from.length - tail])) {
    tail--;
  }
  return { offset: head, length: from.length - tail - head, text: to.toString("utf8", head, to.length - tail) };
}

/** Whether a byte stands inside a UTF-8 character, not at its start. */
function continues(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
