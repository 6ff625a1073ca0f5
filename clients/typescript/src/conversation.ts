/** A conversation over its turns: keeps history, state and usage for a loop, and sends only what is new. */

import { create, toBinary } from "@bufbuild/protobuf";
import { randomUUID } from "node:crypto";
import { type CompressionReport, Outcome } from "./gen/elbowroom/v1/compress_pb.js";
import {
  type PrepareRequest,
  PrepareRequestSchema,
  type PrepareResponse,
  PrepareResponseSchema,
} from "./gen/elbowroom/v1/context_service_pb.js";
import { type Format, type NativeRequest, NativeRequestSchema, View } from "./gen/elbowroom/v1/conversation_pb.js";
import { type Body, HeldBody, type Same } from "./body.js";
import type { Client } from "./client.js";
import { deltaTo } from "./delta.js";
import { type ElbowroomError, RefusedError, typedError } from "./errors.js";
import { type Continued, countMessages, History } from "./history.js";
import { formatOf, type FormatOption, type PrepareOptions, splitOptions } from "./options.js";
import { applySplices } from "./splice.js";
import { readUsage } from "./usage.js";

/** Options of a turn: those of prepare but for what the conversation keeps itself, and for positions in a list that it changes. */
export type TurnOptions = Omit<PrepareOptions, "compressionState" | "cacheState" | "lastUsage" | "pinned">;

/** Options of a conversation: those of every turn, and what follows. */
export interface ConversationOptions extends TurnOptions {
  /**
   * What beforeRequest does when the service cannot be reached, refuses, or takes too long. Default false: it throws. True:
   * it returns the compressed history with the new messages where there is one and it is legal, else the caller's body.
   */
  failOpen?: boolean;
}

/** Breakpoints that a request may carry, by the rules of every provider that takes them. */
const maxMarks = 4;

/**
 * A helper for one agent loop, one turn at a time:
 *
 *     const body = await conversation.beforeRequest({ model, system, tools, messages, max_tokens });
 *     const reply = await provider(body);
 *     conversation.afterResponse(reply.usage);
 *     messages.push(...);
 *
 * The loop keeps appending to its own list of messages, or to the list that came back: both continue the conversation. A
 * list that does neither begins a new one.
 */
export class Conversation {
  /** Names the conversation to the service. A random one unless given. */
  readonly sessionId: string;
  /** The report of the last turn. */
  lastReport: CompressionReport | undefined;
  /** What the last turn came to. */
  lastOutcome: Outcome | undefined;
  /** The whole response of the last turn. */
  lastResponse: PrepareResponse | undefined;
  /** Why the last turn failed. Undefined when it did not. */
  lastError: ElbowroomError | undefined;
  /** Request messages sent so far, in bytes as they are on the wire before framing. */
  bytesSent = 0;
  /** Response messages received so far, in bytes. */
  bytesReceived = 0;

  private readonly failOpen: boolean;
  private readonly options: TurnOptions;
  private format: Format | undefined;
  private history: History | undefined;
  private compressionState: Uint8Array = new Uint8Array();
  private cacheState: Uint8Array = new Uint8Array();
  private lastUsage: PrepareRequest["lastUsage"];
  /** Messages of what the loop was told to send; 0 when that is not what the next request goes on from. */
  private sentMessages = 0;
  /** Whether the held history was compressed at any time. */
  private compressed = false;
  /** Bodies that the server holds: the last request and what became of it. */
  private bases: Buffer[] = [];

  constructor(
    private readonly client: Client,
    { failOpen = false, ...options }: ConversationOptions = {},
  ) {
    this.failOpen = failOpen;
    this.sessionId = options.sessionId || randomUUID();
    this.options = { ...options, sessionId: this.sessionId };
  }

  /**
   * Returns the body to send to the provider, in the form of the one given. Options given here are for this turn only, for
   * example {force: true}. Throws an ElbowroomError unless failOpen is set; the conversation is then as it was before.
   */
  async beforeRequest<B extends Body>(body: B, options: TurnOptions = {}): Promise<Same<B>> {
    this.lastError = undefined;
    let ours: Continued | undefined;
    try {
      const held = new HeldBody(body);
      ours = this.continued(held.text);
      return await this.prepare(held, ours, { ...this.options, ...options });
    } catch (thrown) {
      this.lastError = typedError(thrown);
      if (!this.failOpen) {
        throw this.lastError;
      }
      return this.unprepared(body, ours);
    }
  }

  /** Takes the usage that the provider reported for what beforeRequest returned. Anything that is no usage is passed over. */
  afterResponse(usage: unknown): void {
    const reported = readUsage(usage);
    if (reported === undefined || this.sentMessages === 0) {
      return;
    }
    this.lastUsage = { ...reported, messageCount: this.sentMessages } as NonNullable<PrepareRequest["lastUsage"]>;
  }

  /** Forgets everything but the session's name: the next body begins anew. */
  reset(): void {
    this.history = undefined;
    this.compressionState = new Uint8Array();
    this.cacheState = new Uint8Array();
    this.lastUsage = undefined;
    this.sentMessages = 0;
    this.compressed = false;
    this.bases = [];
  }

  private continued(text: string): Continued {
    const continued = this.history?.continue(text);
    if (continued?.continues === true) {
      return continued;
    }
    return { text, continues: false, messages: countMessages(text) };
  }

  private async prepare<B extends Body>(given: HeldBody<B>, ours: Continued, options: TurnOptions): Promise<Same<B>> {
    const { format, call, fields } = splitOptions(PrepareRequestSchema, options);
    const bodyFormat = this.formatOf(given.original, format);
    const request = Buffer.from(ours.text, "utf8");
    const message = (native: NativeRequest) =>
      create(PrepareRequestSchema, {
        ...fields,
        conversation: { native },
        view: View.SPLICES,
        ...(ours.continues ? { compressionState: this.compressionState, cacheState: this.cacheState } : {}),
        ...(ours.continues && this.lastUsage !== undefined ? { lastUsage: this.lastUsage } : {}),
      });
    const send = async (native: NativeRequest) => {
      const sent = message(native);
      this.bytesSent += toBinary(PrepareRequestSchema, sent).length;
      return this.client.stub.prepare(sent, call);
    };
    const whole = () =>
      create(NativeRequestSchema, { format: bodyFormat, keep: true, body: { case: "jsonBytes", value: request } });

    let response: PrepareResponse;
    const delta = deltaTo(request, this.bases);
    if (delta === undefined) {
      response = await send(whole());
    } else {
      try {
        response = await send(
          create(NativeRequestSchema, { format: bodyFormat, keep: true, body: { case: "delta", value: delta } }),
        );
      } catch (thrown) {
        if (!isBaseUnknown(thrown)) {
          throw thrown;
        }
        response = await send(whole());
      }
    }
    return this.accept(given, ours, request, response);
  }

  /** Remembers a turn that worked and returns its body. */
  private accept<B extends Body>(
    given: HeldBody<B>,
    ours: Continued,
    request: Buffer,
    response: PrepareResponse,
  ): Same<B> {
    this.bytesReceived += toBinary(PrepareResponseSchema, response).length;
    const json = applySplices(request, response.splices);
    const body = json.equals(given.bytes) ? (given.original as Same<B>) : given.form(json);
    // What the provider will see: an object's text is the one that JSON.stringify makes of it.
    const returned = new HeldBody(body as Body).text;
    const changed =
      response.outcome === Outcome.COMPRESSED ||
      response.outcome === Outcome.TARGET_UNREACHABLE ||
      response.report?.firstChangedIndex !== undefined;
    this.compressed = changed || (ours.continues && this.compressed);
    this.history = History.of({ given: given.text, returned, held: changed ? returned : ours.text });
    this.bases = [request, json];
    this.sentMessages = countMessages(returned);
    if (!ours.continues || response.compressionState.length > 0) {
      this.compressionState = response.compressionState; // that of a compression stays until the next one
    }
    this.cacheState = response.cacheState;
    this.lastUsage = undefined;
    this.lastResponse = response;
    this.lastReport = response.report;
    this.lastOutcome = response.outcome;
    return body;
  }

  /** What a loop sends when the service did not answer. */
  private unprepared<B extends Body>(body: B, ours: Continued | undefined): Same<B> {
    this.lastUsage = undefined;
    if (ours?.continues === true && this.compressed && marksIn(ours.text) <= maxMarks) {
      this.sentMessages = ours.messages;
      return new HeldBody(body).form(Buffer.from(ours.text, "utf8"));
    }
    this.sentMessages = ours?.continues === true && !this.compressed ? ours.messages : 0;
    return body as Same<B>;
  }

  private formatOf(body: Body, given: FormatOption | undefined): Format {
    return (this.format ??= formatOf(body, given));
  }
}

function isBaseUnknown(thrown: unknown): boolean {
  const error = typedError(thrown);
  return error instanceof RefusedError && error.reason === "BASE_UNKNOWN";
}

/** Counts breakpoints; text that merely quotes one counts too, which errs on the safe side. */
function marksIn(text: string): number {
  return text.split('"cache_control"').length - 1;
}
