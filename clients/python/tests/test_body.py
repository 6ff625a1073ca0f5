"""What goes in as one kind comes out as the same kind, with nothing lost on the way."""

from __future__ import annotations

import json
import re
from collections import UserList
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import httpx
import openai
import pytest
from anthropic.types import Message as AnthropicMessage
from doubles import serve, unchanged
from openai.types.chat import ChatCompletionMessage
from pydantic import BaseModel

from elbowroom import AsyncClient, AsyncConversation, Client, Conversation, InvalidRequest
from elbowroom._body import format_of, restore, serialize, splice
from elbowroom.v1 import conversation_pb2

ANTHROPIC_REPLY: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln", "extra": {"b": 1, "a": 2}},
        {"type": "text", "text": "Let me see.", "citations": None},
        {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"z": 1, "a": [1.5, None]}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 10, "output_tokens": 5},
}


@pytest.mark.parametrize(
    "value",
    [
        {"z": 1, "a": {"y": [True, False, None], "b": "é 漢 😀"}},
        [{"role": "user", "content": 'quote " back \\ slash / tab \t nul \0 line \u2028'}],
        {"n": 123456789012345678901234567890, "f": 0.1, "e": 1e100, "m": -0.0},
        [],
        {},
    ],
)
def test_objects_survive(value: Any) -> None:
    result = restore(value, serialize(value))
    assert json.dumps(result) == json.dumps(value)
    assert type(result) is type(value)


def test_lone_surrogates_survive_as_escapes() -> None:
    value = [{"role": "user", "content": "half \ud83d, other half \udc00, é stays", "\udfff": "key"}]
    sent = serialize(value)
    assert b"\\ud83d" in sent
    assert "é".encode() in sent
    assert restore(value, sent) == value


def test_a_surrogate_behind_a_backslash_survives() -> None:
    value = ["\\\ud800", "\\\\\ud800", '"\ud800"']
    assert restore(value, serialize(value)) == value


def test_surrogates_survive_the_service(client: Client) -> None:
    value = [{"role": "user", "content": "half \ud83d"}]
    assert client.compress(value, format="openai_chat", model="gpt-4o").body == value


def test_text_with_a_lone_surrogate_is_refused_at_its_byte() -> None:
    with pytest.raises(InvalidRequest) as caught:
        serialize('["é\ud800"]')
    assert caught.value.byte_offset == 4
    assert "escapes" in caught.value.advice


@pytest.mark.parametrize("value", [[{"content": float("nan")}], [{"content": {1, 2}}], [{"content": b"raw"}], [object()]])
def test_what_json_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(InvalidRequest):
        serialize(value)


class Answer(BaseModel):
    text: str


def endless() -> Any:
    body: dict[str, Any] = {"messages": [{"role": "user", "content": []}]}
    body["messages"][0]["content"].append(body)
    return body


def deep() -> Any:
    value: Any = "x"
    for _ in range(100_000):
        value = [value]
    return {"messages": value}


class Raising:
    def model_dump(self, **options: Any) -> Any:
        raise RuntimeError("not now")


UNWRITABLE: dict[str, tuple[Any, str]] = {
    "openai.omit": ({"messages": [], "temperature": openai.omit}, "temperature: an object of type Omit is no JSON value"),
    "NOT_GIVEN": ({"messages": [], "tools": openai.NOT_GIVEN}, "tools: an object of type NotGiven is no JSON value"),
    "httpx.Timeout": ({"messages": [], "timeout": httpx.Timeout(5)}, "timeout: an object of type Timeout is no JSON value"),
    "class": ({"messages": [], "response_format": Answer}, "response_format: the class Answer is no JSON value"),
    "NaN": ({"messages": [{"role": "user", "content": "a", "score": float("nan")}]}, "messages[0].score: nan is no number"),
    "cycle": (endless(), "messages[0].content[0]: it contains itself"),
    "depth": (deep(), "too deep"),
    "key": ([{"role": "user", ("a", "b"): 1}], "[0]: a key of type tuple is no name in JSON"),
    "long integer": ([{"n": 10**5000}], "[0].n: Python does not write an integer of so many digits"),
    "raising": ({"messages": [{"content": Raising()}]}, "messages[0].content: not now"),
}


@pytest.mark.parametrize("name", UNWRITABLE)
def test_what_cannot_be_written_is_named_with_its_place(name: str) -> None:
    body, place = UNWRITABLE[name]
    with pytest.raises(InvalidRequest, match=re.escape(place)) as caught:
        serialize(body)
    in_a_message = place.startswith(("[0]", "messages[0]"))
    assert caught.value.index == (0 if in_a_message else None)


def test_integers_survive_up_to_the_digits_that_python_reads(client: Client) -> None:
    value = [{"n": 10**4299}]
    assert restore(value, serialize(value)) == value
    with pytest.raises(InvalidRequest, match="digits"):
        serialize([{"n": 10**4300}])
    text = '[{"role": "user", "content": "hi", "n": 1' + "0" * 4300 + "}]"
    assert client.compress(text, format="openai_chat", model="gpt-4o").body == text


async def test_what_cannot_be_written_or_told_fails_open() -> None:
    told = {name: body for name, (body, _) in UNWRITABLE.items()}
    with serve(unchanged) as double, Client(double.address) as client:
        async with AsyncClient(double.address) as other:
            for body in [*told.values(), [{"role": "user", "content": "hi"}], '["\ud800"]']:
                conversation = Conversation(client, fail_open=True)
                assert conversation.before_request(body) is body
                assert isinstance(conversation.last_error, InvalidRequest)
                opened = AsyncConversation(other, fail_open=True)
                assert await opened.before_request(body) is body
                assert isinstance(opened.last_error, InvalidRequest)
                with pytest.raises(InvalidRequest):
                    Conversation(client).before_request(body)
                with pytest.raises(InvalidRequest):
                    await AsyncConversation(other).before_request(body)
        assert not double.requests


def test_a_body_that_failed_open_costs_no_history() -> None:
    reply = {"role": "assistant", "content": "a"}
    hello = {"role": "user", "content": "hi"}
    with serve(unchanged) as double, Client(double.address) as client:
        conversation = Conversation(client, format="openai_chat", fail_open=True)
        conversation.before_request([hello])
        conversation.after_response({"prompt_tokens": 50})
        conversation.before_request([hello, reply, {**hello, "score": float("nan")}])
        conversation.after_response({"prompt_tokens": 7})
        conversation.before_request([hello, reply, hello])
    assert conversation.last_error is None
    assert double.requests[-1].last_usage.prompt_tokens == 50


def test_anthropic_objects_are_sent_as_the_sdk_sends_them() -> None:
    reply = AnthropicMessage.model_validate(ANTHROPIC_REPLY)
    messages = [{"role": "user", "content": "go"}, {"role": "assistant", "content": reply.content}]
    assert json.loads(serialize(messages))[1]["content"] == ANTHROPIC_REPLY["content"]
    again = [{"role": "user", "content": "go"}, {"role": "assistant", "content": [b.to_dict() for b in reply.content]}]
    assert serialize(messages) == serialize(again), "not the order of keys in which the SDK sends them"


def test_openai_objects_are_sent_as_the_sdk_sends_them() -> None:
    raw = {
        "role": "assistant",
        "content": None,
        "reasoning_content": "because",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1.0}'}}],
    }
    message = ChatCompletionMessage.model_validate(raw)
    assert json.loads(serialize([message])) == [raw]


def test_other_mappings_and_sequences_are_taken() -> None:
    body: Mapping[str, Any] = MappingProxyType({"messages": UserList([{"role": "user", "content": ("a",)}])})
    assert serialize(body) == b'{"messages":[{"role":"user","content":["a"]}]}'


def test_raw_text_is_never_rewritten(client: Client) -> None:
    text = '[ {"content" : "caf\\u00e9 \\/ 1.0e+2", "n": 1.50, "role":"user" } ]'
    assert client.compress(text, format="openai_chat", model="gpt-4o").body == text
    assert client.compress(text.encode(), format="openai_chat", model="gpt-4o").body == text.encode()


def test_splices_count_utf8_bytes() -> None:
    edits = [
        conversation_pb2.Splice(offset=0, length=2, text="e"),
        conversation_pb2.Splice(offset=5, length=1, text=""),
        conversation_pb2.Splice(offset=6, length=0, text="漢"),
    ]
    assert splice("é漢x".encode(), edits).decode() == "e漢漢"


@pytest.mark.parametrize(("offset", "length"), [(3, 1), (0, 4), (4, 0)])
def test_splices_that_do_not_fit_are_no_result(offset: int, length: int) -> None:
    with pytest.raises(ValueError, match="do not fit"):
        splice(b"abc", [conversation_pb2.Splice(offset=offset, length=length)])


OPENAI, ANTHROPIC = conversation_pb2.FORMAT_OPENAI_CHAT, conversation_pb2.FORMAT_ANTHROPIC_MESSAGES


@pytest.mark.parametrize(
    ("body", "format"),
    [
        ({"system": "s", "messages": []}, ANTHROPIC),
        ({"messages": [], "tools": [{"name": "f", "input_schema": {}}]}, ANTHROPIC),
        ({"messages": [], "tools": [{"type": "function", "function": {"name": "f"}}]}, OPENAI),
        ([{"role": "system", "content": "s"}], OPENAI),
        ([{"role": "developer", "content": "s"}], OPENAI),
        ([{"role": "tool", "content": "s"}], OPENAI),
        ([{"role": "assistant", "content": None, "tool_calls": []}], OPENAI),
        ([{"role": "user", "content": [{"type": "tool_result"}]}], ANTHROPIC),
        ([{"role": "user", "content": [{"type": "image_url"}]}], OPENAI),
        ('[{"role": "system", "content": "s"}]', OPENAI),
        (b'{"system": "s", "messages": []}', ANTHROPIC),
        ([{"role": "assistant", "content": AnthropicMessage.model_validate(ANTHROPIC_REPLY).content}], ANTHROPIC),
        ([ChatCompletionMessage(role="assistant", tool_calls=[])], OPENAI),
    ],
)
def test_the_format_is_told_from_the_body(body: Any, format: int) -> None:
    assert format_of(body, None) == format


@pytest.mark.parametrize("body", [[], [{"role": "user", "content": "hi"}], "not json", b"\xff", "[" * 100_000])
def test_a_body_of_either_format_asks_for_it(body: Any) -> None:
    with pytest.raises(InvalidRequest, match="format") as caught:
        format_of(body, None)
    assert "anthropic_messages" in caught.value.advice


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="unknown format"):
        format_of([], "openai")
