/** Recorded conversations replayed as live loops of 60 turns, through the SDKs and Conversation. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { type Client, connect, type Conversation, type ConversationOptions, Outcome } from "@elbowroom/client";
import OpenAI from "openai";
import { AnthropicDouble } from "./anthropic-double.js";
import { OpenAIDouble } from "./openai-double.js";
import { noService, skip, startService } from "./service.js";
import { type Record_, type Seen, serve } from "./wire.js";

const folder = join(import.meta.dirname, "../../../../../shared/data/conversations");
const turns = 60;

let service: { address: string; stop: () => Promise<void> } | undefined;
let elbowroom: Client;

before(async () => {
  if (noService === undefined) {
    service = await startService();
    elbowroom = connect(service.address);
  }
});

after(async () => {
  elbowroom?.close();
  await service?.stop();
});

/** Splits a recording: what the loop adds before each turn, and what the model says in it. */
function script(messages: Record_[]): { adds: Record_[][]; says: Record_[] } {
  const adds: Record_[][] = [[]];
  const says: Record_[] = [];
  for (const message of messages) {
    if (message["role"] !== "assistant") {
      adds.at(-1)!.push(message);
    } else if (says.length === turns) {
      break;
    } else {
      says.push(message);
      adds.push([]);
    }
  }
  return { adds: adds.slice(0, turns), says };
}

function recording(name: string): Record_[] | undefined {
  const file = join(folder, `${name}.json`);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as { messages: Record_[] }).messages : undefined;
}

interface Turn {
  outcome: string;
  judged: number;
  threshold: number;
  /** JSON of the messages that were new in the turn, in bytes. */
  added: number;
  sent: number;
  received: number;
  /** Text of the splices that came back. */
  spliced: number;
}

function splicedBytes({ lastResponse }: Conversation): number {
  return lastResponse!.splices.reduce((sum, splice) => sum + Buffer.byteLength(splice.text), 0);
}

interface Double {
  problems: string[];
  seen: Seen[];
}

/** What every replay must show. */
function checkReplay(log: Turn[], double: Double, constant: number): void {
  assert.deepEqual(double.problems, []);
  assert.equal(log.length, turns);
  const table = log.map((turn, i) => `${i} ${JSON.stringify(turn)} extends=${double.seen[i]!.extends}`).join("\n");
  if (process.env["REPLAY_TABLE"]) {
    console.log(table);
  }

  const compressions = log.filter(({ outcome }) => outcome === "COMPRESSED").length;
  assert.ok(compressions >= 2 && compressions <= turns / 6, `${compressions} compressions\n${table}`);
  log.forEach(({ outcome, judged, threshold }, i) => {
    assert.equal(
      outcome !== "BELOW_THRESHOLD",
      judged >= threshold,
      `turn ${i}: ${outcome} at ${judged} of ${threshold}`,
    );
    assert.ok(["COMPRESSED", "BELOW_THRESHOLD"].includes(outcome), `turn ${i}: ${outcome}`);
    assert.equal(double.seen[i]!.extends, outcome !== "COMPRESSED", `turn ${i}: the prefix\n${table}`);
  });
  log.slice(1).forEach(({ outcome, added, sent, spliced }, i) => {
    const bound = 1.2 * added + constant;
    assert.ok(sent <= bound, `turn ${i + 1} sent ${sent} bytes for ${added} new ones\n${table}`);
    assert.ok(outcome === "COMPRESSED" || spliced <= bound, `turn ${i + 1}: splices of ${spliced} bytes\n${table}`);
  });
}

const anthropicCases: { name: string; model: string; bound: boolean; options: ConversationOptions }[] = [
  {
    name: "cc-go-thinking-590",
    model: "claude-sonnet-5",
    bound: false,
    options: { contextWindow: 80_000, strategy: "anchored" },
  },
  {
    name: "cc-go-parallel-346",
    model: "claude-opus-5-5",
    bound: true,
    options: { contextWindow: 80_000, strategy: "system_and_3", ttl: "1h" },
  },
];

for (const { name, model, bound, options } of anthropicCases) {
  for (const keeps of ["its own list", "the list that came back"]) {
    test(`replay/${name} on ${model}: a loop that keeps ${keeps}`, async (t) => {
      const recorded = recording(name);
      if (noService !== undefined || recorded === undefined) {
        return skip(t, noService ?? "the recorded conversations are not there");
      }
      const { adds, says } = script(recorded);
      let turn = 0;
      const double = new AnthropicDouble({ bound, next: () => says[turn++]!["content"] as Record_[] });
      const provider = await serve(double);
      t.after(() => provider.stop());
      const anthropic = new Anthropic({ apiKey: "test", baseURL: provider.url, maxRetries: 0 });

      const conversation = elbowroom.conversation({ ...options, timeoutMs: 60_000 });
      let messages: Anthropic.MessageParam[] = [];
      const log: Turn[] = [];
      let reply: Anthropic.Message | undefined;
      for (const added of adds) {
        const fresh = [...(reply ? [{ role: "assistant" as const, content: reply.content }] : []), ...added];
        messages.push(...(fresh as Anthropic.MessageParam[]));
        const [sent, received] = [conversation.bytesSent, conversation.bytesReceived];
        const body = await conversation.beforeRequest({
          model,
          max_tokens: 8192,
          ...(bound ? {} : { thinking: { type: "enabled" as const, budget_tokens: 4096 } }),
          system: "You are a coding agent.",
          messages,
        });
        log.push({
          outcome: Outcome[conversation.lastOutcome!],
          judged: conversation.lastReport!.judgedTokens,
          threshold: conversation.lastReport!.thresholdTokens,
          added: Buffer.byteLength(JSON.stringify(fresh)),
          sent: conversation.bytesSent - sent,
          received: conversation.bytesReceived - received,
          spliced: splicedBytes(conversation),
        });
        reply = await anthropic.messages.create(body);
        conversation.afterResponse(reply.usage);
        if (keeps === "the list that came back") {
          messages = body.messages;
        }
      }
      checkReplay(log, double, 1024);
    });
  }
}

test("replay/mini-deepseek-astroid-378 with OpenAI's SDK", async (t) => {
  const recorded = recording("mini-deepseek-astroid-378");
  if (noService !== undefined || recorded === undefined) {
    return skip(t, noService ?? "the recorded conversations are not there");
  }
  const { adds, says } = script(recorded);
  let turn = 0;
  const double = new OpenAIDouble({
    next: () => {
      const { role: _, ...message } = says[turn++]!;
      return message;
    },
  });
  const provider = await serve(double);
  t.after(() => provider.stop());
  const openai = new OpenAI({ apiKey: "test", baseURL: `${provider.url}/v1`, maxRetries: 0 });

  const conversation = elbowroom.conversation({ contextWindow: 70_000, timeoutMs: 60_000 });
  const messages: OpenAI.ChatCompletionMessageParam[] = [];
  const log: Turn[] = [];
  let reply: OpenAI.ChatCompletion | undefined;
  for (const added of adds) {
    const fresh = [...(reply ? [reply.choices[0]!.message] : []), ...added];
    messages.push(...(fresh as OpenAI.ChatCompletionMessageParam[]));
    const [sent, received] = [conversation.bytesSent, conversation.bytesReceived];
    const body = await conversation.beforeRequest({ model: "deepseek-chat", messages });
    log.push({
      outcome: Outcome[conversation.lastOutcome!],
      judged: conversation.lastReport!.judgedTokens,
      threshold: conversation.lastReport!.thresholdTokens,
      added: Buffer.byteLength(JSON.stringify(fresh)),
      sent: conversation.bytesSent - sent,
      received: conversation.bytesReceived - received,
      spliced: splicedBytes(conversation),
    });
    reply = await openai.chat.completions.create(body);
    conversation.afterResponse(reply.usage);
  }
  checkReplay(log, double, 1024);
});
