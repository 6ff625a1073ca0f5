import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { HeldBody } from "../src/body.js";
import { deltaTo } from "../src/delta.js";
import { History } from "../src/history.js";
import { detectFormat, Format, InvalidRequestError, readUsage } from "../src/index.js";
import { locate } from "../src/spans.js";
import { applySplices, spliceBetween } from "../src/splice.js";

test("splices count UTF-8 bytes, and everything between them stays", () => {
  const text = Buffer.from('{"a":"héé 🚀","b":12345678901234567890}');
  const result = applySplices(text, [
    { offset: 6n, length: 5n, text: "日" },
    { offset: 19n, length: 1n, text: "c" },
  ]);
  assert.equal(result.toString(), '{"a":"日 🚀","c":12345678901234567890}');
  assert.throws(() => applySplices(text, [{ offset: 0, length: 999, text: "" }]), RangeError);
  assert.throws(
    () =>
      applySplices(text, [
        { offset: 5, length: 1, text: "" },
        { offset: 2, length: 1, text: "" },
      ]),
    RangeError,
  );
});

test("the splice between two texts leads from one to the other and cuts no character", () => {
  // é is c3 a9, è is c3 a8, ꩜ (U+AA5C) is ea a9 9c and ੜ (U+0A5C) is e0 a9 9c: their bytes overlap in part.
  const alphabet = ["a", "é", "è", "😀", "😁", "꩜", "ੜ", "日"];
  let seed = 7;
  const random = (n: number) => (seed = (seed * 48271) % 2147483647) % n;
  const word = () => Array.from({ length: random(6) }, () => alphabet[random(alphabet.length)]).join("");
  for (let i = 0; i < 20_000; i++) {
    const [from, to] = [Buffer.from(word()), Buffer.from(word())];
    const splice = spliceBetween(from, to);
    if (splice === undefined) {
      assert.ok(from.equals(to));
      continue;
    }
    assert.ok(!splice.text.includes("\uFFFD"), `${from} to ${to} cuts a character`);
    assert.equal(applySplices(from, [splice]).toString(), to.toString());
    assert.ok(splice.length <= from.length && splice.offset + splice.length <= from.length);
  }
});

test("a delta is taken from the nearer base, and none is made that is longer than the body", () => {
  const body = Buffer.from("x".repeat(1000) + "new");
  const near = Buffer.from("x".repeat(1000));
  const delta = deltaTo(body, [Buffer.from("y".repeat(900)), near]);
  assert.deepEqual(
    delta?.splices.map(({ offset, length, text }) => ({ offset, length, text })),
    [{ offset: 1000n, length: 0n, text: "new" }],
  );
  assert.equal(delta?.base.length, 32);
  assert.equal(deltaTo(body, []), undefined);
  assert.equal(deltaTo(Buffer.from("short"), [near]), undefined);
  assert.deepEqual(deltaTo(near, [near])?.splices, []);
});

test("messages and system prompt are found in any JSON text, and nowhere else", () => {
  const text = ' {"x":{"messages":[1]},"sys\\u0074em" : "a\\"]\\\\", "messages" : [ {"c":"}]"} , [2] ,null ] }';
  const places = locate(text)!;
  assert.deepEqual(
    places.messages.map(({ start, end }) => text.slice(start, end)),
    ['{"c":"}]"}', "[2]", "null"],
  );
  assert.equal(text.slice(places.system!.start, places.system!.end), '"a\\"]\\\\"');
  assert.equal(locate("[1, 2]")?.messages.length, 2);
  assert.equal(locate("[]")?.messages.length, 0);
  for (const bad of [
    "",
    "{",
    '{"messages":',
    '{"messages":3}',
    '{"messages":[1,',
    '"text"',
    "{}",
    '{"messages":[],"messages":[]}',
    '{"a":"',
    "[,]",
  ]) {
    assert.equal(locate(bad), undefined, bad);
  }
});

test("a format is told from what only one provider writes", () => {
  const anthropic = [
    { system: "s", messages: [] },
    { tools: [{ name: "a", input_schema: {} }], messages: [] },
    [{ role: "assistant", content: [{ type: "tool_use", id: "a", name: "b", input: {} }] }],
    [{ role: "user", content: [{ type: "tool_result", tool_use_id: "a" }] }],
    '[{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":""}]}]',
  ];
  const openai = [
    [{ role: "system", content: "s" }],
    [{ role: "developer", content: "s" }],
    { messages: [{ role: "tool", tool_call_id: "a", content: "" }] },
    { messages: [{ role: "assistant", content: null, tool_calls: [] }] },
    { tools: [{ type: "function", function: { name: "a" } }], messages: [{ role: "user", content: "u" }] },
    Buffer.from('{"messages":[{"role":"system","content":"s"}]}'),
  ];
  for (const body of anthropic) {
    assert.equal(detectFormat(body), Format.ANTHROPIC_MESSAGES, JSON.stringify(body));
  }
  for (const body of openai) {
    assert.equal(detectFormat(body), Format.OPENAI_CHAT, JSON.stringify(body));
  }
  for (const body of [[{ role: "user", content: "hi" }], { messages: [] }, "broken", "3"]) {
    assert.throws(
      () => detectFormat(body),
      (e) => e instanceof InvalidRequestError && /format/.test(e.advice),
    );
  }
});

test("a result comes back in the form of its body, and without splices it is the very same value", () => {
  const text = '{"a":1,"b":"é"}';
  const splices = [{ offset: 5n, length: 1n, text: "2" }] as never;
  const out = '{"a":2,"b":"é"}';
  assert.equal(new HeldBody(text).spliced(splices), out);
  assert.deepEqual(new HeldBody(JSON.parse(text) as object).spliced(splices), { a: 2, b: "é" });
  const bytes = new HeldBody(new TextEncoder().encode(text)).spliced(splices);
  assert.deepEqual(bytes, new TextEncoder().encode(out));
  assert.ok(Buffer.isBuffer(new HeldBody(Buffer.from(text)).spliced(splices)));
  const object = { a: 1 };
  assert.equal(new HeldBody(object).spliced([]), object);
});

test("what JSON or UTF-8 cannot hold is refused before anything is sent", () => {
  const refused = (body: string | Uint8Array | object) =>
    assert.throws(
      () => new HeldBody(body),
      (e) => e instanceof InvalidRequestError && e.advice !== "",
    );
  refused('"\ud83d"');
  assert.throws(() => new HeldBody(Buffer.from([0x22, 0xff, 0x22])).text, InvalidRequestError);
  refused({ a: 1n });
  refused((() => {}) as object);
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  refused(circular);
  assert.equal(new HeldBody({ a: "\ud83d" }).text, '{"a":"\\ud83d"}');
  assert.equal(new HeldBody(Buffer.from("\ufeff[]")).text, "\ufeff[]");
});

test("a body continues a turn by the caller's own list, by the list that came back, and by nothing else", () => {
  const history = History.of({
    given: '{"system":"S","messages":[1, 2, 3]}',
    returned: '{"system":"S note","messages":["sum",3]}',
    held: '{"system":"S note","messages":["sum",3]}',
  })!;
  const kept = '{"system":"S note","messages":["sum",3,4],"model":"m"}';
  assert.equal(history.continue('{"system":"S","messages":[1,2,3,4],"model":"m"}').text, kept);
  assert.equal(history.continue('{"system":"S note","messages":["sum",3,4],"model":"m"}').text, kept);
  assert.equal(history.continue('{"system":"S","messages":["sum",3,4],"model":"m"}').text, kept);
  const changed = history.continue('{"system":"T","messages":[1,2,3,4]}');
  assert.deepEqual(changed, { text: '{"system":"T","messages":["sum",3,4]}', continues: true, messages: 3 });
  for (const other of ['{"system":"S","messages":[1,2]}', '{"messages":[1,9,3,4]}', "broken", "[]"]) {
    assert.equal(history.continue(other).continues, false);
    assert.equal(history.continue(other).text, other);
  }
});

test("usage is read from both providers' objects, cached tokens included", () => {
  assert.deepEqual(
    readUsage({ input_tokens: 5, cache_read_input_tokens: 100, cache_creation_input_tokens: 20, output_tokens: 7 }),
    { promptTokens: 125, completionTokens: 7 },
  );
  assert.deepEqual(readUsage({ input_tokens: 5, cache_read_input_tokens: null, output_tokens: 1 }), {
    promptTokens: 5,
    completionTokens: 1,
  });
  assert.deepEqual(readUsage({ prompt_tokens: 9, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 8 } }), {
    promptTokens: 9,
    completionTokens: 2,
  });
  for (const nothing of [undefined, null, 3, {}, { prompt_tokens: "9" }]) {
    assert.equal(readUsage(nothing), undefined);
  }
});

test("usage with a count that the service cannot take is no usage", () => {
  assert.equal(readUsage({ prompt_tokens: 2 ** 31 - 1 })?.promptTokens, 2 ** 31 - 1);
  for (const odd of [3e9, 2 ** 31, -1, NaN, Infinity, 0.5, "9", 9n, [9], {}, true]) {
    for (const usage of [
      { prompt_tokens: odd, completion_tokens: 1 },
      { prompt_tokens: 1, completion_tokens: odd },
      { input_tokens: odd, output_tokens: 1 },
      { input_tokens: 1, output_tokens: odd },
      { input_tokens: 1, cache_read_input_tokens: odd, output_tokens: 1 },
    ]) {
      assert.equal(readUsage(usage), undefined, inspect(usage));
    }
  }
  assert.equal(readUsage({ input_tokens: 2e9, cache_read_input_tokens: 2e9 }), undefined);
});
