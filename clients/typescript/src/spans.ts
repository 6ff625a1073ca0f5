/** Finds the messages and the system prompt in JSON text, so that they can be compared and replaced as text. */

/** A half-open range of a string. */
export interface Span {
  start: number;
  end: number;
}

/** Where the parts of a request body stand in its text. */
export interface Places {
  /** The elements of the list of messages. */
  messages: Span[];
  /** The value of the top-level "system", where there is one. */
  system: Span | undefined;
}

/**
 * Finds the parts of a body: an object with "messages", or a bare array of messages. Undefined for anything else,
 * broken JSON included: the service says what is wrong with it.
 */
export function locate(text: string): Places | undefined {
  const scan = new Scanner(text);
  try {
    scan.space();
    if (scan.peek() === "[") {
      return { messages: scan.elements(), system: undefined };
    }
    const members = scan.members();
    const messages = members.get("messages");
    if (messages === undefined || text[messages.start] !== "[") {
      return undefined;
    }
    return { messages: new Scanner(text, messages.start).elements(), system: members.get("system") };
  } catch (error) {
    if (error instanceof NotJson) {
      return undefined;
    }
    throw error;
  }
}

class NotJson extends Error {}

class Scanner {
  constructor(
    private readonly text: string,
    private at = 0,
  ) {}

  peek(): string | undefined {
    return this.text[this.at];
  }

  space(): void {
    while (this.at < this.text.length && " \t\n\r".includes(this.text[this.at]!)) {
      this.at++;
    }
  }

  /** The elements of the array that begins here. */
  elements(): Span[] {
    const spans: Span[] = [];
    this.list("[", "]", () => spans.push(this.value()));
    return spans;
  }

  /** The members of the object that begins here, by name. A name that stands twice is an error. */
  members(): Map<string, Span> {
    const members = new Map<string, Span>();
    this.list("{", "}", () => {
      const start = this.at;
      this.string();
      const name = this.text.slice(start, this.at);
      this.space();
      this.expect(":");
      this.space();
      let key: string;
      try {
        key = JSON.parse(name) as string;
      } catch {
        throw new NotJson();
      }
      if (members.has(key)) {
        throw new NotJson();
      }
      members.set(key, this.value());
    });
    return members;
  }

  private list(open: string, close: string, item: () => void): void {
    this.expect(open);
    this.space();
    if (this.peek() === close) {
      this.at++;
      return;
    }
    for (;;) {
      this.space();
      item();
      this.space();
      if (this.peek() === close) {
        this.at++;
        return;
      }
      this.expect(",");
    }
  }

  private expect(char: string): void {
    if (this.text[this.at] !== char) {
      throw new NotJson();
    }
    this.at++;
  }

  private string(): void {
    this.expect('"');
    for (;;) {
      const quote = this.text.indexOf('"', this.at);
      if (quote < 0) {
        throw new NotJson();
      }
      let backslashes = 0;
      while (this.text[quote - 1 - backslashes] === "\\") {
        backslashes++;
      }
      this.at = quote + 1;
      if (backslashes % 2 === 0) {
        return;
      }
    }
  }

  private value(): Span {
    const start = this.at;
    const first = this.peek();
    if (first === '"') {
      this.string();
    } else if (first === "{" || first === "[") {
      this.nested();
    } else {
      while (this.at < this.text.length && !",]} \t\n\r".includes(this.text[this.at]!)) {
        this.at++;
      }
    }
    if (this.at === start) {
      throw new NotJson();
    }
    return { start, end: this.at };
  }

  private nested(): void {
    let depth = 0;
    do {
      const char = this.peek();
      if (char === undefined) {
        throw new NotJson();
      }
      if (char === '"') {
        this.string();
        continue;
      }
      if (char === "{" || char === "[") {
        depth++;
      } else if (char === "}" || char === "]") {
        depth--;
      }
      this.at++;
    } while (depth > 0);
  }
}
