/** The agents of the examples, run by the official SDKs against the doubles. */

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { type Client, connect, type Conversation, Outcome } from "@elbowroom/client";
import OpenAI from "openai";
import { runAnthropicAgent } from "../src/anthropic-agent.js";
import { runOpenAIAgent } from "../src/openai-agent.js";
import { folderTools } from "../src/tools.js";
import { AnthropicDouble } from "./anthropic-double.js";
import { OpenAIDouble } from "./openai-double.js";
import { noService, skip, startService } from "./service.js";
import { records, type Record_, type Seen, serve } from "./wire.js";

const turns = 30;
let folder: string;
let service: { address: string; stop: () => Promise<void> } | undefined;
let elbowroom: Client;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "elbowroom-agent-"));
  for (let i = 0; i < turns; i++) {
    const line = `export const value${i} = ${i}; // é 日本 🚀 of file ${i}\n`;
    await writeFile(join(folder, `f${i}.ts`), line.repeat(80));
  }
  if (noService === undefined) {
    service = await startService();
    elbowroom = connect(service.address);
  }
});

after(async () => {
  elbowroom?.close();
  await service?.stop();
  await rm(folder, { recursive: true });
});

/** What the scripted model reads in a turn: one file, or two at once in every fourth. */
function wanted(turn: number): string[] {
  return turn % 4 === 3 ? [`f${turn}.ts`, `missing${turn}.ts`] : [`f${turn}.ts`];
}

function note(log: string[]) {
  return (conversation: Conversation) => {
    assert.equal(conversation.lastError, undefined);
    log.push(`${Outcome[conversation.lastOutcome!]} by ${conversation.lastReport!.judgedBy}`);
  };
}

function checkRun(double: { problems: string[]; seen: Seen[] }, log: string[]): void {
  assert.deepEqual(double.problems, []);
  assert.equal(double.seen.length, turns + 1);
  const broken = double.seen.map((seen, i) => (seen.extends ? -1 : i)).filter((i) => i >= 0);
  const compressed = log.map((line, i) => (line.startsWith("COMPRESSED") ? i : -1)).filter((i) => i >= 0);
  assert.deepEqual(broken, compressed, "the prefix changes where the conversation was compressed, and nowhere else");
  assert.ok(compressed.length >= 2 && compressed.length <= 10, log.join("\n"));
  const later = log.slice(1).filter((line) => !line.endsWith("by usage"));
  assert.deepEqual(later, [], "the provider's usage decides");
}

for (const { model, bound, thinks } of [
  { model: "claude-sonnet-5", bound: false, thinks: true },
  { model: "claude-opus-5-5", bound: true, thinks: true },
  { model: "claude-sonnet-5", bound: false, thinks: false },
]) {
  test(`an agent with Anthropic's SDK on ${model}${thinks ? ", thinking" : ""}`, async (t) => {
    if (noService !== undefined) {
      return skip(t, noService);
    }
    let turn = 0;
    const double = new AnthropicDouble({
      bound,
      next: () => {
        const thinking = { type: "thinking", thinking: `step ${turn}`, signature: `c2ln${turn}` };
        if (turn === turns) {
          return [{ type: "text", text: "All read." }];
        }
        const calls = wanted(turn).map((path, i) => ({
          type: "tool_use",
          id: `t${turn}_${i}`,
          name: "read_file",
          input: { path },
        }));
        turn++;
        return [...(thinks ? [thinking] : []), { type: "text", text: `Reading ${turn}.` }, ...calls];
      },
    });
    const provider = await serve(double);
    t.after(() => provider.stop());
    const log: string[] = [];
    const answer = await runAnthropicAgent(
      {
        anthropic: new Anthropic({ apiKey: "test", baseURL: provider.url, maxRetries: 0 }),
        elbowroom,
        model,
        system: "You read files.",
        tools: folderTools(folder),
        ...(thinks ? { thinkingTokens: 1024 } : {}),
        options: { contextWindow: 40_000, policy: { protectLastN: 6 }, timeoutMs: 60_000 },
        onTurn: note(log),
      },
      "Read all the files.",
    );
    assert.equal(answer, "All read.");
    checkRun(double, log);
    assert.ok(double.seen.every((seen) => seen.marks >= 1 && seen.marks <= 4));
    const last = JSON.stringify(double.seen.at(-1)!.body);
    assert.match(last, /ENOENT/, "the tool's failure reached the model");
    assert.match(last, /é 日本 🚀/);
  });
}

for (const { model, layout } of [
  { model: "gpt-4o", layout: undefined },
  { model: "anthropic/claude-sonnet-4.5", layout: "openrouter" as const },
]) {
  test(`an agent with OpenAI's SDK on ${model}`, async (t) => {
    if (noService !== undefined) {
      return skip(t, noService);
    }
    let turn = 0;
    const double = new OpenAIDouble({
      marks: layout !== undefined,
      next: (): Record_ => {
        if (turn === turns) {
          return { content: "All read.", refusal: null };
        }
        const calls = wanted(turn).map((path, i) => ({
          id: `call_${turn}_${i}`,
          type: "function",
          function: { name: "read_file", arguments: JSON.stringify({ path }) },
        }));
        turn++;
        return { content: null, refusal: null, reasoning_content: `step ${turn}`, tool_calls: calls };
      },
    });
    const provider = await serve(double);
    t.after(() => provider.stop());
    const log: string[] = [];
    const answer = await runOpenAIAgent(
      {
        openai: new OpenAI({ apiKey: "test", baseURL: `${provider.url}/v1`, maxRetries: 0 }),
        elbowroom,
        model,
        system: "You read files.",
        tools: folderTools(folder),
        options: {
          contextWindow: 40_000,
          policy: { protectLastN: 6 },
          timeoutMs: 60_000,
          ...(layout === undefined ? {} : { layout }),
        },
        onTurn: note(log),
      },
      "Read all the files.",
    );
    assert.equal(answer, "All read.");
    checkRun(double, log);
    assert.ok(records(double.seen.at(-1)!.body["messages"]).some((message) => message["role"] === "tool"));
    assert.equal(
      double.seen.every((seen) => seen.marks >= 1),
      layout !== undefined,
    );
  });
}

test("an agent goes on without the service", async (t) => {
  const double = new AnthropicDouble({ next: () => [{ type: "text", text: "Hello." }] });
  const provider = await serve(double);
  t.after(() => provider.stop());
  const nobody = connect("127.0.0.1:1", { retry: { attempts: 1 } });
  t.after(() => nobody.close());
  let error: Error | undefined;
  const answer = await runAnthropicAgent(
    {
      anthropic: new Anthropic({ apiKey: "test", baseURL: provider.url, maxRetries: 0 }),
      elbowroom: nobody,
      model: "claude-sonnet-5",
      system: "s",
      tools: folderTools(folder),
      onTurn: (conversation) => (error = conversation.lastError),
    },
    "Hi.",
  );
  assert.equal(answer, "Hello.");
  assert.match(String(error), /ECONNREFUSED/);
  assert.deepEqual(double.problems, []);
});
