import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Code, ConnectError } from "@connectrpc/connect";
import { connectNodeAdapter, createConnectTransport } from "@connectrpc/connect-node";
import { context, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  Client,
  connect,
  ContextService,
  InvalidRequestError,
  Outcome,
  OverloadedError,
  UnauthenticatedError,
  UnavailableError,
} from "../src/index.js";
import { retryInfo, startDouble } from "./double.js";
import { skip, startBinary } from "./server.js";

const run = promisify(execFile);
const folder = await mkdtemp(join(tmpdir(), "elbowroom-certificates-"));
after(() => rm(folder, { recursive: true }));

/** Makes a self-signed certificate with openssl. */
async function certificate(name: string): Promise<{ cert: string; key: string }> {
  const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)];
  const subject = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name},IP:127.0.0.1`];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  await run("openssl", ["req", "-x509", ...curve, "-nodes", "-days", "2", "-keyout", key, "-out", cert, ...subject]);
  return { cert: await readFile(cert, "utf8"), key: await readFile(key, "utf8") };
}

const noOpenssl = await run("openssl", ["version"]).then(
  () => undefined,
  () => "openssl is not installed",
);

const once = { retry: { attempts: 1 } };

test("TLS: a trusted certificate is accepted, others and plain text are not", async (t) => {
  if (noOpenssl !== undefined) {
    return skip(t, noOpenssl);
  }
  const own = await certificate("localhost");
  const other = await certificate("other");
  const double = await startDouble({ listModels: () => ({}) }, own);
  t.after(() => double.stop());
  const open = (options: Parameters<typeof connect>[1]) => {
    const client = connect(double.address, { ...once, ...options });
    t.after(() => client.close());
    return client;
  };
  await open({ tls: { ca: own.cert } }).listModels();
  await open({ tls: { ca: Buffer.from(own.cert), serverName: "localhost" } }).listModels();
  await assert.rejects(open({ tls: { ca: other.cert } }).listModels(), (e) => {
    assert.ok(e instanceof UnavailableError);
    assert.match(e.message, /certificate/);
    return true;
  });
  await assert.rejects(open({ tls: true }).listModels(), UnavailableError);
  await assert.rejects(open({ tls: { ca: own.cert, serverName: "elsewhere" } }).listModels(), UnavailableError);
  await assert.rejects(open({}).listModels(), (e) => e instanceof UnavailableError && /TLS/.test(e.advice));
});

test("mutual TLS: the client's certificate is shown, and without it there is no connection", async (t) => {
  if (noOpenssl !== undefined) {
    return skip(t, noOpenssl);
  }
  const server = await certificate("localhost");
  const client = await certificate("client");
  const double = await startDouble(
    { listModels: () => ({}) },
    { ...server, ca: client.cert, requestCert: true, rejectUnauthorized: true },
  );
  t.after(() => double.stop());
  const known = connect(double.address, { ...once, tls: { ca: server.cert }, clientCert: client });
  const unknown = connect(double.address, { ...once, tls: { ca: server.cert } });
  t.after(() => known.close());
  t.after(() => unknown.close());
  await known.listModels();
  await assert.rejects(unknown.listModels(), UnavailableError);
});

test("a token, fixed or made for each call, goes along as a bearer; headers of a call win over the client's", async (t) => {
  const seen: (string | null)[] = [];
  const double = await startDouble({
    listModels: (_, { requestHeader }) => {
      seen.push(requestHeader.get("authorization"), requestHeader.get("x-team"));
      return {};
    },
  });
  t.after(() => double.stop());
  let made = 0;
  const fixed = connect(double.address, { token: "secret", headers: { "x-team": "a" } });
  const fresh = connect(`dns:///${double.address}`, { token: async () => `t${++made}` });
  t.after(() => fixed.close());
  t.after(() => fresh.close());
  await fixed.listModels();
  await fixed.listModels("", { headers: { "x-team": "b", authorization: "Basic x" } });
  await fresh.listModels();
  await fresh.listModels();
  assert.deepEqual(seen, ["Bearer secret", "a", "Basic x", "b", "Bearer t1", null, "Bearer t2", null]);
});

test("an empty token is none", async (t) => {
  const seen: (string | null)[] = [];
  const double = await startDouble({
    listModels: (_, { requestHeader }) => {
      seen.push(requestHeader.get("authorization"));
      return {};
    },
  });
  t.after(() => double.stop());
  for (const token of ["", () => "", async () => ""]) {
    const client = connect(double.address, { token });
    t.after(() => client.close());
    await client.listModels();
  }
  assert.deepEqual(seen, [null, null, null]);
  connect("10.1.2.3:50051", { token: "" }).close(); // nothing would travel in the open
});

test("a token travels without TLS to this machine only, unless the caller allows it", () => {
  const open = (target: string, options: Parameters<typeof connect>[1] = {}) =>
    connect(target, { token: "secret", ...options }).close();
  const away = ["10.1.2.3:50051", "[2001:db8::1]:50051", "elbowroom.internal:50051", "dns:///elbowroom.internal:50051"];
  const disguised = ["127.0.0.1.example:50051", "localhost.example:1", "127.0.0.1:1@10.1.2.3:1", "HTTP://10.1.2.3:1"];
  for (const target of [...away, ...disguised]) {
    for (const token of ["secret", () => "secret"]) {
      assert.throws(
        () => open(target, { token }),
        (e) => {
          assert.ok(e instanceof InvalidRequestError, String(e));
          assert.deepEqual([e.field, e.code], ["token", "INVALID_ARGUMENT"]);
          assert.match(e.message, /in the open.*tokenInTheOpen: true/);
          assert.match(e.advice, /tls, or tokenInTheOpen/);
          assert.doesNotMatch(e.message, /secret/);
          return true;
        },
        target,
      );
    }
    open(target, { tokenInTheOpen: true });
  }
  for (const target of away) {
    open(target, { tls: true });
    connect(target).close();
  }
  open("https://10.1.2.3:50051");
  // The URL decides: with http there is no TLS, whatever the options say.
  assert.throws(() => open("http://10.1.2.3:50051", { tls: true }), InvalidRequestError);
  for (const here of ["localhost", "LOCALHOST", "127.0.0.1", "127.8.9.10", "[::1]", "[::ffff:127.0.0.1]"]) {
    open(`${here}:50051`);
    open(`http://${here}:50051`);
  }
});

test("a target that is no address is refused at once, and typed", () => {
  const none = ["", "dns:///", "http://", "ftp://host:1", "unix:/run/elbowroom.sock", "host:99999", "a b:1"];
  for (const target of [...none, undefined as never, 50051 as never]) {
    assert.throws(
      () => connect(target),
      (e) => {
        assert.ok(e instanceof InvalidRequestError, String(e));
        assert.equal(e.field, "target");
        assert.match(e.message, /^the target .* is no address; give host:port/);
        assert.match(e.advice, /127\.0\.0\.1:50051/);
        return true;
      },
      String(target),
    );
  }
});

test("the server itself, with TLS, client certificates and tokens", async (t) => {
  if (noOpenssl !== undefined || !process.env["ELBOWROOM_BIN"]) {
    return skip(t, noOpenssl ?? "ELBOWROOM_BIN is not set");
  }
  const own = await certificate("localhost");
  const mine = await certificate("client");
  const token = "0123456789abcdef0123456789abcdef";
  const tokens = join(folder, "tokens");
  await writeFile(tokens, `team ${createHash("sha256").update(token).digest("hex")}\n`);
  const tls = ["--tls-cert-file", join(folder, "localhost.crt"), "--tls-key-file", join(folder, "localhost.key")];
  const certificates = ["--tls-client-ca-file", join(folder, "client.crt")];
  const server = await startBinary("127.0.0.1:0", ...tls, ...certificates, "--auth-tokens-file", tokens);
  t.after(() => server.stop());
  const open = (options: Parameters<typeof connect>[1]) => {
    const client = connect(server.address, { ...once, ...options });
    t.after(() => client.close());
    return client.compress([{ role: "user", content: "q" }], { format: "openai_chat" });
  };
  const trusted = { tls: { ca: own.cert } };
  assert.equal((await open({ ...trusted, clientCert: mine, token })).outcome, Outcome.BELOW_THRESHOLD);
  await assert.rejects(open({ ...trusted, clientCert: mine, token: "wrong" }), UnauthenticatedError);
  await assert.rejects(open({ ...trusted, clientCert: mine }), UnauthenticatedError);
  await assert.rejects(open({ ...trusted, token }), UnavailableError);
  await assert.rejects(open({ token }), UnavailableError);
});

test("the active trace goes along, and the caller's own traceparent wins", async (t) => {
  const seen: (string | null)[] = [];
  const double = await startDouble({
    listModels: (_, { requestHeader }) => {
      seen.push(requestHeader.get("traceparent"), requestHeader.get("tracestate"));
      return {};
    },
  });
  t.after(() => double.stop());
  const client = connect(double.address);
  t.after(() => client.close());
  await client.listModels();
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  t.after(() => (context.disable(), propagation.disable()));
  const span = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", traceFlags: 1 };
  const given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  await context.with(trace.setSpanContext(context.active(), span), async () => {
    await client.listModels();
    await client.listModels("", { headers: { traceparent: given } });
  });
  assert.deepEqual(seen, [null, null, `00-${span.traceId}-${span.spanId}-01`, null, given, null]);
});

test("the client runs on any transport of Connect: the same calls and errors over HTTP/1.1", async (t) => {
  const handler = connectNodeAdapter({
    routes: (router) =>
      void router.service(ContextService, {
        compress: () => ({ outcome: Outcome.COMPRESSED, splices: [{ offset: 1n, length: 0n, text: '{"x":1}' }] }),
        countTokens: () => {
          const error = new ConnectError("later", Code.ResourceExhausted);
          error.details = [retryInfo(1500)];
          throw error;
        },
      }),
  });
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => (server.closeAllConnections(), server.close()));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new Client(createConnectTransport({ baseUrl, httpVersion: "1.1" }));
  assert.deepEqual((await client.compress([], { format: "openai_chat" })).body, [{ x: 1 }]);
  await assert.rejects(client.countTokens([], { format: "openai_chat" }), (e) => {
    assert.ok(e instanceof OverloadedError);
    assert.equal(e.retryAfterMs, 1500);
    return true;
  });
});
