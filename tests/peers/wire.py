"""What a strict provider checks in a list of messages, and where each message stands in the text of a request."""

from __future__ import annotations

import json
import re
from typing import Any

Message = dict[str, Any]

SUMMARY = "[ELBOWROOM CONTEXT SUMMARY, round "
"""How a summary of Elbowroom begins."""


def faults(messages: list[Message]) -> list[str]:
    """Say what OpenAI would refuse: roles, pairs of call and result, empty content."""
    found = []
    open_calls: list[str] = []
    for at, message in enumerate(messages):
        role, content = message.get("role"), message.get("content")
        if role not in ("system", "user", "assistant", "tool"):
            found.append(f"message {at}: no such role {role!r}")
        if role == "system" and at > 0:
            found.append(f"message {at}: a system message that is not first")
        if role == "tool":
            if message.get("tool_call_id") in open_calls:
                open_calls.remove(message["tool_call_id"])
            else:
                found.append(f"message {at}: a result without its call right before it")
        elif open_calls:
            found.append(f"message {at}: calls without result before it: {open_calls}")
            open_calls = []
        if role == "assistant":
            open_calls = [call["id"] for call in message.get("tool_calls") or []]
        if not content and not (role == "assistant" and open_calls):
            found.append(f"message {at}: {role} without content")
    if open_calls:
        found.append(f"calls without result at the end: {open_calls}")
    if not messages or messages[-1]["role"] not in ("user", "tool"):
        found.append("it ends with neither a user message nor a result")
    return found


def texts(body: str) -> list[str]:
    """Return the text of each message of a request, byte for byte."""
    start = re.search(r'"messages":\s*\[', body)
    assert start, "a request without messages"
    decoder, at, found = json.JSONDecoder(), start.end(), []
    while True:
        at += len(re.match(r"[\s,]*", body[at:]).group())  # type: ignore[union-attr]
        if body[at] == "]":
            return found
        _, end = decoder.raw_decode(body, at)
        found.append(body[at:end])
        at = end


def canonical(message: Message) -> str:
    """Return a message in a form that is the same whatever the order of its keys, without keys that are null."""
    return json.dumps({k: v for k, v in message.items() if v is not None}, sort_keys=True, ensure_ascii=False)


def summary_of(messages: list[Message]) -> str | None:
    """Return the text of the summary in a list of messages, None without one."""
    found = [m["content"] for m in messages if isinstance(m.get("content"), str) and m["content"].startswith(SUMMARY)]
    assert len(found) < 2, "two summaries in one list"
    return found[0] if found else None
