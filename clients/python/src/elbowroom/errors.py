"""What a call can fail with: one class for each kind of failure, filled from the status and its ``google.rpc`` details.

Every error says what to do about it in ``advice``. A failed call never returns half a conversation: the caller's own stays as it
is.
"""

from __future__ import annotations

import re
from typing import Any, cast

import grpc
from google.rpc import error_details_pb2, status_pb2

_STATUS_DETAILS = "grpc-status-details-bin"


class ElbowroomError(Exception):
    """A call failed.

    Attributes:
        code: The gRPC status as a word, for example ``"INVALID_ARGUMENT"``.
        message: What the server (or this client) said.
        advice: What to do about it, one sentence.
    """

    default_advice = "Read the message; if it does not help, look the status up in the API documentation."

    def __init__(self, message: str, *, code: str = "UNKNOWN", advice: str = "") -> None:
        self.code = code
        self.message = message
        self.advice = advice or self.default_advice
        super().__init__(f"{code}: {message} ({self.advice})")


class InvalidRequest(ElbowroomError):
    """The request cannot be read as it stands.

    Attributes:
        field: Path of the field concerned, empty when none is named.
        byte_offset: Where broken JSON breaks, in UTF-8 bytes of the body; None when the error is about something else.
        index: Index of the message concerned; None when none is.
    """

    default_advice = "Correct the request; sending it again unchanged fails again."

    def __init__(
        self,
        message: str,
        *,
        field: str = "",
        byte_offset: int | None = None,
        index: int | None = None,
        reason: str = "",
        code: str = "INVALID_ARGUMENT",
        advice: str = "",
    ) -> None:
        self.field = field
        self.byte_offset = byte_offset
        self.index = index
        self.reason = reason
        super().__init__(message, code=code, advice=advice)


class Refused(ElbowroomError):
    """The conversation is illegal and has no repair, or its breakpoints are.

    Attributes:
        reason: A stable word, for example ``"DUPLICATE_CALL_ID"`` or ``"TOO_MANY_MARKS"``.
        index: Index of the message concerned; None when none is.
    """

    default_advice = "Correct the message at this index; no automatic repair is known for it."

    def __init__(self, message: str, *, reason: str = "", index: int | None = None, code: str = "FAILED_PRECONDITION") -> None:
        self.reason = reason
        self.index = index
        super().__init__(message, code=code)


class Overloaded(ElbowroomError):
    """The server has too much to do, or the message is larger than it accepts.

    A call that may come back within two seconds was tried up to four times before this is raised.

    Attributes:
        retry_after: Seconds to wait; None when waiting does not help.
    """

    default_advice = "Send smaller messages, or raise limits.max_message_bytes on the server."

    def __init__(self, message: str, *, retry_after: float | None = None, code: str = "RESOURCE_EXHAUSTED") -> None:
        self.retry_after = retry_after
        advice = "" if retry_after is None else f"Wait {retry_after:g} s and send the request again."
        super().__init__(message, code=code, advice=advice)


class Unavailable(ElbowroomError):
    """The server cannot be reached, is shutting down, or its summarizer failed under ``failure_policy="abort"``.

    The call was tried up to four times before this is raised.

    Attributes:
        retry_after: Seconds to wait before the next try; None when the server did not say.
        reason: ``"SUMMARIZER_FAILED"``, or empty.
    """

    default_advice = "Check that the server runs at this address, then send the request again."

    def __init__(self, message: str, *, retry_after: float | None = None, reason: str = "", code: str = "UNAVAILABLE") -> None:
        self.retry_after = retry_after
        self.reason = reason
        advice = "" if retry_after is None else f"Wait {retry_after:g} s and send the request again."
        super().__init__(message, code=code, advice=advice)


class DeadlineExceeded(ElbowroomError):
    """The deadline passed before there was a result."""

    default_advice = "Give the call a longer timeout, or check why the server is slow."

    def __init__(self, message: str, *, code: str = "DEADLINE_EXCEEDED") -> None:
        super().__init__(message, code=code)


class Unauthenticated(ElbowroomError):
    """The server wants a token or a client certificate and got none that it knows."""

    default_advice = "Pass token= or client_cert= to the client, and check that it has not expired."

    def __init__(self, message: str, *, code: str = "UNAUTHENTICATED") -> None:
        super().__init__(message, code=code)


class PermissionDenied(ElbowroomError):
    """The server knows the caller and does not let it do this."""

    default_advice = "Ask the operator of the server for the permission that the message names."

    def __init__(self, message: str, *, code: str = "PERMISSION_DENIED") -> None:
        super().__init__(message, code=code)


class Internal(ElbowroomError):
    """A fault of the server.

    Attributes:
        error_id: Stands in the server's log next to the cause; empty when the message has none.
    """

    default_advice = "Look for the error id in the server's log and report it."

    def __init__(self, message: str, *, error_id: str = "", code: str = "INTERNAL") -> None:
        self.error_id = error_id
        super().__init__(message, code=code)


_ERROR_ID = re.compile(r"logged as ([0-9a-f]+)")


def from_rpc_error(error: grpc.RpcError) -> ElbowroomError:
    """Turn what gRPC raised, sync or asyncio, into the typed error."""
    call = cast(Any, error)
    code = call.code().name
    message = call.details() or ""
    details = _Details(call.trailing_metadata())
    if code in ("INVALID_ARGUMENT", "OUT_OF_RANGE"):
        return InvalidRequest(
            message,
            field=details.field,
            byte_offset=details.number("byte_offset"),
            index=details.number("message_index"),
            reason=details.reason,
            code=code,
        )
    if code == "FAILED_PRECONDITION":
        return Refused(message, reason=details.reason, index=details.number("message_index"))
    if code == "RESOURCE_EXHAUSTED":
        return Overloaded(message, retry_after=details.retry_after)
    if code == "UNAVAILABLE":
        return Unavailable(message, retry_after=details.retry_after, reason=details.reason)
    if code == "INTERNAL":
        found = _ERROR_ID.search(message)
        return Internal(message, error_id=found.group(1) if found else "")
    simple: dict[str, type[DeadlineExceeded | Unauthenticated | PermissionDenied]] = {
        "DEADLINE_EXCEEDED": DeadlineExceeded,
        "UNAUTHENTICATED": Unauthenticated,
        "PERMISSION_DENIED": PermissionDenied,
    }
    if code in simple:
        return simple[code](message)
    return ElbowroomError(message, code=code)


class _Details:
    """The ``google.rpc`` details of a status, as far as the errors need them."""

    def __init__(self, trailers: Any) -> None:
        self.field = ""
        self.reason = ""
        self.facts: dict[str, str] = {}
        self.retry_after: float | None = None
        for key, value in trailers or ():
            if key == _STATUS_DETAILS:
                self._read(value)

    def _read(self, serialized: bytes) -> None:
        status = status_pb2.Status.FromString(serialized)
        for detail in status.details:
            bad = error_details_pb2.BadRequest()
            info = error_details_pb2.ErrorInfo()
            retry = error_details_pb2.RetryInfo()
            if detail.Unpack(bad):
                self.field = self.field or next((v.field for v in bad.field_violations), "")
            elif detail.Unpack(info):
                self.reason, self.facts = info.reason, dict(info.metadata)
            elif detail.Unpack(retry):
                self.retry_after = retry.retry_delay.ToNanoseconds() / 1e9

    def number(self, name: str) -> int | None:
        value = self.facts.get(name, "")
        return int(value) if value.isdecimal() else None
