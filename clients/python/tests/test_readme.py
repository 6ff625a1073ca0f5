"""The README's examples run as they stand."""

from __future__ import annotations

import builtins
import pathlib
import re
from typing import Any

import pytest
from conftest import CLIENT
from providers import AnthropicDouble, listen

import elbowroom

BLOCKS: list[str] = re.findall(r"```python\n(.*?)```", (CLIENT / "README.md").read_text(), re.S)


def block(having: str) -> str:
    found = [code for code in BLOCKS if having in code]
    assert len(found) == 1, f"{len(found)} examples have {having!r}"
    return found[0]


def test_the_first_call(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = block("Hello")
    assert len(code.splitlines()) < 10
    exec(code.replace("Client()", f"Client({address!r})"), {})
    assert capsys.readouterr().out.startswith("too_short ")
    assert "`outcome` is `too_short` here" in (CLIENT / "README.md").read_text()


def test_the_loop(address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lines = iter(["one", "two", "three"])

    def ask(prompt: str) -> str:
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    provider = AnthropicDouble(lambda request: [{"type": "text", "text": f"reply {len(request['messages'])}"}])
    monkeypatch.setattr(builtins, "input", ask)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    with listen(provider) as url:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        with pytest.raises(EOFError):
            exec(block("input(").replace("Client()", f"Client({address!r})"), {})
    assert provider.complaints == []
    assert provider.prefix_breaks == []
    assert capsys.readouterr().out.split("\n")[:3] == ["reply 1", "reply 3", "reply 5"]


def test_the_options(client: elbowroom.Client) -> None:
    body = [{"role": "system", "content": "s"}, *[{"role": "user", "content": f"m{number}"} for number in range(9)]]
    result: Any = client.prepare(body)
    exec(block("the failing test"), {"client": client, "body": body, "result": result})


def test_the_connections(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("ca.pem", "agent.pem", "agent-key.pem"):
        (tmp_path / name).write_text("")
    exec(block("agent-key.pem"), {"Client": elbowroom.Client})


def test_the_middleware(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    scope: dict[str, Any] = {"tools": []}
    exec(block("create_agent"), scope)
    assert scope["agent"].get_graph().nodes


def test_every_example_is_run() -> None:
    assert len(BLOCKS) == 5
