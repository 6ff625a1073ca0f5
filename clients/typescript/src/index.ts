/** The Elbowroom client for Node. Start with {@link connect}. */

export { type Body, type Same } from "./body.js";
export {
  type ApplyCacheControlResult,
  Client,
  type CompressEvent,
  type CompressResult,
  connect,
  type PrepareResult,
} from "./client.js";
export { Conversation, type ConversationOptions, type TurnOptions } from "./conversation.js";
export {
  DeadlineExceededError,
  ElbowroomError,
  InternalError,
  InvalidRequestError,
  OverloadedError,
  PermissionDeniedError,
  RefusedError,
  type StatusName,
  UnauthenticatedError,
  UnavailableError,
  typedError,
} from "./errors.js";
export { detectFormat } from "./format.js";
export type {
  ApplyCacheControlOptions,
  BodyOptions,
  CallOptions,
  CompressOptions,
  CountTextOptions,
  CountTokensOptions,
  FormatOption,
  PolicyOptions,
  PrepareOptions,
  SimulateCacheOptions,
  SimulatedBody,
} from "./options.js";
export { type RetryPolicy, retryCalls } from "./retry.js";
export { applySplices } from "./splice.js";
export type { ConnectOptions } from "./transport.js";
export { readUsage, type ReportedUsage } from "./usage.js";

export * from "./gen/elbowroom/v1/cache_pb.js";
export * from "./gen/elbowroom/v1/compress_pb.js";
export * from "./gen/elbowroom/v1/context_service_pb.js";
export {
  CacheTtl,
  ConversationSchema,
  type Edit,
  Format,
  NativeRequestSchema,
  Role,
  type Splice,
  View,
  type Warning,
} from "./gen/elbowroom/v1/conversation_pb.js";
export * from "./gen/elbowroom/v1/count_pb.js";
export * from "./gen/elbowroom/v1/simulate_pb.js";
