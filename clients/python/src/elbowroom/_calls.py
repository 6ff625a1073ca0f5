"""The calls without their transport: how a request is made and what a response means. Both clients share all of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from google.protobuf.message import Message

from elbowroom import _body
from elbowroom._body import B, Body
from elbowroom._channel import SERVICE
from elbowroom.options import fill, short_name
from elbowroom.results import CacheResult, CompressEvent, CompressResult, PrepareResult, Progress, SummaryPiece
from elbowroom.v1 import cache_pb2, compress_pb2, context_service_pb2, conversation_pb2, count_pb2, simulate_pb2

R = TypeVar("R")

RESPONSES: Mapping[str, type[Message]] = {
    "Compress": compress_pb2.CompressResponse,
    "StreamCompress": compress_pb2.StreamCompressResponse,
    "ApplyCacheControl": cache_pb2.ApplyCacheControlResponse,
    "CountTokens": count_pb2.CountTokensResponse,
    "Prepare": context_service_pb2.PrepareResponse,
    "SimulateCache": simulate_pb2.SimulateCacheResponse,
    "ListModels": context_service_pb2.ListModelsResponse,
}


def methods(channel: Any) -> Mapping[str, Any]:
    """Return the methods of the service on a channel, sync or asyncio, by name."""
    return {
        name: (channel.unary_stream if name == "StreamCompress" else channel.unary_unary)(
            f"/{SERVICE}/{name}",
            request_serializer=_serialize,
            response_deserializer=message.FromString,
        )
        for name, message in RESPONSES.items()
    }


def _serialize(message: Message) -> bytes:
    return message.SerializeToString()


@dataclass(frozen=True)
class Call(Generic[R]):
    """One call: the method's name, what to send, and what the answer means."""

    method: str
    request: Message
    finish: Callable[[Any], R]


class _Spliced(Protocol):
    @property
    def splices(self) -> Any: ...


def native(body: Body, format: str | None, base: conversation_pb2.Conversation) -> bytes:
    """Put a body into a conversation in its native form and return the bytes that were put."""
    content = _body.serialize(body)
    if format is not None or not base.native.format:
        base.native.format = _body.format_of(body, format)
    if isinstance(body, str):  # an error then names the member that the caller thinks of
        base.native.json = body
    else:
        base.native.json_bytes = content
    return content


def compress(
    body: B,
    format: str | None,
    model: str | None,
    base: compress_pb2.CompressRequest | None,
    options: Mapping[str, Any],
) -> Call[CompressResult[B]]:
    request = compress_pb2.CompressRequest()
    sent = _start(request, body, format, model, base, options)
    return Call("Compress", request, lambda response: _compressed(body, sent, response))


def stream_compress(
    body: B,
    format: str | None,
    model: str | None,
    base: compress_pb2.CompressRequest | None,
    options: Mapping[str, Any],
) -> Call[CompressEvent]:
    request = compress_pb2.StreamCompressRequest()
    sent = _start(request.request, body, format, model, base, options)

    def finish(event: compress_pb2.StreamCompressResponse) -> CompressEvent:
        if event.HasField("result"):
            return _compressed(body, sent, event.result)
        if event.HasField("summary_piece"):
            piece = event.summary_piece
            return SummaryPiece(piece.text, piece.summarizer, piece.restart)
        return Progress(short_name(compress_pb2.CompressPhase.DESCRIPTOR, event.progress.phase), event.progress)

    return Call("StreamCompress", request, finish)


def apply_cache_control(
    body: B,
    format: str | None,
    model: str | None,
    base: cache_pb2.ApplyCacheControlRequest | None,
    options: Mapping[str, Any],
) -> Call[CacheResult[B]]:
    request = cache_pb2.ApplyCacheControlRequest()
    sent = _start(request, body, format, model, base, options)

    def finish(response: cache_pb2.ApplyCacheControlResponse) -> CacheResult[B]:
        return CacheResult(
            body=_result(body, sent, response),
            breakpoints=response.breakpoints,
            skipped=response.skipped,
            layout=_layout(response.layout),
            layout_reason=response.layout_reason,
            cache_state=response.cache_state,
            warnings=response.warnings,
            response=response,
        )

    return Call("ApplyCacheControl", request, finish)


def prepare(
    body: B,
    format: str | None,
    model: str | None,
    base: context_service_pb2.PrepareRequest | None,
    options: Mapping[str, Any],
) -> Call[PrepareResult[B]]:
    request = context_service_pb2.PrepareRequest()
    sent = _start(request, body, format, model, base, options)

    def finish(response: context_service_pb2.PrepareResponse) -> PrepareResult[B]:
        return PrepareResult(
            body=_result(body, sent, response),
            outcome=outcome(response.outcome),
            report=response.report,
            summary=response.summary,
            compression_state=response.compression_state,
            breakpoints=response.breakpoints,
            skipped=response.skipped,
            layout=_layout(response.layout),
            layout_reason=response.layout_reason,
            cache_state=response.cache_state,
            warnings=response.warnings,
            response=response,
        )

    return Call("Prepare", request, finish)


def count_tokens(
    body: Body | None,
    text: str | None,
    format: str | None,
    model: str | None,
    base: count_pb2.CountTokensRequest | None,
    options: Mapping[str, Any],
) -> Call[count_pb2.CountTokensResponse]:
    request = count_pb2.CountTokensRequest()
    if base is not None:
        request.CopyFrom(base)
    fill(request, options)
    if model is not None:
        request.model = model
    if text is not None:
        request.text = text
    if body is not None:
        native(body, format, request.conversation)
    return Call("CountTokens", request, lambda response: response)


def simulate_cache(
    requests: Sequence[Body | simulate_pb2.SimulatedRequest],
    format: str | None,
    model: str | None,
    interval_ms: int,
    base: simulate_pb2.SimulateCacheRequest | None,
    options: Mapping[str, Any],
) -> Call[simulate_pb2.SimulateCacheResponse]:
    request = simulate_pb2.SimulateCacheRequest()
    if base is not None:
        request.CopyFrom(base)
    fill(request, options)
    if model is not None:
        request.model = model
    for turn, given in enumerate(requests):
        if isinstance(given, simulate_pb2.SimulatedRequest):
            request.requests.append(given)
        else:
            native(given, format, request.requests.add(start_ms=turn * interval_ms).conversation)
    return Call("SimulateCache", request, lambda response: response)


def list_models(filter: str) -> Call[context_service_pb2.ListModelsResponse]:
    return Call("ListModels", context_service_pb2.ListModelsRequest(filter=filter), lambda response: response)


def outcome(number: int) -> str:
    return short_name(compress_pb2.Outcome.DESCRIPTOR, number)


def _layout(number: int) -> str:
    return short_name(cache_pb2.Layout.DESCRIPTOR, number)


def _start(
    request: Any, body: Body, format: str | None, model: str | None, base: Message | None, options: Mapping[str, Any]
) -> bytes:
    """Fill a request whose answer comes back as splices, and return the bytes that the splices are for."""
    if base is not None:
        request.CopyFrom(base)
    fill(request, options)
    if model is not None:
        request.model = model
    if request.view != conversation_pb2.VIEW_EDITS:  # the edit program is there for those who ask for it
        request.view = conversation_pb2.VIEW_SPLICES
    return native(body, format, request.conversation)


def _result(body: B, sent: bytes, response: _Spliced) -> B:
    return _body.restore(body, _body.splice(sent, response.splices))


def _compressed(body: B, sent: bytes, response: compress_pb2.CompressResponse) -> CompressResult[B]:
    return CompressResult(
        body=_result(body, sent, response),
        outcome=outcome(response.outcome),
        report=response.report,
        summary=response.summary,
        compression_state=response.compression_state,
        response=response,
    )
