"""The LangChain middleware in agents made by ``create_agent``, with ChatOpenAI on a double and with a scripted model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import recorded
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from providers import OpenAIDouble, listen
from pydantic import SecretStr

import elbowroom
from elbowroom import AsyncClient, Client
from elbowroom.langchain import ElbowroomMiddleware, _rewrite, _to_openai, _usage
from elbowroom.options import PolicyOptions

WINDOW = 16_000
POLICY: PolicyOptions = {"protect_last_n": 4}
READS = 24


@tool
def read_part(number: int) -> str:
    """Read one part of the program."""
    return "\n".join(f"func step{number}_{line}(in []byte) int {{ return len(in) + {line} }}" for line in range(80))


def calling(number: int) -> dict[str, Any]:
    if number == READS:
        return {"role": "assistant", "content": "All read.", "refusal": None}
    function = {"name": "read_part", "arguments": json.dumps({"number": number})}
    calls = [{"id": f"call_{number}", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "refusal": None, "tool_calls": calls}


async def run(agent: Any, asynchronous: bool, config: dict[str, Any]) -> Any:
    request = {"messages": [HumanMessage("Which part has step3_7? Read them all.")]}
    if asynchronous:
        return await agent.ainvoke(request, config)
    return agent.invoke(request, config)


@pytest.mark.parametrize("kind", ["sync", "async", "sync client in an async agent"])
async def test_an_agent_is_compressed_as_it_works(kind: str, address: str) -> None:
    numbers = iter(range(READS + 1))
    provider = OpenAIDouble(lambda request: calling(next(numbers)))
    client: Any = AsyncClient(address) if kind == "async" else Client(address)
    middleware = ElbowroomMiddleware(client, model="gpt-4o", context_window=WINDOW, policy=POLICY)
    with listen(provider) as url:
        model = ChatOpenAI(model="gpt-4o", base_url=f"{url}/v1", api_key=SecretStr("test"), max_retries=0)
        agent = create_agent(model, [read_part], system_prompt="Be brief.", middleware=[middleware], checkpointer=InMemorySaver())
        config = {"configurable": {"thread_id": "1"}, "recursion_limit": 200}
        result = await run(agent, kind != "sync", config)
    if kind == "async":
        await client.close()
    else:
        client.close()
    assert provider.complaints == []
    assert len(provider.requests) == READS + 1
    assert 1 <= len(provider.prefix_breaks) <= READS // 4, "compressed at the threshold only"
    assert len(result["messages"]) < 2 * READS
    assert result["messages"][-1].content == "All read."
    assert "Which part has step3_7?" in json.dumps(provider.requests[-1])
    assert "elbowroom_state" not in result
    assert max(len(raw) for raw in provider.raw) < WINDOW * 4


class Scripted(BaseChatModel):
    """Replies with what it is given."""

    replies: Any

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=next(self.replies))])


def thinking_replies() -> Iterator[AIMessage]:
    for number in range(READS):
        call = {"name": "read_part", "args": {"number": number}, "id": f"call_{number}", "type": "tool_call"}
        content: list[str | dict[Any, Any]] = [
            {"type": "thinking", "thinking": "hm", "signature": f"sig{number}"},
            {"type": "text", "text": f"Part {number}."},
            {"type": "tool_use", "id": f"call_{number}", "name": "read_part", "input": {"number": number}},
        ]
        yield AIMessage(content, tool_calls=[call])
    yield AIMessage("All read.")


@pytest.mark.parametrize(
    ("model", "kept"), [("claude-opus-4-6", True), ("claude-sonnet-5.5", False), ("claude-unheard-of", False)]
)
def test_thinking_follows_the_rules_of_the_model(model: str, kept: bool, client: Client) -> None:
    middleware = ElbowroomMiddleware(client, model=model, context_window=WINDOW, policy=POLICY)
    messages: list[AnyMessage] = [HumanMessage("Read all parts.")]
    for number, reply in enumerate(thinking_replies()):
        messages.append(reply)
        if reply.tool_calls:
            messages.append(ToolMessage(read_part.invoke({"number": number}), tool_call_id=f"call_{number}"))
    messages.append(HumanMessage("And now?"))
    update = middleware.before_model({"messages": messages}, None)  # type: ignore[arg-type]
    assert update is not None
    after = update["messages"][1:]
    summary = next(index for index, message in enumerate(after) if not any(message is known for known in messages))
    assert all(before is known for before, known in zip(after[:summary], messages, strict=False))
    tail = [message for message in after[summary:] if isinstance(message, AIMessage)]
    assert any(message.tool_calls for message in tail)
    assert any("thinking" in json.dumps(message.content) for message in tail) is kept
    assert all(message.tool_calls or message.content for message in tail)


def test_kept_messages_are_the_same_objects(client: Client) -> None:
    source = recorded("deer-research-74")
    messages = [from_openai(message) for message in source.body["messages"]]
    middleware = ElbowroomMiddleware(client, model="gpt-4o", context_window=32_000, policy=POLICY)
    update = middleware.before_model({"messages": messages}, None)  # type: ignore[arg-type]
    assert update is not None
    removal, *after = update["messages"]
    assert isinstance(removal, RemoveMessage)
    known = {id(message) for message in messages}
    new = [message for message in after if id(message) not in known]
    assert len(after) < len(messages)
    assert 1 <= len(new) <= len(after) - 3
    assert after[0] is messages[0]
    assert after[-1] is messages[-1]
    again = middleware.before_model({"messages": after, **{k: v for k, v in update.items() if k != "messages"}}, None)  # type: ignore[arg-type, typeddict-item]
    assert again is None, "a second look changes nothing"


def test_a_missing_result_gets_its_stand_in(client: Client) -> None:
    call = {"name": "read_part", "args": {"number": 1}, "id": "call_1", "type": "tool_call"}
    messages: list[AnyMessage] = [HumanMessage("go"), AIMessage("", tool_calls=[call]), HumanMessage("never mind")]
    messages += [AIMessage("ok"), *(HumanMessage(f"more {number} " * 60) for number in range(60))]
    middleware = ElbowroomMiddleware(client, model="gpt-4o", context_window=WINDOW, policy={**POLICY, "protect_first_n": 3})
    update = middleware.before_model({"messages": messages}, None)  # type: ignore[arg-type]
    assert update is not None
    after = update["messages"][1:]
    assert after[1] is messages[1]
    assert isinstance(after[2], ToolMessage)
    assert after[2].tool_call_id == "call_1"


def from_openai(message: dict[str, Any]) -> Any:
    if message["role"] == "tool":
        return ToolMessage(message["content"], tool_call_id=message["tool_call_id"], id=f"t{message['tool_call_id']}")
    if message["role"] == "assistant":
        calls = [
            {"name": call["function"]["name"], "args": json.loads(call["function"]["arguments"]), "id": call["id"]}
            for call in message.get("tool_calls") or ()
        ]
        return AIMessage(message.get("content") or "", tool_calls=calls)
    return HumanMessage(message["content"])


def test_changed_messages_keep_everything_but_the_change() -> None:
    result = ToolMessage("long " * 100, tool_call_id="c1", id="m1", artifact={"a": 1}, name="read")
    native = _to_openai(result)
    stub = _rewrite(result, native, {**native, "content": "[old result]"})
    assert stub == result.model_copy(update={"content": "[old result]"})

    call = {"name": "write", "args": {"text": "long " * 100}, "id": "c1", "type": "tool_call"}
    raw = {"id": "c1", "type": "function", "function": {"name": "write", "arguments": json.dumps(call["args"])}}
    reply = AIMessage(
        [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": "Writing."},
            {"type": "tool_use", "id": "c1", "name": "write", "input": call["args"]},
        ],
        tool_calls=[call],
        additional_kwargs={"tool_calls": [raw], "other": 1},
        id="m2",
    )
    native = _to_openai(reply)
    assert [block["type"] for block in native["content"]] == ["text"]
    short = json.loads(json.dumps(native))
    short["tool_calls"][0]["function"]["arguments"] = '{"text": "long..."}'
    changed = _rewrite(reply, native, short)
    assert isinstance(changed, AIMessage)
    assert changed.tool_calls[0]["args"] == {"text": "long..."}
    assert changed.content[:2] == reply.content[:2]
    assert changed.content[2]["input"] == {"text": "long..."}  # type: ignore[index]
    assert changed.additional_kwargs["other"] == 1
    assert changed.additional_kwargs["tool_calls"][0]["function"]["arguments"] == '{"text": "long..."}'
    assert reply.tool_calls[0]["args"] == call["args"], "the original was changed"

    retold = _rewrite(reply, native, {**native, "content": "Wrote."})
    assert [block["type"] for block in retold.content] == ["thinking", "text", "tool_use"]  # type: ignore[index]


def test_usage_before_a_compression_is_not_used_after_it(client: Client) -> None:
    middleware = ElbowroomMiddleware(client, model="gpt-4o", context_window=WINDOW, policy=POLICY)
    messages: list[AnyMessage] = [HumanMessage("go")]
    for number in range(40):
        messages += [AIMessage(f"step {number} " * 60, id=f"a{number}"), HumanMessage(f"more {number} " * 60)]
    reply = AIMessage("done", id="last")
    reply.usage_metadata = {"input_tokens": 15_000, "output_tokens": 3, "total_tokens": 15_003}
    state: Any = {"messages": [*messages, reply, HumanMessage("And now?")]}
    update = middleware.before_model(state, None)  # type: ignore[arg-type]
    assert update is not None
    _, *after = update.pop("messages")
    assert reply in after
    assert middleware.before_model({**update, "messages": after}, None) is None  # type: ignore[arg-type, typeddict-item]
    assert _usage(after, "") is not None
    assert _usage(after, update["elbowroom_stale"]) is None


async def test_an_agent_goes_on_without_the_service(caplog: pytest.LogCaptureFixture) -> None:
    with Client("127.0.0.1:1") as nobody:
        for fail_open in (True, False):
            middleware = ElbowroomMiddleware(nobody, fail_open=fail_open)
            agent = create_agent(Scripted(replies=iter([AIMessage("hello")])), [], middleware=[middleware])
            if fail_open:
                assert agent.invoke({"messages": [HumanMessage("hi")]})["messages"][-1].content == "hello"
                assert "not compressed" in caplog.text
            else:
                with pytest.raises(elbowroom.Unavailable):
                    await agent.ainvoke({"messages": [HumanMessage("hi")]})


def test_a_synchronous_agent_needs_a_synchronous_client() -> None:
    agent = create_agent(Scripted(replies=iter([])), [], middleware=[ElbowroomMiddleware(AsyncClient())])
    with pytest.raises(TypeError, match=r"elbowroom\.Client"):
        agent.invoke({"messages": [HumanMessage("hi")]})


async def test_arguments_that_cannot_be_written_fail_open_too(client: Client, address: str) -> None:
    call = {"name": "f", "args": {"a": {"b": object()}}, "id": "c1", "type": "tool_call"}
    reply = AIMessage("", tool_calls=[])
    reply.tool_calls.append(call)  # type: ignore[arg-type]
    state: Any = {"messages": [HumanMessage("hi"), reply, ToolMessage("done", tool_call_id="c1")]}
    runtime: Any = None
    async with AsyncClient(address) as other:
        assert ElbowroomMiddleware(client, fail_open=True).before_model(state, runtime) is None
        assert await ElbowroomMiddleware(other, fail_open=True).abefore_model(state, runtime) is None
        with pytest.raises(elbowroom.InvalidRequest, match=r"a\.b: an object of type object"):
            ElbowroomMiddleware(client).before_model(state, runtime)
        with pytest.raises(elbowroom.InvalidRequest, match=r"a\.b"):
            await ElbowroomMiddleware(other).abefore_model(state, runtime)


@pytest.mark.parametrize("odd", [-1, 2**31, 2.5, "9", None, True])
def test_usage_that_makes_no_sense_is_not_passed_on(odd: Any) -> None:
    reply = AIMessage("a", usage_metadata={"input_tokens": 9, "output_tokens": 1, "total_tokens": 10})
    assert _usage([HumanMessage("hi"), reply], "") is not None
    for name in ("input_tokens", "output_tokens"):
        usage: Any = {"input_tokens": 9, "output_tokens": 1, "total_tokens": 10, name: odd}
        reply.usage_metadata = usage
        known = _usage([HumanMessage("hi"), reply], "")
        assert known is None or (name, odd) == ("output_tokens", None)
