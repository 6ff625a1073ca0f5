"""An agent on the OpenAI SDK that answers questions about the files of a folder, for as many turns as it takes.

Elbowroom takes part in two lines: ``before_request`` returns the request to send, ``after_response`` takes the usage. The same
loop runs against every server that speaks this API.

    pip install ./clients/python openai
    elbowroom serve &
    python openai_loop.py "Which of these files parses dates?" path/to/folder
"""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

import openai

from elbowroom import Client, Conversation

MODEL = "gpt-5.5"
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "list_files",
            "description": "List the files of the folder.",
            "parameters": {"type": "object", "properties": {}},
        },
    },
    {
        "type": "function",
        "function": {
            "name": "read_file",
            "description": "Read one file of the folder.",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        },
    },
]


def call_tool(folder: pathlib.Path, name: str, arguments: str) -> str:
    """Run a tool; whatever goes wrong is told to the model."""
    if name == "list_files":
        return "\n".join(sorted(path.name for path in folder.iterdir() if path.is_file())) or "(none)"
    try:
        path = (folder / json.loads(arguments)["path"]).resolve()
    except (ValueError, KeyError, TypeError) as error:
        return f"error: {error!r} in the arguments"
    if name != "read_file" or path.parent != folder.resolve() or not path.is_file():
        return f"error: no tool {name} or no such file"
    return path.read_text(errors="replace") or "(empty)"


def run(model: openai.OpenAI, conversation: Conversation, task: str, folder: pathlib.Path, max_turns: int = 100) -> str:
    """Work on a task until the model stops calling tools, and return its last words."""
    messages: list[Any] = [
        {"role": "system", "content": "Answer questions about the files of a folder. Read them before you answer."},
        {"role": "user", "content": task},
    ]
    for _ in range(max_turns):
        body: dict[str, Any] = {"model": MODEL, "tools": TOOLS, "messages": messages}
        response = model.chat.completions.create(**conversation.before_request(body))
        conversation.after_response(response.usage)
        message = response.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content or ""
        for call in message.tool_calls:
            result = call_tool(folder, call.function.name, call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    raise RuntimeError(f"no answer after {max_turns} turns")


def main() -> None:
    """Run from the command line."""
    task, folder = sys.argv[1], pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ".")
    with Client() as client, openai.OpenAI() as model:
        conversation = Conversation(client, format="openai_chat", fail_open=True)
        print(run(model, conversation, task, folder))


if __name__ == "__main__":
    main()
