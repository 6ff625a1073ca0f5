"""How a client reaches the server: addresses, credentials, retries, message sizes, and the metadata of each call."""

from __future__ import annotations

import ipaddress
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import grpc

from elbowroom.errors import InvalidRequest
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
                # An overloaded server names the time of the next attempt, or refuses it, in the trailer grpc-retry-pushback-ms.
                "retryableStatusCodes": ["UNAVAILABLE", "RESOURCE_EXHAUSTED"],
            },
        }
    ],
}

Pem = str | os.PathLike[str] | bytes
"""PEM data (bytes) or the path of a file with it."""
Token = str | Callable[[], str]
"""A bearer token, or a function that returns the one to use now. An empty one is none."""
ChannelOptions = Sequence[tuple[str, str | int]]

_TOKEN = re.compile(r"[\x21-\x7e]+")
_ENDPOINT = re.compile(r"(?:\[(?P<bracketed>[^\[\]]+)\]|(?P<plain>[^:\[\]]+))(?::\d+)?|(?P<bare>[0-9A-Fa-f:.]+)")


@dataclass(frozen=True)
class Connection:
    """Everything a channel is made of, and what goes with each of its calls."""

    target: str
    tls: bool | Pem
    client_cert: tuple[Pem, Pem] | None
    token: Token | None
    insecure_token: bool
    metadata: Metadata
    options: ChannelOptions

    def __post_init__(self) -> None:
        if not self.token:
            return
        if isinstance(self.token, str):
            _check_token(self.token)
        if not self.tls and self.client_cert is None and not self.insecure_token and not _on_this_machine(self.target):
            raise InvalidRequest(
                f"the token would travel to {self.target} in the open",
                field="token",
                advice="Use tls=, or insecure_token=True if the network encrypts.",
            )

    def channel_options(self) -> list[tuple[str, str | int]]:
        own: list[tuple[str, str | int]] = [
            ("grpc.max_send_message_length", _MAX_SEND),
            ("grpc.max_receive_message_length", _MAX_RECEIVE),
            ("grpc.enable_retries", 1),
            # A larger request is not sent again. With a larger buffer gRPC would retry what it refuses for its size.
            ("grpc.per_rpc_retry_buffer_size", _MAX_SEND),
            ("grpc.initial_reconnect_backoff_ms", 250),
            ("grpc.max_reconnect_backoff_ms", 5000),
            ("grpc.service_config", json.dumps(_SERVICE_CONFIG)),
        ]
        return list(dict([*own, *self.options]).items())  # of two with one name gRPC takes the first

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
        if self.token and "authorization" not in names:
            token = self.token if isinstance(self.token, str) else self.token()
            if token:
                pairs.append(("authorization", f"Bearer {_check_token(token)}"))
        if _tracecontext is not None and "traceparent" not in names:
            carrier: dict[str, str] = {}
            _tracecontext.TraceContextTextMapPropagator().inject(carrier)
            pairs += carrier.items()
        return pairs


def _check_token(token: str) -> str:
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        raise InvalidRequest(  # without the token: errors end up in logs
            "the token holds something that no header can carry",
            field="token",
            advice="Pass visible ASCII characters only; strip the line break that a file ends with.",
        )
    return token


def _on_this_machine(target: str) -> bool:
    """Whether all addresses of a target are surely of this machine."""
    if target.startswith(("unix:", "unix-abstract:")):
        return True
    if target.startswith(("ipv4:", "ipv6:")):
        endpoints = target.partition(":")[2].split(",")
    else:
        endpoints = [target.removeprefix("dns:///").removeprefix("dns:")]
    return all(_is_loopback(endpoint) for endpoint in endpoints)


def _is_loopback(endpoint: str) -> bool:
    found = _ENDPOINT.fullmatch(endpoint)
    if found is None:
        return False
    host = found["bracketed"] or found["plain"] or found["bare"]
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


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
