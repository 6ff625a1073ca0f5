import assert from "node:assert/strict";
import * as net from "node:net";
import { test } from "node:test";
import { Code, ConnectError } from "@connectrpc/connect";
import { create } from "@bufbuild/protobuf";
import {
  CompressResponseSchema,
  connect,
  DeadlineExceededError,
  ElbowroomError,
  InternalError,
  InvalidRequestError,
  Outcome,
  OverloadedError,
  PermissionDeniedError,
  RefusedError,
  UnauthenticatedError,
  UnavailableError,
} from "../src/index.js";
import { badRequest, errorInfo, retryInfo, startDouble } from "./double.js";
import { noServer, skip, startBinary } from "./server.js";

const body = [
  { role: "system", content: "s" },
  { role: "user", content: "u" },
];

function failing(code: Code, message: string, ...details: ConnectError["details"]) {
  return () => {
    const error = new ConnectError(message, code);
    error.details = details;
    throw error;
  };
}

async function errorOf(call: Promise<unknown>): Promise<ElbowroomError> {
  const thrown: unknown = await call.then(
    () => assert.fail("the call succeeded"),
    (e: unknown) => e,
  );
  assert.ok(thrown instanceof ElbowroomError, String(thrown));
  assert.match(thrown.advice, /^[A-Z].*\.$/, "advice is a sentence");
  return thrown;
}

test("each status becomes its error, with what the details say", async (t) => {
  const cases: [() => never, (e: ElbowroomError) => void][] = [
    [
      failing(
        Code.InvalidArgument,
        "bad",
        badRequest("conversation.native.json", "broken"),
        errorInfo("INVALID_CONVERSATION", { byte_offset: "17", message_index: "3" }),
      ),
      (e) => {
        assert.ok(e instanceof InvalidRequestError);
        assert.deepEqual(
          [e.code, e.message, e.field, e.reason, e.byteOffset, e.index],
          ["INVALID_ARGUMENT", "bad", "conversation.native.json", "INVALID_CONVERSATION", 17, 3],
        );
      },
    ],
    [
      failing(Code.FailedPrecondition, "no", errorInfo("TOO_MANY_MARKS", { message_index: "2" })),
      (e) => {
        assert.ok(e instanceof RefusedError);
        assert.deepEqual([e.reason, e.index], ["TOO_MANY_MARKS", 2]);
      },
    ],
    [
      failing(Code.ResourceExhausted, "later", retryInfo(1250)),
      (e) => {
        assert.ok(e instanceof OverloadedError);
        assert.equal(e.retryAfterMs, 1250);
      },
    ],
    [
      failing(Code.Unavailable, "draining", retryInfo(5000)),
      (e) => {
        assert.ok(e instanceof UnavailableError);
        assert.equal(e.retryAfterMs, 5000);
      },
    ],
    [failing(Code.Unauthenticated, "who"), (e) => assert.ok(e instanceof UnauthenticatedError)],
    [failing(Code.PermissionDenied, "not you"), (e) => assert.ok(e instanceof PermissionDeniedError)],
    [
      failing(Code.Internal, "internal error, logged as 00ff12ab00ff12ab"),
      (e) => {
        assert.ok(e instanceof InternalError);
        assert.equal(e.errorId, "00ff12ab00ff12ab");
      },
    ],
    [failing(Code.NotFound, "?"), (e) => assert.equal(e.code, "NOT_FOUND")],
    [
      failing(Code.InvalidArgument, "odd", { type: "google.rpc.ErrorInfo", value: new Uint8Array([0xff, 0xff]) }),
      (e) => assert.ok(e instanceof InvalidRequestError && e.reason === ""),
    ],
  ];
  for (const [compress, check] of cases) {
    const double = await startDouble({ compress });
    const client = connect(double.address);
    t.after(() => client.close());
    check(await errorOf(client.compress(body)));
    await double.stop();
  }
});

test("a server that is down: an error that says so, and the first call after it came back works", async (t) => {
  const port = await freePort();
  const client = connect(`127.0.0.1:${port}`, { retry: { initialBackoffMs: 1, maxBackoffMs: 2 } });
  t.after(() => client.close());
  const down = await errorOf(client.compress(body));
  assert.ok(down instanceof UnavailableError);
  assert.match(down.advice, /server runs/);
  assert.match(down.message, /ECONNREFUSED/);
  if (noServer !== undefined || !process.env["ELBOWROOM_BIN"]) {
    return skip(t, noServer ?? "ELBOWROOM_BIN is not set");
  }
  for (let i = 0; i < 2; i++) {
    const server = await startBinary(`127.0.0.1:${port}`);
    try {
      assert.equal((await client.compress(body)).outcome, Outcome.BELOW_THRESHOLD);
    } finally {
      await server.stop();
    }
  }
});

test("a connection that breaks in the middle of a call is UNAVAILABLE, and the call is tried again", async (t) => {
  let connections = 0;
  const server = net.createServer((socket) => {
    connections++;
    socket.once("data", () => socket.resetAndDestroy());
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const client = connect(`127.0.0.1:${(server.address() as net.AddressInfo).port}`, {
    retry: { initialBackoffMs: 1, maxBackoffMs: 2 },
  });
  t.after(() => client.close());
  const error = await errorOf(client.compress(body));
  assert.ok(error instanceof UnavailableError, `${error.name}: ${error.message}`);
  assert.equal(connections, 4);
});

test("UNAVAILABLE is tried four times; what cannot pass is not", async (t) => {
  const calls: Record<string, number> = {};
  const count = (name: string, fail: () => never) => () => {
    calls[name] = (calls[name] ?? 0) + 1;
    return fail();
  };
  let left = 2;
  const double = await startDouble({
    compress: count("unavailable", failing(Code.Unavailable, "x")),
    prepare: count("summarizer", failing(Code.Unavailable, "x", errorInfo("SUMMARIZER_FAILED"), retryInfo(1))),
    countTokens: count("later", failing(Code.Unavailable, "x", retryInfo(60_000))),
    applyCacheControl: count("invalid", failing(Code.InvalidArgument, "x")),
    listModels: () => {
      if (left-- > 0) {
        throw new ConnectError("not yet", Code.Unavailable);
      }
      return {};
    },
  });
  t.after(() => double.stop());
  const client = connect(double.address, { retry: { initialBackoffMs: 1, maxBackoffMs: 2 } });
  t.after(() => client.close());
  await errorOf(client.compress(body));
  await errorOf(client.prepare(body));
  await errorOf(client.countTokens(body));
  await errorOf(client.applyCacheControl(body));
  await client.listModels();
  assert.deepEqual(calls, { unavailable: 4, summarizer: 1, later: 1, invalid: 1 });
});

test("an overloaded server is tried again where it names a time within the backoff", async (t) => {
  const calls: Record<string, number> = {};
  const refuse =
    (name: string, times: number, ...details: ConnectError["details"]) =>
    () => {
      calls[name] = (calls[name] ?? 0) + 1;
      return calls[name] > times ? {} : failing(Code.ResourceExhausted, "x", ...details)();
    };
  const double = await startDouble({
    compress: refuse("soon", 2, retryInfo(1)),
    prepare: refuse("always", Infinity, retryInfo(1)),
    countTokens: refuse("later", Infinity, retryInfo(3)),
    applyCacheControl: refuse("too large", Infinity),
  });
  t.after(() => double.stop());
  const client = connect(double.address, { retry: { initialBackoffMs: 1, maxBackoffMs: 2 } });
  t.after(() => client.close());
  await client.compress(body);
  assert.ok((await errorOf(client.prepare(body))) instanceof OverloadedError);
  assert.ok((await errorOf(client.countTokens(body))) instanceof OverloadedError);
  assert.ok((await errorOf(client.applyCacheControl(body))) instanceof OverloadedError);
  assert.deepEqual(calls, { soon: 3, always: 4, later: 1, "too large": 1 });
});

test("a slow server: the deadline ends the call, covers the retries, and reaches the server", async (t) => {
  const timeouts: number[] = [];
  const double = await startDouble({
    compress: (_, context) =>
      new Promise((_resolve, reject) => {
        timeouts.push(Number(/^(\d+)/.exec(context.requestHeader.get("grpc-timeout") ?? "")?.[1]));
        context.signal.addEventListener("abort", () => reject(new Error("ended")));
      }),
    countTokens: (_, context) => {
      timeouts.push(Number(/^(\d+)/.exec(context.requestHeader.get("grpc-timeout") ?? "")?.[1]));
      throw new ConnectError("not now", Code.Unavailable);
    },
  });
  t.after(() => double.stop());
  const client = connect(double.address, { timeoutMs: 100, retry: { initialBackoffMs: 20, maxBackoffMs: 20 } });
  t.after(() => client.close());
  assert.ok((await errorOf(client.compress(body))) instanceof DeadlineExceededError);
  assert.equal(timeouts.shift(), 100);
  await errorOf(client.countTokens(body, { timeoutMs: 10_000 }));
  assert.equal(timeouts.length, 4);
  assert.equal(timeouts[0], 10_000);
  assert.ok(timeouts[3]! < timeouts[0]!, "later attempts have less time left");
});

test("a call that its caller gave up is CANCELLED, and ends the stream of streamCompress", async (t) => {
  const double = await startDouble({
    async *streamCompress(_, context) {
      yield { event: { case: "progress" as const, value: { tokens: 1 } } };
      await new Promise((_resolve, reject) =>
        context.signal.addEventListener("abort", () => reject(new Error("ended"))),
      );
    },
  });
  t.after(() => double.stop());
  const client = connect(double.address);
  t.after(() => client.close());
  const abort = new AbortController();
  const events: string[] = [];
  const read = async () => {
    for await (const event of client.streamCompress(body, { signal: abort.signal })) {
      events.push(event.type);
      abort.abort();
    }
  };
  assert.equal((await errorOf(read())).code, "CANCELLED");
  assert.deepEqual(events, ["progress"]);
});

test("messages over the limits are refused with advice; large ones within them pass", async (t) => {
  const summary = "y".repeat(8 << 20);
  const double = await startDouble({ compress: () => create(CompressResponseSchema, { summary }) });
  t.after(() => double.stop());
  const large = [{ role: "system", content: "x".repeat(8 << 20) }];
  const client = connect(double.address);
  t.after(() => client.close());
  assert.equal((await client.compress(large)).summary.length, summary.length);
  for (const limit of [{ maxSendBytes: 1 << 20 }, { maxReceiveBytes: 1 << 20 }]) {
    const limited = connect(double.address, limit);
    t.after(() => limited.close());
    const error = await errorOf(limited.compress(large));
    assert.ok(error instanceof OverloadedError, error.name);
    assert.match(error.advice, /less in one message/);
  }
});

test("what is no Elbowroom server is named as such", async (t) => {
  const double = await startDouble({});
  t.after(() => double.stop());
  const client = connect(`http://${double.address}`);
  t.after(() => client.close());
  const error = await errorOf(client.listModels());
  assert.equal(error.code, "UNIMPLEMENTED");
});

async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test("a server that closes an idle connection while the next call starts does not end the process", async (t) => {
  const double = await startDouble({ listModels: () => ({}) });
  t.after(() => double.stop());
  const client = connect(double.address);
  t.after(() => client.close());
  for (let i = 0; i < 200; i++) {
    await client.listModels();
    double.goAway();
    for (let wait = 0; wait < i % 20; wait++) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  await client.listModels();
});
