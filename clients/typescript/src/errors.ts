/** The errors that the client throws. Each says what to do. */

import { Code, ConnectError } from "@connectrpc/connect";
import { type ErrorDetails, readDetails } from "./error-details.js";

/** A gRPC status code by its name, for example "INVALID_ARGUMENT". */
export type StatusName =
  | "CANCELLED"
  | "UNKNOWN"
  | "INVALID_ARGUMENT"
  | "DEADLINE_EXCEEDED"
  | "NOT_FOUND"
  | "ALREADY_EXISTS"
  | "PERMISSION_DENIED"
  | "RESOURCE_EXHAUSTED"
  | "FAILED_PRECONDITION"
  | "ABORTED"
  | "OUT_OF_RANGE"
  | "UNIMPLEMENTED"
  | "INTERNAL"
  | "UNAVAILABLE"
  | "DATA_LOSS"
  | "UNAUTHENTICATED";

interface Particulars {
  advice: string;
  cause?: unknown;
}

/** Any failure of a call. The classes below name those that callers treat differently. */
export class ElbowroomError extends Error {
  /** The gRPC status. */
  readonly code: StatusName;
  /** What to do about it, in one sentence. */
  readonly advice: string;

  constructor(code: StatusName, message: string, { advice, cause }: Particulars) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = code;
    this.advice = advice;
  }
}

/** The request cannot be read as it stands (INVALID_ARGUMENT). Sending it again is of no use. */
export class InvalidRequestError extends ElbowroomError {
  /** Path of the offending field, for example "conversation.native.json". Empty when none is named. */
  readonly field: string;
  /** A stable word in capitals. Empty when the server gives none. */
  readonly reason: string;
  /** Where in the JSON the fault is, in UTF-8 bytes. */
  readonly byteOffset: number | undefined;
  /** Index of the message concerned, in the caller's list. */
  readonly index: number | undefined;

  constructor(
    message: string,
    particulars: Particulars & {
      field?: string;
      reason?: string;
      byteOffset?: number | undefined;
      index?: number | undefined;
    },
  ) {
    super("INVALID_ARGUMENT", message, particulars);
    this.field = particulars.field ?? "";
    this.reason = particulars.reason ?? "";
    this.byteOffset = particulars.byteOffset;
    this.index = particulars.index;
  }
}

/** The conversation is understood and refused (FAILED_PRECONDITION), for example with too many cache marks. */
export class RefusedError extends ElbowroomError {
  /** Why, as a stable word in capitals, for example "TOO_MANY_MARKS". */
  readonly reason: string;
  /** Index of the message concerned, in the caller's list. */
  readonly index: number | undefined;

  constructor(message: string, particulars: Particulars & { reason: string; index: number | undefined }) {
    super("FAILED_PRECONDITION", message, particulars);
    this.reason = particulars.reason;
    this.index = particulars.index;
  }
}

/** Too much at one time, or a message over the size limit (RESOURCE_EXHAUSTED). */
export class OverloadedError extends ElbowroomError {
  /** When to come back, in milliseconds. Undefined when the server gives no time: then it is the message's size. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, particulars: Particulars & { retryAfterMs: number | undefined }) {
    super("RESOURCE_EXHAUSTED", message, particulars);
    this.retryAfterMs = particulars.retryAfterMs;
  }
}

/** The server cannot be reached, drains, or its summarizer failed (UNAVAILABLE), after the retries. */
export class UnavailableError extends ElbowroomError {
  /** When to come back, in milliseconds. Undefined when nobody could say. */
  readonly retryAfterMs: number | undefined;
  /** A stable word in capitals, for example "SUMMARIZER_FAILED". Empty when the server gives none. */
  readonly reason: string;

  constructor(message: string, particulars: Particulars & { retryAfterMs: number | undefined; reason: string }) {
    super("UNAVAILABLE", message, particulars);
    this.retryAfterMs = particulars.retryAfterMs;
    this.reason = particulars.reason;
  }
}

/** The call took longer than its timeout (DEADLINE_EXCEEDED). */
export class DeadlineExceededError extends ElbowroomError {}

/** The token or client certificate is missing or not accepted (UNAUTHENTICATED). */
export class UnauthenticatedError extends ElbowroomError {}

/** The caller is known and may not do this (PERMISSION_DENIED). */
export class PermissionDeniedError extends ElbowroomError {}

/** A fault of the server (INTERNAL). */
export class InternalError extends ElbowroomError {
  /** Under which id the server logged it. Empty when it gave none. */
  readonly errorId: string;

  constructor(message: string, particulars: Particulars & { errorId: string }) {
    super("INTERNAL", message, particulars);
    this.errorId = particulars.errorId;
  }
}

/** Makes the typed error of whatever a call threw. */
export function typedError(thrown: unknown): ElbowroomError {
  if (thrown instanceof ElbowroomError) {
    return thrown;
  }
  const cause = ConnectError.from(thrown);
  const message = cause.rawMessage;
  const details = readDetails(cause);
  switch (cause.code) {
    case Code.InvalidArgument:
      return new InvalidRequestError(message, {
        ...numbers(details),
        field: details.field ?? "",
        reason: details.reason ?? "",
        advice: "Correct the request; the message names the field, and the byte where JSON is broken.",
        cause,
      });
    case Code.FailedPrecondition:
      return new RefusedError(message, {
        index: numbers(details).index,
        reason: details.reason ?? "",
        advice: "Correct the message that the index names, then send it again.",
        cause,
      });
    case Code.ResourceExhausted:
      return new OverloadedError(message, {
        retryAfterMs: details.retryAfterMs,
        advice:
          details.retryAfterMs === undefined
            ? "Send less in one message, or raise the server's limits.max_message_bytes and the client's limits."
            : "Wait for retryAfterMs, then send it again.",
        cause,
      });
    case Code.Unavailable:
      return new UnavailableError(message, {
        retryAfterMs: details.retryAfterMs,
        reason: details.reason ?? "",
        advice:
          details.reason === "SUMMARIZER_FAILED"
            ? "Send the conversation as it is and try again after retryAfterMs, or use FAILURE_POLICY_FALLBACK."
            : "Check that the server runs at this address, and with or without TLS as the client expects.",
        cause,
      });
    case Code.DeadlineExceeded:
      return new DeadlineExceededError("DEADLINE_EXCEEDED", message, {
        advice: "Give the call more time with timeoutMs, or take a faster summarizer.",
        cause,
      });
    case Code.Unauthenticated:
      return new UnauthenticatedError("UNAUTHENTICATED", message, {
        advice: "Connect with a token or a client certificate that the server accepts.",
        cause,
      });
    case Code.PermissionDenied:
      return new PermissionDeniedError("PERMISSION_DENIED", message, {
        advice: "Use an identity that may make this call.",
        cause,
      });
    case Code.Internal:
      return new InternalError(message, {
        errorId: /logged as ([0-9a-f]+)/.exec(message)?.[1] ?? "",
        advice: "Look for the id in the server's log; it is a fault of the server, not of the request.",
        cause,
      });
    case Code.Canceled:
      return new ElbowroomError("CANCELLED", message, { advice: "Nothing: the caller gave the call up.", cause });
    case Code.Unimplemented:
      return new ElbowroomError("UNIMPLEMENTED", message, {
        advice: "Check that an Elbowroom server of this version listens at the address.",
        cause,
      });
    default:
      return new ElbowroomError(statusName(cause.code), message, {
        advice: "See the cause; the server does not send this status on purpose.",
        cause,
      });
  }
}

function numbers(details: ErrorDetails): { byteOffset: number | undefined; index: number | undefined } {
  const number = (name: string) => {
    const value = details.metadata[name];
    return value === undefined ? undefined : Number(value);
  };
  return { byteOffset: number("byte_offset"), index: number("message_index") };
}

function statusName(code: Code): StatusName {
  return Code[code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase() as StatusName;
}
