"""A LangChain agent whose history is compressed by Elbowroom before it outgrows the model's window.

pip install './clients/python[langchain]' langchain-openai
elbowroom serve &
python langchain_agent.py "How large is each file here?" path/to/folder
"""

from __future__ import annotations

import pathlib
import sys
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from elbowroom import Client
from elbowroom.langchain import ElbowroomMiddleware

MODEL = "gpt-5.5"


def build(model: BaseChatModel, client: Client, folder: pathlib.Path, **options: Any) -> Any:
    """Make the agent; ``options`` are those of the middleware."""

    @tool
    def list_files() -> str:
        """List the files of the folder."""
        return "\n".join(sorted(path.name for path in folder.iterdir() if path.is_file())) or "(none)"

    @tool
    def read_file(path: str) -> str:
        """Read one file of the folder."""
        file = (folder / path).resolve()
        if file.parent != folder.resolve() or not file.is_file():
            return "error: no such file"
        return file.read_text(errors="replace") or "(empty)"

    middleware = ElbowroomMiddleware(client, model=MODEL, **options)
    return create_agent(
        model,
        [list_files, read_file],
        system_prompt="Answer questions about the files of a folder. Read them before you answer.",
        middleware=[middleware],
        checkpointer=InMemorySaver(),
    )


def main() -> None:
    """Run from the command line."""
    task, folder = sys.argv[1], pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ".")
    with Client() as client:
        agent = build(ChatOpenAI(model=MODEL), client, folder, fail_open=True)
        config = {"configurable": {"thread_id": "1"}, "recursion_limit": 200}
        print(agent.invoke({"messages": [{"role": "user", "content": task}]}, config)["messages"][-1].content)


if __name__ == "__main__":
    main()
