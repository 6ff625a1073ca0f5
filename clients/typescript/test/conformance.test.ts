/** Runs the cases of ../conformance against a real server: by the generated stub, and by the client's own calls. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type DescMessage, fromJson, type JsonValue, type MessageShape, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  applySplices,
  type Client,
  type CompressRequest,
  CompressResponseSchema,
  connect,
  ContextService,
  ElbowroomError,
  InvalidRequestError,
  type PrepareRequest,
  RefusedError,
} from "../src/index.js";
import { typedError } from "../src/errors.js";
import { noServer, type Server, skip, startServer } from "./server.js";

interface Case {
  name: string;
  call: string;
  before?: { call: string; request: Record<string, JsonValue> }[];
  carry?: string[];
  request: Record<string, JsonValue>;
  expect: {
    response?: JsonValue;
    json?: string;
    error?: { code: string; reason?: string; index?: number; field?: string; byte_offset?: number };
  };
}

const folder = process.env["ELBOWROOM_CONFORMANCE"] ?? join(import.meta.dirname, "../../../conformance");
const cases = existsSync(folder)
  ? readdirSync(folder)
      .filter((file) => file.endsWith(".json"))
      .sort()
      .flatMap((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as Case[])
  : [];

let server: Server | undefined;
let client: Client;

before(async () => {
  if (noServer === undefined) {
    server = await startServer();
    client = connect(server.address);
  }
});

after(async () => {
  client?.close();
  await server?.stop();
});

test("there are conformance cases", () => {
  assert.notEqual(cases.length, 0, `no case in ${folder}`);
});

for (const item of cases) {
  test(item.name, async (t) => {
    if (noServer !== undefined) {
      return skip(t, noServer);
    }
    const carried = await sendBefore(item);
    const request = { ...item.request, ...carried };
    const answer = await byStub(item.call, request).catch((e: unknown) => e);
    if (item.expect.error !== undefined) {
      checkStatus(answer, item.expect.error);
    } else if (answer instanceof Error) {
      throw answer;
    } else {
      const { json, text } = answer as Answer;
      if (item.expect.response !== undefined) {
        assertSubset(item.expect.response, json, "response");
      }
      if (item.expect.json !== undefined) {
        assert.equal(text, item.expect.json);
      }
    }
    const own = await byClient(item.call, request).catch((e: unknown) => e);
    if (own === undefined) {
      return; // no call on a native body
    }
    if (item.expect.error !== undefined) {
      checkTyped(own, item.expect.error);
    } else if (own instanceof Error) {
      throw own;
    } else if (item.call !== "count_tokens") {
      assert.equal(own, item.expect.json ?? (answer as Answer).text);
    }
  });
}

interface Answer {
  /** The response as protobuf JSON. */
  json: JsonValue;
  /** The resulting native body, where there is one. */
  text: string | undefined;
}

async function sendBefore({ before = [], carry = [] }: Case): Promise<Record<string, JsonValue>> {
  let last: JsonValue = {};
  for (const { call, request } of before) {
    last = (await byStub(call, request)).json;
  }
  return Object.fromEntries(carry.map((name) => [name, (last as Record<string, JsonValue>)[name]!]));
}

function methodOf(call: string) {
  const name = call.replace(/(^|_)([a-z])/g, (_, __, letter: string) => letter.toUpperCase());
  const method = ContextService.methods.find((m) => m.name === name);
  assert.ok(method, `there is no call ${call}`);
  return method;
}

async function byStub(call: string, request: JsonValue): Promise<Answer> {
  const method = methodOf(call);
  const message = fromJson(method.input as DescMessage, request);
  let response: MessageShape<DescMessage> | undefined;
  if (call === "stream_compress") {
    for await (const { event } of client.stub.streamCompress(message as never)) {
      response = event.case === "result" ? event.value : undefined;
    }
    assert.ok(response, "the last event is the result");
  } else {
    const stub = client.stub as unknown as Record<string, (m: unknown) => Promise<MessageShape<DescMessage>>>;
    response = await stub[method.localName]!(message);
  }
  const schema: DescMessage = call === "stream_compress" ? CompressResponseSchema : method.output;
  return { json: toJson(schema, response, { useProtoFieldName: true }), text: textOf(message, response) };
}

/** The native body that a response gives for a request, full or by its splices. */
function textOf(request: object, response: object): string | undefined {
  const { conversation, request: inner } = request as Partial<CompressRequest> & { request?: CompressRequest };
  const asked = (inner?.conversation ?? conversation)?.native?.body;
  const { conversation: full, splices } = response as Partial<Pick<PrepareRequest, "conversation">> & {
    splices?: never[];
  };
  const given = full?.native?.body;
  if (given?.case === "json") {
    return given.value;
  }
  if (given?.case === "jsonBytes") {
    return Buffer.from(given.value).toString();
  }
  if (splices === undefined || asked === undefined || (asked.case !== "json" && asked.case !== "jsonBytes")) {
    return undefined;
  }
  return applySplices(Buffer.from(asked.value as string), splices).toString();
}

/** The text that the client's own call makes of a native body. Undefined when there is no such call. */
async function byClient(call: string, request: JsonValue): Promise<string | undefined> {
  const whole = fromJson(methodOf(call).input as DescMessage, request) as unknown as Record<string, unknown>;
  const base = (call === "stream_compress" ? whole["request"] : whole) as unknown as CompressRequest | undefined;
  const native = base?.conversation?.native;
  if (base?.conversation?.messages.length || base?.conversation?.tools.length) {
    return undefined; // the calls take one form
  }
  if (native === undefined || (native.body.case !== "json" && native.body.case !== "jsonBytes")) {
    return undefined;
  }
  const { conversation: _, ...fields } = base!;
  // Members that are not set are left out, as a caller leaves them out.
  const options = { ...(fields as object), format: native.format };
  const body: string | Uint8Array = native.body.value;
  const text = (result: string | Uint8Array) => Buffer.from(result as string).toString();
  switch (call) {
    case "compress":
      return text((await client.compress(body, options)).body);
    case "apply_cache_control":
      return text((await client.applyCacheControl(body, options)).body);
    case "prepare":
      return text((await client.prepare(body, options)).body);
    case "count_tokens":
      return String((await client.countTokens(body, options as never)).tokens);
    case "stream_compress":
      for await (const event of client.streamCompress(body, options)) {
        if (event.type === "result") {
          return text(event.result.body);
        }
      }
      throw new Error("the stream ended without a result");
    default:
      return undefined;
  }
}

function checkStatus(thrown: unknown, expected: NonNullable<Case["expect"]["error"]>): void {
  assert.ok(thrown instanceof ConnectError, `an error was expected, not ${JSON.stringify(thrown)}`);
  assert.equal(Code[thrown.code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase(), expected.code);
  checkTyped(typedError(thrown), expected);
}

function checkTyped(thrown: unknown, expected: NonNullable<Case["expect"]["error"]>): void {
  assert.ok(thrown instanceof ElbowroomError, `an error was expected, not ${String(thrown)}`);
  assert.equal(thrown.code, expected.code);
  const actual = {
    code: thrown.code,
    ...(thrown instanceof InvalidRequestError || thrown instanceof RefusedError
      ? { reason: thrown.reason, index: thrown.index }
      : {}),
    ...(thrown instanceof InvalidRequestError ? { field: thrown.field, byte_offset: thrown.byteOffset } : {}),
  };
  assertSubset(expected as unknown as JsonValue, actual as unknown as JsonValue, "error");
}

/** Compares as the conformance README says: objects by the members given, defaults equal to what is left out. */
function assertSubset(expected: JsonValue, actual: JsonValue | undefined, path: string): void {
  if (Array.isArray(expected)) {
    const list = Array.isArray(actual) ? actual : [];
    assert.equal(list.length, expected.length, `${path} has ${list.length} elements`);
    expected.forEach((item, i) => assertSubset(item, list[i], `${path}[${i}]`));
  } else if (typeof expected === "object" && expected !== null) {
    const object = typeof actual === "object" && actual !== null && !Array.isArray(actual) ? actual : {};
    for (const [name, value] of Object.entries(expected)) {
      assertSubset(value, object[name], `${path}.${name}`);
    }
  } else if (!(actual === undefined && isDefault(expected))) {
    assert.equal(actual, expected, `${path} is ${JSON.stringify(actual)}`);
  }
}

function isDefault(value: JsonValue): boolean {
  return (
    value === 0 ||
    value === false ||
    value === "" ||
    value === null ||
    value === "0" ||
    (typeof value === "string" && value.endsWith("_UNSPECIFIED"))
  );
}
