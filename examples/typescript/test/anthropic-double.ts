/** A stand-in for Anthropic's Messages API that is as strict as the API, and stricter about the prefix. */

import type { IncomingHttpHeaders } from "node:http";
import {
  checkMarks,
  digest,
  isRecord,
  type Json,
  Prefix,
  type Record_,
  records,
  type Seen,
  unmarked,
  unmarkedMessage,
  type Wire,
} from "./wire.js";

/** Options of the double. */
export interface AnthropicOptions {
  /** The blocks that the model says next. */
  next: (body: Record_) => Record_[];
  /** Signatures cover everything before the block, as with the newest models. */
  bound?: boolean;
}

interface IssuedThinking {
  json: string;
  /** Digest of everything before the message that holds it. */
  before: string;
}

const thinkingTypes = ["thinking", "redacted_thinking"];

export class AnthropicDouble implements Wire {
  readonly path = "/v1/messages";
  seen: Seen[] = [];
  problems: string[] = [];
  private readonly prefix = new Prefix();
  private readonly thinking = new Map<string, IssuedThinking>();
  /** Thinking that came with a call, by the call's id. */
  private readonly withCall = new Map<string, string[]>();

  constructor(private readonly options: AnthropicOptions) {}

  check(body: Record_, headers: IncomingHttpHeaders): string[] {
    const problems: string[] = [];
    const key = headers["x-api-key"] ?? /^Bearer (.+)/.exec(headers.authorization ?? "")?.[1];
    if (!key || !/^\d{4}-\d\d-\d\d$/.test(String(headers["anthropic-version"]))) {
      problems.push("no key or no anthropic-version");
    }
    if (typeof body["model"] !== "string" || !(Number(body["max_tokens"]) > 0)) {
      problems.push("no model or max_tokens");
    }
    const messages = records(body["messages"]);
    if (messages.length === 0) {
      return [...problems, "messages: at least one message is required"];
    }
    if (messages[0]!["role"] !== "user" || messages.at(-1)!["role"] !== "user") {
      problems.push("messages do not begin and end with the user");
    }
    messages.forEach((message, i) => checkContent(message, `messages.${i}`, problems));
    checkPairs(messages, problems);
    checkMarks(marksOf(body), problems);
    this.checkThinking(body, messages, problems);
    return problems;
  }

  answer(body: Record_): Record_ {
    const [head, parts] = partsOf(body);
    const shared = this.prefix.shared(head, parts);
    const bytes = Buffer.byteLength(JSON.stringify(body));
    const marks = marksOf(body).filter(({ mark }) => mark !== undefined).length;
    this.seen.push({ bytes, messages: parts.length, marks, extends: this.prefix.follow(head, parts), body });
    const content = this.options.next(body);
    this.remember(content, digest([head, ...parts]));
    // About four bytes a token; what the request before had in common with this one was read from the cache.
    const prompt = Math.ceil((Buffer.byteLength(head) + parts.reduce((n, part) => n + Buffer.byteLength(part), 0)) / 4);
    const read = marks > 0 ? Math.floor(shared / 4) : 0;
    const written = marks > 0 ? Math.max(prompt - read - 3, 0) : 0;
    return {
      id: `msg_${this.seen.length}`,
      type: "message",
      role: "assistant",
      model: body["model"] ?? null,
      content,
      stop_reason: content.some((block) => block["type"] === "tool_use") ? "tool_use" : "end_turn",
      stop_sequence: null,
      usage: {
        input_tokens: prompt - read - written,
        cache_read_input_tokens: read,
        cache_creation_input_tokens: written,
        output_tokens: Math.ceil(JSON.stringify(content).length / 4),
      },
    };
  }

  error(problems: string[]): Record_ {
    return { type: "error", error: { type: "invalid_request_error", message: problems.join("; ") } };
  }

  private remember(content: Record_[], before: string): void {
    const thinking = content.filter((block) => thinkingTypes.includes(String(block["type"])));
    for (const block of thinking) {
      this.thinking.set(signatureOf(block), { json: JSON.stringify(block), before });
    }
    for (const block of content) {
      if (block["type"] === "tool_use") {
        this.withCall.set(
          String(block["id"]),
          thinking.map((t) => JSON.stringify(t)),
        );
      }
    }
  }

  private checkThinking(body: Record_, messages: Record_[], problems: string[]): void {
    const [head, parts] = partsOf(body);
    messages.forEach((message, i) => {
      for (const block of records(message["content"])) {
        if (!thinkingTypes.includes(String(block["type"]))) {
          continue;
        }
        const issued = this.thinking.get(signatureOf(block));
        if (issued === undefined || issued.json !== JSON.stringify(block)) {
          problems.push(`messages.${i}: thinking blocks cannot be modified`);
        } else if (this.options.bound && issued.before !== digest([head, ...parts.slice(0, i)])) {
          problems.push(`messages.${i}: the block is bound to a different conversation`);
        }
      }
    });
    if (this.options.bound || !isRecord(body["thinking"])) {
      return;
    }
    // In a running tool loop the latest assistant message keeps the thinking that came with its calls.
    const latest = messages.findLastIndex((message) => message["role"] === "assistant");
    const running = messages
      .slice(latest + 1)
      .every((message) => records(message["content"]).some((block) => block["type"] === "tool_result"));
    if (latest < 0 || !running) {
      return;
    }
    const blocks = records(messages[latest]!["content"]);
    const call = blocks.find((block) => block["type"] === "tool_use");
    const issued = this.withCall.get(String(call?.["id"])) ?? [];
    const has = blocks.filter((b) => thinkingTypes.includes(String(b["type"]))).map((b) => JSON.stringify(b));
    if (JSON.stringify(issued) !== JSON.stringify(has)) {
      problems.push(`messages.${latest}: the running tool loop lost its thinking`);
    }
  }
}

function signatureOf(block: Record_): string {
  return String(block["signature"] ?? block["data"]);
}

/** System and tools, and the messages, without breakpoints. */
function partsOf(body: Record_): [string, string[]] {
  const head = unmarked([unmarkedMessage({ content: body["system"] ?? null }), body["tools"] ?? null]);
  return [head, records(body["messages"]).map(unmarkedMessage)];
}

function checkContent(message: Record_, at: string, problems: string[]): void {
  const { role, content } = message;
  if (role !== "user" && role !== "assistant") {
    problems.push(`${at}: role ${String(role)}`);
  }
  if (typeof content === "string" ? content.trim() === "" : records(content).length === 0) {
    problems.push(`${at}: content is empty`);
  }
  for (const block of records(content)) {
    const type = String(block["type"]);
    if (type === "text" && String(block["text"] ?? "").trim() === "") {
      problems.push(`${at}: a text block is empty`);
    }
    if (thinkingTypes.includes(type) && (role !== "assistant" || "cache_control" in block)) {
      problems.push(`${at}: thinking of a user, or with a breakpoint`);
    }
    if ((type === "tool_use") !== (role === "assistant") && ["tool_use", "tool_result"].includes(type)) {
      problems.push(`${at}: ${type} of role ${String(role)}`);
    }
  }
}

/** Every call has its result in the user's next message, and every result its call, once. */
function checkPairs(messages: Record_[], problems: string[]): void {
  const merged: { role: Json; blocks: Record_[] }[] = [];
  for (const { role, content } of messages) {
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : records(content);
    if (merged.at(-1)?.role === role) {
      merged.at(-1)!.blocks.push(...blocks);
    } else {
      merged.push({ role: role ?? null, blocks: [...blocks] });
    }
  }
  const ids = new Set<string>();
  merged.forEach(({ blocks }, i) => {
    const calls = merged[i - 1]?.blocks.filter((b) => b["type"] === "tool_use").map((b) => String(b["id"])) ?? [];
    const results = blocks.filter((b) => b["type"] === "tool_result").map((b) => String(b["tool_use_id"]));
    if (JSON.stringify([...calls].sort()) !== JSON.stringify([...results].sort())) {
      problems.push(`messages: results ${results.join()} for calls ${calls.join()}`);
    }
    if (blocks.slice(0, results.length).some((b) => results.length > 0 && b["type"] !== "tool_result")) {
      problems.push("messages: something stands before the tool results");
    }
    for (const id of calls) {
      if (ids.has(id)) {
        problems.push(`messages: tool_use ids must be unique: ${id}`);
      }
      ids.add(id);
    }
  });
}

function marksOf(body: Record_): { at: string; mark: Json | undefined }[] {
  const of = (at: string, list: Json | undefined) =>
    records(list).map((item, i) => ({ at: `${at}.${i}`, mark: item["cache_control"] }));
  const inMessages = records(body["messages"]).flatMap((message, i) =>
    records(message["content"]).flatMap((block, j) => [
      ...of(`messages.${i}.${j}`, block["content"]),
      { at: `messages.${i}.${j}`, mark: block["cache_control"] },
    ]),
  );
  return [...of("tools", body["tools"]), ...of("system", body["system"]), ...inMessages];
}
