"""A recorded conversation as a live loop: 60 turns through ``Conversation``, the SDK and a strict double of the provider."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import anthropic
import openai
import pytest
from conftest import recorded
from providers import AnthropicDouble, OpenAIDouble, listen

from elbowroom import AsyncClient, AsyncConversation, Client, Conversation
from elbowroom.options import PolicyOptions

TURNS = 60
CONSTANT = 2048  # bytes a turn may cost beside 1.2 times what is new in it: options, states, hash, numbers
UNCHANGED = 2048  # bytes of the answer when nothing was compressed: marks, state, report
POLICY: PolicyOptions = {"protect_last_n": 6}


def turns(name: str) -> list[tuple[list[dict[str, Any]], dict[str, Any]]]:
    """Cut a recording into turns: what the user side adds, and what the model replies."""
    out: list[tuple[list[dict[str, Any]], dict[str, Any]]] = []
    new: list[dict[str, Any]] = []
    for message in recorded(name).body["messages"]:
        if message["role"] != "assistant":
            new.append(message)
        elif new:
            out.append((new, message))
            new = []
        if len(out) == TURNS:
            return out
    pytest.fail(f"{name} has {len(out)} turns only")


@dataclass
class Log:
    """What was measured."""

    new: list[int] = field(default_factory=list)
    """Bytes added in each turn, the reply before it included."""
    sent: list[int] = field(default_factory=list)
    received: list[int] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)
    reports: list[Any] = field(default_factory=list)

    def note(self, conversation: Any, new: int) -> None:
        self.new.append(new)
        self.sent.append(conversation.bytes_sent - sum(self.sent))
        self.received.append(conversation.bytes_received - sum(self.received))
        self.outcomes.append(conversation.last_outcome)
        self.reports.append(conversation.last_report)

    def check(self, provider: AnthropicDouble | OpenAIDouble, window: int) -> None:
        assert provider.complaints == []
        assert len(provider.requests) == TURNS
        compressed = [turn for turn, outcome in enumerate(self.outcomes) if outcome == "compressed"]
        assert 2 <= len(compressed) <= TURNS // 4, self.outcomes
        assert set(self.outcomes) == {"compressed", "below_threshold"}
        assert provider.prefix_breaks == compressed
        for turn, report in enumerate(self.reports):
            assert report.threshold_tokens == window // 2
            assert (report.judged_tokens >= window // 2) == (turn in compressed), turn
            first = turn == 0
            assert report.judged_by == ("count" if first else "usage"), turn
            if not first:
                assert self.sent[turn] <= 1.2 * self.new[turn] + CONSTANT, turn
            if turn not in compressed:
                assert self.received[turn] <= UNCHANGED, turn
        assert [report.round for report in self.reports if report.messages_summarized] == list(range(1, len(compressed) + 1))


def size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def model_of(source: list[tuple[list[dict[str, Any]], dict[str, Any]]]) -> Iterator[Any]:
    return (reply["content"] for _, reply in source)


@pytest.mark.parametrize(
    ("name", "window", "strategy", "keep_returned"),
    [
        ("cc-go-thinking-590", 32_000, "system_and_3", False),
        ("cc-go-thinking-590", 32_000, "anchored", True),
        ("cc-go-parallel-346", 60_000, "anchored", False),
        ("cc-go-parallel-346", 60_000, "system_and_3", True),
    ],
)
def test_anthropic_loop(name: str, window: int, strategy: Any, keep_returned: bool, client: Client) -> None:
    source = turns(name)
    replies = model_of(source)
    log = Log()
    provider = AnthropicDouble(lambda request: next(replies))
    conversation = Conversation(client, format="anthropic_messages", context_window=window, policy=POLICY, strategy=strategy)
    messages: list[Any] = []
    with listen(provider) as url, anthropic.Anthropic(base_url=url, api_key="test", max_retries=0) as model:
        grown = 0
        for new, _ in source:
            messages += new
            body: dict[str, Any] = {
                "model": "claude-opus-4-6",
                "max_tokens": 1000,
                "system": "You are a coding agent.",
                "messages": messages,
            }
            ready = conversation.before_request(body)
            log.note(conversation, grown + sum(size(message) for message in new))
            if keep_returned:
                messages = ready["messages"]
            response = model.messages.create(**ready)
            conversation.after_response(response.usage)
            messages.append({"role": "assistant", "content": response.content})
            grown = size([block.to_dict() for block in response.content])
    log.check(provider, window)


async def test_openai_loop(address: str) -> None:
    source = turns("mini-deepseek-astroid-378")
    replies = (reply for _, reply in source)
    log = Log()
    provider = OpenAIDouble(lambda request: next(replies))
    messages: list[Any] = []
    with listen(provider) as url:
        async with (
            AsyncClient(address) as client,
            openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="test", max_retries=0) as model,
        ):
            conversation = AsyncConversation(client, format="openai_chat", context_window=32_000, policy=POLICY)
            grown = 0
            for new, _ in source:
                messages += new
                body: dict[str, Any] = {"model": "deepseek-chat", "messages": messages}
                ready = await conversation.before_request(body)
                log.note(conversation, grown + sum(size(message) for message in new))
                response = await model.chat.completions.create(**ready)
                conversation.after_response(response.usage)
                messages.append(response.choices[0].message)
                grown = size(response.choices[0].message.to_dict())
    log.check(provider, 32_000)
