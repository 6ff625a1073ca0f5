/**
 * What a conversation remembers of its last turn, and how the caller's next body continues it. Everything is compared
 * and replaced as JSON text, so nothing that was sent before changes by a byte.
 */

import { locate, type Places } from "./spans.js";

/** One form of the last turn: its text and the texts of its messages. */
interface Form {
  text: string;
  places: Places;
  messages: string[];
  system: string | undefined;
}

/** The last turn in its three forms. */
export interface Turn {
  /** As the caller gave it. */
  given: string;
  /** As it went back to the caller. */
  returned: string;
  /**
   * As the next request of the service goes on from it: what was returned where messages were compressed, else what was
   * asked, which has the breakpoints of an earlier turn or none.
   */
  held: string;
}

/** The caller's body as the service gets it. */
export interface Continued {
  text: string;
  /** Whether the last turn was found in it. If not, everything remembered is void. */
  continues: boolean;
  /** How many messages it has. */
  messages: number;
}

/** The turn that a conversation goes on from. */
export class History {
  private readonly forms: Form[];
  private readonly held: Form;

  private constructor(forms: Form[], held: Form) {
    this.forms = forms;
    this.held = held;
  }

  /** Remembers a turn. Undefined when there are no messages to go on from. */
  static of({ given, returned, held }: Turn): History | undefined {
    const forms = [given, returned, held].map(formOf);
    if (forms.some((form) => form === undefined || form.messages.length === 0)) {
      return undefined;
    }
    return new History(forms as Form[], forms[2]!);
  }

  /**
   * Puts the held messages in place of those that the caller's body shares with the last turn, be it as the caller gave
   * them or as they came back; and the held system prompt in place of the caller's where that is the same as last time.
   */
  continue(text: string): Continued {
    const now = formOf(text);
    if (now === undefined) {
      return { text, continues: false, messages: 0 };
    }
    const shared = Math.max(
      ...this.forms.map((form) => (startsWith(now.messages, form.messages) ? form.messages.length : 0)),
    );
    if (shared === 0) {
      return { text, continues: false, messages: now.messages.length };
    }
    const replacements = [
      {
        start: now.places.messages[0]!.start,
        end: now.places.messages[shared - 1]!.end,
        text: messagesOf(this.held),
      },
    ];
    const system = this.held.system;
    if (
      now.places.system !== undefined &&
      system !== undefined &&
      this.forms.some((form) => form.system === now.system)
    ) {
      replacements.push({ ...now.places.system, text: system });
    }
    return {
      text: replace(text, replacements),
      continues: true,
      messages: this.held.messages.length + now.messages.length - shared,
    };
  }
}

/** How many messages a body has. */
export function countMessages(text: string): number {
  return locate(text)?.messages.length ?? 0;
}

function formOf(text: string): Form | undefined {
  const places = locate(text);
  if (places === undefined) {
    return undefined;
  }
  return {
    text,
    places,
    messages: places.messages.map(({ start, end }) => text.slice(start, end)),
    system: places.system === undefined ? undefined : text.slice(places.system.start, places.system.end),
  };
}

function messagesOf({ text, places }: Form): string {
  return text.slice(places.messages[0]!.start, places.messages.at(-1)!.end);
}

function startsWith(list: readonly string[], beginning: readonly string[]): boolean {
  return beginning.length <= list.length && beginning.every((message, i) => message === list[i]);
}

function replace(text: string, replacements: { start: number; end: number; text: string }[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, text: by } of replacements.sort((a, b) => a.start - b.start)) {
    parts.push(text.slice(at, start), by);
    at = end;
  }
  return parts.join("") + text.slice(at);
}
