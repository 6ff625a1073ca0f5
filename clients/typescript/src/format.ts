/** Tells a provider's format from a body, where it can be told. */

import { Format } from "./gen/elbowroom/v1/conversation_pb.js";
import { InvalidRequestError } from "./errors.js";
import type { Body } from "./body.js";

const anthropicBlocks = new Set([
  "tool_use",
  "tool_result",
  "thinking",
  "redacted_thinking",
  "server_tool_use",
  "web_search_tool_result",
]);

/**
 * The format of a body. Anthropic Messages shows by a top-level system prompt, tools with input_schema, or blocks
 * such as tool_use; OpenAI Chat by the roles system, developer and tool, by tool_calls, or by tools of type function.
 * Throws {@link InvalidRequestError} where nothing of the kind is there: the caller has to say it.
 */
export function detectFormat(body: Body): Format {
  const value = parsed(body);
  const top = isRecord(value) ? value : {};
  const messages = Array.isArray(value) ? value : Array.isArray(top["messages"]) ? top["messages"] : [];
  const tools = Array.isArray(top["tools"]) ? top["tools"].filter(isRecord) : [];
  if ("system" in top || tools.some((tool) => "input_schema" in tool)) {
    return Format.ANTHROPIC_MESSAGES;
  }
  if (tools.some((tool) => tool["type"] === "function")) {
    return Format.OPENAI_CHAT;
  }
  for (const message of messages.filter(isRecord)) {
    if (["system", "developer", "tool", "function"].includes(String(message["role"]))) {
      return Format.OPENAI_CHAT;
    }
    if ("tool_calls" in message || "function_call" in message) {
      return Format.OPENAI_CHAT;
    }
    const blocks = Array.isArray(message["content"]) ? message["content"].filter(isRecord) : [];
    if (blocks.some((block) => anthropicBlocks.has(String(block["type"])))) {
      return Format.ANTHROPIC_MESSAGES;
    }
  }
  throw new InvalidRequestError("the format cannot be told from the body", {
    field: "conversation.native.format",
    advice: 'Pass format: "openai_chat" or format: "anthropic_messages".',
  });
}

function parsed(body: Body): unknown {
  if (typeof body !== "string" && !(body instanceof Uint8Array)) {
    return body;
  }
  try {
    return JSON.parse(typeof body === "string" ? body : Buffer.from(body).toString("utf8"));
  } catch {
    return undefined; // the service says what is wrong with it, once the format is given
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
