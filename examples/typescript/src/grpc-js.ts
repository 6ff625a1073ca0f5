/**
 * The same service by @grpc/grpc-js, with the published descriptor set in place of generated code or proto files: for
 * programs that speak gRPC by it already.
 *
 *     node build/src/grpc-js.js
 */

import {
  type ChannelCredentials,
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceError,
} from "@grpc/grpc-js";
import { loadFileDescriptorSetFromBuffer } from "@grpc/proto-loader";
import { readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

/** A unary call with messages as plain objects, in the names of the proto. */
export type Call = (method: string, request: object) => Promise<Record<string, unknown>>;

/** Where the repository publishes its descriptor set. */
export const descriptorSet = fileURLToPath(new URL("../../../../gen/descriptor/elbowroom.binpb", import.meta.url));

const serviceConfig = JSON.stringify({
  loadBalancingConfig: [{ round_robin: {} }],
  methodConfig: [
    {
      name: [{ service: "elbowroom.v1.ContextService" }],
      retryPolicy: {
        maxAttempts: 4,
        initialBackoff: "0.1s",
        maxBackoff: "2s",
        backoffMultiplier: 2,
        retryableStatusCodes: ["UNAVAILABLE", "RESOURCE_EXHAUSTED"],
      },
    },
  ],
});

/** Opens a channel. Returns the way to call and the way to close it. */
export function open(
  target: string,
  channelCredentials: ChannelCredentials = credentials.createInsecure(),
): { call: Call; close: () => void } {
  const definition = loadFileDescriptorSetFromBuffer(readFileSync(descriptorSet), {
    keepCase: true,
    longs: Number,
    enums: String,
    defaults: true,
    oneofs: true,
  });
  const { elbowroom } = loadPackageDefinition(definition) as never as {
    elbowroom: { v1: { ContextService: new (...args: unknown[]) => Record<string, unknown> & { close(): void } } };
  };
  const stub = new elbowroom.v1.ContextService(target, channelCredentials, {
    "grpc.service_config": serviceConfig,
    "grpc.max_send_message_length": 64 << 20,
    "grpc.max_receive_message_length": 128 << 20,
  });
  const call: Call = (method, request) =>
    new Promise((resolve, reject) => {
      const unary = stub[method] as (...args: unknown[]) => void;
      const done = (error: ServiceError | null, response: Record<string, unknown>) =>
        error === null ? resolve(response) : reject(error);
      unary.call(stub, request, new Metadata(), { deadline: Date.now() + 30_000 }, done);
    });
  return { call, close: () => stub.close() };
}

/** Compresses an OpenAI body and returns it. */
export async function compress<T extends object>(call: Call, body: T, options: object = {}): Promise<T> {
  const response = await call("Compress", {
    ...options,
    conversation: { native: { format: "FORMAT_OPENAI_CHAT", json: JSON.stringify(body) } },
  });
  const { native } = response["conversation"] as { native: { json: string } };
  return JSON.parse(native.json) as T;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { call, close } = open(process.env["ELBOWROOM_ADDR"] ?? "127.0.0.1:50051");
  console.log(await compress(call, { model: "gpt-4o", messages: [{ role: "user", content: "Hello" }] }));
  close();
}
