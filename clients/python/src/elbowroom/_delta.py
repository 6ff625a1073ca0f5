"""A growing body as its difference from the one before: one splice, from the longest common beginning and end."""

from __future__ import annotations

import hashlib

from elbowroom.v1 import conversation_pb2

# What a delta costs beside its text: the hash, the numbers, the framing.
_OVERHEAD = 64


def common_prefix(a: bytes, b: bytes) -> int:
    """Return how many bytes two texts have in common at their beginning."""
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while high - low > 1:  # invariant: equal up to low, different somewhere before high
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low


def common_suffix(a: bytes, b: bytes, most: int) -> int:
    """Return how many bytes two texts have in common at their end, ``most`` at most."""
    low, high = 0, most
    if a[len(a) - high :] == b[len(b) - high :]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if a[len(a) - middle : len(a) - low] == b[len(b) - middle : len(b) - low]:
            low = middle
        else:
            high = middle
    return low


def _continues(byte: int) -> bool:
    """Whether a byte stands inside a UTF-8 character."""
    return byte & 0xC0 == 0x80


def delta(base: bytes, body: bytes) -> conversation_pb2.NativeDelta | None:
    """Return what leads from base to body, or None where sending the body in full is not larger."""
    start = common_prefix(base, body)
    while start > 0 and ((start < len(body) and _continues(body[start])) or (start < len(base) and _continues(base[start]))):
        start -= 1
    end = common_suffix(base, body, min(len(base), len(body)) - start)
    while end > 0 and _continues(body[len(body) - end]):
        end -= 1
    if len(body) - start - end + _OVERHEAD >= len(body):
        return None
    out = conversation_pb2.NativeDelta(base=hashlib.sha256(base).digest())
    try:
        text = body[start : len(body) - end].decode()
    except UnicodeDecodeError:  # broken, and the server says where when it has it in full
        return None
    length = len(base) - start - end
    if length or text:
        out.splices.add(offset=start, length=length, text=text)
    return out
