"""What a provider reported for a request. Only a report that makes sense is one: anything else means that nothing is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from elbowroom.v1 import compress_pb2

_MOST = 2**31 - 1  # what the API's fields hold, in tokens


def read_usage(usage: Any, covers: int) -> compress_pb2.Usage | None:
    """Return the usage of a request, None where it is not known.

    Args:
        usage: A mapping or an SDK object, of Anthropic's, OpenAI's or LangChain's shape.
        covers: How many leading messages the prompt stood for.
    """
    names: tuple[str, ...] = ("prompt_tokens",)
    reply = "completion_tokens"
    if _get(usage, "prompt_tokens") in (None, 0):
        names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        reply = "output_tokens"
    numbers = [_tokens(_get(usage, name)) for name in (*names, reply)]
    known = [number for number in numbers if number is not None]
    prompt, completion = sum(known[:-1]), known[-1] if known else 0
    if len(known) < len(numbers) or not 0 < prompt <= _MOST:
        return None
    return compress_pb2.Usage(prompt_tokens=prompt, completion_tokens=completion, message_count=covers)


def _get(usage: Any, name: str) -> Any:
    return usage.get(name) if isinstance(usage, Mapping) else getattr(usage, name, None)


def _tokens(value: Any) -> int | None:
    """A number of tokens: 0 where nothing is said, None where what is said is no such number."""
    if value is None:
        return 0
    return int(value) if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST else None
