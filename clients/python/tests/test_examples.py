"""The example loops, run against strict doubles of the providers' wires."""

from __future__ import annotations

import importlib.util
import json
import pathlib
from types import ModuleType
from typing import Any

import anthropic
import openai
import pytest
from conftest import REPOSITORY
from langchain_openai import ChatOpenAI
from providers import AnthropicDouble, OpenAIDouble, listen
from pydantic import SecretStr

from elbowroom import Client, Conversation

FILES = 24
WINDOW = 16_000


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, REPOSITORY / "examples" / "python" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    for number in range(FILES):
        lines = [f"func step{number}_{line}(in []byte) int {{ return len(in) + {line} }}" for line in range(40)]
        (tmp_path / f"part_{number:02}.go").write_text("\n".join(lines))
    return tmp_path


class Reader:
    """A model that lists the files, reads them two at a time, and answers."""

    def __init__(self, files: int = FILES) -> None:
        self.turn = 0
        self.files = files

    def calls(self) -> list[tuple[str, str, dict[str, Any]]]:
        """The calls of this turn: id, name, arguments. Without any it answers."""
        self.turn += 1
        if self.turn == 1:
            return [("call_list", "list_files", {})]
        first = 2 * (self.turn - 2)
        return [(f"call_{n}", "read_file", {"path": f"part_{n:02}.go"}) for n in range(first, min(first + 2, self.files))]

    def anthropic(self, request: dict[str, Any]) -> Any:
        calls = self.calls()
        if not calls:
            return [{"type": "text", "text": "Seen."}]
        thought = {"type": "thinking", "thinking": f"Turn {self.turn}.", "signature": f"sig{self.turn}=="}
        return [thought, *({"type": "tool_use", "id": i, "name": n, "input": a} for i, n, a in calls)]

    def openai(self, request: dict[str, Any]) -> Any:
        calls = self.calls()
        if not calls:
            return {"role": "assistant", "content": "Seen.", "refusal": None}
        return {
            "role": "assistant",
            "content": None,
            "refusal": None,
            "reasoning_content": f"Turn {self.turn}.",
            "tool_calls": [
                {"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}} for i, n, a in calls
            ],
        }


def check(provider: AnthropicDouble | OpenAIDouble) -> None:
    assert provider.complaints == []
    assert len(provider.requests) == FILES // 2 + 2
    assert provider.prefix_breaks, "nothing was compressed"
    assert len(provider.prefix_breaks) <= 4
    last = json.dumps(provider.requests[-1])
    assert "Which file has step3_7?" in last, "the task was lost"


@pytest.mark.parametrize("model_name", ["claude-opus-4-6", "claude-sonnet-5-5"])
def test_the_anthropic_loop(model_name: str, folder: pathlib.Path, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    example = load("anthropic_loop")
    monkeypatch.setattr(example, "MODEL", model_name)
    conversation = Conversation(
        client, format="anthropic_messages", strategy="anchored", context_window=WINDOW, policy={"protect_last_n": 4}
    )
    provider = AnthropicDouble(Reader().anthropic, bound=model_name == "claude-sonnet-5-5")
    with listen(provider) as url, anthropic.Anthropic(base_url=url, api_key="test", max_retries=0) as model:
        assert example.run(model, conversation, "Which file has step3_7?", folder) == "Seen."
    check(provider)
    assert conversation.last_report is not None
    assert conversation.last_report.judged_by == "usage"
    assert all("cache_control" in json.dumps(request) for request in provider.requests)


def test_the_openai_loop(folder: pathlib.Path, client: Client) -> None:
    example = load("openai_loop")
    conversation = Conversation(client, format="openai_chat", context_window=WINDOW, policy={"protect_last_n": 4})
    provider = OpenAIDouble(Reader().openai)
    with listen(provider) as url, openai.OpenAI(base_url=f"{url}/v1", api_key="test", max_retries=0) as model:
        assert example.run(model, conversation, "Which file has step3_7?", folder) == "Seen."
    check(provider)
    assert conversation.last_report is not None
    assert conversation.last_report.judged_by == "usage"


def test_the_langchain_agent(folder: pathlib.Path, client: Client) -> None:
    example = load("langchain_agent")
    provider = OpenAIDouble(Reader().openai)
    with listen(provider) as url:
        model = ChatOpenAI(model="gpt-5.5", base_url=f"{url}/v1", api_key=SecretStr("test"), max_retries=0)
        agent = example.build(model, client, folder, context_window=WINDOW, policy={"protect_last_n": 4})
        config = {"configurable": {"thread_id": "1"}, "recursion_limit": 200}
        result = agent.invoke({"messages": [{"role": "user", "content": "Which file has step3_7?"}]}, config)
    assert result["messages"][-1].content == "Seen."
    check(provider)


def test_the_loops_go_on_without_the_service(folder: pathlib.Path) -> None:
    with Client("127.0.0.1:1") as nobody:
        conversation = Conversation(nobody, format="anthropic_messages", fail_open=True)
        provider = AnthropicDouble(Reader(files=4).anthropic)
        with listen(provider) as url, anthropic.Anthropic(base_url=url, api_key="test", max_retries=0) as model:
            example = load("anthropic_loop")
            assert example.run(model, conversation, "Which file has step3_7?", folder) == "Seen."
    assert provider.complaints == []
    assert provider.prefix_breaks == []
    assert conversation.last_error is not None


def test_files_outside_the_folder_are_not_read(folder: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    secret = tmp_path_factory.mktemp("other") / "secret.txt"
    secret.write_text("secret")
    anthropic_loop, openai_loop = load("anthropic_loop"), load("openai_loop")
    for path in (str(secret), f"../{secret.parent.name}/secret.txt", "", "."):
        assert anthropic_loop.call_tool(folder, "read_file", {"path": path}).startswith("error")
        assert openai_loop.call_tool(folder, "read_file", json.dumps({"path": path})).startswith("error")
    assert openai_loop.call_tool(folder, "read_file", "not json").startswith("error")
