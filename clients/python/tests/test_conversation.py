"""What a conversation remembers, when it forgets, and what it does without its service."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from conftest import Server, recorded
from doubles import refuse, serve, unchanged

import elbowroom
from elbowroom import AsyncClient, AsyncConversation, Client, Conversation
from elbowroom.v1 import compress_pb2, context_service_pb2, conversation_pb2

CODE = grpc.StatusCode
USER, REPLY = {"role": "user", "content": "go"}, {"role": "assistant", "content": "done é"}
MANY: dict[str, Any] = {"context_window": 8000, "policy": {"protect_last_n": 2}}


def long_body(turns: int = 30, system: str = "Be brief.") -> dict[str, Any]:
    """An Anthropic body that is over the threshold of a small window."""
    messages: list[dict[str, Any]] = []
    for turn in range(turns):
        messages.append({"role": "user", "content": f"Step {turn}: read /srv/app/part_{turn}.go " + "and think about it " * 40})
        messages.append({"role": "assistant", "content": f"Part {turn} is fine. " + "It does what it says. " * 40})
    messages.append({"role": "user", "content": "What was the first step?"})
    return {"model": "claude-opus-4-6", "max_tokens": 100, "system": system, "messages": messages}


def test_a_compressed_history_stays_compressed_for_both_kinds_of_loop(client: Client) -> None:
    for keep_returned in (False, True):
        conversation = Conversation(client, format="anthropic_messages", **MANY)
        body = long_body()
        first = conversation.before_request(body)
        assert conversation.last_outcome == "compressed"
        assert len(first["messages"]) < len(body["messages"])
        messages = first["messages"] if keep_returned else body["messages"]
        second = conversation.before_request({**body, "messages": [*messages, REPLY, USER]})
        assert conversation.last_outcome == "below_threshold"
        assert plain(second["messages"][: len(first["messages"])]) == plain(first["messages"])
        assert plain(second["messages"][len(first["messages"]) :]) == [REPLY, USER]
        assert second["system"][-1]["text"] == first["system"][-1]["text"] != body["system"]


def plain(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages without marks."""
    out = []
    for message in messages:
        content = message["content"]
        if isinstance(content, list):
            content = [{name: value for name, value in block.items() if name != "cache_control"} for block in content]
            if len(content) == 1 and content[0]["type"] == "text":
                content = content[0]["text"]
        out.append({**message, "content": content})
    return out


def test_raw_text_gets_raw_text(client: Client) -> None:
    body = long_body()
    body["messages"][0]["content"] += " \u00e9"
    text = json.dumps(body, indent=1)
    for kind in (str, bytes):
        conversation = Conversation(client, format="anthropic_messages", **MANY)
        first = conversation.before_request(text if kind is str else text.encode())
        assert type(first) is kind
        grown = json.dumps({**body, "messages": [*body["messages"], REPLY, USER]}, indent=1)
        second = conversation.before_request(grown if kind is str else grown.encode())
        assert len(json.loads(second)["messages"]) == len(json.loads(first)["messages"]) + 2
        as_text = second if isinstance(second, str) else second.decode()
        assert "\\u00e9" in as_text
        assert "é" not in as_text.replace("done é", "")


def test_below_the_threshold_raw_text_keeps_every_byte(client: Client) -> None:
    conversation = Conversation(client, format="openai_chat", model="gpt-4o")
    text = ' [ {"role" : "user", "content":"caf\\u00e9", "n": 1.0} ,\n{"role":"assistant","content":"a"}, {"n":1,"role":"user",'
    text += '"content" : "b"} ] '
    assert conversation.before_request(text) == text
    assert conversation.before_request(text) == text


def test_openais_own_marks_do_not_break_the_history(client: Client) -> None:
    conversation = Conversation(client, format="openai_chat", model="gpt-5.6", layout="openai", **MANY)
    messages = [{"role": "system", "content": "Be brief."}, *long_body()["messages"]]
    first = conversation.before_request(messages)
    assert "prompt_cache_breakpoint" in json.dumps(first)
    second = conversation.before_request([*first, REPLY, USER])
    assert len(second) == len(first) + 2
    assert conversation.last_outcome == "below_threshold"
    third = conversation.before_request([*messages, REPLY, USER, REPLY, USER])
    assert len(third) == len(first) + 4


def test_a_changed_history_starts_anew(client: Client) -> None:
    conversation = Conversation(client, format="anthropic_messages", **MANY)
    body = long_body()
    conversation.before_request(body)
    conversation.after_response({"input_tokens": 500, "output_tokens": 5})
    body["messages"][4]["content"] = "edited"
    body["messages"] += [REPLY, USER]
    conversation.before_request(body)
    assert conversation.last_report is not None
    assert conversation.last_outcome == "compressed"
    assert conversation.last_report.messages_before == len(body["messages"])
    assert conversation.last_report.state == "none"
    assert conversation.last_report.judged_by == "count"


def test_a_changed_system_prompt_is_taken_and_the_history_kept(client: Client) -> None:
    conversation = Conversation(client, format="anthropic_messages", **MANY)
    body = long_body()
    first = conversation.before_request(body)
    body["messages"] += [REPLY, USER]
    second = conversation.before_request({**body, "system": "Be verbose."})
    assert "Be verbose." in json.dumps(second["system"])
    assert "Be brief." not in json.dumps(second["system"])
    assert len(second["messages"]) == len(first["messages"]) + 2


def test_a_changed_system_message_is_taken_and_the_history_kept(client: Client) -> None:
    conversation = Conversation(client, format="openai_chat", model="gpt-4o", **MANY)
    messages = long_body()["messages"]
    first = conversation.before_request([{"role": "system", "content": "Be brief."}, *messages])
    second = conversation.before_request([{"role": "system", "content": "Be verbose."}, *messages, REPLY, USER])
    assert len(second) == len(first) + 2
    assert second[0]["content"].startswith("Be verbose.")
    third = conversation.before_request([{"role": "system", "content": "Be verbose."}, *messages, REPLY, USER, REPLY, USER])
    assert third[: len(second)] == second


def test_marks_of_the_caller_that_move_do_not_break_the_history(client: Client) -> None:
    conversation = Conversation(client, format="anthropic_messages", **MANY)
    body = long_body()
    mark = {"cache_control": {"type": "ephemeral"}}
    last = body["messages"][-1]
    marked = [*body["messages"][:-1], {"role": "user", "content": [{"type": "text", "text": last["content"], **mark}]}]
    first = conversation.before_request({**body, "messages": marked})
    moved = [*body["messages"], REPLY, {"role": "user", "content": [{"type": "text", "text": "go", **mark}]}]
    second = conversation.before_request({**body, "messages": moved})
    assert len(second["messages"]) == len(first["messages"]) + 2
    assert json.dumps(second).count("cache_control") <= 4


@pytest.mark.parametrize(
    ("usage", "prompt"),
    [
        ({"input_tokens": 3, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 7, "output_tokens": 9}, 50),
        ({"input_tokens": 3, "cache_read_input_tokens": None, "output_tokens": 9}, 3),
        ({"prompt_tokens": 50, "completion_tokens": 9, "total_tokens": 59}, 50),
        (SimpleNamespace(prompt_tokens=50, completion_tokens=9), 50),
        (SimpleNamespace(input_tokens=1, cache_read_input_tokens=2, cache_creation_input_tokens=3, output_tokens=9), 6),
    ],
)
def test_usage_of_either_shape_is_reported_for_the_messages_it_covers(usage: Any, prompt: int) -> None:
    with serve(unchanged) as double, Client(double.address) as client:
        conversation = Conversation(client, format="openai_chat")
        conversation.before_request([USER])
        conversation.after_response(usage)
        conversation.before_request([USER, REPLY, USER])
        conversation.after_response(None)
        conversation.before_request([USER, REPLY, USER, REPLY, USER])
    assert not double.requests[0].HasField("last_usage")
    expected = compress_pb2.Usage(prompt_tokens=prompt, completion_tokens=9, message_count=1)
    assert double.requests[1].last_usage == expected
    assert double.requests[2].last_usage == expected, "an older report still says how large the older part is"


ODD: list[Any] = [-1, -(2**40), 2**31, 2**200, True, False, 1.5, float("nan"), "50", b"50", [50], {"a": 1}, object()]


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_a_report_that_makes_no_sense_is_no_report(odd: Any) -> None:
    reports: list[Any] = [odd]
    for name in ("prompt_tokens", "completion_tokens"):
        reports.append({"prompt_tokens": 50, "completion_tokens": 9, name: odd})
    for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"):
        report = {"input_tokens": 50, "output_tokens": 9, name: odd}
        reports += [report, SimpleNamespace(**report)]
    reports += [{}, SimpleNamespace(), {"prompt_tokens": None}, {"input_tokens": 2**31 - 1, "cache_read_input_tokens": 1}]
    with serve(unchanged) as double, Client(double.address) as client:
        messages = [USER]
        conversation = Conversation(client, format="openai_chat")
        for report in reports:
            conversation.before_request(messages)
            conversation.after_response(report)
            messages = [*messages, REPLY, USER]
        conversation.before_request(messages)
        assert [request.HasField("last_usage") for request in double.requests] == [False] * (len(reports) + 1)
        conversation.after_response({"prompt_tokens": 2**31 - 1, "completion_tokens": 2**31 - 1})
        conversation.before_request([*messages, REPLY, USER])
        assert double.requests[-1].last_usage.prompt_tokens == 2**31 - 1


def test_usage_of_a_longer_history_is_not_reported_for_the_shorter_one() -> None:
    def compressed(request: Any, context: Any) -> Any:
        answer = context_service_pb2.PrepareResponse(outcome=compress_pb2.OUTCOME_COMPRESSED)
        answer.report.first_changed_index = 0
        return answer

    with serve(compressed) as double, Client(double.address) as client:
        conversation = Conversation(client, format="openai_chat")
        conversation.before_request([USER])
        conversation.after_response({"prompt_tokens": 50})
        conversation.before_request([USER, REPLY, USER])
        conversation.before_request([USER, REPLY, USER, REPLY, USER])
    assert [request.HasField("last_usage") for request in double.requests] == [False, True, False]


def test_states_options_and_the_session_go_with_every_turn() -> None:
    def answer(request: Any, context: Any) -> Any:
        return context_service_pb2.PrepareResponse(
            outcome=compress_pb2.OUTCOME_BELOW_THRESHOLD, compression_state=b"c", cache_state=b"s"
        )

    with serve(answer) as double, Client(double.address) as client:
        conversation = Conversation(client, format="openai_chat", model="m", strategy="anchored", ttl="1h", layer="gateway")
        conversation.before_request([USER])
        conversation.before_request([USER, REPLY, USER], force=True)
    first, second = double.requests
    assert (first.compression_state, first.cache_state, first.force) == (b"", b"", False)
    assert (second.compression_state, second.cache_state, second.force) == (b"c", b"s", True)
    for request in double.requests:
        assert request.session_id == conversation.session_id
        assert len(request.session_id) == 32
        assert (request.model, request.strategy, request.ttl, request.layer) == ("m", 5, 2, 2)
        assert request.view == conversation_pb2.VIEW_SPLICES
        assert request.conversation.native.keep
    assert Conversation(client, format="openai_chat").session_id != conversation.session_id


def test_counters_count_the_messages_of_the_wire() -> None:
    with serve(unchanged) as double, Client(double.address) as client:
        conversation = Conversation(client, format="openai_chat")
        for turn in range(3):
            conversation.before_request([USER, REPLY] * turn + [USER])
    assert conversation.bytes_sent == sum(request.ByteSize() for request in double.requests)
    assert conversation.bytes_received > 0


def test_a_server_that_forgot_gets_the_body_in_full(binary: str) -> None:
    server = Server(binary)
    try:
        with Client(server.address) as client:
            conversation = Conversation(client, format="anthropic_messages", **MANY)
            body = long_body()
            first = conversation.before_request(body)
            before = conversation.bytes_sent
            body["messages"] += [REPLY, USER]
            conversation.before_request(body)
            assert conversation.bytes_sent - before < 1500, "no delta"
            server.stop()
            server = Server(binary, server.address)
            body["messages"] += [REPLY, USER]
            for _ in range(60):
                try:
                    third = conversation.before_request(body)
                    break
                except elbowroom.Unavailable:
                    pass
            assert len(third["messages"]) == len(first["messages"]) + 4
            before = conversation.bytes_sent
            body["messages"] += [REPLY, USER]
            conversation.before_request(body)
            assert conversation.bytes_sent - before < 1500, "no delta after the restart"
    finally:
        server.stop()


def test_a_base_that_stays_unknown_is_an_error() -> None:
    with serve(unchanged) as double, Client(double.address) as client:
        conversation = Conversation(client, format="openai_chat")
        conversation.before_request([USER, {"role": "assistant", "content": "x" * 1000}, USER])
    with serve(refuse(CODE.FAILED_PRECONDITION, "unknown", reason="BASE_UNKNOWN")) as double:
        with Client(double.address) as other:
            conversation._client = other
            with pytest.raises(elbowroom.Refused) as caught:
                conversation.before_request([USER, {"role": "assistant", "content": "x" * 1000}, USER, REPLY, USER])
        assert caught.value.reason == "BASE_UNKNOWN"
        assert [request.conversation.native.HasField("delta") for request in double.requests] == [True, False]


def too_slow(request: Any, context: Any) -> Any:
    time.sleep(1.5)
    return unchanged(request, context)


FAILURES = {
    "slow": too_slow,
    "down": None,
    "refusing": refuse(CODE.FAILED_PRECONDITION, "no", reason="DUPLICATE_CALL_ID", facts={"message_index": "1"}),
    "overloaded": refuse(CODE.RESOURCE_EXHAUSTED, "busy", retry_after=1),
    "broken": refuse(CODE.INTERNAL, "internal error, logged as 00ff"),
}


@pytest.mark.parametrize("failure", FAILURES)
async def test_failing_open_returns_the_callers_body(failure: str) -> None:
    body = {"model": "m", "messages": [USER]}
    answer = FAILURES[failure] or unchanged
    with serve(answer) as double:
        address = "127.0.0.1:1" if failure == "down" else double.address
        with Client(address, timeout=5 if failure == "down" else 1) as client:
            conversation = Conversation(client, format="openai_chat", fail_open=True)
            assert conversation.before_request(body) is body
            assert isinstance(conversation.last_error, elbowroom.ElbowroomError)
            strict = Conversation(client, format="openai_chat")
            with pytest.raises(type(conversation.last_error)):
                strict.before_request(body)
        async with AsyncClient(address, timeout=5 if failure == "down" else 1) as other:
            opened = AsyncConversation(other, format="openai_chat", fail_open=True)
            assert await opened.before_request(body) is body
            assert type(opened.last_error) is type(conversation.last_error)


def test_failing_open_keeps_what_was_compressed(client: Client) -> None:
    conversation = Conversation(client, format="anthropic_messages", fail_open=True, **MANY)
    body = long_body()
    first = conversation.before_request(body)
    body["messages"] += [REPLY, USER]
    with Client("127.0.0.1:1") as nobody:
        conversation._client = nobody
        second = conversation.before_request(body)
        assert conversation.last_error is not None
        assert second["messages"] == [*first["messages"], REPLY, USER]
        assert second["system"] == first["system"]
        conversation._client = client
    conversation.after_response({"input_tokens": 2500, "output_tokens": 3})
    body["messages"] += [REPLY, USER]
    third = conversation.before_request(body)
    assert conversation.last_error is None
    assert conversation.last_report is not None
    assert conversation.last_report.judged_by == "usage"
    assert plain(third["messages"]) == plain([*second["messages"], REPLY, USER])


@pytest.mark.parametrize("fail_open", [True, False])
def test_a_foreign_body_that_failed_does_not_cost_the_history(client: Client, fail_open: bool) -> None:
    conversation = Conversation(client, format="anthropic_messages", fail_open=fail_open, **MANY)
    body = long_body()
    first = conversation.before_request(body)
    conversation.after_response({"input_tokens": 2500, "output_tokens": 3})
    state = conversation.compression_state
    aside = {"model": "claude-opus-4-6", "max_tokens": 9, "messages": [{"role": "user", "content": "Name this chat."}]}
    with Client("127.0.0.1:1", timeout=5) as nobody:
        conversation._client = nobody
        if fail_open:
            assert conversation.before_request(aside) is aside
        else:
            with pytest.raises(elbowroom.ElbowroomError):
                conversation.before_request(aside)
        conversation.after_response({"input_tokens": 7, "output_tokens": 1})
        body["messages"] += [REPLY, USER]
        if fail_open:
            assert conversation.before_request(body)["messages"] == [*first["messages"], REPLY, USER]
        conversation._client = client
    assert conversation.compression_state == state
    again = conversation.before_request(body)
    assert plain(again["messages"]) == plain([*first["messages"], REPLY, USER])
    assert conversation.last_outcome == "below_threshold"
    assert conversation.last_report is not None
    assert conversation.last_report.judged_by == "usage", "what was reported for the history holds still"


def test_a_foreign_body_that_was_taken_begins_anew_without_the_old_states() -> None:
    def answer(request: Any, context: Any) -> Any:
        return context_service_pb2.PrepareResponse(
            outcome=compress_pb2.OUTCOME_BELOW_THRESHOLD, compression_state=b"c", cache_state=b"s"
        )

    other = [{"role": "user", "content": "another"}]
    with serve(answer) as double, Client(double.address) as client:
        conversation = Conversation(client, format="openai_chat")
        conversation.before_request([USER])
        conversation.after_response({"prompt_tokens": 50})
        conversation.before_request(other)
        conversation.before_request([*other, REPLY, USER])
    second, third = double.requests[1:]
    assert (second.compression_state, second.cache_state, second.HasField("last_usage")) == (b"", b"", False)
    assert (third.compression_state, third.cache_state, third.HasField("last_usage")) == (b"c", b"s", False)


def test_failing_open_never_adds_up_marks(client: Client) -> None:
    conversation = Conversation(client, format="anthropic_messages", fail_open=True, **MANY)
    body = long_body()
    conversation.before_request(body)
    marked = {"role": "user", "content": [{"type": "text", "text": "go", "cache_control": {"type": "ephemeral"}}]}
    body["messages"] += [REPLY, marked]
    with Client("127.0.0.1:1") as nobody:
        conversation._client = nobody
        assert conversation.before_request(body) is body


def test_a_broken_body_is_the_services_to_refuse(client: Client) -> None:
    conversation = Conversation(client, format="openai_chat")
    with pytest.raises(elbowroom.InvalidRequest) as caught:
        conversation.before_request('[{"role":"user","content":"é"},]')
    assert caught.value.byte_offset == 32
    assert conversation.before_request([USER]) == [USER]


def test_an_unknown_option_is_refused_at_once(client: Client) -> None:
    unknown: Any = {"compress": True}
    with pytest.raises(TypeError, match=r"no option 'compress'; it has .*strategy, "):
        Conversation(client, **unknown)
    odd: Any = "best"
    with pytest.raises(elbowroom.InvalidRequest, match="anchored"):
        Conversation(client, strategy=odd)


def test_recorded_history_below_the_threshold_is_only_marked(client: Client) -> None:
    source = recorded("cc-go-unicode-70")
    conversation = Conversation(client, model="claude-opus-4-6")
    out = conversation.before_request(source.body)
    assert conversation.last_outcome == "below_threshold"
    assert plain(out["messages"]) == plain(source.body["messages"])
