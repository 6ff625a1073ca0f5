"""Recorded conversations through the client, compressed by force: what is kept is what was given."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import recorded, recorded_names

from elbowroom import AsyncClient, Client, CompressResult
from elbowroom._parts import split
from elbowroom.v1 import compress_pb2, conversation_pb2

NAMES = recorded_names() or ["none"]
WINDOW = 8_000  # tokens; small, so that most of each conversation is summarized
WITH_EDITS = compress_pb2.CompressRequest(view=conversation_pb2.VIEW_EDITS)
SHORT = {"wire-anthropic-websearch-2", "wire-openai-images-4"}  # too few messages for anything to stand outside head and tail


def kept_ranges(result: CompressResult[Any]) -> list[tuple[int, int]]:
    """Where each kept message stands: its index before and after."""
    pairs: list[tuple[int, int]] = []
    at = 0
    for edit in result.response.edits:
        if edit.section != conversation_pb2.SECTION_MESSAGES:
            continue
        if edit.HasField("keep"):
            for index in range(edit.keep.start, edit.keep.end):
                pairs.append((index, at))
                at += 1
        elif not edit.HasField("drop"):
            at += 1
    return pairs


def compressed_options(format: str) -> dict[str, Any]:
    return {"format": format, "force": True, "base": WITH_EDITS, "context_window": WINDOW, "policy": {"protect_last_n": 4}}


@pytest.mark.parametrize("name", NAMES)
def test_kept_messages_are_deeply_equal(name: str, client: Client) -> None:
    source = recorded(name)
    body = source.body
    result = client.compress(body, **compressed_options(source.format))

    assert type(result.body) is dict
    assert body == source.body, "the caller's object was changed"
    assert list(result.body) == list(body)
    if name in SHORT:
        assert result.outcome == "too_short"
        assert result.body == body
        return
    assert result.outcome in ("compressed", "target_unreachable")
    pairs = kept_ranges(result)
    assert pairs
    assert len(result.body["messages"]) == result.report.messages_after < len(body["messages"])
    for before, after in pairs:
        assert dumps(result.body["messages"][after]) == dumps(body["messages"][before])
    assert result.summary
    assert result.compression_state


@pytest.mark.parametrize("name", NAMES)
def test_kept_messages_are_equal_byte_for_byte(name: str, client: Client) -> None:
    source = recorded(name)
    result = client.compress(source.text, **compressed_options(source.format))

    assert type(result.body) is str
    before, after = split(source.text.encode()), split(result.body.encode())
    assert before is not None
    assert after is not None
    originals, results = before.lead + before.messages, after.lead + after.messages
    if name in SHORT:
        assert result.body == source.text
        return
    for index, at in kept_ranges(result):
        assert results[at].json == originals[index].json
    in_bytes = client.compress(source.text.encode(), **compressed_options(source.format))
    assert in_bytes.body == result.body.encode()


@pytest.mark.parametrize("name", NAMES)
async def test_both_clients_give_the_same(name: str, address: str, client: Client) -> None:
    source = recorded(name)
    messages = source.body["messages"]
    options = compressed_options(source.format)
    async with AsyncClient(address) as other:
        result = await other.compress(messages, **options)
        async for event in other.stream_compress(messages, **options):
            last = event
    assert isinstance(last, CompressResult)
    assert result.body == last.body == client.compress(messages, **options).body
    assert isinstance(result.body, list)


@pytest.mark.parametrize("name", NAMES)
def test_marking_changes_nothing_but_marks(name: str, client: Client) -> None:
    source = recorded(name)
    if source.format != "anthropic_messages":
        result = client.apply_cache_control(source.text, format=source.format, model="gpt-4o")
        assert result.body == source.text
        assert result.layout == "openai_implicit" or not result.breakpoints
        return
    result = client.apply_cache_control(source.text, format=source.format, model="claude-sonnet-4-5")
    assert 1 <= len(result.breakpoints) <= 4
    before, after = split(source.text.encode()), split(result.body.encode())
    assert before is not None
    assert after is not None
    assert [item.key for item in after.messages] == [item.key for item in before.messages]


def dumps(value: Any) -> str:
    """Text in which the order of keys counts."""
    return json.dumps(value, ensure_ascii=False)
