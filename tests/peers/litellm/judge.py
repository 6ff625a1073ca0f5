"""What has to hold for the requests that the provider got, given what the caller sent."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

import wire

Message = dict[str, object]


@dataclass(frozen=True)
class Verdict:
    """What was seen."""

    compressed: int
    """Requests that carried a summary."""
    rounds: int
    """Different summaries."""
    breaks: list[int]
    """Requests whose text did not extend the one before."""
    largest: int
    """Most bytes of messages that the provider got in one request."""


def judge(bodies: list[str], sent: list[list[Message]]) -> Verdict:
    """Check every request and return what was seen."""
    assert len(bodies) == len(sent), f"the provider got {len(bodies)} requests for {len(sent)}"
    summaries: list[str] = []
    breaks: list[int] = []
    compressed = largest = 0
    before: list[str] = []
    for number, (body, original) in enumerate(zip(bodies, sent, strict=True)):
        here = f"request {number}"
        messages = json.loads(body)["messages"]
        assert not wire.faults(messages), f"{here}: {wire.faults(messages)}"
        pieces = wire.texts(body)
        largest = max(largest, sum(len(p.encode()) for p in pieces))

        newest = next(m for m in reversed(original) if m["role"] == "user")
        assert newest["content"] in [m["content"] for m in messages if m["role"] == "user"], (
            f"{here}: the newest question is lost"
        )

        summary = wire.summary_of(messages)
        if summary is None:
            assert [wire.canonical(m) for m in messages] == [wire.canonical(m) for m in original], (
                f"{here}: changed without a summary"
            )
        else:
            compressed += 1
            kept_as_sent(here, messages, original)
            assert len(messages) < len(original), f"{here}: a summary, and not fewer messages"
        if pieces[: len(before)] != before:
            breaks.append(number)
            assert summary not in [None, *summaries[-1:]], f"{here}: the prefix changed without a new compression"
        if summary is not None and summary not in summaries:
            summaries.append(summary)
            assert number == 0 or number in breaks, f"{here}: a new summary in an old prefix"
        before = pieces
    # The text as a whole, not only message by message: what is between messages counts for the provider's cache too.
    for number in range(1, len(bodies)):
        if number not in breaks:
            earlier, later = until_last_message(bodies[number - 1]), until_last_message(bodies[number])
            assert later.startswith(earlier), f"request {number}: the text before it is not its prefix"
    return Verdict(compressed, len(summaries), breaks, largest)


def kept_as_sent(here: str, messages: list[Message], original: list[Message]) -> None:
    """Check every message but the summary: one of the original in order, or a shorter result, or the system prompt and more."""
    at = 0
    for message in messages:
        content = message.get("content")
        if isinstance(content, str) and content.startswith(wire.SUMMARY):
            continue
        while at < len(original) and not same(message, original[at]):
            at += 1
        assert at < len(original), f"{here}: a message that was never sent: {json.dumps(message)[:300]}"
        at += 1


def same(message: Message, original: Message) -> bool:
    if wire.canonical(message) == wire.canonical(original):
        return True
    rest = {**message, "content": original.get("content")}
    if wire.canonical(rest) != wire.canonical(original):
        return False
    if message["role"] == "system":
        return str(message["content"]).startswith(str(original["content"]))
    return message["role"] == "tool" and len(str(message["content"])) < len(str(original["content"]))


def until_last_message(body: str) -> str:
    """Return the text from the beginning of the list of messages to the end of its last message."""
    start = body.index('"messages"')
    last = wire.texts(body)[-1]
    return body[start : body.rindex(last) + len(last)]


def report(name: str, verdict: Verdict, sent: list[list[Message]]) -> None:
    """Print the figures of a run."""
    original = len(json.dumps(sent[-1], ensure_ascii=False).encode())
    line = (
        f"{name}: {len(sent)} requests, {verdict.compressed} with a summary, {verdict.rounds} compressions, prefix changed "
        f"{len(verdict.breaks)} times; largest list {verdict.largest:,} bytes, the last original {original:,}"
    )
    if path := os.environ.get("PEERS_FIGURES"):
        with open(path, "a") as figures:
            print(line, file=figures)
