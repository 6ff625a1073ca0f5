"""A conversation of 40 turns with a warehouse assistant that calls tools, made from the number of the turn alone."""

from __future__ import annotations

import json
import re
from typing import Any

Message = dict[str, Any]

TURNS = 40
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "stock",
            "description": "Look up an article in the warehouse.",
            "parameters": {"type": "object", "properties": {"article": {"type": "string"}}, "required": ["article"]},
        },
    }
]
SYSTEM = {
    "role": "system",
    "content": "You help the people of a warehouse. Look articles up before you answer. Never order anything above 5,000 EUR.",
}
_THINGS = ["Kugellager", "ボルト", "gasket \N{WRENCH}", "hinge", "joint \u201cB\u201d", "Ventil", "泵", "shelf"]


def question(turn: int) -> Message:
    """Return what the user says in a turn, numbered from 1."""
    thing = _THINGS[turn % len(_THINGS)]
    return {
        "role": "user",
        "content": f"Turn {turn}: how many of article {thing}-{turn:03d} are on site {turn % 5 + 1}, and does order "
        f"PO-{7000 + turn * 13} cover the gap until week {turn % 9 + 40}? See /srv/stock/site{turn % 5 + 1}/{turn:03d}.csv.",
    }


def answer(messages: list[Message]) -> Message:
    """Return what the model says: one or two calls for a question, words for results. Every fourth question needs no call."""
    last = next(m["content"] for m in reversed(messages) if m["role"] == "user")
    found = re.match(r"Turn (\d+):", last)
    assert found, f"the newest message of the user is not what was asked: {last[:80]!r}"
    turn = int(found.group(1))
    if messages[-1]["role"] == "tool" or turn % 4 == 0:
        return {
            "role": "assistant",
            "content": f"For turn {turn}: {turn * 17} pieces are here, {turn * 3} are reserved, and order PO-{7000 + turn * 13} "
            f"brings {turn * 11} more in week {turn % 9 + 40}, so the gap is covered. " + "The count was checked twice. " * 6,
        }
    calls = [
        {
            "id": f"call_{turn:03d}_{n}",
            "type": "function",
            "function": {"name": "stock", "arguments": json.dumps({"article": f"{turn:03d}", "part": n}, ensure_ascii=False)},
        }
        for n in range(1 + turn % 2)
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(call: dict[str, Any]) -> Message:
    """Return the result of a call."""
    arguments = json.loads(call["function"]["arguments"])
    number = int(arguments["article"])
    rows = [f"{number:03d};bin {row};{number * row + 5};ok;counted by hand on day {row}" for row in range(1, 13)]
    return {"role": "tool", "tool_call_id": call["id"], "content": "article;bin;pieces;state;note\n" + "\n".join(rows)}
