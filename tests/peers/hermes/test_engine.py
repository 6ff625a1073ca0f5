"""The engine's own methods, held against the interface of the installed Hermes Agent and recorded conversations."""

from __future__ import annotations

import copy
import inspect
import json
import os
import pathlib
from typing import Any

import pytest
import wire
from agent.context_engine import ContextEngine
from agent.conversation_compression import _supported_compression_kwargs
from elbowroom_hermes import ElbowroomEngine, Settings
from hermes_cli.plugins import get_plugin_context_engine
from service import Service

Message = dict[str, Any]
CONVERSATIONS = pathlib.Path(__file__).resolve().parents[4] / "shared" / "data" / "conversations"
# Conversations in OpenAI's form that are legal as they were recorded: Hermes repairs its own before the engine sees them.
RECORDED = ["deer-research-74", "gemini-cli-21", "swe-ctf-web-text"]


def engine(window: int = 64_000, **settings: Any) -> ElbowroomEngine:
    """Return an engine as Hermes sets one up: the registered one, copied, with model and session."""
    if settings:
        made = ElbowroomEngine(Settings(target=os.environ["ELBOWROOM_ADDR"], **settings))
    else:
        made = copy.deepcopy(get_plugin_context_engine())
    made.update_model("local-model", window, base_url="http://127.0.0.1/v1", api_key="", provider="custom", api_mode="")
    made.on_session_start("session-1", platform="cli", model="local-model", context_length=window)
    return made


def talk(turns: int) -> list[Message]:
    """Return a conversation with a tool call in each turn."""
    messages: list[Message] = []
    for n in range(turns):
        call = {
            "id": f"call_{n}",
            "type": "function",
            "function": {"name": "read_file", "arguments": f'{{"path":"src/part{n}.py"}}'},
        }
        messages += [
            {"role": "user", "content": f"Question {n}: what does src/part{n}.py do? \N{FILE FOLDER}"},
            {"role": "assistant", "content": None, "reasoning_content": f"It has to be read, {n}.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{n}", "content": f"def part{n}(): return {n}\n" * 60},
            {
                "role": "assistant",
                "content": f"src/part{n}.py returns {n} and is used by build {n + 100}.",
                "_db_persisted": True,
            },
        ]
    return [*messages, {"role": "user", "content": "Which of them returned 7? Answer with the path only."}]


def test_the_plugin_is_found_by_its_entry_point() -> None:
    registered = get_plugin_context_engine()
    assert isinstance(registered, ContextEngine)
    assert registered.name == "elbowroom"


def test_its_methods_take_what_the_interface_gives() -> None:
    for name, method in inspect.getmembers(ContextEngine, inspect.isfunction):
        wanted = inspect.signature(method).parameters
        given = inspect.signature(getattr(ElbowroomEngine, name)).parameters
        if name == "__init__" or any(p.kind is inspect.Parameter.VAR_KEYWORD for p in given.values()):
            continue
        # memory_context is optional by the interface, and Hermes says so to the user once.
        assert set(wanted) - {"memory_context"} <= set(given), name
    kwargs = _supported_compression_kwargs(
        ElbowroomEngine().compress, current_tokens=1, focus_topic="x", force=True, memory_context="note"
    )
    assert kwargs == {"current_tokens": 1, "focus_topic": "x", "force": True}


def test_the_threshold_is_judged_by_the_usage_that_was_reported() -> None:
    e = engine()
    assert (e.context_length, e.threshold_tokens) == (64_000, 16_000)
    e.update_from_response({"prompt_tokens": 15_999, "completion_tokens": 10, "total_tokens": 16_009, "cache_read_tokens": 5})
    assert not e.should_compress()
    assert e.should_compress(16_000)
    e.update_from_response({"prompt_tokens": 16_000, "completion_tokens": 10, "total_tokens": 16_010})
    assert e.should_compress()
    assert e.get_status()["last_prompt_tokens"] == 16_000
    e.update_from_response({})
    assert e.last_prompt_tokens == 16_000


def test_a_conversation_is_compressed_and_compressed_again() -> None:
    e, messages = engine(), talk(40)
    given = copy.deepcopy(messages)
    first = e.compress(messages, current_tokens=20_000)
    assert messages == given, "the list that was given is not changed"
    check(first, given)
    assert e.compression_count == 1
    assert not e._last_compress_aborted

    longer = [*first, {"role": "assistant", "content": "src/part7.py"}, *talk(30)]
    second = e.compress(longer, current_tokens=20_000, focus_topic="src/part7.py")
    check(second, longer)
    assert e.compression_count == 2
    assert "round 2" in str(wire.summary_of(second))


def test_it_compresses_what_is_small_without_the_system_prompt_and_the_tools() -> None:
    messages = talk(20)
    assert len(json.dumps(messages)) / 4 < engine().threshold_tokens, "by itself it is below the threshold"
    check(engine().compress(messages, current_tokens=20_000), messages)


def test_a_summary_is_taken_over_by_an_engine_that_never_saw_it() -> None:
    first = engine().compress(talk(40), current_tokens=20_000)
    longer = [*first, {"role": "assistant", "content": "src/part7.py"}, *talk(30)]
    check(engine().compress(longer, current_tokens=20_000), longer)


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_conversations_stay_legal(name: str) -> None:
    path = CONVERSATIONS / f"{name}.json"
    if not path.exists():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"the shared test data is not here: {path.name}")
    messages = [m for m in json.loads(path.read_text())["messages"] if m["role"] != "system"]
    last = max(at for at, m in enumerate(messages) if m["role"] in ("user", "tool"))
    messages = messages[: last + 1]
    compressed = engine(window=8_000).compress(copy.deepcopy(messages), current_tokens=8_000, force=True)
    before, after = wire.faults(messages), wire.faults(compressed)
    assert len(after) <= len(before), after
    kept = [wire.canonical(m) for m in messages]
    assert all(wire.canonical(m) in kept for m in compressed if m["role"] == "user" and wire.summary_of([m]) is None)


def test_nothing_to_gain_is_no_compression_and_is_not_tried_again_at_once() -> None:
    e, messages = engine(), talk(1)
    assert e.compress(messages, current_tokens=17_000) is messages
    assert e.compression_count == 0
    assert not e._last_compress_aborted
    assert not e.should_compress(17_000)
    assert e.should_compress(19_000), "it has grown by a tenth"


def test_without_the_service_the_list_comes_back_and_hermes_is_told(service: Service) -> None:
    e, messages = engine(pause=60), talk(40)
    e.update_model("local-model", 20_000)
    service.stop()
    assert e.compress(messages, current_tokens=20_000) is messages
    assert e._last_compress_aborted
    assert "Elbowroom" in str(e._last_summary_error)
    assert not e.should_compress(20_000), "it pauses"
    assert e.get_active_compression_failure_cooldown()["remaining_seconds"] > 0  # type: ignore[index]
    assert e.compress(messages, current_tokens=20_000) is messages, "in the pause no call is made"
    service.start()
    check(e.compress(messages, current_tokens=20_000, force=True), messages)
    assert not e._last_compress_aborted
    assert e.get_active_compression_failure_cooldown() is None


def test_a_new_session_begins_anew_and_a_compressed_one_goes_on() -> None:
    e = engine()
    e.compress(talk(40), current_tokens=20_000)
    state = e._state
    assert state
    e.on_session_start("session-2", boundary_reason="compression", old_session_id="session-1")
    assert e._state == state
    e.on_session_reset()
    assert (e._state, e.compression_count, e.last_prompt_tokens) == (b"", 0, 0)
    e.on_session_end("session-2", [])
    assert e.compress(talk(40), current_tokens=20_000), "a closed connection is opened again"


def check(compressed: list[Message], original: list[Message]) -> None:
    """A compressed list is legal and shorter, its newest question is there, and what was kept is as it was."""
    assert len(compressed) < len(original)
    assert wire.faults(compressed) == []
    assert wire.summary_of(compressed) is not None
    assert compressed[-1] == original[-1]
    for message in compressed:
        if message["role"] == "tool" or wire.summary_of([message]) is not None:
            continue
        assert message in original
