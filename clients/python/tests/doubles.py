"""A double of the service, for what a healthy server does not do: being slow, refusing, demanding certificates."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from elbowroom._channel import SERVICE
from elbowroom.v1 import compress_pb2, context_service_pb2, context_service_pb2_grpc

Answer = Callable[[Any, grpc.ServicerContext], Any]


class ServiceDouble(context_service_pb2_grpc.ContextServiceServicer):
    """Answers as it is told and notes the metadata of every call."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.metadata: list[dict[str, str]] = []
        self.requests: list[Any] = []
        self.address = ""

    def Compress(self, request: Any, context: grpc.ServicerContext) -> Any:
        return self._record(request, context)

    def Prepare(self, request: Any, context: grpc.ServicerContext) -> Any:
        return self._record(request, context)

    def StreamCompress(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        yield from self._record(request, context)

    def _record(self, request: Any, context: grpc.ServicerContext) -> Any:
        self.metadata.append({key: str(value) for key, value in context.invocation_metadata()})
        self.requests.append(request)
        return self._answer(request, context)


@contextlib.contextmanager
def serve(answer: Answer, *, credentials: grpc.ServerCredentials | None = None, healthy: bool = True) -> Iterator[ServiceDouble]:
    """Serve a double on a port of its own."""
    double = ServiceDouble(answer)
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=8), options=[("grpc.max_receive_message_length", 64 << 20)])
    add: Any = context_service_pb2_grpc.add_ContextServiceServicer_to_server
    add(double, server)
    state = health_pb2.HealthCheckResponse.SERVING if healthy else health_pb2.HealthCheckResponse.NOT_SERVING
    servicer = health.HealthServicer()
    servicer.set(SERVICE, state)
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    if credentials is None:
        double.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    else:
        double.address = f"localhost:{server.add_secure_port('127.0.0.1:0', credentials)}"
    server.start()
    try:
        yield double
    finally:
        server.stop(None).wait(10)


def unchanged(request: Any, context: grpc.ServicerContext) -> Any:
    """Answer as the service does below the threshold."""
    kind = (
        compress_pb2.CompressResponse
        if isinstance(request, compress_pb2.CompressRequest)
        else context_service_pb2.PrepareResponse
    )
    return kind(outcome=compress_pb2.OUTCOME_BELOW_THRESHOLD)


def refuse(
    code: grpc.StatusCode,
    message: str,
    *,
    reason: str = "",
    facts: dict[str, str] | None = None,
    field: str = "",
    retry_after: float | None = None,
    pushback: int | None = None,
) -> Answer:
    """Answer with an error and its details, and with what gRPC's own retry is to do: wait so many ms, or stop at -1."""
    details: list[Any] = []
    if field:
        violation = error_details_pb2.BadRequest.FieldViolation(field=field, description="bad")
        details.append(error_details_pb2.BadRequest(field_violations=[violation]))
    if reason:
        details.append(error_details_pb2.ErrorInfo(reason=reason, domain="elbowroom", metadata=facts or {}))
    if retry_after is not None:
        delay = duration_pb2.Duration()
        delay.FromNanoseconds(int(retry_after * 1e9))
        details.append(error_details_pb2.RetryInfo(retry_delay=delay))
    status = status_pb2.Status(code=code.value[0], message=message)
    for detail in details:
        packed = any_pb2.Any()
        packed.Pack(detail)
        status.details.append(packed)

    trailers: list[tuple[str, str | bytes]] = [("grpc-status-details-bin", status.SerializeToString())]
    if pushback is not None:
        trailers.append(("grpc-retry-pushback-ms", str(pushback)))

    def answer(request: Any, context: grpc.ServicerContext) -> Any:
        context.set_trailing_metadata(tuple(trailers))
        context.abort(code, message)

    return answer
