/** Two tools over a folder, as an agent would have them. */

import { readdir, readFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";

/** A tool: what the model is told, and what it does. */
export interface AgentTool {
  name: string;
  description: string;
  /** JSON schema of the arguments. */
  parameters: { type: "object"; properties: Record<string, unknown>; required: string[] };
  run(args: Record<string, unknown>): Promise<string>;
}

/** list_files and read_file, within a folder. */
export function folderTools(root: string): AgentTool[] {
  const within = (path: unknown): string => {
    const full = resolve(root, String(path));
    if (relative(resolve(root), full).startsWith("..")) {
      throw new Error(`${String(path)} is outside of the folder`);
    }
    return full;
  };
  return [
    {
      name: "list_files",
      description: "Lists the files of the folder.",
      parameters: { type: "object", properties: {}, required: [] },
      run: async () => (await readdir(root, { recursive: true })).sort().join("\n"),
    },
    {
      name: "read_file",
      description: "Returns a file's text.",
      parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      run: ({ path }) => readFile(join(within(path)), "utf8"),
    },
  ];
}

/** Runs a call. What fails is told to the model, which may do better. */
export async function runTool(tools: readonly AgentTool[], name: string, args: unknown): Promise<[string, boolean]> {
  try {
    const tool = tools.find((t) => t.name === name);
    if (tool === undefined) {
      return [`there is no tool ${name}`, false];
    }
    return [(await tool.run((args ?? {}) as Record<string, unknown>)) || "(empty)", true];
  } catch (error) {
    return [String(error), false];
  }
}
