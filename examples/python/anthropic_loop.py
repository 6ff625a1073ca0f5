"""An agent on the Anthropic SDK that answers questions about the files of a folder, for as many turns as it takes.

Elbowroom takes part in two lines: ``before_request`` returns the request to send, ``after_response`` takes the usage.

    pip install ./clients/python anthropic
    elbowroom serve &
    python anthropic_loop.py "Which of these files parses dates?" path/to/folder
"""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import anthropic

from elbowroom import Client, Conversation

MODEL = "claude-sonnet-5-5"
TOOLS: list[dict[str, Any]] = [
    {
        "name": "list_files",
        "description": "List the files of the folder.",
        "input_schema": {"type": "object", "properties": {}},
    },
    {
        "name": "read_file",
        "description": "Read one file of the folder.",
        "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
]


def call_tool(folder: pathlib.Path, name: str, arguments: dict[str, Any]) -> str:
    """Run a tool; whatever goes wrong is told to the model."""
    if name == "list_files":
        return "\n".join(sorted(path.name for path in folder.iterdir() if path.is_file())) or "(none)"
    path = (folder / str(arguments.get("path", ""))).resolve()
    if name != "read_file" or path.parent != folder.resolve() or not path.is_file():
        return f"error: no tool {name} or no such file"
    return path.read_text(errors="replace") or "(empty)"


def run(model: anthropic.Anthropic, conversation: Conversation, task: str, folder: pathlib.Path, max_turns: int = 100) -> str:
    """Work on a task until the model stops calling tools, and return its last words."""
    messages: list[Any] = [{"role": "user", "content": task}]
    for _ in range(max_turns):
        body: dict[str, Any] = {
            "model": MODEL,
            "max_tokens": 4096,
            "system": "Answer questions about the files of a folder. Read them before you answer.",
            "tools": TOOLS,
            "messages": messages,
        }
        response = model.messages.create(**conversation.before_request(body))
        conversation.after_response(response.usage)
        messages.append({"role": "assistant", "content": response.content})
        calls = [block for block in response.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in response.content if block.type == "text")
        messages.append(
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": call.id, "content": call_tool(folder, call.name, dict(call.input))}
                    for call in calls
                ],
            }
        )
    raise RuntimeError(f"no answer after {max_turns} turns")


def main() -> None:
    """Run from the command line."""
    task, folder = sys.argv[1], pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ".")
    with Client() as client, anthropic.Anthropic() as model:
        conversation = Conversation(client, format="anthropic_messages", strategy="anchored", fail_open=True)
        print(run(model, conversation, task, folder))


if __name__ == "__main__":
    main()
