/**
 * The caller's body in the form it came in, and the way back into that form. A body travels as JSON text; what
 * comes back is spliced into the UTF-8 bytes of that text.
 */

import { create } from "@bufbuild/protobuf";
import {
  type Format,
  type NativeRequest,
  NativeRequestSchema,
  type Splice,
} from "./gen/elbowroom/v1/conversation_pb.js";
import { InvalidRequestError } from "./errors.js";
import { applySplices } from "./splice.js";

/**
 * What the calls take: a provider's request body or its list of messages, as an object or array, or as raw JSON in
 * a string or in UTF-8 bytes. Text and bytes are kept exactly; an object goes through JSON once.
 */
export type Body = string | Uint8Array | object;

/** The form in which a result comes back: the one its body came in. */
export type Same<B extends Body> = B extends string ? string : B extends Uint8Array ? Uint8Array : B;

/** A body as JSON, with what is needed to give a result back in the caller's form. */
export class HeldBody<B extends Body> {
  private decoded: string | undefined;
  private encoded: Buffer | undefined;

  /** Throws {@link InvalidRequestError} for what JSON or UTF-8 cannot hold. */
  constructor(readonly original: B) {
    if (typeof original === "string") {
      this.decoded = wellFormed(original);
    } else if (original instanceof Uint8Array) {
      this.encoded = Buffer.from(original.buffer, original.byteOffset, original.byteLength);
    } else {
      this.decoded = stringify(original);
    }
  }

  /** The JSON text. Throws {@link InvalidRequestError} for bytes that are not UTF-8. */
  get text(): string {
    return (this.decoded ??= decode(this.bytes));
  }

  /** The UTF-8 bytes of the text: what splice offsets count. */
  get bytes(): Buffer {
    return (this.encoded ??= Buffer.from(this.text, "utf8"));
  }

  /** The field of a request that holds the body. */
  native(format: Format): NativeRequest {
    const body =
      this.original instanceof Uint8Array
        ? { case: "jsonBytes" as const, value: this.original }
        : { case: "json" as const, value: this.text };
    return create(NativeRequestSchema, { format, body });
  }

  /** The body after the splices of a response, in the caller's form. Without splices it is the caller's own value. */
  spliced(splices: readonly Splice[]): Same<B> {
    return splices.length === 0 ? (this.original as Same<B>) : this.form(applySplices(this.bytes, splices));
  }

  /** JSON bytes in the caller's form. */
  form(json: Buffer): Same<B> {
    return inFormOf(this.original, json);
  }
}

function inFormOf<B extends Body>(original: B, json: Buffer): Same<B> {
  if (typeof original === "string") {
    return json.toString("utf8") as Same<B>;
  }
  if (Buffer.isBuffer(original)) {
    return json as unknown as Same<B>;
  }
  if (original instanceof Uint8Array) {
    return new Uint8Array(json.buffer, json.byteOffset, json.byteLength) as unknown as Same<B>;
  }
  return JSON.parse(json.toString("utf8")) as Same<B>;
}

/** A string with half a surrogate pair has no UTF-8 form; encoders put U+FFFD there without a word. */
function wellFormed(text: string): string {
  if (!text.isWellFormed()) {
    throw new InvalidRequestError("the text holds half of a surrogate pair, which UTF-8 cannot hold", {
      field: "conversation.native.json",
      advice: "Write it as an escape, \\ud83d for example, as JSON.stringify does.",
    });
  }
  return text;
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new InvalidRequestError("the bytes are not UTF-8", {
      field: "conversation.native.json_bytes",
      advice: "Send the JSON in UTF-8.",
      cause,
    });
  }
}

function stringify(body: object): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(body);
  } catch (cause) {
    throw new InvalidRequestError(`the body cannot be written as JSON: ${String((cause as Error).message)}`, {
      field: "conversation.native.json",
      advice: "Pass plain JSON values; for integers beyond 2^53 pass the body as raw JSON text.",
      cause,
    });
  }
  if (text === undefined) {
    throw new InvalidRequestError("the body is nothing that JSON can hold", {
      field: "conversation.native.json",
      advice: "Pass a request body, a list of messages, or raw JSON text.",
    });
  }
  return text;
}
