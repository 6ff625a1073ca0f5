/** Reads what a provider reported for a request. */

/** Tokens of a request and its reply. */
export interface ReportedUsage {
  /** The whole prompt, what was read from or written to a cache included. */
  promptTokens: number;
  /** The reply. */
  completionTokens: number;
}

/** The largest count that the service takes: its fields are int32. */
const maxTokens = 2 ** 31 - 1;

/**
 * Reads the usage object of Anthropic (input_tokens, cache_read_input_tokens, cache_creation_input_tokens,
 * output_tokens) or of OpenAI (prompt_tokens, completion_tokens). Undefined where it is neither, and where a count is
 * nothing that tokens can be: no whole number, negative, or more than the service takes.
 */
export function readUsage(usage: unknown): ReportedUsage | undefined {
  if (typeof usage !== "object" || usage === null) {
    return undefined;
  }
  const counts = usage as Record<string, unknown>;
  if (isGiven(counts["input_tokens"])) {
    const prompt = [counts["input_tokens"], counts["cache_read_input_tokens"], counts["cache_creation_input_tokens"]];
    return usageOf(prompt, counts["output_tokens"]);
  }
  return isGiven(counts["prompt_tokens"]) ? usageOf([counts["prompt_tokens"]], counts["completion_tokens"]) : undefined;
}

function usageOf(prompt: unknown[], completion: unknown): ReportedUsage | undefined {
  const promptTokens = sum(prompt);
  const completionTokens = sum([completion]);
  return promptTokens === undefined || completionTokens === undefined ? undefined : { promptTokens, completionTokens };
}

/** Adds counts, those that are missing as 0. Undefined where one of them, or the sum, is no count. */
function sum(counts: unknown[]): number | undefined {
  let total = 0;
  for (const count of counts.filter(isGiven)) {
    if (typeof count !== "number" || !Number.isInteger(count) || count < 0) {
      return undefined;
    }
    total += count;
  }
  return total <= maxTokens ? total : undefined;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
