"""The asyncio client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar

import grpc
import grpc.aio
from typing_extensions import Self, Unpack

from elbowroom import _calls
from elbowroom._body import B, Body
from elbowroom._channel import (
    DEFAULT_TARGET,
    DEFAULT_TIMEOUT,
    ChannelOptions,
    Connection,
    Pem,
    Token,
)
from elbowroom.errors import from_rpc_error
from elbowroom.options import (
    CacheOptions,
    CompressOptions,
    CountOptions,
    FormatName,
    Metadata,
    PrepareOptions,
    SimulateOptions,
)
from elbowroom.results import CacheResult, CompressEvent, CompressResult, PrepareResult
from elbowroom.v1 import cache_pb2, compress_pb2, context_service_pb2, count_pb2, simulate_pb2

R = TypeVar("R")


class AsyncClient:
    """Calls Elbowroom from asyncio.

    It connects with the first call, belongs to the event loop of that call, and is closed by ``close`` or ``async with``.

    Args:
        target: The server's address, ``host:port`` or any gRPC target. Default ``127.0.0.1:50051``.
        tls: False (default): no TLS. True: TLS with the well-known certificate authorities. PEM data or the path of a file
            with it: TLS with these authorities.
        client_cert: Certificate chain and private key for mutual TLS, each PEM data or a path. Implies TLS.
        token: A bearer token, or a function that returns the current one; empty is none. Without TLS it goes to this machine.
        insecure_token: Send the token without TLS to other machines too, for networks that encrypt by themselves. Default
            False.
        timeout: Seconds that each call may take, unless the call says otherwise. Default 30.
        metadata: gRPC metadata (headers) that goes with every call.
        options: Channel options of gRPC; they win over those of this client.

    Raises:
        InvalidRequest: The token cannot be sent, or would travel in the open.
    """

    def __init__(
        self,
        target: str = DEFAULT_TARGET,
        *,
        tls: bool | Pem = False,
        client_cert: tuple[Pem, Pem] | None = None,
        token: Token | None = None,
        insecure_token: bool = False,
        timeout: float = DEFAULT_TIMEOUT,
        metadata: Metadata = (),
        options: ChannelOptions = (),
    ) -> None:
        self._connection = Connection(target, tls, client_cert, token, insecure_token, metadata, options)
        self._timeout = timeout
        self._channel: grpc.aio.Channel | None = None
        self._methods: Mapping[str, Any] = {}

    async def compress(
        self,
        body: B,
        *,
        format: FormatName | None = None,
        model: str | None = None,
        base: compress_pb2.CompressRequest | None = None,
        timeout: float | None = None,
        metadata: Metadata | None = None,
        **options: Unpack[CompressOptions],
    ) -> CompressResult[B]:
        """Return the conversation, shorter where it is time for it.

        Args:
            body: A request body or a list of messages: objects, JSON text or bytes. The result is of the same kind.
            format: The wire format. Default: told from the body where that is possible.
            model: The main model, which sets window and tokenizer. Default: the one named in the body.
            base: A request whose fields hold where no option says otherwise.
            timeout: Seconds for this call. Default: the client's.
            metadata: gRPC metadata of this call, beside the client's.
            options: Fields of the request, see ``CompressOptions``.

        Raises:
            ElbowroomError: The call failed; see ``elbowroom.errors`` for the kinds.
        """
        return await self._finish(_calls.compress(body, format, model, base, options), timeout, metadata)

    async def stream_compress(
        self,
        body: B,
        *,
        format: FormatName | None = None,
        model: str | None = None,
        base: compress_pb2.CompressRequest | None = None,
        timeout: float | None = None,
        metadata: Metadata | None = None,
        **options: Unpack[CompressOptions],
    ) -> AsyncIterator[CompressEvent]:
        """Compress and yield what happens: progress, pieces of the summary, and the result as the last event.

        Leaving the iteration early cancels the call. Arguments and errors are those of ``compress``.
        """
        call = _calls.stream_compress(body, format, model, base, options)
        responses = self._open()[call.method](
            call.request,
            timeout=self._timeout if timeout is None else timeout,
            metadata=self._connection.call_metadata(metadata),
        )
        try:
            async for response in responses:
                yield call.finish(response)
        except grpc.RpcError as error:
            raise from_rpc_error(error) from error
        finally:
            responses.cancel()

    async def apply_cache_control(
        self,
        body: B,
        *,
        format: FormatName | None = None,
        model: str | None = None,
        base: cache_pb2.ApplyCacheControlRequest | None = None,
        timeout: float | None = None,
        metadata: Metadata | None = None,
        **options: Unpack[CacheOptions],
    ) -> CacheResult[B]:
        """Return the conversation with cache breakpoints in the right places.

        Arguments and errors are those of ``compress``; ``CacheOptions`` lists the options.
        """
        return await self._finish(_calls.apply_cache_control(body, format, model, base, options), timeout, metadata)

    async def prepare(
        self,
        body: B,
        *,
        format: FormatName | None = None,
        model: str | None = None,
        base: context_service_pb2.PrepareRequest | None = None,
        timeout: float | None = None,
        metadata: Metadata | None = None,
        **options: Unpack[PrepareOptions],
    ) -> PrepareResult[B]:
        """Compress if it is time for it, then mark: one round trip a turn.

        Arguments and errors are those of ``compress``; ``PrepareOptions`` lists the options.
        """
        return await self._finish(_calls.prepare(body, format, model, base, options), timeout, metadata)

    async def count_tokens(
        self,
        body: Body | None = None,
        *,
        text: str | None = None,
        format: FormatName | None = None,
        model: str | None = None,
        base: count_pb2.CountTokensRequest | None = None,
        timeout: float | None = None,
        metadata: Metadata | None = None,
        **options: Unpack[CountOptions],
    ) -> count_pb2.CountTokensResponse:
        """Return the size of a conversation, or of a plain ``text``, in tokens, with bounds.

        The other arguments and the errors are those of ``compress``; ``CountOptions`` lists the options.
        """
        return await self._finish(_calls.count_tokens(body, text, format, model, base, options), timeout, metadata)

    async def simulate_cache(
        self,
        requests: Sequence[Body | simulate_pb2.SimulatedRequest],
        *,
        format: FormatName | None = None,
        model: str | None = None,
        interval_ms: int = 10_000,
        base: simulate_pb2.SimulateCacheRequest | None = None,
        timeout: float | None = None,
        metadata: Metadata | None = None,
        **options: Unpack[SimulateOptions],
    ) -> simulate_pb2.SimulateCacheResponse:
        """Say what successive requests read from the provider's prompt cache, what that costs, and what was lost.

        Args:
            requests: Request bodies in the order in which they are sent, or messages of the API for more detail.
            format: The wire format of the bodies. Default: told from each body where that is possible.
            model: The model of requests that name none.
            interval_ms: Milliseconds from one body to the next. Default 10,000.
            base: A request whose fields hold where no option says otherwise.
            timeout: Seconds for this call. Default: the client's.
            metadata: gRPC metadata of this call, beside the client's.
            options: Fields of the request, see ``SimulateOptions``.
        """
        call = _calls.simulate_cache(requests, format, model, interval_ms, base, options)
        return await self._finish(call, timeout, metadata)

    async def list_models(
        self, filter: str = "", *, timeout: float | None = None, metadata: Metadata | None = None
    ) -> context_service_pb2.ListModelsResponse:
        """Return the models that the server knows, those whose id contains ``filter``."""
        return await self._finish(_calls.list_models(filter), timeout, metadata)

    async def call(self, method: str, request: Any, *, timeout: float | None = None, metadata: Metadata | None = None) -> Any:
        """Send a request message of the API to a unary method by its name, for example ``"Compress"``.

        Deadline, retries, metadata and typed errors are those of the other calls.
        """
        try:
            return await self._open()[method](
                request,
                timeout=self._timeout if timeout is None else timeout,
                metadata=self._connection.call_metadata(metadata),
            )
        except grpc.RpcError as error:
            raise from_rpc_error(error) from error

    async def close(self) -> None:
        """Close the connection; calls that are under way are cancelled."""
        if self._channel is not None:
            channel, self._channel, self._methods = self._channel, None, {}
            await channel.close(None)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def _finish(self, call: _calls.Call[R], timeout: float | None, metadata: Metadata | None) -> R:
        return call.finish(await self.call(call.method, call.request, timeout=timeout, metadata=metadata))

    def _open(self) -> Mapping[str, Any]:
        """Make the channel where an event loop is running, for it belongs to that loop."""
        if self._channel is None:
            connection = self._connection
            credentials = connection.credentials()
            if credentials is None:
                channel = grpc.aio.insecure_channel(connection.target, options=connection.channel_options())
            else:
                channel = grpc.aio.secure_channel(connection.target, credentials, options=connection.channel_options())
            self._channel, self._methods = channel, _calls.methods(channel)
        return self._methods
