/** Reads what a provider reported for a request. */

/** Tokens of a request and its reply. */
export interface ReportedUsage {
  /** The whole prompt, what was read from or written to a cache included. */
  promptTokens: number;
  /** The reply. */
  completionTokens: number;
}

/**
 * Reads the usage object of Anthropic (input_tokens, cache_read_input_tokens, cache_creation_input_tokens,
 * output_tokens) or of OpenAI (prompt_tokens, completion_tokens). Undefined where it is neither.
 */
export function readUsage(usage: unknown): ReportedUsage | undefined {
  if (typeof usage !== "object" || usage === null) {
    return undefined;
  }
  const number = (name: string): number | undefined => {
    const value = (usage as Record<string, unknown>)[name];
    return typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.round(value) : undefined;
  };
  const input = number("input_tokens");
  if (input !== undefined) {
    const cached = (number("cache_read_input_tokens") ?? 0) + (number("cache_creation_input_tokens") ?? 0);
    return { promptTokens: input + cached, completionTokens: number("output_tokens") ?? 0 };
  }
  const prompt = number("prompt_tokens");
  return prompt === undefined
    ? undefined
    : { promptTokens: prompt, completionTokens: number("completion_tokens") ?? 0 };
}
