import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { inspect } from "node:util";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  applySplices,
  type Client,
  connect,
  InvalidRequestError,
  Outcome,
  type PrepareRequest,
  UnavailableError,
} from "../src/index.js";
import { type Double, errorInfo, startDouble } from "./double.js";
import { noServer, type Server, skip, startServer } from "./server.js";

/** A service that holds bodies, and appends a note to each message list that it compresses on demand. */
class Service {
  requests: PrepareRequest[] = [];
  bodies: string[] = [];
  held = new Map<string, string>();
  forgetful = false;
  stateless = false;
  failing: ConnectError | undefined;
  /** What becomes of the next body. */
  splices: (text: string) => { offset: bigint; length: bigint; text: string }[] = () => [];
  outcome = Outcome.BELOW_THRESHOLD;

  prepare = (request: PrepareRequest) => {
    this.requests.push(request);
    if (this.failing !== undefined) {
      throw this.failing;
    }
    const { body } = request.conversation!.native!;
    let text: string;
    if (body.case === "delta") {
      const base = this.held.get(Buffer.from(body.value.base).toString("hex"));
      if (base === undefined || this.forgetful) {
        const error = new ConnectError("not held", Code.FailedPrecondition);
        error.details = [errorInfo("BASE_UNKNOWN")];
        throw error;
      }
      text = applySplices(Buffer.from(base), body.value.splices).toString();
    } else {
      assert.equal(body.case, "jsonBytes");
      text = Buffer.from(body.value as Uint8Array).toString();
    }
    this.bodies.push(text);
    const splices = this.splices(text);
    for (const hold of [text, applySplices(Buffer.from(text), splices).toString()]) {
      this.held.set(createHash("sha256").update(hold).digest("hex"), hold);
    }
    return {
      outcome: this.outcome,
      splices,
      compressionState: this.stateless ? new Uint8Array() : Buffer.from(`state ${this.requests.length}`),
      cacheState: Buffer.from(`cache ${this.requests.length}`),
    };
  };
}

async function withService(): Promise<{ service: Service; client: Client; double: Double }> {
  const service = new Service();
  const double = await startDouble({ prepare: service.prepare });
  const client = connect(double.address, { retry: { attempts: 1 } });
  return { service, client, double };
}

const say = (role: string, content: string) => ({ role, content });
const long = "long ".repeat(200);

/** Replaces the middle of three messages. */
function compressing(text: string) {
  const start = text.indexOf('{"role":"assistant"');
  const end = text.indexOf("}", start) + 1;
  const [offset, length] = [Buffer.byteLength(text.slice(0, start)), Buffer.byteLength(text.slice(start, end))];
  return [{ offset: BigInt(offset), length: BigInt(length), text: '{"role":"assistant","content":"sum \\u00e9"}' }];
}

test("the second request is a delta that gives the whole body, and carries state and usage", async (t) => {
  const { service, client, double } = await withService();
  t.after(() => double.stop());
  t.after(() => client.close());
  const conversation = client.conversation({ format: "openai_chat", model: "m", strategy: "anchored", ttl: "1h" });
  const messages = [say("system", "é"), say("user", long)];
  assert.equal(await conversation.beforeRequest(messages), messages);
  conversation.afterResponse({ prompt_tokens: 100, completion_tokens: 5 });
  messages.push(say("assistant", "ok 🚀"), say("user", "more"));
  await conversation.beforeRequest(messages);
  assert.deepEqual(
    service.requests.map((r) => r.conversation!.native!.body.case),
    ["jsonBytes", "delta"],
  );
  assert.deepEqual(service.bodies, [JSON.stringify(messages.slice(0, 2)), JSON.stringify(messages)]);
  const [first, second] = service.requests as [PrepareRequest, PrepareRequest];
  assert.equal(first.conversation!.native!.keep, true);
  assert.equal(Buffer.from(second.compressionState).toString(), "state 1");
  assert.equal(Buffer.from(second.cacheState).toString(), "cache 1");
  assert.deepEqual(
    [second.lastUsage?.promptTokens, second.lastUsage?.completionTokens, second.lastUsage?.messageCount],
    [100, 5, 2],
  );
  assert.deepEqual([second.model, second.strategy, second.ttl, second.sessionId], ["m", 5, 2, conversation.sessionId]);
  assert.ok(conversation.bytesSent < 2 * long.length);
  assert.ok(conversation.bytesReceived > 0);
});

test("odd usage is passed over, and the next turn works", async (t) => {
  const { service, client, double } = await withService();
  t.after(() => double.stop());
  t.after(() => client.close());
  const conversation = client.conversation({ format: "openai_chat" });
  const messages = [say("user", long)];
  await conversation.beforeRequest(messages);
  for (const odd of [3e9, -1, NaN, "9", {}]) {
    for (const usage of [undefined, odd, { prompt_tokens: odd }, { input_tokens: 1, output_tokens: odd }]) {
      conversation.afterResponse(usage);
      messages.push(say("user", "more"));
      await conversation.beforeRequest(messages);
      assert.equal(service.requests.at(-1)!.lastUsage, undefined, inspect(usage));
    }
  }
});

test("a server that forgot the base gets the body in full, once, unseen by the caller", async (t) => {
  const { service, client, double } = await withService();
  t.after(() => double.stop());
  t.after(() => client.close());
  const conversation = client.conversation({ format: "openai_chat" });
  const messages = [say("user", long)];
  await conversation.beforeRequest(messages);
  messages.push(say("assistant", "a"), say("user", "b"));
  service.forgetful = true;
  await conversation.beforeRequest(messages);
  assert.deepEqual(
    service.requests.map((r) => r.conversation!.native!.body.case),
    ["jsonBytes", "delta", "jsonBytes"],
  );
  assert.equal(service.bodies.at(-1), JSON.stringify(messages));
  assert.equal(conversation.lastError, undefined);
});

for (const keeps of ["its own list", "the list that came back"]) {
  for (const form of ["objects", "text"]) {
    test(`compressed history stays, byte for byte, for a loop that keeps ${keeps} as ${form}`, async (t) => {
      const { service, client, double } = await withService();
      t.after(() => double.stop());
      t.after(() => client.close());
      const conversation = client.conversation({ format: "openai_chat" });
      let messages = [say("user", "q"), say("assistant", long), say("user", "é")];
      const turn = async (): Promise<string> => {
        if (form === "text") {
          const text = await conversation.beforeRequest(JSON.stringify(messages));
          messages = keeps === "its own list" ? messages : (JSON.parse(text) as typeof messages);
          return text;
        }
        const body = await conversation.beforeRequest(messages);
        messages = keeps === "its own list" ? messages : body;
        return JSON.stringify(body);
      };
      service.splices = compressing;
      service.outcome = Outcome.COMPRESSED;
      const first = await turn();
      assert.match(first, /sum/);
      service.splices = () => [];
      service.outcome = Outcome.BELOW_THRESHOLD;
      let previous = first;
      for (let i = 0; i < 3; i++) {
        messages = [...messages, say("assistant", `a${i}`), say("user", `b${i}`)];
        const text = await turn();
        // A loop that parses and writes the text that came back writes é for its escape: that begins anew, once.
        if (!(form === "text" && keeps === "the list that came back" && i === 0)) {
          assert.equal(text.startsWith(previous.slice(0, -1)), true, `${text}\ndoes not begin with\n${previous}`);
        }
        assert.equal(text.includes(long), false);
        previous = text;
      }
      assert.equal(service.requests.at(-1)!.conversation!.native!.body.case, "delta");
    });
  }
}

test("breakpoints of a turn are not sent back with the next one, whichever list the loop keeps", async (t) => {
  const { service, client, double } = await withService();
  t.after(() => double.stop());
  t.after(() => client.close());
  service.splices = (text) => [
    { offset: BigInt(text.indexOf("}")), length: 0n, text: ',"cache_control":{"type":"ephemeral"}' },
  ];
  const given = [say("user", long)];
  const next = [say("assistant", "a"), say("user", "b")];
  for (const keeps of ["given", "returned"]) {
    const conversation = client.conversation({ format: "openai_chat" });
    const returned = await conversation.beforeRequest(given);
    assert.ok("cache_control" in returned[0]!);
    await conversation.beforeRequest([...(keeps === "given" ? given : returned), ...next]);
    assert.equal(service.bodies.at(-1), JSON.stringify([...given, ...next]));
    assert.equal(service.requests.at(-1)!.conversation!.native!.body.case, "delta");
  }
});

test("the state of a compression is given back until there is another", async (t) => {
  const { service, client, double } = await withService();
  t.after(() => double.stop());
  t.after(() => client.close());
  const conversation = client.conversation({ format: "openai_chat" });
  const messages = [say("user", "a")];
  const states: string[] = [];
  for (let turn = 0; turn < 3; turn++) {
    await conversation.beforeRequest(messages);
    states.push(Buffer.from(service.requests.at(-1)!.compressionState).toString());
    messages.push(say("assistant", "b"), say("user", "c"));
    service.stateless = true;
  }
  assert.deepEqual(states, ["", "state 1", "state 1"]);
});

test("another list begins anew: no history, no state, no usage", async (t) => {
  const { service, client, double } = await withService();
  t.after(() => double.stop());
  t.after(() => client.close());
  const conversation = client.conversation({ format: "openai_chat" });
  await conversation.beforeRequest([say("user", "a")]);
  conversation.afterResponse({ prompt_tokens: 1, completion_tokens: 1 });
  await conversation.beforeRequest([say("user", "b"), say("user", "c")]);
  const { compressionState, cacheState, lastUsage } = service.requests.at(-1)!;
  assert.deepEqual([compressionState.length, cacheState.length, lastUsage], [0, 0, undefined]);
});

test("what fails throws, and leaves the conversation as it was", async (t) => {
  const { service, client, double } = await withService();
  t.after(() => double.stop());
  t.after(() => client.close());
  const conversation = client.conversation({ format: "openai_chat" });
  const messages = [say("user", long)];
  await conversation.beforeRequest(messages);
  messages.push(say("assistant", "a"), say("user", "b"));
  service.failing = new ConnectError("down", Code.Unavailable);
  await assert.rejects(conversation.beforeRequest(messages), UnavailableError);
  assert.ok(conversation.lastError instanceof UnavailableError);
  await assert.rejects(conversation.beforeRequest([say("user", "another list")]), UnavailableError);
  service.failing = undefined;
  await conversation.beforeRequest(messages);
  assert.equal(conversation.lastError, undefined);
  assert.equal(Buffer.from(service.requests.at(-1)!.compressionState).toString(), "state 1");
  await assert.rejects(client.conversation().beforeRequest([say("user", "?")]), InvalidRequestError);
});

test("failOpen: the caller's body where nothing was compressed, else the compressed history with the new messages", async (t) => {
  const { service, client, double } = await withService();
  t.after(() => double.stop());
  t.after(() => client.close());
  const conversation = client.conversation({ format: "openai_chat", failOpen: true });
  service.failing = new ConnectError("no", Code.Unavailable);
  const messages = [say("user", "q"), say("assistant", long), say("user", "r")];
  assert.equal(await conversation.beforeRequest(messages), messages);
  assert.ok(conversation.lastError instanceof UnavailableError);

  service.failing = undefined;
  service.splices = compressing;
  service.outcome = Outcome.COMPRESSED;
  const before = await conversation.beforeRequest(messages);
  assert.equal(conversation.lastError, undefined);

  service.failing = new ConnectError("no", Code.DeadlineExceeded);
  messages.push(say("assistant", "s"), say("user", "t"));
  const open = await conversation.beforeRequest(messages);
  assert.deepEqual(open, [...before, ...messages.slice(3)]);
  conversation.afterResponse({ prompt_tokens: 7, completion_tokens: 1 });

  // A body with marks of its own, which would be too many together, goes as it is.
  const marked = messages.map((m) => ({ ...m }));
  marked.push(
    ...Array.from({ length: 5 }, (_, i) => ({ ...say("user", `m${i}`), cache_control: { type: "ephemeral" } })),
  );
  assert.equal(await conversation.beforeRequest(marked), marked);

  service.failing = undefined;
  service.splices = () => [];
  service.outcome = Outcome.BELOW_THRESHOLD;
  messages.push(say("assistant", "u"), say("user", "v"));
  assert.deepEqual(await conversation.beforeRequest(messages), [...before, ...messages.slice(3)]);
  const unreadable = "[half a surrogate \ud83d]";
  assert.equal(await conversation.beforeRequest(unreadable), unreadable);
  assert.ok((conversation.lastError as unknown) instanceof InvalidRequestError);
});

let server: Server | undefined;
before(async () => {
  server = noServer === undefined ? await startServer() : undefined;
});
after(() => server?.stop());

test("against the service: a growing Anthropic loop is compressed when it should be, and stays stable in between", async (t) => {
  if (server === undefined) {
    return skip(t, noServer!);
  }
  const client = connect(server.address);
  t.after(() => client.close());
  const conversation = client.conversation({
    contextWindow: 24_000,
    policy: { protectLastN: 4 },
    strategy: "anchored",
    model: "claude-sonnet-4-5",
  });
  const messages: { role: string; content: unknown }[] = [say("user", "Find the bug.")];
  const outcomes: string[] = [];
  let previous: string[] = [];
  for (let turn = 0; turn < 40; turn++) {
    const body = await conversation.beforeRequest({ system: "You are careful.", messages, max_tokens: 1000 });
    outcomes.push(Outcome[conversation.lastOutcome!]);
    const bare = body.messages.map(unmarked);
    if (conversation.lastOutcome !== Outcome.COMPRESSED) {
      assert.deepEqual(bare.slice(0, previous.length), previous, `turn ${turn}`);
      assert.match(conversation.lastReport!.judgedBy, turn === 0 ? /^count$/ : /^usage$/);
    }
    previous = bare;
    const { tokens } = await client.countTokens(body, { model: "claude-sonnet-4-5", format: "anthropic_messages" });
    conversation.afterResponse({ input_tokens: 10, cache_read_input_tokens: tokens - 10, output_tokens: 30 });
    const id = `toolu_${turn}`;
    messages.push(
      { role: "assistant", content: [{ type: "tool_use", id, name: "read", input: { path: `${turn}.ts` } }] },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: id, content: `line ${turn} of the file\n`.repeat(120) }],
      },
    );
  }
  const compressions = outcomes.filter((outcome) => outcome === "COMPRESSED").length;
  assert.ok(compressions >= 2, outcomes.join(" "));
  assert.ok(compressions <= 10, outcomes.join(" "));
});

/** A message without its breakpoints, and a list of one text block as its string. */
function unmarked(message: { role: string; content: unknown }): string {
  const copy = JSON.parse(
    JSON.stringify(message, (key, value: unknown) => (key === "cache_control" ? undefined : value)),
  ) as {
    content: unknown;
  };
  const blocks = copy.content as { type: string; text: string }[];
  if (Array.isArray(blocks) && blocks.length === 1 && blocks[0]!.type === "text") {
    copy.content = blocks[0]!.text;
  }
  return JSON.stringify(copy);
}
