"""Deltas: whatever the two bodies are, applying the delta to the first gives the second."""

from __future__ import annotations

import hashlib
import random

import pytest

from elbowroom._body import splice
from elbowroom._delta import common_prefix, common_suffix, delta

PAD = "x" * 500


@pytest.mark.parametrize(
    ("base", "body"),
    [
        (PAD + "a", PAD + "ab"),
        (PAD, PAD),
        (PAD + "é", PAD + "è"),  # é and è share their first byte
        (PAD + "漢", PAD + "漣"),
        ("é" + PAD, "©" + PAD),  # é and © share their last byte
        (PAD + "😀" + PAD, PAD + "😁" + PAD),
        (PAD + "aa" + PAD, PAD + "a" + PAD),
        (PAD + "a" + PAD, PAD + "aa" + PAD),
        (PAD, PAD + PAD),
        (PAD + PAD, PAD),
        ("", PAD),
    ],
)
def test_a_delta_leads_from_base_to_body(base: str, body: str) -> None:
    found = delta(base.encode(), body.encode())
    if found is None:
        assert base == ""
        return
    assert found.base == hashlib.sha256(base.encode()).digest()
    assert splice(base.encode(), found.splices) == body.encode()


def test_random_edits_round_trip() -> None:
    source = random.Random(7)
    letters = "ab é è © 漢 漣 😀 😁"
    for _ in range(2000):
        base = "".join(source.choices(letters, k=source.randrange(400)))
        at, end = sorted(source.randrange(len(base) + 1) for _ in range(2))
        body = base[:at] + "".join(source.choices(letters, k=source.randrange(60))) + base[end:]
        found = delta(base.encode(), body.encode())
        if found is not None:
            assert splice(base.encode(), found.splices) == body.encode()
            assert found.ByteSize() < len(body.encode()) + 64


def test_a_body_with_nothing_in_common_is_sent_in_full() -> None:
    assert delta(b"a" * 1000, b"b" * 1000) is None
    assert delta(b"", b"") is None


def test_a_broken_body_is_sent_in_full() -> None:
    assert delta(b"x" * 500, b"x" * 500 + b"\xff") is None


def test_common_ends_by_brute_force() -> None:
    source = random.Random(11)
    for _ in range(2000):
        a, b = (bytes(source.choices(b"ab", k=source.randrange(12))) for _ in range(2))
        prefix = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
        assert common_prefix(a, b) == prefix
        most = min(len(a), len(b))
        suffix = next((i for i in range(most) if a[-1 - i] != b[-1 - i]), most)
        assert common_suffix(a, b, most) == suffix
