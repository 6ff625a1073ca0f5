/** What the doubles of both providers share: an HTTP server, and the prefix that must not change. */

import { createHash } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Record_ = { [name: string]: Json };

/** What a double saw of one request. */
export interface Seen {
  /** Size of the body in bytes. */
  bytes: number;
  /** How many messages it had. */
  messages: number;
  /** Breakpoints in it. */
  marks: number;
  /** Whether the request before was a beginning of this one, breakpoints aside. */
  extends: boolean;
  /** The body. */
  body: Record_;
}

/** A provider's wire: checks a body and answers it. */
export interface Wire {
  path: string;
  /** What a strict provider finds wrong. */
  check(body: Record_, headers: IncomingHttpHeaders): string[];
  /** The answer to a body without faults. */
  answer(body: Record_): Record_;
  /** An error in the provider's form. */
  error(problems: string[]): Record_;
  /** Requests without a fault, in order. */
  seen: Seen[];
  /** Everything that was found wrong. */
  problems: string[];
}

/** Serves a wire on a free loopback port. */
export async function serve(wire: Wire): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      let problems: string[];
      let body: Record_ = {};
      try {
        body = JSON.parse(text) as Record_;
        problems = wire.check(body, req.headers);
      } catch (error) {
        problems = [String(error)];
      }
      if (req.method !== "POST" || req.url !== wire.path) {
        problems.push(`${req.method} ${req.url}`);
      }
      wire.problems.push(...problems);
      const reply = problems.length === 0 ? wire.answer(body) : wire.error(problems);
      res.writeHead(problems.length === 0 ? 200 : 400, { "content-type": "application/json" });
      res.end(JSON.stringify(reply));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function isRecord(value: Json | undefined): value is Record_ {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function records(value: Json | undefined): Record_[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** A value without breakpoints, as text; the members of objects in their order. */
export function unmarked(value: Json | undefined): string {
  return JSON.stringify(value ?? null, (name, member: unknown) => (name === "cache_control" ? undefined : member));
}

/** A message without breakpoints, a list of one text block read as its string. */
export function unmarkedMessage(message: Record_): string {
  const blocks = records(message["content"]);
  const text = blocks.length === 1 && blocks[0]!["type"] === "text" ? blocks[0]!["text"] : undefined;
  return unmarked(text === undefined ? message : { ...message, content: text });
}

/** Follows the prefix from request to request. */
export class Prefix {
  private last: string[] = [];

  /** Whether the request before was a beginning of this one. */
  follow(head: string, messages: readonly string[]): boolean {
    const now = [head, ...messages];
    const extended = this.last.every((part, i) => part === now[i]);
    this.last = now;
    return extended;
  }

  /** How many bytes of this request stood in the request before, before any difference. */
  shared(head: string, messages: readonly string[]): number {
    let bytes = 0;
    for (const [i, part] of [head, ...messages].entries()) {
      if (this.last[i] !== part) {
        break;
      }
      bytes += Buffer.byteLength(part);
    }
    return bytes;
  }
}

export function digest(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** Counts breakpoints, and says what is wrong with them: five or more, unknown forms, a longer life behind a shorter. */
export function checkMarks(places: { at: string; mark: Json | undefined }[], problems: string[]): number {
  const marks = places.filter(({ mark }) => mark !== undefined);
  if (marks.length > 4) {
    problems.push(`${marks.length} breakpoints, at most 4 are allowed`);
  }
  let shorter = false;
  for (const { at, mark } of marks) {
    if (!isRecord(mark!) || mark["type"] !== "ephemeral" || ![undefined, "5m", "1h"].includes(mark["ttl"] as string)) {
      problems.push(`${at}: a breakpoint of an unknown form`);
      continue;
    }
    if (mark["ttl"] !== "1h") {
      shorter = true;
    } else if (shorter) {
      problems.push(`${at}: ttl 1h stands behind ttl 5m`);
    }
  }
  return marks.length;
}
