"""A body taken apart at its messages, byte for byte, without changing any of them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()
_INSTRUCTIONS = ("system", "developer")
MARKS = ("cache_control", "prompt_cache_breakpoint")
"""Members that are cache breakpoints."""


@dataclass(frozen=True)
class Item:
    """One message, or the top-level system prompt."""

    json: bytes
    """Its JSON as it stands in the body."""
    key: bytes
    """What it is compared by: compact JSON without cache breakpoints, a list of one text block as that text."""


@dataclass(frozen=True)
class Parts:
    """``head + messages + tail`` is the body; whitespace and commas between messages are not kept."""

    head: bytes
    """Up to and with the opening bracket of the messages; ``{system}`` stands where the system prompt stood."""
    system: Item | None
    """The top-level system prompt, None where there is none."""
    system_at: int
    """Where the system prompt belongs in ``head`` or, counted on from the end of head, in ``tail``; -1 without one."""
    lead: tuple[Item, ...]
    """The system and developer messages that the list begins with."""
    messages: tuple[Item, ...]
    """The messages after them."""
    tail: bytes

    @property
    def count(self) -> int:
        """Messages in the list, those with instructions included."""
        return len(self.lead) + len(self.messages)

    def with_history(self, system: Item | None, lead: tuple[Item, ...], messages: tuple[Item, ...]) -> Parts:
        """Return these parts with another system prompt and other messages."""
        return replace(self, system=system if self.system is not None else None, lead=lead, messages=messages)

    def join(self) -> bytes:
        """Put the body together."""
        head, tail = self.head, self.tail
        if self.system is not None:
            if self.system_at <= len(head):
                head = head[: self.system_at] + self.system.json + head[self.system_at :]
            else:
                at = self.system_at - len(head)
                tail = tail[:at] + self.system.json + tail[at:]
        return head + b",".join(item.json for item in (*self.lead, *self.messages)) + tail


def split(body: bytes) -> Parts | None:
    """Take a body apart. None where it is no body with one list of messages; the server says what is wrong with it."""
    try:
        return _split(body.decode())
    except (ValueError, IndexError, RecursionError):
        return None


def _split(text: str) -> Parts:
    at = _skip(text, 0)
    if text[at] == "[":
        start, system = at, None
        items, end = _array(text, at)
    else:
        start, end, items, system = _object(text, at)
    head, tail = text[: start + 1], text[end - 1 :]
    system_at, system_item = -1, None
    if system is not None:
        first, last, value = system
        system_item = Item(text[first:last].encode(), _system_key(value))
        if first < start:
            system_at = len(text[:first].encode())
            head = text[:first] + text[last : start + 1]
        else:
            system_at = len(head.encode()) + len(text[end - 1 : first].encode())
            tail = text[end - 1 : first] + text[last:]
    lead = 0
    while lead < len(items) and isinstance(items[lead][1], dict) and items[lead][1].get("role") in _INSTRUCTIONS:
        lead += 1
    messages = tuple(_item(raw, value) for raw, value in items)
    return Parts(head.encode(), system_item, system_at, messages[:lead], messages[lead:], tail.encode())


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _array(text: str, at: int) -> tuple[list[tuple[str, Any]], int]:
    """Read an array: the text and the value of each element, and where it ends."""
    items: list[tuple[str, Any]] = []
    at = _skip(text, at + 1)
    while text[at] != "]":
        value, end = _DECODER.raw_decode(text, at)
        items.append((text[at:end], value))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return items, at + 1


def _object(text: str, at: int) -> tuple[int, int, list[tuple[str, Any]], tuple[int, int, Any] | None]:
    """Read a body: where its messages begin and end, each of them, and where its system prompt stands."""
    messages: tuple[int, int, list[tuple[str, Any]]] | None = None
    system: tuple[int, int, Any] | None = None
    if text[at] != "{":
        raise ValueError("no body")
    at = _skip(text, at + 1)
    while text[at] != "}":
        name, end = _DECODER.raw_decode(text, at)
        at = _skip(text, end)
        if text[at] != ":":
            raise ValueError("no member")
        at = _skip(text, at + 1)
        if name == "messages":
            if messages is not None or text[at] != "[":
                raise ValueError("not one list of messages")
            items, end = _array(text, at)
            messages = (at, end, items)
        else:
            value, end = _DECODER.raw_decode(text, at)
            if name == "system":
                if system is not None:
                    raise ValueError("not one system prompt")
                system = (at, end, value)
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    if messages is None:
        raise ValueError("no messages")
    return (*messages, system)


def _item(raw: str, value: Any) -> Item:
    plain = value
    if isinstance(value, dict):
        plain = _unmarked(value) if any(f'"{mark}"' in raw for mark in MARKS) else dict(value)
        if _is_single_text(plain.get("content")):
            plain["content"] = plain["content"][0]["text"]
    return Item(raw.encode(), _dump(plain))


def _system_key(value: Any) -> bytes:
    plain = _unmarked(value)
    return _dump(plain[0]["text"] if _is_single_text(plain) else plain)


def _is_single_text(content: Any) -> bool:
    return (
        isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict) and set(content[0]) == {"type", "text"}
    )


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _unmarked(inner) for name, inner in value.items() if name not in MARKS}
    if isinstance(value, list):
        return [_unmarked(inner) for inner in value]
    return value


def _dump(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
