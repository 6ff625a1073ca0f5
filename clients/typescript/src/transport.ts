/** Opens the connection: gRPC over HTTP/2, plain or TLS, with the client's interceptors. */

import type { Interceptor, Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { SecureClientSessionOptions } from "node:http2";
import { nameConnectionFailures } from "./connection-failure.js";
import { retryCalls, type RetryPolicy } from "./retry.js";
import { Sessions } from "./sessions.js";
import { refuseOpenToken, urlOf } from "./target.js";
import { propagateTrace } from "./trace.js";

/** Options of connect. */
export interface ConnectOptions {
  /**
   * TLS: true for the system's certificate authorities, or which authorities are trusted. Default false: plain text,
   * for the same machine or a trusted network only.
   */
  tls?: boolean | { ca?: string | Uint8Array; serverName?: string };
  /** A client certificate for mutual TLS, in PEM. Turns TLS on. */
  clientCert?: { cert: string | Uint8Array; key: string | Uint8Array };
  /**
   * A bearer token, or what returns the one to use for a call; an empty one is none. Without TLS it is sent to addresses of
   * this machine only, see tokenInTheOpen.
   */
  token?: string | (() => string | Promise<string>);
  /** Sends the token without TLS to other machines too: for networks that encrypt by themselves. Default false. */
  tokenInTheOpen?: boolean;
  /** Time for a call and its retries, in milliseconds. Default 30,000. */
  timeoutMs?: number;
  /** When a call that ended with UNAVAILABLE is tried again. */
  retry?: RetryPolicy;
  /** Largest request message, in bytes. Default 64 MiB. */
  maxSendBytes?: number;
  /** Largest response message, in bytes. Default 128 MiB. */
  maxReceiveBytes?: number;
  /** Headers of every call. */
  headers?: HeadersInit;
  /** Interceptors of your own, outermost first; they see a call once, with its retries inside. */
  interceptors?: Interceptor[];
}

/** A transport and the way to close its connection. */
export interface Connection {
  transport: Transport;
  /** Ends the calls in flight and closes the connection. */
  close(): void;
}

/**
 * Makes a transport for a target: host:port, dns:///host:port, or an http or https URL. It connects with the first call.
 * Throws an InvalidRequestError for a target that is none of these, and for a token that would travel in the open.
 */
export function openConnection(target: string, options: ConnectOptions): Connection {
  const tls = options.tls !== undefined && options.tls !== false;
  const url = urlOf(target, tls || options.clientCert !== undefined);
  if (options.token !== undefined && options.token !== "" && options.tokenInTheOpen !== true) {
    refuseOpenToken(url);
  }
  const baseUrl = url.href;
  const sessions = new Sessions(baseUrl, { pingIntervalMs: 60_000 }, sessionOptions(options));
  const transport = createGrpcTransport({
    baseUrl,
    sessionManager: sessions,
    defaultTimeoutMs: options.timeoutMs ?? 30_000,
    writeMaxBytes: options.maxSendBytes ?? 64 << 20,
    readMaxBytes: options.maxReceiveBytes ?? 128 << 20,
    interceptors: [
      ...(options.interceptors ?? []),
      addHeaders(options.headers, options.token),
      propagateTrace(),
      retryCalls(options.retry),
      nameConnectionFailures(),
    ],
  });
  return { transport, close: () => sessions.abort() };
}

function sessionOptions({ tls, clientCert }: ConnectOptions): SecureClientSessionOptions {
  const options: SecureClientSessionOptions = {};
  if (typeof tls === "object") {
    if (tls.ca !== undefined) {
      options.ca = pem(tls.ca);
    }
    if (tls.serverName !== undefined) {
      options.servername = tls.serverName;
    }
  }
  if (clientCert !== undefined) {
    options.cert = pem(clientCert.cert);
    options.key = pem(clientCert.key);
  }
  return options;
}

function pem(value: string | Uint8Array): string | Buffer {
  return typeof value === "string" ? value : Buffer.from(value);
}

function addHeaders(headers: HeadersInit | undefined, token: ConnectOptions["token"]): Interceptor {
  const fixed = [...new Headers(headers)];
  return (next) => async (req) => {
    for (const [name, value] of fixed) {
      if (!req.header.has(name)) {
        req.header.set(name, value);
      }
    }
    if (token !== undefined && !req.header.has("authorization")) {
      const value = typeof token === "string" ? token : await token();
      if (value !== "") {
        req.header.set("authorization", `Bearer ${value}`);
      }
    }
    return next(req);
  };
}
