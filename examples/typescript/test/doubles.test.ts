/** The doubles complain about each fault they are there for. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { AnthropicDouble } from "./anthropic-double.js";
import { OpenAIDouble } from "./openai-double.js";
import type { Record_ } from "./wire.js";

const mark = { cache_control: { type: "ephemeral" } };
const hour = { cache_control: { type: "ephemeral", ttl: "1h" } };

test("Anthropic's double", () => {
  const thinking = { type: "thinking", thinking: "hm", signature: "s1" };
  const call = { type: "tool_use", id: "t1", name: "a", input: {} };
  const result = { type: "tool_result", tool_use_id: "t1", content: "r" };
  const user = (content: unknown) => ({ role: "user", content });
  const assistant = (content: unknown) => ({ role: "assistant", content });
  const ask = [user("q")];
  const loop = [...ask, assistant([thinking, call]), user([result])];
  const text = (extra: object = {}) => ({ type: "text", text: "x", ...extra });

  const complaints = (messages: object[], rest: object = {}, bound = false): string => {
    const double = new AnthropicDouble({ next: () => [thinking, call], bound });
    const body = (list: object[], more: object = {}) =>
      ({ model: "m", max_tokens: 1, messages: list, ...more }) as Record_;
    double.answer(body(ask, rest));
    return double.check(body(messages, rest), { "x-api-key": "k", "anthropic-version": "2023-06-01" }).join("\n");
  };
  const on = { thinking: { type: "enabled" } };
  assert.equal(complaints(ask), "");
  assert.equal(complaints(loop, on), "");
  assert.equal(complaints(loop, {}, true), "");
  assert.equal(complaints([user([text(hour), text(mark), text(mark), text(mark)])]), "");
  assert.match(complaints([...ask, assistant([thinking, call]), user("no result")]), /results {2}for calls t1/);
  assert.match(complaints([...ask, user([result])]), /results t1 for calls/);
  assert.match(complaints([...ask, assistant([thinking, call]), user([text(), result])]), /before the tool results/);
  assert.match(complaints([...loop, ...loop]), /unique/);
  assert.match(complaints([assistant("a"), ...ask]), /begin and end/);
  assert.match(complaints([{ role: "system", content: "s" }, ...ask]), /role system/);
  assert.match(complaints([user("")]), /empty/);
  assert.match(complaints([user([{ type: "text", text: " " }])]), /empty/);
  assert.match(complaints([user(Array.from({ length: 5 }, () => text(mark)))]), /at most 4/);
  assert.match(complaints([user([text(mark), text(hour)])]), /1h stands behind/);
  assert.match(complaints([user([text({ cache_control: { type: "forever" } })])]), /unknown form/);
  assert.match(complaints([...ask, assistant([{ ...thinking, thinking: "hm!" }, call]), user([result])]), /modified/);
  assert.match(complaints([...ask, assistant([{ ...thinking, ...mark }, call]), user([result])]), /breakpoint/);
  assert.match(complaints([...ask, assistant([call]), user([result])], on), /lost its thinking/);
  assert.equal(complaints([...ask, assistant([call]), user([result])], on, true), "");
  assert.match(complaints([user("other"), ...loop.slice(1)], {}, true), /bound/);
});

test("OpenAI's double", () => {
  const call = { id: "c1", type: "function", function: { name: "a", arguments: "{}" } };
  const user = { role: "user", content: "q" };
  const said = { role: "assistant", content: null, reasoning_content: "why", tool_calls: [call] };
  const result = { role: "tool", tool_call_id: "c1", content: "r" };
  const complaints = (messages: object[], marks = false): string => {
    const double = new OpenAIDouble({ next: () => said as never, marks });
    double.answer({ model: "m", messages: [user] });
    return double.check({ model: "m", messages } as Record_, { authorization: "Bearer k" }).join("\n");
  };
  assert.equal(complaints([user]), "");
  assert.equal(complaints([user, said, result]), "");
  assert.equal(complaints([user, said, result, { role: "assistant", content: "done" }, user]), "");
  assert.match(complaints([user, said]), /without a result at the end/);
  assert.match(complaints([user, said, user]), /calls without a result/);
  assert.match(complaints([user, result]), /result without a call/);
  assert.match(complaints([user, said, result, result]), /result without a call/);
  assert.match(complaints([user, { role: "assistant", content: null }]), /no content/);
  assert.match(complaints([{ role: "exit", content: "x" }]), /role exit/);
  assert.match(complaints([user, { ...said, reasoning_content: "other" }, result]), /reasoning_content/);
  assert.match(complaints([user, { role: "assistant", content: "x", tool_calls: [] }]), /empty/);
  const marked = { role: "user", content: [{ type: "text", text: "q", ...mark }] };
  assert.match(complaints([marked]), /takes none/);
  assert.equal(complaints([marked], true), "");
  assert.match(complaints([marked, marked, marked, marked, marked], true), /at most 4/);
});

test("both see whether a request begins with the one before", () => {
  const double = new OpenAIDouble({ next: () => ({ content: "a" }), marks: true });
  const say = (...contents: unknown[]) =>
    double.answer({ model: "m", messages: contents.map((content) => ({ role: "user", content })) } as Record_);
  say("a");
  say([{ type: "text", text: "a", ...mark }], "b");
  say("a", "B", "c");
  assert.deepEqual(
    double.seen.map((seen) => seen.extends),
    [true, true, false],
  );
});
