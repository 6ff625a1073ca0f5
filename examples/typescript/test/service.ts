/** The Elbowroom server that the tests use: the one at ELBOWROOM_ADDR, or ELBOWROOM_BIN started on a free loopback port. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "node:test";

/** Why there is no server, or undefined when there is one. */
export const noService: string | undefined =
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

/** Gives the address of a server, and the way to stop it. */
export async function startService(): Promise<{ address: string; stop: () => Promise<void> }> {
  const running = process.env["ELBOWROOM_ADDR"];
  if (running) {
    return { address: running, stop: async () => {} };
  }
  const child = spawn(
    process.env["ELBOWROOM_BIN"]!,
    ["serve", "--grpc-addr", "127.0.0.1:0", "--http-addr", "", "--admin-addr", ""],
    {
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  const exited = once(child, "exit");
  let output = "";
  const address = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`no address after a minute: ${output}`));
    }, 60_000);
    child.once("exit", () => reject(new Error(`the server ended: ${output}`)));
    child.stdout.on("data", (data: Buffer) => {
      output += data.toString();
      const found = /^gRPC: (\S+)$/m.exec(output);
      if (found) {
        clearTimeout(timer);
        resolve(found[1]!);
      }
    });
  });
  return {
    address,
    stop: async () => {
      child.kill("SIGTERM");
      await exited;
    },
  };
}
