/**
 * Tells failures of the connection from answers of the server. The transport gives a refused connection UNAVAILABLE,
 * but a reset one ABORTED and a failed TLS handshake INTERNAL; for gRPC all of them are UNAVAILABLE.
 */

import { Code, ConnectError } from "@connectrpc/connect";

/** The error, with UNAVAILABLE where the connection failed and no server answered. */
export function withoutConnection(thrown: unknown): ConnectError {
  const error = ConnectError.from(thrown);
  if (error.code === Code.Unavailable || ![Code.Aborted, Code.Internal, Code.Unknown].includes(error.code)) {
    return error;
  }
  if (!fromNode(error)) {
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
