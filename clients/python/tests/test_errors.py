"""Servers that are down, slow, restarting or refusing: each error is typed and says what to do."""

from __future__ import annotations

import socket
import threading
import time
from typing import Any

import grpc
import pytest
from conftest import Server
from doubles import refuse, serve, unchanged

import elbowroom
from elbowroom import AsyncClient, Client, ElbowroomError

HELLO = [{"role": "user", "content": "hello"}]
CODE = grpc.StatusCode


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


REFUSALS: list[tuple[Any, type[ElbowroomError], dict[str, Any]]] = [
    (
        refuse(
            CODE.INVALID_ARGUMENT,
            "broken",
            reason="INVALID_CONVERSATION",
            field="conversation.native.json",
            facts={"byte_offset": "17", "message_index": "2"},
        ),
        elbowroom.InvalidRequest,
        {"field": "conversation.native.json", "byte_offset": 17, "index": 2, "reason": "INVALID_CONVERSATION"},
    ),
    (refuse(CODE.INVALID_ARGUMENT, "plain"), elbowroom.InvalidRequest, {"field": "", "byte_offset": None, "index": None}),
    (
        refuse(CODE.FAILED_PRECONDITION, "twice", reason="DUPLICATE_CALL_ID", facts={"message_index": "0"}),
        elbowroom.Refused,
        {"reason": "DUPLICATE_CALL_ID", "index": 0},
    ),
    (refuse(CODE.RESOURCE_EXHAUSTED, "busy", retry_after=1.5, pushback=1), elbowroom.Overloaded, {"retry_after": 1.5}),
    (refuse(CODE.RESOURCE_EXHAUSTED, "too large", pushback=-1), elbowroom.Overloaded, {"retry_after": None}),
    (
        refuse(CODE.UNAVAILABLE, "failed", reason="SUMMARIZER_FAILED", retry_after=60, pushback=-1),
        elbowroom.Unavailable,
        {"reason": "SUMMARIZER_FAILED", "retry_after": 60},
    ),
    (refuse(CODE.UNAUTHENTICATED, "who"), elbowroom.Unauthenticated, {}),
    (refuse(CODE.PERMISSION_DENIED, "no"), elbowroom.PermissionDenied, {}),
    (refuse(CODE.INTERNAL, "internal error, logged as 0a1b2c"), elbowroom.Internal, {"error_id": "0a1b2c"}),
    (refuse(CODE.INTERNAL, "other"), elbowroom.Internal, {"error_id": ""}),
    (refuse(CODE.DATA_LOSS, "odd"), ElbowroomError, {"code": "DATA_LOSS"}),
]


@pytest.mark.parametrize(("answer", "kind", "attributes"), REFUSALS, ids=lambda value: getattr(value, "__name__", None))
async def test_a_refusal_is_typed(answer: Any, kind: type[ElbowroomError], attributes: dict[str, Any]) -> None:
    with serve(answer) as double:
        with Client(double.address) as client, pytest.raises(ElbowroomError) as caught:
            client.compress(HELLO, format="openai_chat")
        async with AsyncClient(double.address) as other:
            with pytest.raises(ElbowroomError) as caught_async:
                await other.compress(HELLO, format="openai_chat")
        with Client(double.address) as client, pytest.raises(ElbowroomError) as caught_stream:
            list(client.stream_compress(HELLO, format="openai_chat"))
    for error in (caught.value, caught_async.value, caught_stream.value):
        assert type(error) is kind
        assert error.message
        assert error.advice in str(error)
        for name, value in attributes.items():
            assert getattr(error, name) == value


def test_no_server_is_unavailable() -> None:
    with Client(f"127.0.0.1:{free_port()}") as client, pytest.raises(elbowroom.Unavailable, match="server runs"):
        client.compress(HELLO, format="openai_chat")


async def test_no_server_is_unavailable_for_asyncio_too() -> None:
    async with AsyncClient(f"127.0.0.1:{free_port()}") as client:
        with pytest.raises(elbowroom.Unavailable):
            await client.list_models()


async def test_a_slow_server_meets_the_deadline() -> None:
    done = threading.Event()

    def slow(request: Any, context: Any) -> Any:
        done.wait(20)
        return unchanged(request, context)

    with serve(slow) as double:
        with Client(double.address, timeout=0.3) as client, pytest.raises(elbowroom.DeadlineExceeded, match="timeout"):
            client.compress(HELLO, format="openai_chat")
        async with AsyncClient(double.address) as other:
            with pytest.raises(elbowroom.DeadlineExceeded):
                await other.compress(HELLO, format="openai_chat", timeout=0.3)
        done.set()


@pytest.mark.parametrize("size", [1, 10 << 20])
async def test_an_unavailable_server_is_tried_again_whatever_the_size(size: int) -> None:
    fails = iter([True, True, False] * 2)
    refusal = refuse(CODE.UNAVAILABLE, "draining")

    def answer(request: Any, context: Any) -> Any:
        return refusal(request, context) if next(fails) else unchanged(request, context)

    body = [{"role": "user", "content": "x" * size}]
    with serve(answer) as double:
        with Client(double.address) as client:
            assert client.compress(body, format="openai_chat").body == body
        assert len(double.requests) == 3
        async with AsyncClient(double.address) as other:
            assert (await other.compress(body, format="openai_chat")).body == body
        assert len(double.requests) == 6


@pytest.mark.parametrize("size", [1, 10 << 20])
async def test_an_overloaded_server_is_tried_again_when_it_says(size: int) -> None:
    fails = iter([True, True, False] * 2)
    refusal = refuse(CODE.RESOURCE_EXHAUSTED, "busy", retry_after=0.001, pushback=1)

    def answer(request: Any, context: Any) -> Any:
        return refusal(request, context) if next(fails) else unchanged(request, context)

    body = [{"role": "user", "content": "x" * size}]
    with serve(answer) as double:
        with Client(double.address) as client:
            assert client.compress(body, format="openai_chat").body == body
        assert len(double.requests) == 3
        async with AsyncClient(double.address) as other:
            assert (await other.compress(body, format="openai_chat")).body == body
        assert len(double.requests) == 6


@pytest.mark.parametrize("retry_after", [None, 60])
async def test_an_overloaded_server_that_names_no_near_time_is_left_alone(retry_after: float | None) -> None:
    refusal = refuse(CODE.RESOURCE_EXHAUSTED, "too large", retry_after=retry_after, pushback=-1)
    with serve(refusal) as double:
        with Client(double.address) as client, pytest.raises(elbowroom.Overloaded):
            client.compress(HELLO, format="openai_chat")
        assert len(double.requests) == 1
        async with AsyncClient(double.address) as other:
            with pytest.raises(elbowroom.Overloaded):
                await other.compress(HELLO, format="openai_chat")
        assert len(double.requests) == 2


def test_channel_options_win() -> None:
    with serve(unchanged) as double, Client(double.address, options=[("grpc.max_send_message_length", 100)]) as client:
        with pytest.raises(elbowroom.Overloaded):
            client.compress([{"role": "user", "content": "x" * 1000}], format="openai_chat")
        assert not double.requests


def test_a_call_is_tried_four_times_at_most() -> None:
    with serve(refuse(CODE.UNAVAILABLE, "draining")) as double, Client(double.address) as client:
        with pytest.raises(elbowroom.Unavailable):
            client.compress(HELLO, format="openai_chat")
        assert len(double.requests) == 4


def test_a_server_that_is_not_healthy_gets_no_calls() -> None:
    with serve(unchanged, healthy=False) as double, Client(double.address) as client:
        with pytest.raises(elbowroom.Unavailable):
            client.compress(HELLO, format="openai_chat", timeout=5)
        assert not double.requests


def test_a_client_survives_a_restart_of_its_server(binary: str) -> None:
    server = Server(binary)
    try:
        with Client(server.address) as client:
            client.compress(HELLO, format="openai_chat")
            server.stop()
            with pytest.raises(elbowroom.Unavailable):
                client.compress(HELLO, format="openai_chat")
            server = Server(binary, server.address)
            for _ in range(60):
                try:
                    assert client.compress(HELLO, format="openai_chat").body == HELLO
                    break
                except elbowroom.Unavailable:
                    time.sleep(0.1)
            else:
                pytest.fail("the client did not find the server again")
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("options", "field"),
    [({"layer": "gate"}, "layer"), ({"policy": {"threshhold": 1}}, "policy"), ({"context_window": "large"}, "context_window")],
)
def test_an_option_that_is_none_is_refused_before_anything_is_sent(options: Any, field: str) -> None:
    with serve(unchanged) as double, Client(double.address) as client:
        with pytest.raises(elbowroom.InvalidRequest) as caught:
            client.compress(HELLO, format="openai_chat", **options)
        assert caught.value.field == field
        if field == "policy":
            assert "'threshhold'" in caught.value.message
            assert " threshold," in caught.value.message
        unknown: Any = {"widnow": 1}
        with pytest.raises(TypeError, match=r"no option 'widnow'; it has .*context_window, "):
            client.compress(HELLO, format="openai_chat", **unknown)
        assert not double.requests
