/** Passes the active trace on, where the application uses OpenTelemetry. */

import type { Interceptor } from "@connectrpc/connect";

type OpenTelemetry = typeof import("@opentelemetry/api");

let loading: Promise<OpenTelemetry | undefined> | undefined;

/** Loads the API where it is installed. Its absence is no error. */
function openTelemetry(): Promise<OpenTelemetry | undefined> {
  return (loading ??= import("@opentelemetry/api").catch(() => undefined));
}

/**
 * Writes the active trace context into the headers with the application's propagator: traceparent and tracestate with
 * the usual one. Headers that the caller set stay.
 */
export function propagateTrace(): Interceptor {
  return (next) => async (req) => {
    const api = await openTelemetry();
    if (api !== undefined) {
      const carrier: Record<string, string> = {};
      api.propagation.inject(api.context.active(), carrier);
      for (const [name, value] of Object.entries(carrier)) {
        if (!req.header.has(name)) {
          req.header.set(name, value);
        }
      }
    }
    return next(req);
  };
}
