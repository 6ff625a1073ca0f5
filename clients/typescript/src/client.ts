/** The client: every call of the service on the caller's own bodies. */

import { create, type MessageShape, type DescMessage } from "@bufbuild/protobuf";
import { type Client as Stub, createClient, type Transport } from "@connectrpc/connect";
import {
  type ApplyCacheControlResponse,
  ApplyCacheControlRequestSchema,
  type Breakpoint,
} from "./gen/elbowroom/v1/cache_pb.js";
import {
  type CompressionReport,
  type CompressProgress,
  CompressRequestSchema,
  type CompressResponse,
  type Outcome,
  type SummaryPiece,
} from "./gen/elbowroom/v1/compress_pb.js";
import {
  ContextService,
  type ListModelsResponse,
  PrepareRequestSchema,
  type PrepareResponse,
} from "./gen/elbowroom/v1/context_service_pb.js";
import { View } from "./gen/elbowroom/v1/conversation_pb.js";
import { CountTokensRequestSchema, type CountTokensResponse } from "./gen/elbowroom/v1/count_pb.js";
import {
  SimulateCacheRequestSchema,
  type SimulateCacheResponse,
  SimulatedRequestSchema,
} from "./gen/elbowroom/v1/simulate_pb.js";
import { type Body, HeldBody, type Same } from "./body.js";
import { Conversation, type ConversationOptions } from "./conversation.js";
import { ElbowroomError, typedError } from "./errors.js";
import { fieldsOf } from "./names.js";
import {
  type ApplyCacheControlOptions,
  type CallOptions,
  type CompressOptions,
  type CountTextOptions,
  type CountTokensOptions,
  formatOf,
  type PrepareOptions,
  type SimulateCacheOptions,
  type SimulatedBody,
  splitOptions,
} from "./options.js";
import { type ConnectOptions, openConnection } from "./transport.js";

/** What compress returns. */
export interface CompressResult<B extends Body> {
  /** The body to go on with, in the form it came in. The caller's own value when nothing changed. */
  body: Same<B>;
  /** What happened. Only COMPRESSED and TARGET_UNREACHABLE mean that the body is smaller. */
  outcome: Outcome;
  /** What was kept, shortened, summarized, repaired and lost. */
  report: CompressionReport | undefined;
  /** The summary's text. Empty when none was written. */
  summary: string;
  /** Give it back with the next request of the conversation. */
  compressionState: Uint8Array;
  /** The whole response. */
  response: CompressResponse;
}

/** What applyCacheControl returns. */
export interface ApplyCacheControlResult<B extends Body> {
  /** The body with its breakpoints. */
  body: Same<B>;
  /** The breakpoints, in prompt order. */
  breakpoints: Breakpoint[];
  /** Give it back with the next request of the conversation. Empty but for the strategy anchored. */
  cacheState: Uint8Array;
  /** The whole response. */
  response: ApplyCacheControlResponse;
}

/** What prepare returns: both of the above. */
export interface PrepareResult<B extends Body> {
  body: Same<B>;
  outcome: Outcome;
  report: CompressionReport | undefined;
  summary: string;
  compressionState: Uint8Array;
  breakpoints: Breakpoint[];
  cacheState: Uint8Array;
  response: PrepareResponse;
}

/** What streamCompress yields. The last event is the result. */
export type CompressEvent<B extends Body> =
  | { type: "progress"; progress: CompressProgress }
  | { type: "summary"; piece: SummaryPiece }
  | { type: "result"; result: CompressResult<B> };

/**
 * Connects to an Elbowroom server. The connection opens with the first call, carries all calls, and opens again after it
 * broke. Throws an InvalidRequestError for a target that is no address, and for a token that would travel in the
 * open.
 */
export function connect(target: string, options: ConnectOptions = {}): Client {
  const { transport, close } = openConnection(target, options);
  return new Client(transport, close);
}

/**
 * A client of the service. Its calls may run at the same time. All throw {@link ElbowroomError}s. Made by
 * {@link connect}; the constructor takes any other transport of Connect, such as that of a browser.
 */
export class Client {
  /** The generated client, for calls on typed conversations and whole request messages. It throws ConnectErrors. */
  readonly stub: Stub<typeof ContextService>;

  constructor(
    transport: Transport,
    private readonly closeTransport: () => void = () => {},
  ) {
    this.stub = createClient(ContextService, transport);
  }

  /** Returns the body, shorter where it is time for it. */
  async compress<B extends Body>(body: B, options: CompressOptions = {}): Promise<CompressResult<B>> {
    return typed(async () => {
      const { held, message, call } = prepared(CompressRequestSchema, body, options);
      return compressResult(held, await this.stub.compress(message, call));
    });
  }

  /** compress with its progress and, where a language model writes it, the summary as it comes. */
  async *streamCompress<B extends Body>(
    body: B,
    options: CompressOptions = {},
  ): AsyncGenerator<CompressEvent<B>, void, undefined> {
    try {
      const { held, message, call } = prepared(CompressRequestSchema, body, options);
      for await (const { event } of this.stub.streamCompress({ request: message }, call)) {
        switch (event.case) {
          case "progress":
            yield { type: "progress", progress: event.value };
            break;
          case "summaryPiece":
            yield { type: "summary", piece: event.value };
            break;
          case "result":
            yield { type: "result", result: compressResult(held, event.value) };
            break;
        }
      }
    } catch (thrown) {
      throw typedError(thrown);
    }
  }

  /** Returns the body with cache breakpoints in the places that the provider reads best. */
  async applyCacheControl<B extends Body>(
    body: B,
    options: ApplyCacheControlOptions = {},
  ): Promise<ApplyCacheControlResult<B>> {
    return typed(async () => {
      const { held, message, call } = prepared(ApplyCacheControlRequestSchema, body, options);
      const response = await this.stub.applyCacheControl(message, call);
      const { breakpoints, cacheState } = response;
      return { body: held.spliced(response.splices), breakpoints, cacheState, response };
    });
  }

  /** Compresses if it is time and marks: one trip a turn. Loops use {@link conversation}, which calls it. */
  async prepare<B extends Body>(body: B, options: PrepareOptions = {}): Promise<PrepareResult<B>> {
    return typed(async () => {
      const { held, message, call } = prepared(PrepareRequestSchema, body, options);
      const response = await this.stub.prepare(message, call);
      const { outcome, report, summary, compressionState, breakpoints, cacheState } = response;
      return {
        body: held.spliced(response.splices),
        outcome,
        report,
        summary,
        compressionState,
        breakpoints,
        cacheState,
        response,
      };
    });
  }

  /** Counts the tokens of a body, with bounds. A string is raw JSON here; plain text goes to {@link countText}. */
  async countTokens(body: Body, options: CountTokensOptions = {}): Promise<CountTokensResponse> {
    return typed(() => {
      const { message, call } = prepared(CountTokensRequestSchema, body, options);
      return this.stub.countTokens(message, call);
    });
  }

  /** Counts the tokens of a plain text, without any framing. */
  async countText(text: string, options: CountTextOptions = {}): Promise<CountTokensResponse> {
    return typed(() => {
      const { call, fields } = splitOptions(CountTokensRequestSchema, options);
      return this.stub.countTokens({ ...fields, text }, call);
    });
  }

  /** Says what successive requests read from the provider's prompt cache, what they cost, and why one missed. */
  async simulateCache(
    requests: readonly SimulatedBody[],
    options: SimulateCacheOptions = {},
  ): Promise<SimulateCacheResponse> {
    return typed(() => {
      const { call, fields } = splitOptions(SimulateCacheRequestSchema, options);
      const simulated = requests.map(({ body, format, ...rest }) =>
        create(SimulatedRequestSchema, {
          ...fieldsOf(SimulatedRequestSchema, rest),
          conversation: { native: new HeldBody(body).native(formatOf(body, format)) },
        }),
      );
      return this.stub.simulateCache({ ...fields, requests: simulated }, call);
    });
  }

  /** Lists the models that the server knows, those whose id contains the filter. */
  async listModels(filter = "", options: CallOptions = {}): Promise<ListModelsResponse> {
    return typed(() => this.stub.listModels({ filter }, splitOptions(CompressRequestSchema, options).call));
  }

  /** Starts a conversation whose history, state and usage the client keeps. */
  conversation(options: ConversationOptions = {}): Conversation {
    return new Conversation(this, options);
  }

  /** Ends the calls in flight and closes the connection. */
  close(): void {
    this.closeTransport();
  }
}

/** Runs a call; whatever it throws becomes an {@link ElbowroomError}. */
async function typed<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (thrown) {
    throw typedError(thrown);
  }
}

/** The request message of a call on a body. */
function prepared<S extends DescMessage, B extends Body>(schema: S, body: B, options: CompressOptions) {
  const { format, call, fields } = splitOptions(schema, options);
  const held = new HeldBody(body);
  const init: Record<string, unknown> = { ...fields, conversation: { native: held.native(formatOf(body, format)) } };
  if (schema.field["view"] !== undefined) {
    // Splices are all that a body is made of. Who reads edits can have them beside.
    init["view"] = init["view"] === View.EDITS ? View.EDITS : View.SPLICES;
  }
  return { held, call, message: create<DescMessage>(schema, init as never) as MessageShape<S> };
}

function compressResult<B extends Body>(held: HeldBody<B>, response: CompressResponse): CompressResult<B> {
  const { outcome, report, summary, compressionState } = response;
  return { body: held.spliced(response.splices), outcome, report, summary, compressionState, response };
}
