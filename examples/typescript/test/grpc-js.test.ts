import assert from "node:assert/strict";
import { test } from "node:test";
import { compress, open } from "../src/grpc-js.js";
import { noService, skip, startService } from "./service.js";

test("grpc-js with the descriptor set compresses, counts, and shows the service's errors", async (t) => {
  if (noService !== undefined) {
    return skip(t, noService);
  }
  const service = await startService();
  t.after(() => service.stop());
  const { call, close } = open(service.address);
  t.after(close);
  const messages = Array.from({ length: 60 }, (_, i) => ({
    role: i % 2 === 0 ? "user" : "assistant",
    content: `message ${i} é 🚀 `.repeat(60),
  }));
  const body = { model: "gpt-4o", messages };
  assert.deepEqual(await compress(call, body), body);
  const shorter = await compress(call, body, { force: true });
  assert.ok(shorter.messages.length < messages.length);
  assert.deepEqual(shorter.messages.at(-1), messages.at(-1));
  const count = await call("CountTokens", { text: "hello world", model: "gpt-4o" });
  assert.equal(count["tokens"], 2);
  await assert.rejects(
    call("Compress", { conversation: { native: { format: "FORMAT_OPENAI_CHAT", json: "[" } } }),
    (e) => (e as { code: number }).code === 3 && /byte 1/.test(String(e)),
  );
});
