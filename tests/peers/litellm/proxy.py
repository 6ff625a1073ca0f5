"""The real LiteLLM proxy of this environment, and a caller that sends its full history every turn."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from typing import Any

import talk

Message = dict[str, Any]
KEY = "sk-of-the-tests"
DOCUMENT = pathlib.Path(__file__).resolve().parents[3] / "docs/http.md"


class Proxy:
    """``litellm --config`` on a free port. Its output is in ``log``."""

    def __init__(self, folder: pathlib.Path, config: str) -> None:
        (folder / "config.yaml").write_text(config)
        self._log = folder / "proxy.log"
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [
                    pathlib.Path(sys.executable).with_name("litellm"),
                    "--config",
                    "config.yaml",
                    "--host",
                    "127.0.0.1",
                    "--port",
                    str(port),
                ],
                cwd=folder,
                # Nothing may be fetched or reported: prices come from the package.
                env={
                    "PATH": os.environ["PATH"],
                    "HOME": str(folder),
                    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                    "LITELLM_TELEMETRY": "False",
                    "LITELLM_MASTER_KEY": KEY,
                    "NO_PROXY": "127.0.0.1,localhost",
                },
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self._wait()

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def _wait(self) -> None:
        until = time.monotonic() + 120
        while time.monotonic() < until and self._process.poll() is None:
            with contextlib.suppress(OSError), urllib.request.urlopen(self.url + "/health/liveliness", timeout=2):
                return
            time.sleep(0.2)
        self.close()
        raise AssertionError("the proxy did not start:\n" + self.log[-4000:])

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def snippet(mark: str, *changes: tuple[str, str]) -> str:
    """Return the YAML in docs/http.md that holds a text, with each first text of the changes replaced by its second."""
    text = next(block for block in re.findall(r"```yaml\n(.*?)```", DOCUMENT.read_text(), re.DOTALL) if mark in block)
    for old, new in changes:
        assert old in text, f"docs/http.md shows no {old!r} with {mark!r}"
        text = text.replace(old, new)
    return text


class Refused(Exception):
    """The proxy answered with an error."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text}")
        self.status = status


class Caller:
    """An agent behind the proxy. It knows nothing of compression: its history only grows."""

    def __init__(self, proxy: Proxy, model: str = "assistant") -> None:
        self._proxy, self._model = proxy, model
        self.history: list[Message] = [talk.SYSTEM]
        self.sent: list[list[Message]] = []
        """The messages of each request."""
        self.guardrails: list[str] = []
        """What the proxy says it applied, for each request."""

    def turn(self, turn: int, **more: Any) -> None:
        """Ask the question of a turn and run the tools until the model has answered."""
        self.history.append(talk.question(turn))
        while True:
            reply = self.request(**more)
            self.history.append(reply)
            if not reply.get("tool_calls"):
                return
            self.history.extend(talk.result(call) for call in reply["tool_calls"])

    def request(self, **more: Any) -> Message:
        """Send the history as it is and return the reply's message, without what is null in it."""
        self.sent.append(list(self.history))
        body = {"model": self._model, "messages": self.history, "tools": talk.TOOLS, **more}
        request = urllib.request.Request(
            self._proxy.url + "/v1/chat/completions",
            json.dumps(body, ensure_ascii=False).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                self.guardrails.append(response.headers.get("x-litellm-applied-guardrails", ""))
                message = json.load(response)["choices"][0]["message"]
        except urllib.error.HTTPError as error:
            self.sent.pop()
            raise Refused(error.code, error.read().decode()) from None
        return {key: value for key, value in message.items() if value is not None}
