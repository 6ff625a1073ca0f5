/** Every recorded conversation, compressed by force: what is kept equals the original, as values and as bytes. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Client, connect, type Edit, Outcome, View } from "../src/index.js";
import { Section } from "../src/gen/elbowroom/v1/conversation_pb.js";
import { locate } from "../src/spans.js";
import { noServer, type Server, skip, startServer } from "./server.js";

const folder = join(import.meta.dirname, "../../../../../shared/data/conversations");
const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith(".json")) : [];
const noData = files.length === 0 ? "the recorded conversations are not there" : undefined;

let server: Server | undefined;
let client: Client;

before(async () => {
  if (noServer === undefined && noData === undefined) {
    server = await startServer();
    client = connect(server.address);
  }
});

after(async () => {
  client?.close();
  await server?.stop();
});

test("there are 20 recorded conversations", (t) => {
  if (noData !== undefined) {
    return skip(t, noData);
  }
  assert.equal(files.length, 20);
});

let compressed = 0;

for (const file of files) {
  test(`recorded/${file}: kept messages are the originals`, async (t) => {
    if (noServer !== undefined) {
      return skip(t, noServer);
    }
    const recorded = readFileSync(join(folder, file), "utf8");
    const { format, model } = JSON.parse(recorded) as { format: string; model?: string };
    const name = format === "openai" ? ("openai_chat" as const) : ("anthropic_messages" as const);
    const options = {
      format: name,
      force: true,
      view: View.EDITS,
      model: model ?? (format === "openai" ? "gpt-4o" : "claude-sonnet-4-5"),
    };

    // The messages as published, byte for byte, spaces and escapes included.
    const all = locate(recorded)!.messages;
    const text = `{"x": 12345678901234567890, "messages" :[${recorded.slice(all[0]!.start, all.at(-1)!.end)}]\n}`;
    const originals = all.map(({ start, end }) => recorded.slice(start, end));

    const asText = await client.compress(text, options);
    const results = locate(asText.body)!.messages.map(({ start, end }) => asText.body.slice(start, end));
    const kept = compareKept(asText.response.edits, originals, results, assert.equal);
    assert.match(asText.body, /^\{"x": 12345678901234567890, "messages" :\[/);
    assert.match(asText.body, /\]\n\}$/);

    const asBytes = await client.compress(Buffer.from(text), options);
    assert.equal(asBytes.body.toString(), asText.body);

    const messages = originals.map((message) => JSON.parse(message) as object);
    const asList = await client.compress(messages, options);
    assert.ok(Array.isArray(asList.body));
    compareKept(asList.response.edits, messages, asList.body, assert.deepEqual);

    const asObject = await client.compress({ messages, extra: { b: 1, a: [null] } }, options);
    assert.deepEqual(asObject.body.extra, { b: 1, a: [null] });
    compareKept(asObject.response.edits, messages, asObject.body.messages, assert.deepEqual);

    if (asText.outcome === Outcome.COMPRESSED) {
      compressed++;
      assert.ok(results.join().length < originals.join().length);
      assert.ok(kept > 0);
    }
  });
}

test("most of the recorded conversations were compressed", (t) => {
  if ((noServer ?? noData) !== undefined) {
    return skip(t, (noServer ?? noData)!);
  }
  assert.ok(compressed >= 12, `${compressed} were`);
});

/** Follows an edit program and compares every kept message. Returns how many were kept. */
function compareKept<T>(
  edits: Edit[],
  originals: T[],
  results: T[],
  equal: (actual: T, expected: T, message: string) => void,
): number {
  const program = edits.filter((edit) => edit.section === Section.MESSAGES);
  if (program.length === 0) {
    assert.deepEqual(results, originals);
    return originals.length;
  }
  let [kept, from, to] = [0, 0, 0];
  for (const { op } of program) {
    switch (op.case) {
      case "keep":
        assert.equal(op.value.start, from);
        for (; from < op.value.end; from++, to++, kept++) {
          equal(results[to]!, originals[from]!, `message ${from}`);
        }
        break;
      case "replace":
        from++;
        to++;
        break;
      case "insert":
        to++;
        break;
      case "drop":
        from = op.value.end;
        break;
    }
  }
  assert.deepEqual([from, to], [originals.length, results.length], "every message is accounted for");
  return kept;
}
