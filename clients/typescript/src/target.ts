/** Where a client connects to, and whether a token may travel there. */

import { BlockList, isIP } from "node:net";
import { InvalidRequestError } from "./errors.js";

/** Makes a URL of a target: host:port, dns:///host:port, or an http or https URL. Throws an InvalidRequestError for anything else. */
export function urlOf(target: string, tls: boolean): URL {
  if (typeof target !== "string" || target === "") {
    throw noAddress(target);
  }
  if (/^https?:\/\//i.test(target)) {
    return parse(target, target);
  }
  const address = target.replace(/^dns:\/\/\//, "");
  if (address.includes("/")) {
    throw noAddress(target); // another scheme, whose name would be taken for a host
  }
  return parse(`${tls ? "https" : "http"}://${address}`, target);
}

/** Throws an InvalidRequestError where a token would travel without TLS to another machine. */
export function refuseOpenToken(url: URL): void {
  if (url.protocol !== "https:" && !onThisMachine(url.hostname)) {
    throw new InvalidRequestError(
      `the token would travel in the open to ${url.host}; use tls, or tokenInTheOpen: true if the network encrypts`,
      { field: "token", advice: "Use tls, or tokenInTheOpen: true if the network encrypts." },
    );
  }
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Whether a host, as a URL spells it, is this machine. Names are not looked up. */
function onThisMachine(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const family = isIP(host);
  return host === "localhost" || (family !== 0 && loopback.check(host, family === 4 ? "ipv4" : "ipv6"));
}

function parse(url: string, target: string): URL {
  try {
    return new URL(url);
  } catch (cause) {
    throw noAddress(target, cause);
  }
}

function noAddress(target: unknown, cause?: unknown): InvalidRequestError {
  const given = typeof target === "string" ? JSON.stringify(target) : String(target);
  return new InvalidRequestError(`the target ${given} is no address; give host:port, or an http or https URL`, {
    field: "target",
    advice: 'Give host:port, "127.0.0.1:50051" for example, or an http or https URL.',
    cause,
  });
}
