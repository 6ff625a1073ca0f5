"""The whole agent of the installed Hermes with the plugin as its engine, against a double of its model's provider."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterator
from threading import Event
from typing import Any

import pytest
import wire
from elbowroom_hermes import ElbowroomEngine
from hermes_state import SessionDB
from provider import Provider
from run_agent import AIAgent
from service import Service

Message = dict[str, Any]
TURNS = 40


class Double(Provider):
    """A model that reads the file of each turn and then says what is in it."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder
        super().__init__(self._answer)

    def _answer(self, messages: list[Message]) -> Message:
        asked = re.findall(r"Turn (\d+):", next(m["content"] for m in reversed(messages) if m["role"] == "user"))
        assert asked, "the newest message of the user is not what was asked"
        turn = int(asked[-1])
        if messages[-1]["role"] == "tool":
            return {
                "role": "assistant",
                "content": f"Turn {turn} is read: bin {turn} holds {turn * 31} pieces. " + "Counted twice. " * 10,
            }
        call = {"name": "read_file", "arguments": json.dumps({"path": str(self._folder / f"bin{turn}.txt")})}
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"call_{turn}", "type": "function", "function": call}],
        }


@pytest.fixture
def provider(tmp_path: pathlib.Path) -> Iterator[Double]:
    for turn in range(1, TURNS + 1):
        lines = (f"{turn}-{line}: {turn * line} pieces, counted on day {line % 7}" for line in range(110))
        (tmp_path / f"bin{turn}.txt").write_text("\n".join(lines))
    double = Double(tmp_path)
    yield double
    double.close()


def start(provider: Double) -> AIAgent:
    return AIAgent(
        base_url=provider.url,
        api_key="unused",
        provider="custom",
        model="local-model",
        enabled_toolsets=["file"],
        quiet_mode=True,
        skip_memory=True,
        skip_context_files=True,
        session_db=SessionDB(),
    )


def test_a_long_conversation_is_compressed_by_the_service(provider: Double, service: Service) -> None:
    agent = start(provider)
    assert isinstance(agent.context_compressor, ElbowroomEngine)
    history: list[Message] = []
    for turn in range(1, TURNS + 1):
        done = agent.run_conversation(f"Turn {turn}: what is in that bin? \N{PACKAGE}", conversation_history=history)
        assert f"Turn {turn} is read" in done["final_response"]
        history = done["messages"]

    rounds = agent.context_compressor.compression_count
    assert rounds >= 2
    summaries: list[str] = []
    breaks = 0
    before: list[str] = []
    for number, body in enumerate(provider.bodies):
        messages = json.loads(body)["messages"]
        assert wire.faults(messages) == [], f"request {number}"
        summary, pieces = wire.summary_of(messages), wire.texts(body)
        if pieces[: len(before)] != before:
            breaks += 1
            assert summary is not None, f"request {number}"
            assert summary not in summaries, f"request {number}: the prefix changed without a compression"
        if summary is not None and summary not in summaries:
            summaries.append(summary)
        before = pieces
    assert (breaks, len(summaries)) == (rounds, rounds)

    # What Hermes would load to go on with the session is what it has.
    stored = SessionDB().get_messages_as_conversation(agent.session_id)
    assert [(m["role"], m["content"] or "") for m in stored] == [(m["role"], m["content"] or "") for m in history]


def test_without_the_service_the_agent_goes_on_with_its_whole_history(provider: Double, service: Service) -> None:
    agent = start(provider)
    warnings: list[str] = []
    agent._emit_warning = warnings.append
    service.stop()
    history: list[Message] = []
    for turn in range(1, 14):
        done = agent.run_conversation(f"Turn {turn}: what is in that bin?", conversation_history=history)
        assert f"Turn {turn} is read" in done["final_response"]
        history = done["messages"]
    assert len(history) == 13 * 4, "nothing was lost"
    assert agent.context_compressor.compression_count == 0
    assert any("No messages were dropped" in w and "Elbowroom" in w for w in warnings), warnings
    service.start()
    # The client's connection looks for the service again every five seconds at the latest.
    for turn in range(14, 22):
        history = agent.run_conversation(f"Turn {turn}: what is in that bin?", conversation_history=history)["messages"]
        if agent.context_compressor.compression_count:
            break
        Event().wait(1)
    assert agent.context_compressor.compression_count >= 1, "it compresses when the service is back"
