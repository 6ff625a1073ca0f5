/**
 * Retries of unary calls that find no server, or an overloaded one, as an interceptor: Connect's transports know no
 * gRPC service config.
 */

import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { setTimeout as sleep } from "node:timers/promises";
import { readDetails } from "./error-details.js";

/** When a call is tried again. */
export interface RetryPolicy {
  /** Calls made at most, the first included. Default 4. 1: no retries. */
  attempts?: number;
  /** Upper bound of the first wait, in milliseconds. Default 100. */
  initialBackoffMs?: number;
  /** Upper bound of every wait, in milliseconds. Default 2,000. */
  maxBackoffMs?: number;
  /** Factor between the bounds of one wait and the next. Default 2. */
  multiplier?: number;
}

/**
 * Calls that end with UNAVAILABLE are made again, and those that end with RESOURCE_EXHAUSTED where the server names a
 * time: without one, what was sent is too large. Each wait is a random part of its bound, a fifth at least, so that many callers do not come back together. A time
 * that the server names is waited for where it is within maxBackoffMs; a later one ends the retries, and so does a
 * summarizer that failed, which the server has tried often enough itself. The call's deadline covers all attempts.
 */
export function retryCalls(policy: RetryPolicy = {}): Interceptor {
  const { attempts = 4, initialBackoffMs = 100, maxBackoffMs = 2000, multiplier = 2 } = policy;
  return (next) => async (req) => {
    if (req.stream) {
      return next(req);
    }
    const budget = Number(/^(\d+)m$/.exec(req.header.get("grpc-timeout") ?? "")?.[1] ?? Infinity);
    const started = performance.now();
    for (let attempt = 1; ; attempt++) {
      try {
        return await next(req);
      } catch (thrown) {
        const error = ConnectError.from(thrown);
        const { reason, retryAfterMs: asked } = readDetails(error);
        const passes =
          error.code === Code.Unavailable || (error.code === Code.ResourceExhausted && asked !== undefined);
        if (!passes || attempt >= attempts || req.signal.aborted) {
          throw thrown;
        }
        const retryAfterMs = asked ?? 0;
        const bound = Math.min(initialBackoffMs * multiplier ** (attempt - 1), maxBackoffMs);
        const wait = Math.max(retryAfterMs, bound * (0.2 + 0.8 * Math.random()));
        const left = budget - (performance.now() - started) - wait;
        if (reason === "SUMMARIZER_FAILED" || retryAfterMs > maxBackoffMs || left <= 0) {
          throw thrown;
        }
        try {
          await sleep(wait, undefined, { signal: req.signal });
        } catch {
          throw thrown; // given up while waiting: the transport says whether by the caller or by the deadline
        }
        if (Number.isFinite(left)) {
          req.header.set("grpc-timeout", `${Math.ceil(left)}m`);
        }
      }
    }
  };
}
