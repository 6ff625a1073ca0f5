/** A stand-in for the service in this process, for what a healthy server does not do. */

import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import * as http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { ContextService } from "../src/index.js";

/** A double that serves. */
export interface Double {
  address: string;
  /** Asks the clients to leave, as a balancer does with idle connections. */
  goAway(): void;
  stop(): Promise<void>;
}

/** Serves the given methods on a free loopback port; the others are UNIMPLEMENTED. */
export async function startDouble(
  methods: Partial<ServiceImpl<typeof ContextService>>,
  tls?: http2.SecureServerOptions,
): Promise<Double> {
  const handler = connectNodeAdapter({
    routes: (router: ConnectRouter) => void router.service(ContextService, methods),
  });
  const server = tls === undefined ? http2.createServer(handler) : http2.createSecureServer(tls, handler);
  const sessions = new Set<http2.ServerHttp2Session>();
  server.on("session", (session: http2.ServerHttp2Session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    session.on("error", () => {});
  });
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    goAway: () => sessions.forEach((session) => session.goaway(http2.constants.NGHTTP2_NO_ERROR)),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const session of sessions) {
          session.destroy();
        }
      }),
  };
}

/** A google.rpc.BadRequest about one field. */
export function badRequest(field: string, description: string) {
  const violation = new BinaryWriter().tag(1, WireType.LengthDelimited).string(field);
  violation.tag(2, WireType.LengthDelimited).string(description);
  return detail("google.rpc.BadRequest", new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(violation.finish()));
}

/** A google.rpc.ErrorInfo. */
export function errorInfo(reason: string, metadata: Record<string, string> = {}) {
  const message = new BinaryWriter().tag(1, WireType.LengthDelimited).string(reason);
  message.tag(2, WireType.LengthDelimited).string("elbowroom");
  for (const [key, value] of Object.entries(metadata)) {
    const entry = new BinaryWriter().tag(1, WireType.LengthDelimited).string(key);
    entry.tag(2, WireType.LengthDelimited).string(value);
    message.tag(3, WireType.LengthDelimited).bytes(entry.finish());
  }
  return detail("google.rpc.ErrorInfo", message);
}

/** A google.rpc.RetryInfo. */
export function retryInfo(ms: number) {
  const delay = new BinaryWriter().tag(1, WireType.Varint).int64(Math.floor(ms / 1000));
  delay.tag(2, WireType.Varint).int32((ms % 1000) * 1e6);
  return detail("google.rpc.RetryInfo", new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(delay.finish()));
}

function detail(type: string, message: BinaryWriter) {
  return { type, value: message.finish() };
}
