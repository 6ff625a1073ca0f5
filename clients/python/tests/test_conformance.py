"""The cases that all clients share, through the raw stub and through the client's own methods."""

from __future__ import annotations

import base64
import inspect
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, NamedTuple

import grpc
import pytest
from conftest import CONFORMANCE
from google.protobuf import json_format
from google.protobuf.message import Message

from elbowroom import AsyncClient, Client, ElbowroomError, InvalidRequest
from elbowroom._body import splice
from elbowroom.errors import from_rpc_error
from elbowroom.v1 import (
    cache_pb2,
    compress_pb2,
    context_service_pb2,
    context_service_pb2_grpc,
    conversation_pb2,
    count_pb2,
    simulate_pb2,
)


class Method(NamedTuple):
    rpc: str
    request: type[Message]
    wrapped: bool


METHODS = {
    "compress": Method("Compress", compress_pb2.CompressRequest, True),
    "apply_cache_control": Method("ApplyCacheControl", cache_pb2.ApplyCacheControlRequest, True),
    "count_tokens": Method("CountTokens", count_pb2.CountTokensRequest, True),
    "prepare": Method("Prepare", context_service_pb2.PrepareRequest, True),
    "stream_compress": Method("StreamCompress", compress_pb2.StreamCompressRequest, True),
    "simulate_cache": Method("SimulateCache", simulate_pb2.SimulateCacheRequest, False),
    "list_models": Method("ListModels", context_service_pb2.ListModelsRequest, False),
}
EMPTY: tuple[Any, ...] = (0, 0.0, "", False, None, [], {})

CASES: list[dict[str, Any]] = [case for path in sorted(CONFORMANCE.glob("*.json")) for case in json.loads(path.read_text())]


def test_there_are_cases() -> None:
    assert CASES, f"no cases in {CONFORMANCE}"
    names = [case["name"] for case in CASES]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
async def test_case(case: dict[str, Any], address: str, client: Client) -> None:
    method = METHODS[case["call"]]
    with grpc.insecure_channel(address) as channel:
        make: Any = context_service_pb2_grpc.ContextServiceStub
        stub = make(channel)
        request = parse(method, prepared(case, stub))
        expect = case["expect"]
        plain = None
        try:
            response = send(stub, case["call"], request)
        except grpc.RpcError as error:
            check_error(from_rpc_error(error), expect.get("error"))
        else:
            assert "error" not in expect, f"no error, but {json_format.MessageToJson(response)}"
            actual = json_format.MessageToDict(response, preserving_proto_field_name=True)
            check_subset(expect.get("response", {}), actual, "response")
            plain = text_of(request, response)
            if "json" in expect:
                assert plain == expect["json"]
    if method.wrapped:
        await check_wrapper(client, case, request, expect, plain)
        async with AsyncClient(address) as other:
            await check_wrapper(other, case, request, expect, plain)


def prepared(case: dict[str, Any], stub: Any) -> dict[str, Any]:
    request: dict[str, Any] = json.loads(json.dumps(case["request"]))
    answer: Any = None
    for earlier in case.get("before", ()):
        answer = send(stub, earlier["call"], parse(METHODS[earlier["call"]], earlier["request"]))
    if case.get("carry"):
        carried = json_format.MessageToDict(answer, preserving_proto_field_name=True)
        for name in case["carry"]:
            request[name] = carried[name]
    return request


def parse(method: Method, request: dict[str, Any]) -> Any:
    return json_format.ParseDict(request, method.request())


def send(stub: Any, call: str, request: Any) -> Any:
    answer = getattr(stub, METHODS[call].rpc)(request, timeout=60)
    if call == "stream_compress":
        *_, last = answer
        return last.result
    return answer


def text_of(request: Any, response: Any) -> str | None:
    """The resulting native body as text, None where there is none."""
    request = getattr(request, "request", request)
    if not hasattr(request, "view"):
        return None
    if request.view in (conversation_pb2.VIEW_EDITS, conversation_pb2.VIEW_SPLICES):
        source = request.conversation.native
        if source.WhichOneof("body") in ("json", "json_bytes"):
            return splice(source.json_bytes or source.json.encode(), response.splices).decode()
        return None
    native = response.conversation.native
    return {"json": native.json, "json_bytes": native.json_bytes.decode()}.get(native.WhichOneof("body"))


async def check_wrapper(
    client: Client | AsyncClient, case: dict[str, Any], request: Any, expect: dict[str, Any], plain: str | None
) -> None:
    base = getattr(request, "request", request)
    kind = base.conversation.native.WhichOneof("body")
    if kind not in ("json", "json_bytes"):
        return
    body: str | bytes = getattr(base.conversation.native, kind)
    if kind == "json_bytes":
        assert isinstance(body, bytes)
    if not base.conversation.native.format:
        return  # the client tells the format by itself
    call: Any = getattr(client, case["call"])
    try:
        result = call(body, base=base)
        if inspect.isawaitable(result):
            result = await result
        elif isinstance(result, AsyncIterator):
            *_, result = [event async for event in result]
        elif isinstance(result, Iterator):
            *_, result = result
    except ElbowroomError as error:
        check_error(error, expect.get("error"))
        return
    assert "error" not in expect
    if case["call"] == "count_tokens":
        actual = json_format.MessageToDict(result, preserving_proto_field_name=True)
        check_subset(expect.get("response", {}), actual, "response")
        return
    assert type(result.body) is type(body)
    text = result.body if isinstance(result.body, str) else result.body.decode()
    assert text == expect.get("json", plain)


def check_error(error: ElbowroomError, expected: dict[str, Any] | None) -> None:
    assert expected is not None, f"unexpected {error!r}"
    assert error.code == expected["code"], error
    assert error.advice
    for name in ("reason", "index", "field", "byte_offset"):
        if name in expected:
            assert getattr(error, name) == expected[name], name


def check_subset(want: Any, got: Any, path: str) -> None:
    if isinstance(want, dict):
        for name, value in want.items():
            if name not in (got or {}):
                unset = value in EMPTY or (isinstance(value, str) and value.endswith("_UNSPECIFIED"))
                assert unset, f"{path}.{name} is missing"
            else:
                check_subset(value, got[name], f"{path}.{name}")
    elif isinstance(want, list):
        assert len(got) == len(want), path
        for index, (wanted, gotten) in enumerate(zip(want, got, strict=True)):
            check_subset(wanted, gotten, f"{path}[{index}]")
    else:
        assert got == want, path


def test_every_named_error_member_is_compared() -> None:
    error = InvalidRequest("broken", byte_offset=3)
    with pytest.raises(AssertionError):
        check_error(error, {"code": "INVALID_ARGUMENT", "byte_offset": 4})
    check_error(error, {"code": "INVALID_ARGUMENT", "byte_offset": 3})


def test_bytes_in_protobuf_json_are_what_was_meant() -> None:
    request = parse(METHODS["compress"], {"compression_state": base64.b64encode(b"\0state").decode()})
    assert request.compression_state == b"\0state"
