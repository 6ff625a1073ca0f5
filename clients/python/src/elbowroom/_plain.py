"""What JSON can hold of the caller's objects, and where something stands that it cannot."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Fault:
    """Something in a body that JSON cannot hold."""

    path: tuple[Any, ...]
    """Keys and indices that lead to it."""
    why: str

    @property
    def index(self) -> int | None:
        """Index of the message it stands in, None where it stands in none."""
        in_messages = self.path[1:] if self.path[:1] == ("messages",) else self.path
        return in_messages[0] if in_messages and isinstance(in_messages[0], int) else None

    def __str__(self) -> str:
        place = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in self.path).removeprefix(".")
        return f"{place}: {self.why}" if place else self.why


def plain(value: Any) -> Any:
    """Turn what json does not know into what it does: pydantic models as the SDKs send them, mappings and sequences.

    Raises:
        TypeError: The value is none of these.
    """
    if isinstance(value, type):
        raise TypeError(f"the class {value.__name__} is no JSON value")
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude=getattr(value, "__api_exclude__", None))
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        return list(value)
    raise TypeError(f"an object of type {type(value).__name__} is no JSON value")


def find_fault(body: Any) -> Fault | None:
    """Return the first fault of a body that could not be written, None where none is found."""
    try:
        return _find(body, (), ())
    except RecursionError:
        return Fault((), "it is nested too deeply")


def _find(value: Any, path: tuple[Any, ...], around: tuple[int, ...]) -> Fault | None:
    if value is None or isinstance(value, (str, bool)):
        return None
    if isinstance(value, (int, float)):
        return _number_fault(value, path)
    if id(value) in around:
        return Fault(path, "it contains itself")
    try:
        inner = value if isinstance(value, (dict, list, tuple)) else plain(value)
        for key, member in _members(inner):
            if not (key is None or isinstance(key, (str, int, float))):
                return Fault(path, f"a key of type {type(key).__name__} is no name in JSON")
            fault = _number_fault(key, path) if isinstance(key, float) else None
            fault = fault or _find(member, (*path, key), (*around, id(value)))
            if fault is not None:
                return fault
    except RecursionError:
        raise
    except Exception as error:  # the caller's objects may raise anything
        return Fault(path, str(error) or type(error).__name__)
    return None


def _number_fault(value: int | float, path: tuple[Any, ...]) -> Fault | None:
    if isinstance(value, float):
        return None if math.isfinite(value) else Fault(path, f"{value} is no number in JSON")
    try:
        int.__repr__(value)
    except ValueError:
        return Fault(path, "Python does not write an integer of so many digits")
    return None


def _members(value: Any) -> Iterator[tuple[Any, Any]]:
    return iter(value.items() if isinstance(value, dict) else enumerate(value))
