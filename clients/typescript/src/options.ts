/** The options of calls: every field of the request message but those that the client fills itself. */

import { type DescMessage, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import type { CallOptions as ConnectCallOptions } from "@connectrpc/connect";
import type { ApplyCacheControlRequestSchema, ExistingMarks, Layout, Strategy } from "./gen/elbowroom/v1/cache_pb.js";
import type {
  Alternation,
  CompressionPolicySchema,
  CompressRequestSchema,
  FailurePolicy,
  Layer,
  Profile,
  SystemNote,
  ThinkingPolicy,
} from "./gen/elbowroom/v1/compress_pb.js";
import type { PrepareRequestSchema } from "./gen/elbowroom/v1/context_service_pb.js";
import { type CacheTtl, type Format, file_elbowroom_v1_conversation } from "./gen/elbowroom/v1/conversation_pb.js";
import type { CountTokensRequestSchema, Method } from "./gen/elbowroom/v1/count_pb.js";
import type {
  PositionCounting,
  SimulateCacheRequestSchema,
  SimulatedRequestSchema,
} from "./gen/elbowroom/v1/simulate_pb.js";
import type { Body } from "./body.js";
import { detectFormat } from "./format.js";
import { enumValue, fieldsOf, type NameOf } from "./names.js";

/** A format by name or value. */
export type FormatOption = Format | NameOf<typeof Format>;

/** What every call takes. */
export interface CallOptions {
  /** Time for the call and its retries, in milliseconds. Default: the client's, 30,000 unless set. */
  timeoutMs?: number;
  /** Ends the call when it fires. */
  signal?: AbortSignal;
  /** Headers of this call, for example traceparent. */
  headers?: HeadersInit;
}

/** What every call with a native body takes. */
export interface BodyOptions extends CallOptions {
  /** The body's format. Default: told from the body, which throws where it cannot be told. */
  format?: FormatOption;
}

/** Enum fields that take names beside values. */
interface NamedFields {
  layer: Layer | NameOf<typeof Layer>;
  layout: Layout | NameOf<typeof Layout>;
  strategy: Strategy | NameOf<typeof Strategy>;
  ttl: CacheTtl | "5m" | "1h";
  existing: ExistingMarks | NameOf<typeof ExistingMarks>;
  method: Method | NameOf<typeof Method>;
  counting: PositionCounting | NameOf<typeof PositionCounting>;
  policy: PolicyOptions;
}

interface NamedPolicyFields {
  profile: Profile | NameOf<typeof Profile>;
  systemNote: SystemNote | NameOf<typeof SystemNote>;
  thinking: ThinkingPolicy | NameOf<typeof ThinkingPolicy>;
  alternation: Alternation | NameOf<typeof Alternation>;
  failurePolicy: FailurePolicy | NameOf<typeof FailurePolicy>;
}

type Fields<S extends DescMessage, Named, Filled extends string = never> = {
  [K in Exclude<keyof MessageShape<S>, "$typeName" | "$unknown" | Filled>]?: K extends keyof Named
    ? Named[K] | undefined
    : K extends keyof MessageInitShape<S>
      ? MessageInitShape<S>[K] | undefined
      : never;
};

/** How to compress. Names stand for enum values: {systemNote: "none"}. */
export type PolicyOptions = Fields<typeof CompressionPolicySchema, NamedPolicyFields>;

/** Options of compress and streamCompress. */
export type CompressOptions = BodyOptions & Fields<typeof CompressRequestSchema, NamedFields, "conversation">;

/** Options of applyCacheControl. */
export type ApplyCacheControlOptions = BodyOptions &
  Fields<typeof ApplyCacheControlRequestSchema, NamedFields, "conversation">;

/** Options of prepare. */
export type PrepareOptions = BodyOptions & Fields<typeof PrepareRequestSchema, NamedFields, "conversation">;

/** Options of countTokens. */
export type CountTokensOptions = BodyOptions &
  Fields<typeof CountTokensRequestSchema, NamedFields, "conversation" | "text">;

/** Options of countText. */
export type CountTextOptions = CallOptions &
  Fields<typeof CountTokensRequestSchema, NamedFields, "conversation" | "text" | "lastUsage">;

/** One request of simulateCache. */
export type SimulatedBody = { body: Body; format?: FormatOption } & Fields<
  typeof SimulatedRequestSchema,
  NamedFields,
  "conversation"
>;

/** Options of simulateCache. */
export type SimulateCacheOptions = CallOptions & Fields<typeof SimulateCacheRequestSchema, NamedFields, "requests">;

/** Options split into those of the call and the fields of the message. */
export interface SplitOptions {
  /** The format that was given. */
  format: FormatOption | undefined;
  call: ConnectCallOptions;
  fields: Record<string, unknown>;
}

/** Splits options, and replaces names by values. Throws InvalidRequestError for a member that is neither. */
export function splitOptions(schema: DescMessage, options: BodyOptions): SplitOptions {
  const { format, timeoutMs, signal, headers, ...rest } = options;
  const call: ConnectCallOptions = {};
  if (timeoutMs !== undefined) {
    call.timeoutMs = timeoutMs;
  }
  if (signal !== undefined) {
    call.signal = signal;
  }
  if (headers !== undefined) {
    call.headers = headers;
  }
  const fields = fieldsOf(schema, rest);
  delete fields["conversation"];
  return { format, call, fields };
}

const formatEnum = file_elbowroom_v1_conversation.enums.find((desc) => desc.name === "Format")!;

/** The format that was given, or else that of the body. */
export function formatOf(body: Body, given: FormatOption | undefined): Format {
  if (given === undefined || given === 0) {
    return detectFormat(body);
  }
  return typeof given === "string" ? enumValue(formatEnum, given, "format") : given;
}
