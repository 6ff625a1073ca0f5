/**
 * Tells failures of the connection from answers of the server. The transport gives a refused connection UNAVAILABLE,
 * but a reset one ABORTED or CANCELLED and a failed TLS handshake INTERNAL; for gRPC all of them are UNAVAILABLE.
 */

import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";

/** Gives every failure of the connection the code UNAVAILABLE. The innermost interceptor, so that retries see it. */
export function nameConnectionFailures(): Interceptor {
  return (next) => async (req) => {
    try {
      const res = await next(req);
      return res.stream ? { ...res, message: named(res.message, req.signal) } : res;
    } catch (thrown) {
      throw failure(thrown, req.signal);
    }
  };
}

async function* named<T>(messages: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  try {
    yield* messages;
  } catch (thrown) {
    throw failure(thrown, signal);
  }
}

function failure(thrown: unknown, signal: AbortSignal): ConnectError {
  const error = ConnectError.from(thrown);
  // A stream that was cancelled while nobody here gave it up: its connection went away.
  const dropped = error.code === Code.Canceled && !signal.aborted;
  const broken = [Code.Aborted, Code.Internal, Code.Unknown].includes(error.code) && fromNode(error);
  if (!dropped && !broken) {
    return error;
  }
  return new ConnectError(`the connection failed: ${error.rawMessage}`, Code.Unavailable, undefined, undefined, error);
}

/** Whether an error of Node itself (ECONNRESET, ERR_SSL_..., ERR_HTTP2_...) stands behind another. */
function fromNode(error: unknown): boolean {
  const seen = new Set<unknown>();
  for (let at = error; at instanceof Error && !seen.has(at); at = at.cause) {
    seen.add(at);
    const code = (at as { code?: unknown }).code;
    if (typeof code === "string" && /^[A-Z][A-Z0-9_]+$/.test(code)) {
      return true;
    }
  }
  return false;
}
