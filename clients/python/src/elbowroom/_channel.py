"""How a client reaches the server: addresses, credentials, retries, message sizes, and the metadata of each call."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import grpc

from elbowroom.options import Metadata

try:
    from opentelemetry.trace.propagation import tracecontext as _tracecontext
except ImportError:  # optional: without it only what the caller passes is sent on
    _tracecontext = None  # type: ignore[assignment]

DEFAULT_TARGET = "127.0.0.1:50051"
DEFAULT_TIMEOUT = 30.0  # seconds

SERVICE = "elbowroom.v1.ContextService"
_UNARY = ("Compress", "ApplyCacheControl", "CountTokens", "Prepare", "SimulateCache", "ListModels")
_MIB = 1 << 20
_MAX_SEND = 64 * _MIB
_MAX_RECEIVE = 128 * _MIB

_SERVICE_CONFIG = {
    "loadBalancingConfig": [{"round_robin": {}}],
    "healthCheckConfig": {"serviceName": SERVICE},
    "methodConfig": [
        {
            "name": [{"service": SERVICE, "method": method} for method in _UNARY],
            "retryPolicy": {
                "maxAttempts": 4,
                "initialBackoff": "0.1s",
                "maxBackoff": "2s",
                "backoffMultiplier": 2,
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        }
    ],
}

Pem = str | os.PathLike[str] | bytes
"""PEM data (bytes) or the path of a file with it."""
Token = str | Callable[[], str]
"""A bearer token, or a function that returns the one to use now."""
ChannelOptions = Sequence[tuple[str, str | int]]


@dataclass(frozen=True)
class Connection:
    """Everything a channel is made of, and what goes with each of its calls."""

    target: str
    tls: bool | Pem
    client_cert: tuple[Pem, Pem] | None
    token: Token | None
    metadata: Metadata
    options: ChannelOptions

    def channel_options(self) -> list[tuple[str, str | int]]:
        return [
            ("grpc.max_send_message_length", _MAX_SEND),
            ("grpc.max_receive_message_length", _MAX_RECEIVE),
            ("grpc.enable_retries", 1),
            # A request larger than this buffer would not be sent again.
            ("grpc.per_rpc_retry_buffer_size", _MAX_SEND + _MIB),
            ("grpc.initial_reconnect_backoff_ms", 250),
            ("grpc.max_reconnect_backoff_ms", 5000),
            ("grpc.service_config", json.dumps(_SERVICE_CONFIG)),
            *self.options,
        ]

    def credentials(self) -> grpc.ChannelCredentials | None:
        """Return the credentials of the channel, None for a plain one."""
        if not self.tls and self.client_cert is None:
            return None
        roots = None if isinstance(self.tls, bool) else _pem(self.tls)
        if self.client_cert is None:
            return grpc.ssl_channel_credentials(root_certificates=roots)
        certificate, key = self.client_cert
        return grpc.ssl_channel_credentials(root_certificates=roots, private_key=_pem(key), certificate_chain=_pem(certificate))

    def call_metadata(self, own: Metadata | None) -> list[tuple[str, str]]:
        """Return the metadata of one call: the token, what the client and the call carry, and the current trace."""
        pairs = [*_pairs(self.metadata), *_pairs(own or ())]
        names = {name for name, _ in pairs}
        if self.token is not None and "authorization" not in names:
            token = self.token if isinstance(self.token, str) else self.token()
            pairs.append(("authorization", f"Bearer {token}"))
        if _tracecontext is not None and "traceparent" not in names:
            carrier: dict[str, str] = {}
            _tracecontext.TraceContextTextMapPropagator().inject(carrier)
            pairs += carrier.items()
        return pairs


def _pem(source: bool | Pem) -> bytes:
    if isinstance(source, bytes):
        return source
    if isinstance(source, bool):
        raise TypeError("expected PEM data or a path")
    with open(source, "rb") as file:
        return file.read()


def _pairs(metadata: Metadata) -> list[tuple[str, str]]:
    items = metadata.items() if isinstance(metadata, Mapping) else metadata
    return [(name.lower(), value) for name, value in items]
