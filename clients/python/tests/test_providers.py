"""The doubles of the providers complain about everything that the tests rely on them to notice."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from providers import AnthropicDouble, OpenAIDouble

MARK: dict[str, Any] = {"cache_control": {"type": "ephemeral"}}
THOUGHT: dict[str, Any] = {"type": "thinking", "thinking": "hm", "signature": "s1"}
CALL: dict[str, Any] = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "1"}


def anthropic(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 1, "messages": list(messages), **fields}


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content[0] if content and isinstance(content[0], str) else list(content)}


def assistant(*content: Any) -> dict[str, Any]:
    return {**user(*content), "role": "assistant"}


def text(value: str = "x", **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **more}


@pytest.mark.parametrize(
    ("request_body", "complaint"),
    [
        (anthropic(), "at least one"),
        (anthropic(assistant("a"), user("b")), "first message"),
        (anthropic(user("a"), assistant("b")), "end with a user"),
        (anthropic(user("a"), {"role": "system", "content": "b"}, user("c")), "unknown role"),
        (anthropic(user("")), "content is empty"),
        (anthropic(user(text(" "))), "non-whitespace"),
        (anthropic(user("a"), assistant(CALL), user("b")), "for calls"),
        (anthropic(user("a"), assistant(CALL), user(text(), RESULT)), "must come first"),
        (anthropic(user("a"), assistant(CALL), user(RESULT, RESULT)), "for calls"),
        (anthropic(user("a"), assistant(CALL, CALL), user(RESULT, RESULT)), "unique"),
        (anthropic(user("a"), user(RESULT)), "for calls"),
        (anthropic(user("a"), assistant(CALL), assistant("b"), user("c")), "right after"),
        (anthropic(user("a"), assistant(THOUGHT, text()), user("b")), "cannot be modified"),
        (anthropic(user(*[text(**MARK) for _ in range(5)])), "at most 4"),
        (anthropic(user(*[text(**MARK) for _ in range(4)]), system=[text(**MARK)]), "at most 4"),
        (anthropic(user(text(**MARK), text(cache_control={"type": "ephemeral", "ttl": "1h"}))), "behind a 5m"),
    ],
)
def test_anthropic_rules(request_body: dict[str, Any], complaint: str) -> None:
    double = AnthropicDouble(lambda request: [text()])
    status, _ = double.answer(dumps(request_body))
    assert status == 400
    assert complaint in double.complaints[0]


def test_anthropic_thinking_stays_as_it_was_written() -> None:
    for bound in (False, True):
        double = AnthropicDouble(lambda request: [THOUGHT, CALL], bound=bound)
        assert double.answer(dumps(anthropic(user("a"))))[0] == 200
        good = anthropic(user("a"), assistant(THOUGHT, CALL), user(RESULT))
        changed = copy.deepcopy(good)
        changed["messages"][1]["content"][0]["thinking"] = "hmm"
        marked = copy.deepcopy(good)
        marked["messages"][1]["content"][0] |= MARK
        assert double.answer(dumps(changed))[0] == 400
        assert double.answer(dumps(marked))[0] == 400
        without = anthropic(user("a"), assistant(CALL), user(RESULT))
        assert double.answer(dumps(without))[0] == (200 if bound else 400)
        elsewhere = anthropic(user("b"), assistant(THOUGHT, CALL), user(RESULT))
        assert double.answer(dumps(elsewhere))[0] == (400 if bound else 200)


CALLS = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
ANSWER = {"role": "tool", "tool_call_id": "c1", "content": "1"}


@pytest.mark.parametrize(
    ("messages", "complaint"),
    [
        ([], "not be empty"),
        ([ANSWER], "follow its tool call"),
        ([{"role": "assistant", "tool_calls": CALLS}, user("a")], "have no results"),
        ([{"role": "assistant", "tool_calls": CALLS}], "have no results"),
        ([{"role": "assistant", "tool_calls": CALLS}, ANSWER, ANSWER], "follow its tool call"),
        ([{"role": "assistant", "content": None}, user("a")], "neither content"),
        ([{"role": "assistant", "content": "a", "tool_calls": []}, user("a")], "is empty"),
        ([{"role": "exit", "content": "a"}], "unknown role"),
        ([assistant("a")], "nothing to answer"),
        ([user(*[text(**MARK) for _ in range(5)])], "at most 4"),
        ([{**assistant("a"), "reasoning_content": "b"}, user("a")], "reasoning_content"),
    ],
)
def test_openai_rules(messages: list[Any], complaint: str) -> None:
    double = OpenAIDouble(lambda request: {"role": "assistant", "content": "a"})
    status, _ = double.answer(dumps({"model": "m", "messages": messages}))
    assert status == 400
    assert complaint in double.complaints[0]


def test_a_changed_prefix_is_noticed_and_marks_are_not() -> None:
    double = AnthropicDouble(lambda request: [text("b")])
    double.answer(dumps(anthropic(user("a"))))
    double.answer(dumps(anthropic(user(text("a", **MARK)), assistant(text("b")), user("c"))))
    assert double.prefix_breaks == []
    double.answer(dumps(anthropic(user("A"), assistant(text("b")), user("c"), user("d"))))
    double.answer(dumps(anthropic(user("A"), assistant(text("b")))))
    assert double.prefix_breaks == [2]
    double.answer(dumps(anthropic(user("A"), assistant(text("b")), user("c"), user("d"), system="s")))
    assert double.prefix_breaks == [2, 3]


def dumps(value: Any) -> bytes:

    return json.dumps(value).encode()
