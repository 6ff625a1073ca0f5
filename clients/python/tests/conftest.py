"""Where the tests find a server, the conformance cases and the recorded conversations."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from elbowroom import Client

CLIENT = pathlib.Path(__file__).resolve().parents[1]
REPOSITORY = CLIENT.parents[1]
CONFORMANCE = CLIENT.parent / "conformance"
CONVERSATIONS = REPOSITORY.parent / "shared" / "data" / "conversations"


def missing(what: str) -> None:
    """Skip, but fail in continuous integration."""
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)


class Server:
    """A server of the tests' own."""

    def __init__(self, binary: str, address: str = "127.0.0.1:0", *flags: str) -> None:
        self._process = subprocess.Popen(
            [binary, "serve", "--grpc-addr", address, *flags],
            env={**os.environ, "ELBOWROOM_HTTP_ADDR": "", "ELBOWROOM_ADMIN_ADDR": ""},  # several servers run at one time
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("gRPC: "):
                self.address = line.removeprefix("gRPC: ").strip()
                return
        pytest.fail(f"{binary} serve ended without saying its address")

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@pytest.fixture(scope="session")
def binary() -> str:
    path = os.environ.get("ELBOWROOM_BIN", "")
    if not path:
        missing("ELBOWROOM_BIN names no server binary")
    return path


@pytest.fixture(scope="session")
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    running = os.environ.get("ELBOWROOM_ADDR", "")
    if running:
        yield running
        return
    if not os.environ.get("ELBOWROOM_BIN"):
        missing("neither ELBOWROOM_ADDR nor ELBOWROOM_BIN is set: no server to test against")
    server = Server(os.environ["ELBOWROOM_BIN"])
    yield server.address
    server.stop()


@pytest.fixture
def client(address: str) -> Iterator[Client]:
    with Client(address) as client:
        yield client


@dataclass(frozen=True)
class Recorded:
    """A recorded conversation: a request body with fields that the provider does not know."""

    name: str
    format: Any
    text: str

    @property
    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.text)
        return body


def recorded(name: str) -> Recorded:
    path = CONVERSATIONS / f"{name}.json"
    if not path.exists():
        missing(f"the shared test data (../shared/data beside the repository) is not here: {path.name}")
    text = path.read_text()
    format = {"openai": "openai_chat", "anthropic": "anthropic_messages"}[json.loads(text)["format"]]
    return Recorded(name, format, text)


def recorded_names() -> list[str]:
    return sorted(path.stem for path in CONVERSATIONS.glob("*.json"))


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the SDKs of the providers from looking for a proxy."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
