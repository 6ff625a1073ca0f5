/**
 * An agent loop with OpenAI's SDK whose conversation Elbowroom keeps inside the window.
 *
 *     OPENAI_API_KEY=... node build/src/openai-agent.js "What does this project do?" path/to/folder
 */

import { type Client, connect, type Conversation, type ConversationOptions } from "@elbowroom/client";
import { pathToFileURL } from "node:url";
import OpenAI from "openai";
import { type AgentTool, folderTools, runTool } from "./tools.js";

/** What an agent works with. */
export interface OpenAIAgent {
  openai: OpenAI;
  elbowroom: Client;
  model: string;
  system: string;
  tools: AgentTool[];
  /** For Elbowroom: policy, window, strategy, layout. */
  options?: ConversationOptions;
  /** Called after each turn, for logs. */
  onTurn?: (conversation: Conversation, reply: OpenAI.ChatCompletion) => void;
}

/** Works on a task until the model has no more calls, and returns its last words. */
export async function runOpenAIAgent(agent: OpenAIAgent, task: string, maxTurns = 100): Promise<string> {
  const { openai, elbowroom, model, system, tools } = agent;
  const conversation = elbowroom.conversation({ failOpen: true, ...agent.options });
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: "system", content: system },
    { role: "user", content: task },
  ];
  for (let turn = 0; turn < maxTurns; turn++) {
    const body = await conversation.beforeRequest({
      model,
      tools: tools.map(({ name, description, parameters }) => ({
        type: "function" as const,
        function: { name, description, parameters },
      })),
      messages,
    });
    const reply = await openai.chat.completions.create(body);
    conversation.afterResponse(reply.usage);
    agent.onTurn?.(conversation, reply);
    const message = reply.choices[0]!.message;
    messages.push(message);

    if (!message.tool_calls?.length) {
      return message.content ?? "";
    }
    for (const call of message.tool_calls) {
      if (call.type === "function") {
        const [content] = await runTool(tools, call.function.name, JSON.parse(call.function.arguments || "{}"));
        messages.push({ role: "tool", tool_call_id: call.id, content });
      }
    }
  }
  throw new Error(`no answer after ${maxTurns} turns`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const elbowroom = connect(process.env["ELBOWROOM_ADDR"] ?? "127.0.0.1:50051");
  const answer = await runOpenAIAgent(
    {
      openai: new OpenAI(),
      elbowroom,
      model: process.env["MODEL"] ?? "gpt-4o",
      system: "You read files to answer questions about a folder.",
      tools: folderTools(process.argv[3] ?? "."),
    },
    process.argv[2] ?? "What does this project do?",
  );
  console.log(answer);
  elbowroom.close();
}
