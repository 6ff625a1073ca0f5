/** A stand-in for OpenAI's Chat Completions API that is as strict as the API, and stricter about the prefix. */

import type { IncomingHttpHeaders } from "node:http";
import { checkMarks, Prefix, type Record_, records, type Seen, unmarked, unmarkedMessage, type Wire } from "./wire.js";

/** Options of the double. */
export interface OpenAIOptions {
  /** The message that the model says next, without its role. */
  next: (body: Record_) => Record_;
  /** The route takes breakpoints, as OpenRouter does for Claude. */
  marks?: boolean;
}

const roles = ["system", "developer", "user", "assistant", "tool"];

export class OpenAIDouble implements Wire {
  readonly path = "/v1/chat/completions";
  seen: Seen[] = [];
  problems: string[] = [];
  private readonly prefix = new Prefix();
  /** Reasoning that came with a call, by the call's id: DeepSeek, Kimi and others want it back. */
  private readonly reasoning = new Map<string, string>();

  constructor(private readonly options: OpenAIOptions) {}

  check(body: Record_, headers: IncomingHttpHeaders): string[] {
    const problems: string[] = [];
    if (!/^Bearer ./.test(headers.authorization ?? "")) {
      problems.push("no bearer");
    }
    const messages = records(body["messages"]);
    if (typeof body["model"] !== "string" || messages.length === 0) {
      problems.push("no model or messages");
    }
    messages.forEach((message, i) => this.checkMessage(message, `messages[${i}]`, problems));
    checkPairs(messages, problems);
    const marks = checkMarks(marksOf(messages), problems);
    if (marks > 0 && this.options.marks !== true) {
      problems.push("breakpoints on a route that takes none");
    }
    return problems;
  }

  answer(body: Record_): Record_ {
    const messages = records(body["messages"]);
    const [head, parts] = [unmarked(body["tools"]), messages.map(unmarkedMessage)];
    const shared = this.prefix.shared(head, parts);
    const bytes = Buffer.byteLength(JSON.stringify(body));
    const marks = marksOf(messages).filter(({ mark }) => mark !== undefined).length;
    this.seen.push({ bytes, messages: parts.length, marks, extends: this.prefix.follow(head, parts), body });
    const message = this.options.next(body);
    for (const call of records(message["tool_calls"])) {
      if (typeof message["reasoning_content"] === "string") {
        this.reasoning.set(String(call["id"]), message["reasoning_content"]);
      }
    }
    const prompt = Math.ceil((Buffer.byteLength(head) + parts.reduce((n, part) => n + Buffer.byteLength(part), 0)) / 4);
    const completion = Math.ceil(JSON.stringify(message).length / 4);
    return {
      id: `chatcmpl-${this.seen.length}`,
      object: "chat.completion",
      created: 1,
      model: body["model"] ?? null,
      choices: [
        {
          index: 0,
          message: { role: "assistant", ...message },
          finish_reason: message["tool_calls"] === undefined ? "stop" : "tool_calls",
          logprobs: null,
        },
      ],
      usage: {
        prompt_tokens: prompt,
        completion_tokens: completion,
        total_tokens: prompt + completion,
        prompt_tokens_details: { cached_tokens: Math.floor(shared / 4) },
      },
    };
  }

  error(problems: string[]): Record_ {
    return { error: { message: problems.join("; "), type: "invalid_request_error", param: "messages", code: null } };
  }

  private checkMessage(message: Record_, at: string, problems: string[]): void {
    const { role, content } = message;
    if (!roles.includes(String(role))) {
      problems.push(`${at}: role ${String(role)}`);
    }
    const calls = records(message["tool_calls"]);
    if (content === null || content === undefined) {
      if (role !== "assistant" || calls.length === 0) {
        problems.push(`${at}: no content`);
      }
    } else if (typeof content !== "string" && records(content).length === 0) {
      problems.push(`${at}: content is neither text nor parts`);
    }
    for (const part of records(content)) {
      if (part["type"] === "text" && part["text"] === "") {
        problems.push(`${at}: an empty text part`);
      }
    }
    if ("tool_calls" in message && calls.length === 0) {
      problems.push(`${at}: tool_calls is empty`);
    }
    for (const call of calls) {
      const reasoning = this.reasoning.get(String(call["id"]));
      if (reasoning !== undefined && reasoning !== message["reasoning_content"]) {
        problems.push(`${at}: reasoning_content of a call is missing or changed`);
      }
    }
  }
}

/** The results of calls come right behind them, each once, before anything else. */
function checkPairs(messages: Record_[], problems: string[]): void {
  let open: string[] = [];
  messages.forEach((message, i) => {
    if (message["role"] === "tool") {
      const id = String(message["tool_call_id"]);
      if (!open.includes(id)) {
        problems.push(`messages[${i}]: a result without a call: ${id}`);
      }
      open = open.filter((other) => other !== id);
      return;
    }
    if (open.length > 0) {
      problems.push(`messages[${i}]: calls without a result: ${open.join()}`);
    }
    open = records(message["tool_calls"]).map((call) => String(call["id"]));
  });
  if (open.length > 0) {
    problems.push(`calls without a result at the end: ${open.join()}`);
  }
}

function marksOf(messages: Record_[]) {
  return messages.flatMap((message, i) => [
    { at: `messages[${i}]`, mark: message["cache_control"] },
    ...records(message["content"]).map((part, j) => ({
      at: `messages[${i}].content[${j}]`,
      mark: part["cache_control"],
    })),
  ]);
}
