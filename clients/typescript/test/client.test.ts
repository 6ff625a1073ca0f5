/** The calls of the client that the conformance cases do not reach by it, against a real server. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  type Client,
  connect,
  Format,
  InvalidRequestError,
  Outcome,
  RefusedError,
  Role,
  Strategy,
} from "../src/index.js";
import { noServer, type Server, skip, startServer } from "./server.js";

let server: Server | undefined;
let client: Client;

before(async () => {
  if (noServer === undefined) {
    server = await startServer();
    client = connect(server.address);
  }
});

after(async () => {
  client?.close();
  await server?.stop();
});

const talk = Array.from({ length: 60 }, (_, i) => ({
  role: i % 2 === 0 ? "user" : "assistant",
  content: `what the client said ${i} é 🚀 `.repeat(40),
}));
const openai = { model: "gpt-4o", messages: [{ role: "system", content: "s" }, ...talk] };

test("a body's type and unknown members come back with it", async (t) => {
  if (noServer !== undefined) {
    return skip(t, noServer);
  }
  const { body, outcome, summary, compressionState, report } = await client.compress(
    { ...openai, metadata: { z: 1, a: [1.5, null] } },
    { force: true, policy: { systemNote: "none", protectLastN: 4 }, layer: "gateway", sessionId: "s" },
  );
  assert.equal(outcome, Outcome.COMPRESSED);
  assert.deepEqual(body.metadata, { z: 1, a: [1.5, null] });
  assert.deepEqual(body.messages.at(-1), openai.messages.at(-1));
  assert.deepEqual(body.messages[0], openai.messages[0]);
  assert.ok(summary.length > 0 && compressionState.length > 0);
  assert.equal(report?.thresholdTokens, Math.floor(128_000 * 0.85));
});

test("names and values of enums are the same, and a wrong name or member is refused before it is sent", async (t) => {
  if (noServer !== undefined) {
    return skip(t, noServer);
  }
  const body = { system: "s", messages: talk, model: "claude-sonnet-4-5" };
  const byName = await client.applyCacheControl(body, { strategy: "anchored", format: "anthropic_messages" });
  const byValue = await client.applyCacheControl(body, {
    strategy: Strategy.ANCHORED,
    format: Format.ANTHROPIC_MESSAGES,
  });
  assert.deepEqual(byName.body, byValue.body);
  assert.ok(byName.breakpoints.length > 1 && byName.cacheState.length > 0);
  for (const wrong of [
    { strategy: "best" },
    { layuot: "openrouter" },
    { policy: { profile: "lean?" } },
    { policy: { protectLast: 1 } },
  ]) {
    await assert.rejects(client.prepare(body, wrong as never), InvalidRequestError);
  }
});

test("prepare compresses and marks", async (t) => {
  if (noServer !== undefined) {
    return skip(t, noServer);
  }
  const { body, outcome, breakpoints } = await client.prepare(
    { ...openai, model: "anthropic/claude-sonnet-4.5" },
    { force: true, layout: "openrouter", ttl: "1h", policy: { protectLastN: 4 } },
  );
  assert.equal(outcome, Outcome.COMPRESSED);
  assert.ok(breakpoints.length > 0);
  assert.equal(JSON.stringify(body).split('"ttl":"1h"').length - 1, breakpoints.length);
});

test("streamCompress ends with the result that compress gives", async (t) => {
  if (noServer !== undefined) {
    return skip(t, noServer);
  }
  const options = { force: true, policy: { protectLastN: 4 } };
  const types: string[] = [];
  let streamed: typeof openai | undefined;
  for await (const event of client.streamCompress(openai, options)) {
    types.push(event.type);
    if (event.type === "result") {
      streamed = event.result.body;
    }
  }
  assert.equal(types.at(-1), "result");
  assert.ok(types.includes("progress"));
  assert.deepEqual(streamed, (await client.compress(openai, options)).body);
  const read = async () => {
    for await (const _ of client.streamCompress("[", { format: "openai_chat" })) {
      assert.fail("an event");
    }
  };
  await assert.rejects(read(), (e) => e instanceof InvalidRequestError && e.byteOffset === 1);
});

test("countText, countTokens, listModels and simulateCache", async (t) => {
  if (noServer !== undefined) {
    return skip(t, noServer);
  }
  assert.equal((await client.countText("hello world", { model: "gpt-4o" })).tokens, 2);
  const count = await client.countTokens(openai.messages, { model: "gpt-4o" });
  assert.equal(count.messages.length, openai.messages.length);
  assert.ok((await client.listModels("gpt-4o")).models.some((model) => model.id === "gpt-4o"));
  const body = { model: "claude-sonnet-4-5", system: "s".repeat(20_000), messages: [{ role: "user", content: "q" }] };
  const marked = (await client.applyCacheControl(body)).body;
  const simulated = await client.simulateCache([
    { body: marked, startMs: 0n },
    { body: JSON.stringify(marked), startMs: 60_000n, format: "anthropic_messages" },
  ]);
  assert.ok(simulated.turns[1]!.split!.readTokens > 0n);
});

test("the stub takes typed conversations; refused conversations name their message", async (t) => {
  if (noServer !== undefined) {
    return skip(t, noServer);
  }
  const { tokens } = await client.stub.countTokens({
    conversation: { messages: [{ role: Role.USER, blocks: [{ kind: { case: "text", value: "hi" } }] }] },
    model: "gpt-4o",
  });
  assert.equal(tokens, 8);
  const block = { type: "text", text: "x", cache_control: { type: "ephemeral" } };
  const many = { system: "s", messages: [{ role: "user", content: [block, block, block, block, block] }] };
  await assert.rejects(
    client.applyCacheControl(many, { model: "claude-sonnet-4-5", existing: "respect" }),
    (e) => e instanceof RefusedError && e.reason === "TOO_MANY_MARKS" && e.index === 0,
  );
});
