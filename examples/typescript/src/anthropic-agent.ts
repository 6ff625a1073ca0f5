/**
 * An agent loop with Anthropic's SDK whose conversation Elbowroom keeps inside the window, with cache breakpoints.
 *
 *     ANTHROPIC_API_KEY=... node build/src/anthropic-agent.js "What does this project do?" path/to/folder
 */

import Anthropic from "@anthropic-ai/sdk";
import { type Client, connect, type Conversation, type ConversationOptions } from "@elbowroom/client";
import { pathToFileURL } from "node:url";
import { type AgentTool, folderTools, runTool } from "./tools.js";

/** What an agent works with. */
export interface AnthropicAgent {
  anthropic: Anthropic;
  elbowroom: Client;
  model: string;
  system: string;
  tools: AgentTool[];
  /** Budget of the model's thinking in tokens. Not set: it does not think aloud. */
  thinkingTokens?: number;
  /** For Elbowroom: policy, window, strategy. */
  options?: ConversationOptions;
  /** Called after each turn, for logs. */
  onTurn?: (conversation: Conversation, reply: Anthropic.Message) => void;
}

/** Works on a task until the model has no more calls, and returns its last words. */
export async function runAnthropicAgent(agent: AnthropicAgent, task: string, maxTurns = 100): Promise<string> {
  const { anthropic, elbowroom, model, system, tools } = agent;
  const conversation = elbowroom.conversation({ strategy: "anchored", failOpen: true, ...agent.options });
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: task }];
  for (let turn = 0; turn < maxTurns; turn++) {
    const body = await conversation.beforeRequest({
      model,
      max_tokens: 8192,
      ...(agent.thinkingTokens ? { thinking: { type: "enabled" as const, budget_tokens: agent.thinkingTokens } } : {}),
      system,
      tools: tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
      messages,
    });
    const reply = await anthropic.messages.create(body);
    conversation.afterResponse(reply.usage);
    agent.onTurn?.(conversation, reply);
    messages.push({ role: "assistant", content: reply.content });

    const calls = reply.content.filter((block) => block.type === "tool_use");
    if (calls.length === 0) {
      return reply.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    }
    const results: Anthropic.ToolResultBlockParam[] = [];
    for (const call of calls) {
      const [content, ok] = await runTool(tools, call.name, call.input);
      results.push({ type: "tool_result", tool_use_id: call.id, content, ...(ok ? {} : { is_error: true }) });
    }
    messages.push({ role: "user", content: results });
  }
  throw new Error(`no answer after ${maxTurns} turns`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const elbowroom = connect(process.env["ELBOWROOM_ADDR"] ?? "127.0.0.1:50051");
  const answer = await runAnthropicAgent(
    {
      anthropic: new Anthropic(),
      elbowroom,
      model: process.env["MODEL"] ?? "claude-sonnet-5",
      system: "You read files to answer questions about a folder.",
      tools: folderTools(process.argv[3] ?? "."),
    },
    process.argv[2] ?? "What does this project do?",
  );
  console.log(answer);
  elbowroom.close();
}
