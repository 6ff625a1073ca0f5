/** A real server for tests: the one at ELBOWROOM_ADDR, or the binary ELBOWROOM_BIN started on a free loopback port. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "node:test";

/** A server that tests talk to. */
export interface Server {
  address: string;
  /** Stops it, if this process started it. */
  stop(): Promise<void>;
}

/** Why there is no server to test against, or undefined when there is one. */
export const noServer: string | undefined =
  process.env["ELBOWROOM_ADDR"] || process.env["ELBOWROOM_BIN"]
    ? undefined
    : "neither ELBOWROOM_ADDR nor ELBOWROOM_BIN is set";

/** Skips a test for want of something. In CI that is a failure. */
export function skip(t: TestContext, reason: string): void {
  if (process.env["CI"] === "true") {
    throw new Error(`skipped in CI: ${reason}`);
  }
  t.skip(`skipped: ${reason}`);
}

/** Gives the server at ELBOWROOM_ADDR, or starts one. */
export async function startServer(...flags: string[]): Promise<Server> {
  const running = process.env["ELBOWROOM_ADDR"];
  if (running && flags.length === 0) {
    return { address: running, stop: async () => {} };
  }
  return startBinary("127.0.0.1:0", ...flags);
}

/** Starts the binary ELBOWROOM_BIN at an address. */
export async function startBinary(address: string, ...flags: string[]): Promise<Server> {
  const binary = process.env["ELBOWROOM_BIN"];
  if (!binary) {
    throw new Error("ELBOWROOM_BIN is not set");
  }
  const child = spawn(binary, ["serve", "--grpc-addr", address, "--http-addr", "", "--admin-addr", "", ...flags], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  return {
    address: await addressOf(child),
    stop: async () => {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

async function addressOf(child: ChildProcess): Promise<string> {
  let output = "";
  child.stderr!.on("data", (data: Buffer) => (output += data.toString()));
  const deadline = AbortSignal.timeout(60_000);
  return new Promise((resolve, reject) => {
    deadline.addEventListener("abort", () => {
      child.kill("SIGKILL");
      reject(new Error(`no address after a minute: ${output}`));
    });
    child.once("exit", () => reject(new Error(`the server ended: ${output}`)));
    child.stdout!.on("data", (data: Buffer) => {
      output += data.toString();
      const found = /^gRPC: (\S+)$/m.exec(output);
      if (found) {
        resolve(found[1]!);
      }
    });
  });
}
