/**
 * Reads the google.rpc messages that come with an error. They are read by field number, because no package of the
 * registry carries generated code for them.
 */

import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { ConnectError } from "@connectrpc/connect";

/** What the details of an error say, as far as they were given. */
export interface ErrorDetails {
  /** BadRequest: path of the first offending field. */
  field?: string;
  /** ErrorInfo: a stable word in capitals. */
  reason?: string;
  /** ErrorInfo: facts by name, for example message_index and byte_offset. */
  metadata: Record<string, string>;
  /** RetryInfo: when to come back, in milliseconds. */
  retryAfterMs?: number;
}

/** Collects the details of an error. Unknown and broken ones are passed over. */
export function readDetails(error: ConnectError): ErrorDetails {
  const found: ErrorDetails = { metadata: {} };
  for (const detail of error.details) {
    if (!("type" in detail) || !(detail.value instanceof Uint8Array)) {
      continue;
    }
    try {
      readDetail(detail.type, detail.value, found);
    } catch {
      continue; // a detail that cannot be read takes nothing away from the error
    }
  }
  return found;
}

function readDetail(type: string, value: Uint8Array, into: ErrorDetails): void {
  const fields = readFields(value);
  switch (type) {
    case "google.rpc.BadRequest": {
      const violation = fields.find((field) => field.number === 1);
      if (violation !== undefined && into.field === undefined) {
        const name = readFields(violation.bytes).find((field) => field.number === 1);
        if (name !== undefined) {
          into.field = text(name.bytes);
        }
      }
      break;
    }
    case "google.rpc.ErrorInfo":
      for (const field of fields) {
        if (field.number === 1) {
          into.reason = text(field.bytes);
        } else if (field.number === 3) {
          const entry = readFields(field.bytes);
          const part = (number: number) => text(entry.find((f) => f.number === number)?.bytes ?? new Uint8Array());
          into.metadata[part(1)] = part(2);
        }
      }
      break;
    case "google.rpc.RetryInfo": {
      const delay = fields.find((field) => field.number === 1);
      if (delay !== undefined) {
        const parts = readFields(delay.bytes);
        const part = (number: number) => parts.find((f) => f.number === number)?.varint ?? 0;
        into.retryAfterMs = part(1) * 1000 + part(2) / 1e6;
      }
      break;
    }
  }
}

interface Field {
  number: number;
  bytes: Uint8Array;
  varint: number;
}

function readFields(message: Uint8Array): Field[] {
  const reader = new BinaryReader(message);
  const fields: Field[] = [];
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    if (wire === WireType.LengthDelimited) {
      fields.push({ number, bytes: reader.bytes(), varint: 0 });
    } else if (wire === WireType.Varint) {
      fields.push({ number, bytes: new Uint8Array(), varint: Number(reader.int64()) });
    } else {
      reader.skip(wire, number);
    }
  }
  return fields;
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("utf8");
}
