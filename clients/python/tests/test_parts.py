"""Bodies taken apart and put together again."""

from __future__ import annotations

import json

import pytest

from elbowroom._parts import split


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        '{"messages":[]}',
        '{"system":"s","messages":[{"role":"user","content":"é"}],"model":"m"}',
        '{"messages":[{"role":"user","content":"]}"},{"role":"assistant","content":"b"}],"system":[{"type":"text","text":"s"}]}',
        '[{"role":"system","content":"s"},{"role":"user","content":"\\ud800"}]',
        '{"a":{"messages":[1]},"messages":[{"role":"user","content":"\\"messages\\":["}],"z":[[]]}',
    ],
)
def test_compact_bodies_come_together_byte_for_byte(text: str) -> None:
    parts = split(text.encode())
    if text == "{}":
        assert parts is None
        return
    assert parts is not None
    assert parts.join() == text.encode()


def test_messages_keep_their_bytes_whatever_stands_between_them() -> None:
    parts = split(b' { "messages" : [ {"role": "user",  "content":"\\u00e9"} ,\n{"n":1.0} ] , "x" : 1 } ')
    assert parts is not None
    assert [item.json for item in parts.messages] == [b'{"role": "user",  "content":"\\u00e9"}', b'{"n":1.0}']
    assert json.loads(parts.join()) == {"messages": [{"role": "user", "content": "é"}, {"n": 1.0}], "x": 1}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        '"messages"',
        "{",
        "[",
        '[{"a":1}',
        '{"messages":{}}',
        '{"messages":[],"messages":[]}',
        '{"system":"a","system":"b","messages":[]}',
        "[" * 100_000,
        '[{"cache_control":1,"a":' + "[" * 5000 + "]" * 5000 + "}]",
    ],
)
def test_what_is_no_body_is_not_taken_apart(text: str) -> None:
    assert split(text.encode()) is None


def test_invalid_utf8_is_not_taken_apart() -> None:
    assert split(b'["\xff"]') is None


def test_instructions_at_the_start_are_told_from_the_messages() -> None:
    parts = split(b'[{"role":"system","content":"a"},{"role":"developer","content":"b"},{"role":"user","content":"c"}]')
    assert parts is not None
    assert (len(parts.lead), len(parts.messages), parts.count) == (2, 1, 3)


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        (
            '{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}',
            '{"role": "user", "content": "a"}',
        ),
        (
            '{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"a"}],"cache_control":{}}]}',
            '{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"a"}]}]}',
        ),
        ('{"role":"user","content":[{"type":"text","text":"a"}]}', '{"role":"user","content":"a"}'),
    ],
)
def test_messages_are_compared_without_their_marks(marked: str, plain: str) -> None:
    a, b = split(f"[{marked}]".encode()), split(f"[{plain}]".encode())
    assert a is not None
    assert b is not None
    assert a.messages[0].key == b.messages[0].key
    assert a.messages[0].json != b.messages[0].json


def test_messages_that_differ_compare_as_different() -> None:
    parts = split(b'[{"role":"user","content":"a"},{"content":"a","role":"user"},{"role":"user","content":"a","n":1}]')
    assert parts is not None
    assert len({item.key for item in parts.messages}) == 3
