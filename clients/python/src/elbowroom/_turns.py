"""What a conversation remembers from turn to turn, without any transport.

The caller's loop keeps appending to its own list of messages. Each turn this list is compared with the one of the turn before.
Where it only grew, the service gets its own last result plus the new messages, so what was compressed stays compressed and the
prefix stays the same, byte for byte. Where it changed, the full list goes, and what was remembered is forgotten once the service
has taken it.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from elbowroom import _body, _calls
from elbowroom._body import B, Body
from elbowroom._delta import delta
from elbowroom._parts import MARKS, Item, Parts, split
from elbowroom._usage import read_usage
from elbowroom.errors import ElbowroomError, Refused
from elbowroom.options import fill
from elbowroom.v1 import compress_pb2, context_service_pb2, conversation_pb2

_MAX_MARKS = 4


@dataclass(frozen=True)
class _Memory:
    """The lists of the last turn. What was returned differs from ``sent`` by its marks at most; no comparison looks at them."""

    origin: Parts
    """As the caller gave them."""
    sent: Parts
    """As they went to the service, or as it changed them: they go on from here."""


@dataclass(frozen=True)
class Turn:
    """One call of before_request on its way."""

    body: Any
    parts: Parts | None
    request_parts: Parts | None
    """What goes to the service: the remembered history and the new messages."""
    content: bytes
    """The same as bytes."""
    continued: bool
    force: bool


class Turns:
    """State and bookkeeping that both kinds of conversation share."""

    def __init__(
        self, format: str | None, model: str | None, session_id: str | None, fail_open: bool, options: Mapping[str, Any]
    ) -> None:
        self.session_id: str = session_id or uuid.uuid4().hex
        """Names the conversation to the service."""
        self.fail_open = fail_open
        self.compression_state: bytes = b""
        """Opaque state of the service, carried from turn to turn."""
        self.cache_state: bytes = b""
        """Opaque state of the service, carried from turn to turn."""
        self.last_report: compress_pb2.CompressionReport | None = None
        """What the last successful turn did; None before it."""
        self.last_outcome: str = ""
        """The outcome of the last successful turn, for example ``"below_threshold"``; empty before it."""
        self.last_error: ElbowroomError | None = None
        """Why the last turn failed open; None when it succeeded."""
        self.bytes_sent: int = 0
        """Bytes of all requests to the service, serialized."""
        self.bytes_received: int = 0
        """Bytes of all its responses, serialized."""
        self._format: conversation_pb2.Format | None = None
        self._named_format = format
        self._template = context_service_pb2.PrepareRequest(
            model=model or "", session_id=self.session_id, view=conversation_pb2.VIEW_SPLICES
        )
        fill(self._template, options)
        self._memory: _Memory | None = None
        self._held: tuple[bytes, ...] = ()  # bodies that the service may hold: the last request and what it made of it
        self._usage: compress_pb2.Usage | None = None
        self._covers = 0

    def after_response(self, usage: Any) -> None:
        """Note what the provider reported for the last request, so that the threshold is judged by its own count.

        Args:
            usage: The response's usage, a mapping or an SDK object, of Anthropic's or OpenAI's shape. None and what makes no
                sense (negative numbers, fractions, text) are ignored.
        """
        if usage is None or not self._covers:
            return
        self._usage = read_usage(usage, self._covers) or self._usage

    def reset(self) -> None:
        """Forget the history and everything that belongs to it; the next turn starts anew."""
        self._memory = self._usage = None
        self._covers = 0
        self.compression_state = self.cache_state = b""

    def _begin(self, body: Body, force: bool) -> Turn | None:
        """Work out what to send; None where that fails and the conversation fails open.

        The memory stays as it is until a call has succeeded, but for what a response would cover.
        """
        self._covers = 0
        try:
            return self._turn(body, force)
        except ElbowroomError as error:
            if not self.fail_open:
                raise
            self.last_error = error
            return None

    def _turn(self, body: Body, force: bool) -> Turn:
        content = _body.serialize(body)
        if self._format is None:
            self._format = _body.format_of(body, self._named_format)
        parts = split(content)
        onward = None if parts is None or self._memory is None else _continue(self._memory, parts)
        if onward is None:
            return Turn(body, parts, parts, content, False, force)
        if onward == parts:
            onward = parts
        return Turn(body, parts, onward, content if onward is parts else onward.join(), True, force)

    def _request(self, turn: Turn, *, full: bool) -> context_service_pb2.PrepareRequest:
        request = context_service_pb2.PrepareRequest()
        request.CopyFrom(self._template)
        request.force = turn.force or self._template.force
        native = request.conversation.native
        native.format = cast(conversation_pb2.Format, self._format)
        native.keep = True
        differences = [] if full else [d for d in (delta(base, turn.content) for base in self._held) if d is not None]
        difference = min(differences, key=lambda d: d.ByteSize(), default=None)
        if difference is None:
            native.json_bytes = turn.content
        else:
            native.delta.CopyFrom(difference)
        if turn.continued:
            request.compression_state = self.compression_state
            request.cache_state = self.cache_state
            if self._usage is not None:
                request.last_usage.CopyFrom(self._usage)
        self.bytes_sent += request.ByteSize()
        return request

    def _finish(self, turn: Turn, response: context_service_pb2.PrepareResponse, body: B) -> B:
        self.bytes_received += response.ByteSize()
        result = _body.splice(turn.content, response.splices)
        changed = response.report.HasField("first_changed_index")
        self.last_error = None
        self.last_report = response.report
        self.last_outcome = _calls.outcome(response.outcome)
        self.compression_state = response.compression_state
        self.cache_state = response.cache_state
        self._held = (turn.content, result)
        if changed or not turn.continued:  # what was reported before belongs to another prefix
            self._usage = None
        if turn.parts is None or turn.request_parts is None:
            self._memory, self._covers = None, 0
            return _body.restore(body, result)
        sent = (split(result) if changed else None) or turn.request_parts
        self._memory = _Memory(turn.parts, sent)
        self._covers = sent.count
        return _body.restore(body, result)

    def _retry_in_full(self, error: ElbowroomError) -> bool:
        """Whether the service does not hold the body that a delta was made for: it is sent again in full."""
        if isinstance(error, Refused) and error.reason == "BASE_UNKNOWN" and self._held:
            self._held = ()
            return True
        return False

    def _fail(self, turn: Turn, error: ElbowroomError, body: B) -> B:
        """Return what can be sent without the service, or raise."""
        if not self.fail_open:
            raise error
        self.last_error = error
        history, parts = turn.request_parts, turn.parts
        if history is None or parts is None:
            return body
        if not turn.continued and self._memory is not None:  # perhaps a question aside: the history may go on after it
            return body
        if history is parts or not turn.continued:
            self._memory, self._covers = _Memory(parts, parts), parts.count
            return body
        marks = _marks(turn.content)
        if marks > _MAX_MARKS or (marks and _marks(_own(parts, cast(_Memory, self._memory)))):
            # Marks of the remembered history and of the caller together could be illegal. The caller's own list is not.
            self._covers = 0
            return body
        self._memory, self._covers = _Memory(parts, history), history.count
        return _body.restore(body, turn.content)


def _continue(memory: _Memory, parts: Parts) -> Parts | None:
    """Return the remembered history plus what is new in these parts, None where they do not continue it."""
    best: Parts | None = None
    for known in (memory.sent, memory.origin):
        covered = len(known.messages)
        if not _same(parts.messages[:covered], known.messages) or (best is not None and covered <= len(best.messages)):
            continue
        best = known
    if best is None:
        return None
    lead = memory.sent.lead if any(_same(parts.lead, k.lead) for k in (memory.origin, memory.sent)) else parts.lead
    system = parts.system
    if system is not None and any(k.system is not None and k.system.key == system.key for k in (memory.origin, memory.sent)):
        system = memory.sent.system
    return parts.with_history(system, lead, memory.sent.messages + parts.messages[len(best.messages) :])


def _same(a: tuple[Item, ...], b: tuple[Item, ...]) -> bool:
    return len(a) == len(b) and all(x.key == y.key for x, y in zip(a, b, strict=True))


def _own(parts: Parts, memory: _Memory) -> bytes:
    """What the caller added itself: everything but the remembered messages."""
    known = {item.json for item in (*memory.sent.lead, *memory.sent.messages)}
    added = [item.json for item in (*parts.lead, *parts.messages) if item.json not in known]
    return b"".join((parts.head, parts.system.json if parts.system else b"", parts.tail, *added))


def _marks(content: bytes) -> int:
    """Count members that are marks. The name of one inside a text has its quotes escaped and does not count."""
    return sum(content.count(f'"{mark}"'.encode()) for mark in MARKS)
