"""The provider's own objects in, the same kind of object out.

A body is a whole request body or a list of messages, as Python objects or as raw JSON text or bytes. It is serialized once, and
what the service changed comes back as splices of those bytes. Raw text is never parsed on the way, so what the service did not
change keeps every byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

from elbowroom._plain import Fault, find_fault, plain
from elbowroom.errors import InvalidRequest
from elbowroom.v1 import conversation_pb2

Body = Mapping[str, Any] | Sequence[Any] | str | bytes
"""A request body or a list of messages: objects, JSON text, or UTF-8 JSON bytes."""

B = TypeVar("B", bound=Body)

_SURROGATE = re.compile("[\ud800-\udfff]")
_FORMATS = {
    "openai_chat": conversation_pb2.FORMAT_OPENAI_CHAT,
    "anthropic_messages": conversation_pb2.FORMAT_ANTHROPIC_MESSAGES,
    "bedrock_converse": conversation_pb2.FORMAT_BEDROCK_CONVERSE,
}
_FIELD = "conversation.native.json"


def serialize(body: Body) -> bytes:
    """Return the body as UTF-8 JSON: text and bytes as they are, objects in their own key order with non-ASCII kept.

    Objects of the providers' SDKs (pydantic models) are written as the SDKs themselves would send them.

    Raises:
        InvalidRequest: The body cannot be written as JSON.
    """
    if isinstance(body, bytes):
        return body
    if isinstance(body, (bytearray, memoryview)):
        return bytes(body)
    if isinstance(body, str):
        try:
            return body.encode()
        except UnicodeEncodeError as error:
            raise InvalidRequest(
                f"the text cannot be encoded as UTF-8: {error.reason}",
                field=_FIELD,
                byte_offset=len(body[: error.start].encode()),
                advice="Write lone surrogates as escapes, as json.dumps does.",
            ) from error
    try:
        if isinstance(body, Sequence) and not isinstance(body, (list, tuple)):
            body = list(body)
        text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=plain)
    except Exception as error:  # the caller's objects may raise anything
        fault = find_fault(body) or Fault((), str(error) or type(error).__name__)
        raise InvalidRequest(
            f"the body cannot be written as JSON: {fault}",
            field=_FIELD,
            index=fault.index,
            advice="Pass only what JSON can hold, or the JSON text itself; give the SDK's own arguments to the SDK's call.",
        ) from error
    try:
        return text.encode()
    except UnicodeEncodeError:  # JSON can hold a lone surrogate as an escape, UTF-8 cannot hold it at all
        return _SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", text).encode()


def restore(like: B, result: bytes) -> B:
    """Return the resulting JSON in the kind of the body that was given."""
    if isinstance(like, str):
        return cast(B, result.decode())
    if isinstance(like, (bytes, bytearray, memoryview)):
        return cast(B, result)
    return cast(B, json.loads(result))


def splice(original: bytes, splices: Iterable[conversation_pb2.Splice]) -> bytes:
    """Apply byte edits, ascending and disjoint, to the bytes they were made for."""
    parts: list[bytes] = []
    at = 0
    for edit in splices:
        end = edit.offset + edit.length
        if edit.offset < at or end > len(original):
            raise ValueError("the splices do not fit the body that was sent")
        parts += (original[at : edit.offset], edit.text.encode())
        at = end
    if not parts:
        return original
    parts.append(original[at:])
    return b"".join(parts)


def format_of(body: Body, named: str | None) -> conversation_pb2.Format:
    """Return the wire format: the one that was named, else the one that can be told from the body.

    Raises:
        InvalidRequest: There is no format of that name, or the body could be of either format.
    """
    if named is not None:
        if named not in _FORMATS:
            raise InvalidRequest(
                f"unknown format {named!r}",
                field="conversation.native.format",
                advice=f"Use one of {', '.join(sorted(_FORMATS))}.",
            )
        return _FORMATS[named]
    parsed: Any = body
    if isinstance(body, (str, bytes, bytearray, memoryview)):
        try:
            parsed = json.loads(bytes(body) if isinstance(body, memoryview) else body)
        except (ValueError, RecursionError):
            parsed = None
    told = _tell(parsed)
    if told is None:
        raise InvalidRequest(
            "the format cannot be told from the body",
            field="conversation.native.format",
            advice='Pass format="openai_chat" or format="anthropic_messages".',
        )
    return told


def _tell(parsed: Any) -> conversation_pb2.Format | None:
    messages = parsed
    if isinstance(parsed, Mapping):
        messages = parsed.get("messages")
        if "system" in parsed:
            return conversation_pb2.FORMAT_ANTHROPIC_MESSAGES
        for tool in _items(parsed.get("tools")):
            if _get(tool, "type") == "function" or _get(tool, "function") is not None:
                return conversation_pb2.FORMAT_OPENAI_CHAT
            if _get(tool, "input_schema") is not None:
                return conversation_pb2.FORMAT_ANTHROPIC_MESSAGES
    for message in _items(messages):
        if _get(message, "role") in ("system", "developer", "tool", "function"):
            return conversation_pb2.FORMAT_OPENAI_CHAT
        if _get(message, "tool_calls") is not None or _get(message, "function_call") is not None:
            return conversation_pb2.FORMAT_OPENAI_CHAT
        for block in _items(_get(message, "content")):
            kind = _get(block, "type")
            if kind in ("tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"):
                return conversation_pb2.FORMAT_ANTHROPIC_MESSAGES
            if kind in ("image_url", "input_audio", "file", "refusal"):
                return conversation_pb2.FORMAT_OPENAI_CHAT
    return None


def _items(value: Any) -> Sequence[Any]:
    return value if isinstance(value, Sequence) and not isinstance(value, (str, bytes)) else ()


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
