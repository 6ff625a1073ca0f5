/** The HTTP/2 connection of a client. */

import { Http2SessionManager } from "@connectrpc/connect-node";
import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";

/**
 * The transport's own session manager, made safe against servers that close an idle connection. It takes its listeners
 * off a dying session before Node has raised that session's last error, which then ends the whole process
 * (connectrpc/connect-es#1768). A listener that stays on prevents it; calls see their errors on their streams.
 */
export class Sessions extends Http2SessionManager {
  private readonly guarded = new WeakSet<ClientHttp2Session>();

  override async request(...request: Parameters<Http2SessionManager["request"]>): Promise<ClientHttp2Stream> {
    const stream = await super.request(...request);
    const session = stream.session;
    if (session !== undefined && !this.guarded.has(session as ClientHttp2Session)) {
      this.guarded.add(session as ClientHttp2Session);
      session.on("error", () => {});
    }
    return stream;
  }
}
