"""What the calls return. ``response`` is always the whole message of the API, for what has no attribute of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from elbowroom.v1 import cache_pb2, compress_pb2, context_service_pb2, conversation_pb2

B = TypeVar("B")


@dataclass(frozen=True)
class CompressResult(Generic[B]):
    """The conversation, shorter where it was time for it."""

    body: B
    """The result, of the kind that was given."""
    outcome: str
    """What happened, for example ``"compressed"`` or ``"below_threshold"``."""
    report: compress_pb2.CompressionReport
    summary: str
    """The summary's body; empty when none was written."""
    compression_state: bytes
    """Pass it back with the next request of this conversation."""
    response: compress_pb2.CompressResponse


@dataclass(frozen=True)
class CacheResult(Generic[B]):
    """The conversation with cache breakpoints."""

    body: B
    """The result, of the kind that was given."""
    breakpoints: Sequence[cache_pb2.Breakpoint]
    skipped: Sequence[cache_pb2.SkippedPlace]
    """Places that could not carry a breakpoint, with the reason."""
    layout: str
    """The layout used; ``"unspecified"``: none, the conversation is unchanged."""
    layout_reason: str
    cache_state: bytes
    """Pass it back with the next request of this conversation."""
    warnings: Sequence[conversation_pb2.Warning]
    response: cache_pb2.ApplyCacheControlResponse


@dataclass(frozen=True)
class PrepareResult(Generic[B]):
    """The conversation ready to send: compressed if it was time for it, and marked."""

    body: B
    """The result, of the kind that was given."""
    outcome: str
    """What happened, for example ``"compressed"`` or ``"below_threshold"``."""
    report: compress_pb2.CompressionReport
    summary: str
    """The summary's body; empty when none was written."""
    compression_state: bytes
    """Pass it back with the next request of this conversation."""
    breakpoints: Sequence[cache_pb2.Breakpoint]
    skipped: Sequence[cache_pb2.SkippedPlace]
    """Places that could not carry a breakpoint, with the reason."""
    layout: str
    """The layout used; ``"unspecified"``: none, nothing was marked."""
    layout_reason: str
    cache_state: bytes
    """Pass it back with the next request of this conversation."""
    warnings: Sequence[conversation_pb2.Warning]
    """Things about the breakpoints that did not stop the work."""
    response: context_service_pb2.PrepareResponse


@dataclass(frozen=True)
class Progress:
    """A phase of a compression began."""

    phase: str
    """``"counting"``, ``"planning"``, ``"summarizing"``, ``"checking"`` or ``"assembling"``."""
    event: compress_pb2.CompressProgress


@dataclass(frozen=True)
class SummaryPiece:
    """A piece of the summary as a language model writes it: not yet checked."""

    text: str
    summarizer: str
    restart: bool
    """What came before this piece is void."""


CompressEvent = Progress | SummaryPiece | CompressResult[Any]
"""One event of ``stream_compress``; the result is the last one."""
